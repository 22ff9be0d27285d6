package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many bootstrap samples an interval rests on: the ends of a
// 95 % interval then move by about a tenth of a standard error from one seed to
// the next.
const resamples = 2000

// BootstrapRatio returns the percentile bootstrap interval of
// median(b) ÷ median(a) for two independent samples (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993, chapter 13). ok is false with fewer than two samples on a
// side, which have no spread, or where a sample is not positive, which makes no
// ratio.
//
// With few samples the interval is too narrow: five of each cover about 90 %
// where 95 % are promised. Whoever shows it says how many samples there are.
func BootstrapRatio(a, b []float64, confidence float64, rng *rand.Rand) (low, high float64, ok bool) {
	if len(a) < 2 || len(b) < 2 || slices.Min(a) <= 0 || slices.Min(b) <= 0 {
		return 0, 0, false
	}
	ratios := make([]float64, resamples)
	x, y := make([]float64, len(a)), make([]float64, len(b))
	for i := range ratios {
		ratios[i] = Median(resample(y, b, rng)) / Median(resample(x, a, rng))
	}
	slices.Sort(ratios)
	tail := (1 - confidence) / 2
	return Quantile(ratios, tail), Quantile(ratios, 1-tail), true
}

// resample draws len(from) values with replacement into to.
func resample(to, from []float64, rng *rand.Rand) []float64 {
	for i := range to {
		to[i] = from[rng.IntN(len(from))]
	}
	return to
}

// Median returns the median, the mean of the two in the middle for an even
// number. It sorts x in place. NaN for no values.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	mid := len(x) / 2
	if len(x)%2 == 1 {
		return x[mid]
	}
	return x[mid-1] + (x[mid]-x[mid-1])/2
}

// Quantile returns the q-quantile (0 to 1) of sorted values by linear
// interpolation between order statistics (Hyndman and Fan's type 7). NaN for
// no values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// MeanStdDev returns the mean and the sample standard deviation (divided by
// n−1; NaN below two values).
func MeanStdDev(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum / float64(len(x)-1))
}
