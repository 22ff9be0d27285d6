package measure

import (
	"math"
	"reflect"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

func TestHistogramCostsWhatTheDocSays(t *testing.T) {
	// Buckets: 2,048 µs doubled until past 86.4e9 µs takes 26 doublings, so 27
	// buckets and 28 halves of 1,024 cells of 8 bytes, plus the struct.
	want := 28 * 1024 * 8
	if got := NewHistogram().Bytes(); got < want || got > want+1024 {
		t.Errorf("a histogram takes %d bytes; want %d and a little", got, want)
	}
}

// Known distributions, each given by its quantile function: the sample of rank k
// of n is q(k/n), so the percentile p is q(p/100) by construction.
func TestPercentilesOfKnownDistributions(t *testing.T) {
	const n = 100_000
	for name, q := range map[string]func(p float64) float64{ // µs
		"uniform 1 µs to 100 ms":    func(p float64) float64 { return 100_000 * p },
		"exponential, mean 20 ms":   func(p float64) float64 { return -20_000 * math.Log(1-p*(1-1e-6)) },
		"a server that pauses":      func(p float64) float64 { return 1_000 + 1_000_000*math.Max(0, p-0.8)/0.2 },
		"hours":                     func(p float64) float64 { return 3.6e9 + 8e10*p },
		"constant, sub-millisecond": func(float64) float64 { return 137 },
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistogram()
			var sum float64
			for k := 1; k <= n; k++ {
				v := q(float64(k) / n)
				sum += v
				h.Record(time.Duration(v * 1000))
			}
			p := h.Percentiles()
			for _, c := range []struct {
				name string
				got  *int64
				p    float64
			}{{"p50", p.P50, .5}, {"p90", p.P90, .9}, {"p99", p.P99, .99}, {"p99.9", p.P999, .999}, {"max", p.Max, 1}, {"min", p.Min, 1.0 / n}} {
				// 0.1 % by three digits, and half a µs by rounding.
				if got, want := float64(value(t, c.name, c.got)), q(c.p); math.Abs(got-want) > 0.001*want+0.5 {
					t.Errorf("%s is %v; want %v", c.name, got, want)
				}
			}
			if p.Count != n || p.Overflow != 0 || p.Mean == nil || !within(*p.Mean, sum/n, 0.001) {
				t.Errorf("count %d, mean %v; want %d, %v", p.Count, p.Mean, n, sum/n)
			}
		})
	}
}

func TestHistogramEdges(t *testing.T) {
	tests := []struct {
		name               string
		record             []time.Duration
		count              int64
		overflow, negative int64
		p50, max           any // int64, or nil for unknown
	}{
		{name: "empty: null, never 0"},
		{name: "zero is a value", record: []time.Duration{0}, count: 1, p50: int64(0), max: int64(0)},
		{name: "rounded to the nearest µs", record: []time.Duration{1499}, count: 1, p50: int64(1), max: int64(1)},
		{name: "half a µs rounds up", record: []time.Duration{500}, count: 1, p50: int64(1), max: int64(1)},
		{name: "past 24 h", record: []time.Duration{time.Millisecond, 25 * time.Hour}, count: 2, overflow: 1, p50: int64(1000)},
		{name: "only past 24 h", record: []time.Duration{25 * time.Hour}, count: 1, overflow: 1},
		{name: "24 h exactly fits", record: []time.Duration{24 * time.Hour}, count: 1, p50: "≈86400000000", max: "≈86400000000"},
		{name: "negative is counted apart", record: []time.Duration{-1, time.Millisecond}, count: 1, negative: 1, p50: int64(1000), max: int64(1000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := NewHistogram()
			for _, d := range tt.record {
				h.Record(d)
			}
			p := h.Percentiles()
			if p.Count != tt.count || p.Overflow != tt.overflow || h.Negative != tt.negative {
				t.Errorf("count %d, overflow %d, negative %d; want %d, %d, %d", p.Count, p.Overflow, h.Negative, tt.count, tt.overflow, tt.negative)
			}
			for what, c := range map[string]struct {
				got  *int64
				want any
			}{"p50": {p.P50, tt.p50}, "max": {p.Max, tt.max}} {
				switch want := c.want.(type) {
				case nil:
					if c.got != nil {
						t.Errorf("%s is %d; want null", what, *c.got)
					}
				case int64:
					if got := value(t, what, c.got); got != want {
						t.Errorf("%s is %d; want %d", what, got, want)
					}
				case string:
					if got := value(t, what, c.got); !within(float64(got), 86_400_000_000, 0.001) {
						t.Errorf("%s is %d; want %s", what, got, want)
					}
				}
			}
			if p.Mean != nil && (p.Count == 0 || p.Overflow > 0) {
				t.Errorf("mean %v; it's unknown", *p.Mean)
			}
		})
	}
	var none *Histogram
	if p := none.Percentiles(); !reflect.DeepEqual(p, Percentiles{}) {
		t.Errorf("no histogram gives %+v", p)
	}
}

func durations() *rapid.Generator[[]time.Duration] {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(-1000, int64(30*time.Hour)).Draw(t, "d"))
	}))
}

// Merging parts gives exactly what recording everything in one place gives, and
// the printed figures are always in order.
func TestMergeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := durations().Draw(t, "a"), durations().Draw(t, "b")
		whole, left, right := NewHistogram(), NewHistogram(), NewHistogram()
		for _, d := range a {
			whole.Record(d)
			left.Record(d)
		}
		for _, d := range b {
			whole.Record(d)
			right.Record(d)
		}
		left.Merge(right)
		left.Merge(nil)
		if !left.hdr.Equals(whole.hdr) || left.Overflow != whole.Overflow || left.Negative != whole.Negative {
			t.Fatal("merged and whole differ")
		}
		p := left.Percentiles()
		if !reflect.DeepEqual(p, whole.Percentiles()) {
			t.Fatalf("merged %+v, whole %+v", p, whole.Percentiles())
		}
		last := int64(-1)
		for _, v := range []*int64{p.Min, p.P50, p.P90, p.P99, p.P999, p.Max} {
			if v == nil {
				continue
			}
			if *v < last {
				t.Fatalf("figures out of order: %+v", p)
			}
			last = *v
		}
	})
}

func TestEncodeDecode(t *testing.T) {
	h := NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(i*i) * time.Microsecond)
	}
	s, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeHistogram(s)
	if err != nil || !got.hdr.Equals(h.hdr) {
		t.Fatalf("decoded differs: %v", err)
	}
	other, err := hdr.New(1, 60_000_000, 3).EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]string{"empty": "", "not base64": "%%%", "cut": s[:len(s)/2], "another range": string(other)} {
		if _, err := DecodeHistogram(s); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
