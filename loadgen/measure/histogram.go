package measure

import (
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Range and precision of a Histogram. 1 µs to 24 h with three digits costs
// 229 KB (28 halves of 1,024 cells of 8 bytes; 1 µs–60 s would cost 139 KB):
// the messages of somebody who was away for a day still have an age.
const (
	// MaxValue is the largest duration a histogram holds; more is overflow.
	MaxValue = 24 * time.Hour
	// Digits is the number of significant decimal digits kept: a value read
	// back is within 0.1 % of the value recorded.
	Digits = 3
)

// Histogram is the distribution of one latency, in microseconds rounded to the
// nearest, with what didn't fit counted beside it. It isn't safe for
// concurrent use; a Shard guards it.
type Histogram struct {
	hdr *hdr.Histogram
	// Overflow counts samples longer than MaxValue.
	Overflow int64
	// Negative counts samples below zero: an event before its intended time,
	// so a clock or a caller is wrong. They're in no percentile.
	Negative int64
	// Before and After count samples whose intended time lay before the
	// measure phase (warm-up) or at and after its end (drain).
	Before, After int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdr.New(1, MaxValue.Microseconds(), Digits)}
}

// micros rounds to the nearest microsecond, halves up.
func micros(d time.Duration) int64 { return int64((d + 500) / 1000) }

// Record adds one sample.
func (h *Histogram) Record(d time.Duration) {
	switch {
	case d < 0:
		h.Negative++
	case d > MaxValue:
		h.Overflow++
	case h.hdr.RecordValue(micros(d)) != nil:
		// Not reachable with the range above; counted so that it can't hide.
		h.Overflow++
	}
}

// Merge adds the samples of o, losing nothing: both have the same cells.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil {
		return
	}
	h.Overflow += h.hdr.Merge(o.hdr) + o.Overflow
	h.Negative += o.Negative
	h.Before += o.Before
	h.After += o.After
}

// Count is the number of samples of the measure phase, overflow included.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.hdr.TotalCount() + h.Overflow
}

// Bytes is the memory the cells take.
func (h *Histogram) Bytes() int { return h.hdr.ByteSize() }

// Percentiles are the printed figures of a histogram, in microseconds. A nil
// figure is one that nobody knows: nothing was recorded, or its rank falls
// among samples past MaxValue. Min ≤ P50 ≤ … ≤ Max holds for all that aren't nil.
type Percentiles struct {
	Count    int64    `json:"count"`
	Min      *int64   `json:"min_us"`
	P50      *int64   `json:"p50_us"`
	P90      *int64   `json:"p90_us"`
	P99      *int64   `json:"p99_us"`
	P999     *int64   `json:"p999_us"`
	Max      *int64   `json:"max_us"`
	Mean     *float64 `json:"mean_us"`
	Overflow int64    `json:"overflow"`
}

// Percentiles reads the printed figures. Nil gives the figures of no data.
func (h *Histogram) Percentiles() Percentiles {
	p := Percentiles{Count: h.Count()}
	if p.Count == 0 {
		return p
	}
	p.Overflow = h.Overflow
	p.P50, p.P90 = h.Percentile(50), h.Percentile(90)
	p.P99, p.P999 = h.Percentile(99), h.Percentile(99.9)
	p.Max = h.Percentile(100)
	if h.hdr.TotalCount() > 0 {
		least := h.hdr.Min()
		p.Min = &least
		if h.Overflow == 0 {
			mean := h.hdr.Mean()
			p.Mean = &mean
		}
	}
	return p
}

// Percentile is the value, in microseconds, that p percent of the samples
// don't exceed: that of rank max(1, ⌊p/100·n + ½⌋), HdrHistogram's definition,
// with overflowed samples ranked last. It's nil when nothing was recorded or
// when that rank is an overflowed sample.
func (h *Histogram) Percentile(p float64) *int64 {
	n := h.Count()
	if n == 0 {
		return nil
	}
	rank := int64(p/100*float64(n) + 0.5)
	rank = min(max(rank, 1), n)
	inside := h.hdr.TotalCount()
	if rank > inside {
		return nil
	}
	v := valueAtRank(h.hdr, rank, inside)
	return &v
}

// valueAtRank asks for the rank-th of n samples. The library adds half a rank
// and cuts, so asking for rank/n lands on that rank whatever floats do.
func valueAtRank(h *hdr.Histogram, rank, n int64) int64 {
	if rank == n {
		return h.ValueAtPercentile(100)
	}
	return h.ValueAtPercentile(100 * float64(rank) / float64(n))
}

// Encode gives the V2 compressed form in base64 that HdrHistogram's tools of
// every language read. Overflow and the other counts beside it aren't in it.
func (h *Histogram) Encode() (string, error) {
	b, err := h.hdr.EncodeV2()
	if err != nil {
		return "", fmt.Errorf("encoding a histogram of %d samples: %w", h.Count(), err)
	}
	return string(b), nil
}

// DecodeHistogram reads what Encode wrote. A histogram with another range or
// precision is refused, since it couldn't be merged without loss.
func DecodeHistogram(s string) (*Histogram, error) {
	got, err := hdr.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("histogram isn't HdrHistogram V2 in base64: %w", err)
	}
	return adopt(got)
}

// adopt takes a decoded histogram over, if its cells are those of ours.
func adopt(got *hdr.Histogram) (*Histogram, error) {
	h := NewHistogram()
	if got.LowestTrackableValue() != 1 || got.SignificantFigures() != Digits ||
		got.HighestTrackableValue() != h.hdr.HighestTrackableValue() {
		return nil, fmt.Errorf("histogram has range %d–%d and %d digits; it should have 1–%d (µs) and %d",
			got.LowestTrackableValue(), got.HighestTrackableValue(), got.SignificantFigures(),
			MaxValue.Microseconds(), Digits)
	}
	h.hdr = got
	return h, nil
}
