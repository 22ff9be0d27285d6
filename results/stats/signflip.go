package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// exactPairs is up to how many pairs all sign patterns are counted; beyond it a
// sample of sampledFlips patterns stands for them.
const (
	exactPairs   = 12
	sampledFlips = 8191
)

// SignFlip tests paired differences: under the hypothesis that their mean is
// theta, and their distribution symmetric, each difference from theta is as
// likely to have had the other sign (Fisher's randomization test, The Design of
// Experiments, 1935, §21).
//
// Flipping the signs of a subset S leaves the sum at least what was observed if
// and only if the mean of S is at most theta, so the sorted means of subsets
// answer every question (Hartigan, Using subsample values as typical values,
// 1969).
type SignFlip struct {
	means []float64 // of nonempty subsets, sorted
}

// NewSignFlip takes the differences, logarithms of ratios for instance. rng draws
// the subsets where there are too many for all, from 13 pairs on.
func NewSignFlip(diffs []float64, rng *rand.Rand) *SignFlip {
	n := len(diffs)
	s := &SignFlip{}
	if n == 0 {
		return s
	}
	if n <= exactPairs {
		s.means = make([]float64, 0, 1<<n-1)
		for subset := uint64(1); subset < 1<<n; subset++ {
			s.means = append(s.means, meanOf(diffs, subset))
		}
	} else {
		s.means = make([]float64, 0, sampledFlips)
		for len(s.means) < sampledFlips {
			if subset := rng.Uint64() & (1<<n - 1); subset != 0 {
				s.means = append(s.means, meanOf(diffs, subset))
			}
		}
	}
	slices.Sort(s.means)
	return s
}

// meanOf is the mean of the differences whose bit is set; at most 64 of them.
func meanOf(diffs []float64, subset uint64) float64 {
	sum, n := 0.0, 0
	for i, d := range diffs {
		if subset>>i&1 == 1 {
			sum += d
			n++
		}
	}
	return sum / float64(n)
}

// patterns counts the sign patterns, the observed one among them (Phipson and
// Smyth, Permutation p-values should never be zero, 2010).
func (s *SignFlip) patterns() float64 { return float64(len(s.means) + 1) }

// rounding is what two sums of the same numbers may differ by.
const rounding = 1e-12

// Greater returns the one-sided p-value of the hypothesis "mean ≤ theta": the
// share of sign patterns whose sum is at least the observed one. The least
// possible value is 1/2ⁿ for n pairs up to 12. 1 without differences.
func (s *SignFlip) Greater(theta float64) float64 {
	return float64(1+sort.SearchFloat64s(s.means, theta+rounding)) / s.patterns()
}

// Less returns the one-sided p-value of the hypothesis "mean ≥ theta".
func (s *SignFlip) Less(theta float64) float64 {
	return float64(1+len(s.means)-sort.SearchFloat64s(s.means, theta-rounding)) / s.patterns()
}

// Interval returns the values of theta that neither one-sided test refuses at
// level alpha: a confidence interval of 1−2·alpha. With so few pairs that no
// pattern is rare enough (2⁻ⁿ > alpha) it is unbounded.
func (s *SignFlip) Interval(alpha float64) (low, high float64) {
	k := int(alpha * s.patterns())
	if k < 1 || k > len(s.means) {
		return math.Inf(-1), math.Inf(1)
	}
	return s.means[k-1], s.means[len(s.means)-k]
}
