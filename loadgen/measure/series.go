package measure

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// secondDigits is the precision of per-second latencies: two digits (1 %) are
// enough for a line in a chart.
const secondDigits = 2

// secondHistogram is the latency of one second. It's sparse: a second usually
// spans two or three decades, a few hundred cells of a few bytes, where a dense
// histogram would take 32 KB for each second, name and shard.
type secondHistogram struct {
	hdr      *hdr.PackedHistogram
	overflow int64
	negative int64
}

func newSecondHistogram() *secondHistogram {
	return &secondHistogram{hdr: hdr.NewPacked(1, MaxValue.Microseconds(), secondDigits)}
}

func (h *secondHistogram) record(d time.Duration) {
	switch {
	case d < 0:
		h.negative++
	case d > MaxValue || h.hdr.RecordValue(micros(d)) != nil:
		h.overflow++
	}
}

func (h *secondHistogram) merge(o *secondHistogram) {
	h.overflow += h.hdr.Merge(o.hdr) + o.overflow
	h.negative += o.negative
}

// Second is one point of a latency series: the samples intended in that second
// since the run's start, in microseconds with two digits. Figures are nil when
// nothing was intended in it or when they lie past MaxValue.
type Second struct {
	Second int    `json:"second"`
	Count  int64  `json:"count"`
	P50    *int64 `json:"p50_us"`
	P99    *int64 `json:"p99_us"`
	Max    *int64 `json:"max_us"`
}

func (h *secondHistogram) second(i int) Second {
	s := Second{Second: i}
	if h == nil {
		return s
	}
	inside := h.hdr.TotalCount()
	s.Count = inside + h.overflow
	at := func(p float64) *int64 {
		rank := min(max(int64(p/100*float64(s.Count)+0.5), 1), s.Count)
		if rank > inside {
			return nil
		}
		v := h.hdr.ValueAtPercentile(100 * float64(rank) / float64(inside))
		return &v
	}
	if s.Count > 0 {
		s.P50, s.P99, s.Max = at(50), at(99), at(100)
	}
	return s
}
