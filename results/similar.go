package results

import "slices"

// Similar returns up to three names nearest to what was written, for messages.
func Similar(written string, names []string) []string {
	s := slices.Clone(names)
	slices.SortStableFunc(s, func(a, b string) int { return distance(written, a) - distance(written, b) })
	return s[:min(3, len(s))]
}

// distance is Levenshtein's: the least number of letters to insert, drop or
// replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
