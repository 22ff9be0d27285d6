package server

import (
	"math/bits"

	"pgregory.net/rapid"
)

// rapid prefers small numbers and the first of a list, which is good for sizes.
// What happens next in a history is drawn evenly, or nearly, from single bits;
// they still shrink to the first of a list.

// pick draws one of a list.
func pick[V any](rt *rapid.T, from []V, what string) V {
	return rapid.Custom(func(t *rapid.T) V { return from[index(t, len(from))] }).Draw(rt, what)
}

// between draws from lo to hi.
func between(rt *rapid.T, lo, hi int, what string) int {
	return rapid.Custom(func(t *rapid.T) int { return lo + index(t, hi-lo+1) }).Draw(rt, what)
}

// oneIn draws true once in n times.
func oneIn(rt *rapid.T, n int, what string) bool {
	return rapid.Custom(func(t *rapid.T) bool { return index(t, n) == n-1 }).Draw(rt, what)
}

func index(t *rapid.T, n int) (i int) {
	for range bits.Len(uint(n)) + 3 {
		i <<= 1
		if rapid.Bool().Draw(t, "") {
			i++
		}
	}
	return i % n
}
