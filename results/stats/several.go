package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
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

// Spend returns how much of alpha each look may use so that all of them
// together use alpha: the increments of a spending function at the share of the
// information that a look has (Lan and DeMets, Discrete sequential boundaries
// for clinical trials, 1983). The function is theirs of the O'Brien–Fleming
// type, 2 − 2Φ(z(alpha/2)/√t), which keeps most for the last look.
//
// The looks are added up as if they were independent (Bonferroni), which they
// aren't: the error is at most alpha, and usually less.
func Spend(alpha float64, looks []int) []float64 {
	if len(looks) == 0 {
		return nil
	}
	normal := distuv.UnitNormal
	z := normal.Quantile(1 - alpha/2)
	last := float64(looks[len(looks)-1])
	out := make([]float64, len(looks))
	spent := 0.0
	for i, n := range looks {
		total := 2 - 2*normal.CDF(z/math.Sqrt(float64(n)/last))
		out[i] = total - spent
		spent = total
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
