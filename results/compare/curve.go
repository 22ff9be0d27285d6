package compare

import (
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"ackmark/results"
)

// nines is the greatest percentile of a plot, 99.99: its axis is the number of
// nines, −log10(1 − p).
const nines = 4.0

// curve is the distribution of one side: all its runs in one histogram.
type curve struct {
	Label    string
	Mark     rune
	h        *hdr.Histogram
	overflow int64
	invalid  bool
}

// at returns the value in µs at a number of nines. There is none where fewer
// values than one lie beyond, but for the greatest; nor above the range.
func (c curve) at(x float64) (float64, bool) {
	if c.h == nil {
		return 0, false
	}
	total := c.h.TotalCount() + c.overflow
	share := 1 - math.Pow(10, -x)
	if total == 0 || x > c.last() {
		return 0, false
	}
	share *= float64(total) / float64(c.h.TotalCount())
	if c.h.TotalCount() == 0 || share > 1 {
		return 0, false
	}
	return float64(c.h.ValueAtPercentile(share * 100)), true
}

// last is where the curve ends: at the number of nines that so many values
// tell.
func (c curve) last() float64 {
	return math.Log10(float64(max(1, c.h.TotalCount()+c.overflow)))
}

// merge adds up the histograms of runs without loss: counts per bucket, of the
// widest range and finest resolution among them.
func merge(runs []*results.Run, name string) (*hdr.Histogram, int64, error) {
	var parts []*hdr.Histogram
	overflow, least, most, digits := int64(0), int64(math.MaxInt64), int64(0), int64(0)
	for _, run := range runs {
		overflow += run.Histograms[name].Overflow
		h, err := run.Histograms[name].Decode()
		if err != nil {
			return nil, 0, fmt.Errorf("%s, repeat %d: %s: %w", run.Variant, run.Repeat, name, err)
		}
		if h != nil {
			parts = append(parts, h)
			least, most, digits = min(least, h.LowestTrackableValue()), max(most, h.HighestTrackableValue()), max(digits, h.SignificantFigures())
		}
	}
	if len(parts) == 0 {
		return nil, overflow, nil
	}
	all := hdr.New(least, most, int(digits))
	for _, h := range parts {
		if dropped := all.Merge(h); dropped != 0 {
			return nil, 0, fmt.Errorf("%s: %d values don't fit the merged histogram", name, dropped)
		}
	}
	return all, overflow, nil
}
