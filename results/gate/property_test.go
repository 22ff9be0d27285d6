package gate

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ackmark/results"
)

// TestDeletion: whatever is taken from a valid result, no pass is left, unless
// nothing gated was taken. Here everything that the result has is gated, or is a
// figure that the baseline has.
func TestDeletion(t *testing.T) {
	b := baselineOf(t, sample(t, 2))
	rapid.Check(t, func(rt *rapid.T) {
		r := sample(t, 2)
		run := &r.Runs[rapid.IntRange(0, len(r.Runs)-1).Draw(rt, "run")]
		what := rapid.SampledFrom([]string{"metric", "null", "histogram", "empty", "variant", "run"}).Draw(rt, "what")
		metric := rapid.SampledFrom(slices.Sorted(maps.Keys(run.Metrics))).Draw(rt, "metric")
		histogram := rapid.SampledFrom(slices.Sorted(maps.Keys(run.Histograms))).Draw(rt, "histogram")
		switch what {
		case "metric":
			delete(run.Metrics, metric)
		case "null":
			run.Metrics.SetNull(metric)
		case "histogram":
			delete(run.Histograms, histogram)
		case "empty":
			run.Histograms[histogram] = results.Histogram{Unit: results.Microseconds}
		case "variant":
			i := rapid.IntRange(0, 1).Draw(rt, "variant")
			r.Variants = slices.Delete(r.Variants, i, i+1)
		case "run":
			i := slices.IndexFunc(r.Runs, func(x results.Run) bool { return x.Variant == run.Variant && x.Repeat == run.Repeat })
			r.Runs = slices.Delete(r.Runs, i, i+1)
		}
		again := rapid.Bool().Draw(rt, "judged again") && what != "variant"
		if again {
			rejudge(t, r, 2)
		}
		if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode != results.ExitInvalid {
			rt.Errorf("%s %s %s: exit %d", what, metric, histogram, rep.ExitCode)
		}
	})
}

// TestCountsOff: a count that is off by 5 % fails, to whichever side; an
// invariant of 1 fails.
func TestCountsOff(t *testing.T) {
	b := baselineOf(t, sample(t, 2))
	rapid.Check(t, func(rt *rapid.T) {
		r := sample(t, 2)
		v := rapid.SampledFrom(b.Variants).Draw(rt, "variant")
		var counts []string
		for name, m := range v.Metrics {
			if m.Class == results.Deterministic && m.Samples[0] != 0 {
				counts = append(counts, name)
			}
		}
		slices.Sort(counts)
		metric := rapid.SampledFrom(counts).Draw(rt, "metric")
		scale(r, v.Name, metric, rapid.SampledFrom([]float64{0, 0.5, 0.95, 1.05, 2, 100}).Draw(rt, "factor"))
		rep := JudgeBaseline(r, b, reportOnly)
		if c := find(t, rep, v.Name, metric); rep.ExitCode != results.ExitFail || c.Outcome != Failed || c.Text == "" {
			rt.Errorf("exit %d, %+v", rep.ExitCode, c)
		}
	})
}

func TestEveryInvariantFails(t *testing.T) {
	b := baselineOf(t, sample(t, 2))
	for _, c := range results.DefaultInvariants() {
		for i := range 4 {
			t.Run(fmt.Sprint(c.Metric.Name, " in run ", i), func(t *testing.T) {
				r := sample(t, 2)
				r.Runs[i].Metrics.Set(c.Metric.Name, 1)
				if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode != results.ExitFail || rep.Verdict.Reasons[0].Kind != results.ReasonInvariant {
					t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict.Reasons)
				}
			})
		}
	}
}

func TestNewMetricsAreNoted(t *testing.T) {
	r := sample(t, 2)
	b := baselineOf(t, r)
	delete(b.Variants[1].Metrics, "rows_per_message")
	rep := JudgeBaseline(r, b, reportOnly)
	if rep.ExitCode != results.ExitPass || !slices.Contains(rep.Notes, "every 10: the baseline doesn't have rows_per_message yet") {
		t.Errorf("exit %d, notes %q", rep.ExitCode, rep.Notes)
	}
}
