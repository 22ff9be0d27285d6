package gate

import "unicode/utf8"

// fit takes from a table what it can do without until it has the width: empty
// columns always; then the interval and the tolerance, which the sentences below
// have too; then the middles of long names; then the change.
func fit(rows [][]string, width int) [][]string {
	for _, head := range []string{"interval", "allowed"} {
		i := column(rows, head)
		empty := true
		for _, row := range rows[1:] {
			empty = empty && row[i] == ""
		}
		if empty {
			rows = without(rows, i)
		}
	}
	drop := func(head string) {
		if i := column(rows, head); i >= 0 && tableWidth(rows) > width {
			rows = without(rows, i)
		}
	}
	drop("interval")
	drop("allowed")
	squeeze(rows, width, 20)
	drop("change")
	squeeze(rows, width, 8)
	return rows
}

// squeeze shortens variants and metrics, the longer ones first, down to a least
// width.
func squeeze(rows [][]string, width, least int) {
	for tableWidth(rows) > width {
		i := 0
		if columnWidth(rows, 1) > columnWidth(rows, 0) {
			i = 1
		}
		limit := columnWidth(rows, i) - 1
		if limit < least {
			return
		}
		for _, row := range rows {
			row[i] = shorten(row[i], limit)
		}
	}
}

func column(rows [][]string, head string) int {
	for i, h := range rows[0] {
		if h == head {
			return i
		}
	}
	return -1
}

func without(rows [][]string, i int) [][]string {
	out := make([][]string, len(rows))
	for j, row := range rows {
		out[j] = append(append([]string{}, row[:i]...), row[i+1:]...)
	}
	return out
}

func tableWidth(rows [][]string) int {
	total := 0
	for i := range rows[0] {
		total += columnWidth(rows, i) + 2
	}
	return total - 2
}

func columnWidth(rows [][]string, i int) int {
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[i]))
	}
	return width
}

// shorten cuts the middle out, since names differ at their ends.
func shorten(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	head := limit / 2
	return string(r[:head]) + "…" + string(r[len(r)-(limit-head-1):])
}
