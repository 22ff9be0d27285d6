package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

func TestSameResultPasses(t *testing.T) {
	for name, tc := range map[string]struct {
		repeats int
		o       BaselineOptions
		want    results.ExitCode
	}{
		"enough repeats":                   {5, BaselineOptions{}, results.ExitPass},
		"two repeats, timings reported":    {2, reportOnly, results.ExitPass},
		"two repeats don't decide timings": {2, BaselineOptions{}, results.ExitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample(t, tc.repeats)
			rep := JudgeBaseline(r, baselineOf(t, r), tc.o)
			if rep.ExitCode != tc.want {
				t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict)
			}
			if tc.want != results.ExitInconclusive {
				return
			}
			want := "timings can't be decided: 2 repeats here and 2 in the baseline are too few to tell a change from chance, 5 of each are needed; " +
				"leave timings to --timings report, or write a baseline of 5 repeats and gate as many (--repeats 5), or measure both builds side by side with --against"
			if c := find(t, rep, "each", "live.p99"); c.Outcome != Undecided || len(rep.Verdict.Reasons) != 1 || rep.Verdict.Reasons[0].Text != want {
				t.Errorf("what would decide isn't said once: %+v", rep.Verdict.Reasons)
			}
		})
	}
}

// TestInvalidNeverPasses is measuring.md, 27 and 28: what a gate could not look
// at gives exit 3.
func TestInvalidNeverPasses(t *testing.T) {
	r2 := func(change func(*results.Result)) func(*testing.T) (*results.Result, *Baseline) {
		return func(t *testing.T) (*results.Result, *Baseline) {
			b, r := baselineOf(t, sample(t, 5)), sample(t, 5)
			change(r)
			return r, b
		}
	}
	b2 := func(change func(*Baseline)) func(*testing.T) (*results.Result, *Baseline) {
		return func(t *testing.T) (*results.Result, *Baseline) {
			r := sample(t, 5)
			b := baselineOf(t, r)
			change(b)
			return r, b
		}
	}
	gated := BaselineOptions{}
	for _, tc := range []struct {
		name  string
		o     BaselineOptions
		given func(*testing.T) (*results.Result, *Baseline)
		says  string
	}{
		{"missing count", reportOnly, r2(func(r *results.Result) { delete(r.Runs[0].Metrics, "redis_commands_per_send") }), "is missing in repeat 1"},
		{"missing timing, reported", reportOnly, r2(func(r *results.Result) { delete(r.Runs[0].Metrics, "server_cpu_us_per_delivery") }), "is missing"},
		{"missing invariant", reportOnly, r2(func(r *results.Result) { delete(r.Runs[2].Metrics, "lost") }), "lost is missing in repeat 2"},
		{"null metric", reportOnly, r2(func(r *results.Result) { r.Runs[3].Metrics.SetNull("rows_per_message") }), "(null)"},
		{"NaN", reportOnly, r2(func(r *results.Result) { x := math.NaN(); r.Runs[0].Metrics["rows_per_message"] = &x }), "is no number"},
		{"infinite", reportOnly, r2(func(r *results.Result) { x := math.Inf(1); r.Runs[0].Metrics["rows_per_message"] = &x }), "is no number"},
		{"NaN of an invariant", reportOnly, r2(func(r *results.Result) { x := math.NaN(); r.Runs[0].Metrics["lost"] = &x }), "is no number"},
		{"missing histogram", gated, r2(func(r *results.Result) { delete(r.Runs[0].Histograms, "live") }), "live.p99 is missing"},
		{"empty histogram", gated, r2(func(r *results.Result) { r.Runs[0].Histograms["live"] = results.Histogram{Unit: results.Microseconds} }), "nothing was recorded"},
		{"empty histogram with figures", gated, r2(func(r *results.Result) {
			h := r.Runs[0].Histograms["live"]
			h.Count = 0
			r.Runs[0].Histograms["live"] = h
		}), "nothing was recorded"},
		{"missing variant", reportOnly, r2(func(r *results.Result) { r.Variants = r.Variants[:1]; r.Runs = r.Runs[:1] }), "the result doesn't"},
		{"extra variant", reportOnly, r2(func(r *results.Result) { r.Variants = append(r.Variants, results.Variant{Name: "new"}) }), "baseline doesn't have this variant"},
		{"variant without runs", reportOnly, r2(func(r *results.Result) {
			r.Runs = slices.DeleteFunc(r.Runs, func(run results.Run) bool { return run.Variant == "each" })
		}), "0 repeats measured"},
		{"missing run", reportOnly, r2(func(r *results.Result) { r.Runs = r.Runs[:9] }), "4 repeats measured, the baseline has 5"},
		{"repeats of other numbers", reportOnly, r2(func(r *results.Result) { r.Runs[0].Repeat = 9 }), "repeats measured"},
		{"no runs", reportOnly, r2(func(r *results.Result) { r.Runs, r.Variants = nil, nil }), "nothing was measured"},
		{"run of a stranger", reportOnly, r2(func(r *results.Result) { r.Runs = append(r.Runs, sampleRun("stranger", 1)) }), "isn't among the variants"},
		{"other machine, timings gated", gated, r2(func(r *results.Result) { r.Environment = machine("7.0.15", 4) }), "cores was 2, is 4"},
		{"other seed", reportOnly, r2(func(r *results.Result) { r.Profile.Seed = 8 }), "the seed is 8"},
		{"other profile", reportOnly, r2(func(r *results.Result) { r.Profile.Name = "smoke" }), "the profile is smoke"},
		{"other profile hash", reportOnly, r2(func(r *results.Result) { r.Profile.Hash = "fff" }), "something else was measured"},
		{"other variant hash", reportOnly, r2(func(r *results.Result) { r.Variants[0].Hash = "fff" }), "the variant's hash is fff"},
		{"other ack policy", reportOnly, r2(func(r *results.Result) { r.Variants[0].AckPolicy = "interval" }), "ack policy"},
		{"other Redis, memory", reportOnly, r2(func(r *results.Result) { r.Environment = machine("7.2.4", 2) }), "Redis is 7.2.4 here"},
		{"unknown Redis, memory", reportOnly, r2(func(r *results.Result) { r.Environment = machine("", 2) }), "of an unknown version"},
		{"saturated generator", reportOnly, r2(func(r *results.Result) {
			r.Runs[0].Health.GeneratorCPUCores, r.Runs[0].Health.GeneratorCores = results.Number(2), results.Number(2)
			rejudge(t, r, 5)
		}), "the generator used"},
		{"not all of the load", reportOnly, r2(func(r *results.Result) { scale(r, "each", "achieved_percent", 0.5); rejudge(t, r, 5) }), "of the offered load"},
		{"not judged", reportOnly, r2(func(r *results.Result) { r.Verdict = results.Verdict{} }), "not judged"},
		{"run not judged", reportOnly, r2(func(r *results.Result) { r.Runs[4].Verdict = results.Verdict{} }), "not judged"},
		{"embedded store", reportOnly, r2(func(r *results.Result) { r.Redis[0].Kind = results.Embedded }), "embedded"},
		{"interrupted", reportOnly, r2(func(r *results.Result) { r.Interrupted = true }), "interrupted"},
		{"reduced audit", reportOnly, r2(func(r *results.Result) { r.Runs[1].Audit.Reduced = true }), "reduced"},
		{"sweep", reportOnly, r2(func(r *results.Result) { r.Sweep = &results.Sweep{} }), "sweep"},
		{"old result file", reportOnly, r2(func(r *results.Result) { r.Schema = results.SchemaV1 }), "doesn't keep the seed"},
		{"target, timings gated", gated, r2(func(r *results.Result) { r.Servers[0].Kind = results.Given }), "the server was a target"},
		{"baseline of a future schema", reportOnly, b2(func(b *Baseline) { b.Schema = "ackmark/baseline/v2" }), "baseline/v2"},
		{"damaged baseline", reportOnly, b2(func(b *Baseline) { b.Variants[0].Metrics["sends"] = BaselineMetric{Class: results.Deterministic} }), "damaged"},
		{"baseline without variants", reportOnly, b2(func(b *Baseline) { b.Variants = nil }), "no variants"},
		{"baseline without counts", reportOnly, b2(func(b *Baseline) {
			for name, m := range b.Variants[1].Metrics {
				if m.Class == results.Deterministic {
					delete(b.Variants[1].Metrics, name)
				}
			}
		}), "no count of this variant"},
		{"baseline without a timing that is held", gated, b2(func(b *Baseline) { delete(b.Variants[0].Metrics, "live.p99") }), "doesn't have live.p99"},
		{"tolerance of a timing that isn't there", gated, b2(func(b *Baseline) { b.Tolerances["sync.p99"] = 0.1 }), "no sync.p99 in any variant"},
		{"class changed", reportOnly, b2(func(b *Baseline) {
			m := b.Variants[0].Metrics["sends"]
			m.Class = results.Timing
			b.Variants[0].Metrics["sends"] = m
		}), "make a new baseline"},
		{"metric of another version", reportOnly, b2(func(b *Baseline) { b.Variants[0].Metrics["gone"] = b.Variants[0].Metrics["sends"] }), "doesn't know"},
		{"gated metric that the baseline lacks", BaselineOptions{Metrics: []Gated{{"sync.p99", 0.1}}}, b2(func(*Baseline) {}), "the baseline has no sync.p99"},
		{"gated metric that nobody knows", BaselineOptions{Metrics: []Gated{{"sink.p99", 0.1}}}, b2(func(*Baseline) {}), "there is no metric"},
		{"an empty baseline", reportOnly, func(t *testing.T) (*results.Result, *Baseline) { return sample(t, 2), &Baseline{} }, "schema"},
		{"an empty result", reportOnly, func(t *testing.T) (*results.Result, *Baseline) { return &results.Result{}, baselineOf(t, sample(t, 2)) }, "nothing was measured"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, b := tc.given(t)
			rep := JudgeBaseline(r, b, tc.o)
			if rep.ExitCode != results.ExitInvalid || rep.Verdict.Status != results.Invalid {
				t.Errorf("exit %d, %s: %+v", rep.ExitCode, rep.Verdict.Status, rep.Verdict.Reasons)
			}
			if !slices.ContainsFunc(rep.Verdict.Reasons, func(r results.Reason) bool { return strings.Contains(r.Text, tc.says) }) {
				t.Errorf("no reason says %q: %+v", tc.says, rep.Verdict.Reasons)
			}
		})
	}
}

