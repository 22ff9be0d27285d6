package engine

// turn is one run: a variant, by index, and a repeat from 1.
type turn struct{ variant, repeat int }

// interleaved gives the order of runs: ABC CBA ABC …, so that a machine that
// warms up or slows down over time favours nobody (measuring.md, 24).
func interleaved(variants, repeats int) []turn {
	order := make([]turn, 0, variants*repeats)
	for r := range repeats {
		for i := range variants {
			v := i
			if r%2 == 1 {
				v = variants - 1 - i
			}
			order = append(order, turn{v, r + 1})
		}
	}
	return order
}
