package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// exactPairs is up to how many pairs all sign patterns are counted; beyond it a
// sample of sampledFlips patterns stands for them.
const (
	exactPairs   = 16
	sampledFlips = 1<<13 - 1
)

// SignFlip tests paired differences: under the hypothesis that their mean is
// theta, and their distribution symmetric, each difference from theta is as
// likely to have had the other sign (Fisher's randomization test, The Design of
// Experiments, 1935, §21).
//
// Flipping the signs of a subset S leaves the sum at least what was observed if
// and only if the mean of S is at most theta, so the means of subsets answer
// every question (Hartigan, Using subsample values as typical values, 1969).
//
// It isn't safe for concurrent use.
type SignFlip struct {
	means []float64 // of nonempty subsets, in no order
}

// NewSignFlip takes the differences, logarithms of ratios for instance. rng draws
// the subsets where there are too many for all, from 17 pairs on; it may be nil
// below. The answers for 16 pairs or fewer don't depend on their order, but for
// the last digits of a sum.
func NewSignFlip(diffs []float64, rng *rand.Rand) *SignFlip {
	switch n := len(diffs); {
	case n == 0:
		return &SignFlip{}
	case n <= exactPairs:
		return &SignFlip{allMeans(diffs)}
	default:
		return &SignFlip{sampledMeans(diffs, rng)}
	}
}

// allMeans are those of each nonempty subset, a bit per difference: the sum of a
// subset is that without its lowest member, and this one.
func allMeans(diffs []float64) []float64 {
	sums := make([]float64, 1<<len(diffs))
	for s := 1; s < len(sums); s++ {
		sums[s] = sums[s&(s-1)] + diffs[bits.TrailingZeros(uint(s))]
	}
	for s := 1; s < len(sums); s++ {
		sums[s] /= float64(bits.OnesCount(uint(s)))
	}
	return sums[1:]
}

// chunk is how many differences share a table of the sums of their subsets, so
// that a pattern of 20 coins is three sums and not twenty.
const chunk = 8

func sampledMeans(diffs []float64, rng *rand.Rand) []float64 {
	tables := make([][1 << chunk]float64, 0, len(diffs)/chunk+1)
	masks := make([]uint64, 0, cap(tables)) // of the bits in use
	for c := range slices.Chunk(diffs, chunk) {
		var sums [1 << chunk]float64
		for s := 1; s < 1<<len(c); s++ {
			sums[s] = sums[s&(s-1)] + c[bits.TrailingZeros(uint(s))]
		}
		tables, masks = append(tables, sums), append(masks, 1<<len(c)-1)
	}
	means := make([]float64, 0, sampledFlips)
	for len(means) < sampledFlips {
		sum, n, coins := 0.0, 0, uint64(0)
		for i := range tables {
			if i%(64/chunk) == 0 {
				coins = rng.Uint64()
			}
			subset := coins & masks[i]
			sum += tables[i][subset]
			n += bits.OnesCount64(subset)
			coins >>= chunk
		}
		if n > 0 {
			means = append(means, sum/float64(n))
		}
	}
	return means
}

// patterns counts the sign patterns, the observed one among them (Phipson and
// Smyth, Permutation p-values should never be zero, 2010).
func (s *SignFlip) patterns() float64 { return float64(len(s.means) + 1) }

// rounding is what two sums of the same numbers may differ by.
const rounding = 1e-12

// Greater returns the one-sided p-value of the hypothesis "mean ≤ theta": the
// share of sign patterns whose sum is at least the observed one. The least
// possible value is 1/2ⁿ for n pairs up to 16. 1 without differences.
func (s *SignFlip) Greater(theta float64) float64 {
	n := 1
	for _, m := range s.means {
		if m < theta+rounding {
			n++
		}
	}
	return float64(n) / s.patterns()
}

// Less returns the one-sided p-value of the hypothesis "mean ≥ theta".
func (s *SignFlip) Less(theta float64) float64 {
	n := 1
	for _, m := range s.means {
		if m >= theta-rounding {
			n++
		}
	}
	return float64(n) / s.patterns()
}

// Interval returns the values of theta that neither one-sided test refuses at
// level alpha: a confidence interval of 1−2·alpha. With so few pairs that no
// pattern is rare enough (2⁻ⁿ > alpha) it is unbounded.
func (s *SignFlip) Interval(alpha float64) (low, high float64) {
	k := int(alpha * s.patterns())
	if k < 1 || k > len(s.means) {
		return math.Inf(-1), math.Inf(1)
	}
	return nth(s.means, k-1), nth(s.means, len(s.means)-k)
}

// nth returns what would stand at place k if x were sorted, and leaves x in
// another order (Hoare, Algorithm 65: FIND, 1961). Sorting 65,535 means for two
// of them would be most of what a gate computes.
func nth(x []float64, k int) float64 {
	for len(x) > 16 {
		pivot := Median([]float64{x[0], x[len(x)/2], x[len(x)-1]})
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch { // x[:j+1] ≤ pivot ≤ x[i:], and between them is the pivot itself
		case k <= j:
			x = x[:j+1]
		case k >= i:
			x, k = x[i:], k-i
		default:
			return x[k]
		}
	}
	slices.Sort(x)
	return x[k]
}