func TestFails(t *testing.T) {
	slower := func(factor float64) func(*results.Result) {
		return func(r *results.Result) { scale(r, "each", "server_cpu_us_per_delivery", factor) }
	}
	for _, tc := range []struct {
		name   string
		o      BaselineOptions
		change func(*results.Result)
		want   results.ExitCode
	}{
		{"a lost message", reportOnly, func(r *results.Result) { r.Runs[9].Metrics.Set("lost", 1) }, results.ExitFail},
		{"a lost message though a histogram is missing", BaselineOptions{}, func(r *results.Result) {
			r.Runs[9].Metrics.Set("lost", 1)
			delete(r.Runs[0].Histograms, "live")
		}, results.ExitFail},
		{"a lost message beside a repeat that doesn't say", reportOnly, func(r *results.Result) {
			r.Runs[8].Metrics.Set("lost", 1)
			delete(r.Runs[0].Metrics, "lost")
		}, results.ExitFail},
		{"a lost message on another machine", BaselineOptions{}, func(r *results.Result) {
			r.Runs[9].Metrics.Set("lost", 1)
			r.Environment = machine("7.2.4", 8)
		}, results.ExitFail},
		{"a count 1.1 % off", reportOnly, func(r *results.Result) { scale(r, "each", "ack_requests_total", 1.011) }, results.ExitFail},
		{"a count 0.9 % off", reportOnly, func(r *results.Result) { scale(r, "each", "ack_requests_total", 1.009) }, results.ExitPass},
		{"a count 0.9 % off, held closer", BaselineOptions{Timings: ReportTimings, Counts: 0.005}, func(r *results.Result) { scale(r, "each", "ack_requests_total", 1.009) }, results.ExitFail},
		{"memory 1.9 % off", reportOnly, func(r *results.Result) { scale(r, "each", "memory_bytes_per_message", 1.019) }, results.ExitPass},
		{"memory 2.1 % off", reportOnly, func(r *results.Result) { scale(r, "each", "memory_bytes_per_message", 1.021) }, results.ExitFail},
		{"a patch release of Redis", reportOnly, func(r *results.Result) { r.Environment = machine("7.0.16", 2) }, results.ExitPass},
		{"an ignored count", BaselineOptions{Timings: ReportTimings, Ignore: []string{"ack_requests_total"}}, func(r *results.Result) { scale(r, "each", "ack_requests_total", 2) }, results.ExitPass},
		{"an ignored histogram", BaselineOptions{Timings: ReportTimings, Ignore: []string{"send"}}, func(r *results.Result) { delete(r.Runs[0].Histograms, "send") }, results.ExitPass},
		{"CPU far off", BaselineOptions{}, slower(1.5), results.ExitFail},
		{"CPU far off, reported", reportOnly, slower(1.5), results.ExitPass},
		{"CPU across the tolerance", BaselineOptions{}, slower(1.15), results.ExitInconclusive},
		{"CPU far better", BaselineOptions{}, slower(0.5), results.ExitPass},
		{"CPU within a tolerance of the options", BaselineOptions{Metrics: []Gated{{"server_cpu_us_per_delivery", 0.8}}}, slower(1.5), results.ExitPass},
		{"another machine, timings reported", reportOnly, func(r *results.Result) { r.Environment = machine("7.0.15", 64) }, results.ExitPass},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, r := baselineOf(t, sample(t, 5)), sample(t, 5)
			tc.change(r)
			if rep := JudgeBaseline(r, b, tc.o); rep.ExitCode != tc.want {
				t.Errorf("exit %d, want %d: %+v", rep.ExitCode, tc.want, rep.Verdict.Reasons)
			}
		})
	}
}

