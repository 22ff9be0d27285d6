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

// mismatch says in what a histogram's text isn't that of the figures beside it;
// "" when it is. A plot of it would show other numbers than every table.
func mismatch(of results.Histogram, h *hdr.Histogram) string {
	inside := int64(0)
	if h != nil {
		inside = h.TotalCount()
	}
	switch total := inside + of.Overflow; {
	case inside == 0 && of.Count != total:
		return fmt.Sprintf("it is empty, count is %d", of.Count)
	case of.Count != total:
		return fmt.Sprintf("it holds %d values, count is %d", total, of.Count)
	}
	for _, p := range []struct {
		name    string
		percent float64
		figure  *int64
	}{{"p50", 50, of.P50}, {"p90", 90, of.P90}, {"p99", 99, of.P99}, {"p999", 99.9, of.P999}, {"max", 100, of.Max}} {
		// Values above the range rank last (measure.Percentiles). The library asks for
		// a share of those inside.
		rank := min(max(int64(p.percent/100*float64(of.Count)+0.5), 1), of.Count)
		switch {
		case p.figure == nil:
		case rank > inside:
			return fmt.Sprintf("%s lies above the range, its figure is %d µs", p.name, *p.figure)
		default:
			if v := h.ValueAtPercentile(100 * float64(rank) / float64(inside)); !h.ValuesAreEquivalent(v, *p.figure) {
				return fmt.Sprintf("its %s is %d µs, the figure %d µs", p.name, v, *p.figure)
			}
		}
	}
	return ""
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
		if why := mismatch(run.Histograms[name], h); why != "" {
			return nil, 0, fmt.Errorf("%s, repeat %d: %s: the histogram doesn't match its own figures: %s", run.Variant, run.Repeat, name, why)
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
