package stats

import (
	"cmp"
	"slices"
)

// Holm returns the p-values adjusted for all of them being looked at: refusing
// those at most alpha keeps the chance of any false refusal at alpha (Holm, A
// simple sequentially rejective multiple test procedure, 1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	before := 0.0
	for rank, i := range order {
		before = max(before, min(1, float64(len(p)-rank)*p[i]))
		out[i] = before
	}
	return out
}

// SpendEvenly gives each look the same part of alpha (Pocock's idea, with
// Bonferroni's bound): early looks may then decide, at the price of the last.
func SpendEvenly(alpha float64, looks int) []float64 {
	out := make([]float64, looks)
	for i := range out {
		out[i] = alpha / float64(looks)
	}
	return out
}
