package compare

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"ackmark/results"
)

// withLive gives every run a live histogram of its own.
func withLive(t *testing.T, r *results.Result, of func(run int) results.Histogram) *results.Result {
	t.Helper()
	for i := range r.Runs {
		r.Runs[i].Histograms["live"] = of(i)
	}
	return r
}

// exponential draws n latencies with a mean in µs.
func exponential(t *testing.T, seed uint64, n int, mean float64) results.Histogram {
	rng := rand.New(rand.NewPCG(seed, 1))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(500 + mean*rng.ExpFloat64())
	}
	return histogram(t, values...)
}

func plotted(t *testing.T, name string, sides ...Side) string {
	t.Helper()
	var b bytes.Buffer
	if err := compared(t, Options{Variants: []string{"each"}}, sides...).RenderPlot(&b, name); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) > plotHeight {
		t.Errorf("%d lines", len(lines))
	}
	checkLines(t, b.String(), plotWidth)
	return b.String()
}

func TestPlotGolden(t *testing.T) {
	live := func(seed uint64, mean float64) *results.Result {
		return withLive(t, measured(t, slow...), func(i int) results.Histogram { return exponential(t, seed+uint64(i), 3000, mean) })
	}
	above := func() *results.Result {
		return withLive(t, measured(t, 10), func(int) results.Histogram {
			h := histogram(t, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)
			h.Count, h.Overflow = h.Count+1, 1
			h.P90, h.P99, h.P999, h.Max, h.Mean = nil, nil, nil, nil, nil // of ten values, the ninth is the greatest that is known
			return h
		})
	}
	one := func(us int64) *results.Result {
		return withLive(t, measured(t, 10), func(int) results.Histogram { return histogram(t, us) })
	}
	for _, tc := range []struct {
		name  string
		sides []Side
	}{
		{"plot.txt", []Side{side("old", live(1, 4000)), side("new", live(50, 2500))}},
		{"plot-three.txt", []Side{side("old", live(1, 4000)), side("new", live(50, 2500)), side("newer, with a name that is longer than most", live(90, 900))}},
		{"plot-one-value.txt", []Side{side("old", one(1234)), side("new", one(1234))}},
		{"plot-above.txt", []Side{side("old", live(1, 4000)), side("new", above())}},
		{"plot-one-empty.txt", []Side{side("old", live(1, 4000)), side("new", withLive(t, measured(t, 10), func(int) results.Histogram { return results.Histogram{Unit: results.Microseconds} }))}},
	} {
		t.Run(tc.name, func(t *testing.T) { golden(t, tc.name, []byte(plotted(t, "live", tc.sides...))) })
	}
}

func TestPlotWithoutData(t *testing.T) {
	if got := plotted(t, "page", side("old", measured(t, 1)), side("new", measured(t, 2))); got != "each: page\n  no data\n" {
		t.Errorf("%q", got)
	}
	c := compared(t, Options{}, side("old", measured(t, 1)), side("new", measured(t, 2)))
	if err := c.RenderPlot(&bytes.Buffer{}, "life"); err == nil || !strings.Contains(err.Error(), "send, send_service, live") {
		t.Errorf("an unknown histogram: %v", err)
	}
	broken := measured(t, 1)
	broken.Runs[0].Histograms["live"] = results.Histogram{HDR: "nonsense", Count: 1}
	c = compared(t, Options{}, side("old", broken), side("new", measured(t, 2)))
	if err := c.RenderPlot(&bytes.Buffer{}, "live"); err == nil || !strings.Contains(err.Error(), "each, repeat 1: live") {
		t.Errorf("a histogram that can't be read: %v", err)
	}
}

// Merging loses nothing: every count is there, at the percentiles that all
// values together have, whatever their ranges and resolutions.
func TestMergeIsLossless(t *testing.T) {
	fine, coarse := hdr.New(1, time.Hour.Microseconds(), 3), hdr.New(1, 24*time.Hour.Microseconds(), 2)
	var runs []*results.Run
	for i, h := range []*hdr.Histogram{fine, coarse} {
		for v := range int64(1000) {
			if err := h.RecordValue(1000*int64(i) + v + 1); err != nil {
				t.Fatal(err)
			}
		}
		runs = append(runs, &results.Run{Histograms: map[string]results.Histogram{"live": encodedHistogram(t, h)}})
	}
	if err := coarse.RecordValue(20 * time.Hour.Microseconds()); err != nil { // past the range of the other
		t.Fatal(err)
	}
	runs[1].Histograms["live"] = encodedHistogram(t, coarse)
	all, overflow, err := merge(runs, "live")
	if err != nil || overflow != 0 || all.TotalCount() != 2001 {
		t.Fatalf("%v, %d values, %d above", err, all.TotalCount(), overflow)
	}
	if p50 := all.ValueAtPercentile(50); p50 < 995 || p50 > 1005 {
		t.Errorf("p50 of 1 … 2,000 is %d", p50)
	}
	if top := float64(all.Max()); math.Abs(top/float64(20*time.Hour.Microseconds())-1) > 0.01 {
		t.Errorf("the greatest is %v", top)
	}
}

