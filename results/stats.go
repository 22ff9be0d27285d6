package results

import (
	"math"
	"slices"
)

// Summary is one metric over the repeats of a variant. One run is one sample
// (measuring.md, 23): the spread is between repeats, not within a run.
type Summary struct {
	Unit   string   `json:"unit"`
	Class  Class    `json:"class"`
	N      int      `json:"n"` // repeats that have the number
	Median *float64 `json:"median"`
	Min    *float64 `json:"min"`
	Max    *float64 `json:"max"`
}

// Summarize returns median, least and greatest of the samples. With an even
// number of samples the median is the mean of the two in the middle.
func Summarize(samples []float64) (median, least, greatest float64, ok bool) {
	if len(samples) == 0 {
		return 0, 0, 0, false
	}
	s := slices.Sorted(slices.Values(samples))
	mid := len(s) / 2
	median = s[mid]
	if len(s)%2 == 0 {
		median = s[mid-1] + (s[mid]-s[mid-1])/2
	}
	return median, s[0], s[len(s)-1], true
}

// SpreadPercent returns half the range in per cent of the median, what tables
// show as ±%. There is none with fewer than two samples, nor around 0 unless
// all samples are 0.
func (s Summary) SpreadPercent() (float64, bool) {
	if s.N < 2 || s.Median == nil || s.Min == nil || s.Max == nil {
		return 0, false
	}
	half := (*s.Max - *s.Min) / 2
	if half == 0 {
		return 0, true
	}
	if *s.Median == 0 {
		return 0, false
	}
	return half / math.Abs(*s.Median) * 100, true
}