func TestThresholdsOfTheProfileCount(t *testing.T) {
	b, r := baselineOf(t, sample(t, 2)), sample(t, 2)
	for i := range r.Runs {
		r.Runs[i].Histograms["live"] = percentiles(3400, 400_000)
	}
	rejudge(t, r, 2)
	rep := JudgeBaseline(r, b, reportOnly)
	if c := find(t, rep, "each", "live.p99 < 250ms"); rep.ExitCode != results.ExitFail || c.Outcome != Failed {
		t.Errorf("exit %d, %+v", rep.ExitCode, c)
	}
}

func TestExpectedBreaks(t *testing.T) {
	r := sample(t, 2)
	b := baselineOf(t, r)
	r.Variants[0].Checks = append(r.Variants[0].Checks, results.Check{Expression: "lost >= 0", Source: results.FromExpect, Status: results.Pass})
	r.Runs[0].Metrics.Set("lost", 3)
	if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode != results.ExitPass {
		t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict.Reasons)
	}
	r.Runs[0].Metrics.Set("shown_twice", 1)
	if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode != results.ExitFail {
		t.Errorf("another invariant: exit %d", rep.ExitCode)
	}
}

func TestTolerancesOfTheBaseline(t *testing.T) {
	b, r := baselineOf(t, sample(t, 5)), sample(t, 5)
	b.Tolerances = map[string]float64{"server_cpu_us_per_delivery": 0.3}
	scale(r, "each", "server_cpu_us_per_delivery", 1.2)
	scale(r, "each", "redis_cpu_us_per_delivery", 3) // not among the tolerances: shown
	rep := JudgeBaseline(r, b, BaselineOptions{})
	if rep.ExitCode != results.ExitPass {
		t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict.Reasons)
	}
	if c := find(t, rep, "each", "redis_cpu_us_per_delivery"); c.Gated || c.Outcome != Reported {
		t.Errorf("%+v", c)
	}
	rep = JudgeBaseline(r, b, BaselineOptions{Metrics: []Gated{{"server_cpu_us_per_delivery", 0.1}}})
	if rep.ExitCode != results.ExitFail {
		t.Errorf("the options' tolerance isn't over the baseline's: exit %d", rep.ExitCode)
	}
}

// TestNoNumberIsWithinNothing: the median of −1.7e308 and 1.7e308 overflows on its
// way, and what then differs from it by no number isn't the same.
func TestNoNumberIsWithinNothing(t *testing.T) {
	r := sample(t, 2)
	b := baselineOf(t, r)
	b.Variants[0].Metrics["sends"] = BaselineMetric{Class: results.Deterministic, Unit: b.Variants[0].Metrics["sends"].Unit, Samples: []float64{-1.7e308, 1.7e308}}
	rep := JudgeBaseline(r, b, reportOnly)
	if c := find(t, rep, "each", "sends"); rep.ExitCode != results.ExitFail || c.Outcome != Failed {
		t.Errorf("exit %d, sends %s: %s", rep.ExitCode, c.Outcome, c.Text)
	}
}