// A curve never falls, begins at the least value and ends where the values do.
func TestCurveIsMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 10_000_000), 1, 60).Draw(rt, "values")
		overflow := int64(rapid.IntRange(0, 5).Draw(rt, "overflow"))
		h := hdr.New(1, time.Hour.Microseconds(), 3)
		for _, v := range values {
			if err := h.RecordValue(v); err != nil {
				rt.Fatal(err)
			}
		}
		c := curve{h: h, overflow: overflow}
		before, ended := 0.0, false
		for x := 0.0; x <= nines; x += 0.05 {
			v, ok := c.at(x)
			switch {
			case ok && ended:
				rt.Fatal("it goes on after its end")
			case ok && v < before:
				rt.Fatalf("%v after %v", v, before)
			case !ok:
				ended = true
			default:
				before = v
			}
		}
		if v, ok := c.at(0); !ok || v > float64(h.Min())*1.01+1 {
			rt.Fatalf("begins at %v %t, the least is %d", v, ok, h.Min())
		}
		var b bytes.Buffer
		if err := plot(&b, "x", []curve{c}); err != nil {
			rt.Fatal(err)
		}
		checkLines(rt, b.String(), plotWidth)
		if n := strings.Count(b.String(), "\n"); n != plotHeight {
			rt.Fatalf("%d lines", n)
		}
	})
}

func TestLatency(t *testing.T) {
	for us, want := range map[float64]string{1: "1 µs", 500: "500 µs", 20_000: "20 ms", 5e6: "5 s", 3.6e9: "3600 s"} {
		if got := latency(us); got != want {
			t.Errorf("%v: %s, want %s", us, got, want)
		}
	}
}

// No side's name hides another's, and what an invalid side's curve is worth is
// never cut off.
func TestLegendOfLongNames(t *testing.T) {
	long := strings.Repeat("long", 30)
	bad := each(measured(t, fast...), func(r *results.Run) { r.Verdict.Status = results.Invalid })
	out := plotted(t, "live", side(long+"1", measured(t, slow...)), side(long+"2", bad), side("short", measured(t, slow...)))
	foot := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	for _, want := range []string{"A: long", "B: long", "… (invalid)", "C: short", "#: several"} {
		if !strings.Contains(foot, want) {
			t.Errorf("lacks %q: %s", want, foot)
		}
	}
}

func TestPlotNamesTheSideThatCannotBeRead(t *testing.T) {
	broken := each(measured(t, fast...), func(r *results.Run) {
		h := r.Histograms["live"]
		h.HDR = "HISTFAAAAgarbage"
		r.Histograms["live"] = h
	})
	err := compared(t, Options{}, side("good", measured(t, slow...)), side("broken", broken)).RenderPlot(&bytes.Buffer{}, "live")
	if err == nil || !strings.Contains(err.Error(), "broken: each, repeat 1: live") {
		t.Error(err)
	}
}

// What a plot shows is what the figures say, or it isn't shown: 9 values of
// 1 … 9 ms have a p50 of 5 ms, in a cell that ends at 5,003 µs.
func TestPlotOfAHistogramThatDoesNotMatch(t *testing.T) {
	for want, change := range map[string]func(*results.Histogram){
		"it is empty, count is 9":              func(h *results.Histogram) { h.HDR = "" },
		"it holds 9 values, count is 90":       func(h *results.Histogram) { h.Count = 90 },
		"it holds 10 values, count is 9":       func(h *results.Histogram) { h.Overflow = 1 },
		"its p50 is 5003 µs, the figure 50 µs": func(h *results.Histogram) { h.P50 = results.Count(50) },
		"max lies above the range, its figure is 9007 µs": func(h *results.Histogram) {
			h.Count, h.Overflow = 10, 1
			h.P90, h.P99, h.P999 = nil, nil, nil
		},
	} {
		broken := withLive(t, measured(t, 10), func(int) results.Histogram {
			h := histogram(t, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000)
			change(&h)
			return h
		})
		err := compared(t, Options{}, side("a", measured(t, slow...)), side("b", broken)).RenderPlot(&bytes.Buffer{}, "live")
		if err == nil || !strings.Contains(err.Error(), "b: each, repeat 1: live: the histogram doesn't match its own figures: "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
