package gate

import (
	"strings"
	"testing"

	"ackmark/results"
)

// sampleSeed is the seed of the sample's repeats.
func sampleSeed(repeat int) uint64 { return uint64(repeat) }

// TestJudgeAgain: what a result says of itself against its figures is found, is
// invalid, and no baseline is made from it.
func TestJudgeAgain(t *testing.T) {
	broken := results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant, Metric: "lost", Text: "lost is 5, must be 0"}}}
	for _, tc := range []struct {
		name   string
		change func(*results.Result)
		says   string // "": nothing
		want   results.ExitCode
	}{
		{"as it was", func(*results.Result) {}, "", results.ExitPass},
		{"verdict", func(r *results.Result) { r.Verdict.Status = results.Fail }, "it says of itself that it is fail; its figures are pass", results.ExitInvalid},
		{"verdict of a run", func(r *results.Result) { r.Runs[0].Verdict = broken },
			"each, repeat 1, says of itself that it is fail: lost is 5, must be 0; its figures are pass", results.ExitInvalid},
		{"verdict of a variant", func(r *results.Result) { r.Variants[1].Verdict.Status = results.Inconclusive },
			"every 10 says of itself that it is inconclusive; its figures are pass", results.ExitInvalid},
		{"counts that contradict each other", func(r *results.Result) {
			r.Runs[2].Health.Reconciliations = []results.Reconciliation{{What: "deliveries", Ours: 9, Other: "server", Theirs: 10}}
		}, "each, repeat 2, says of itself that it is pass; its figures are invalid: deliveries: the generator counted 9, server 10", results.ExitInvalid},
		{"the audit alone lost", func(r *results.Result) { r.Runs[0].Audit.Lost = 5 }, "lost: the metric says 0, the audit 5", results.ExitInvalid},
		{"lost, and says pass", func(r *results.Result) {
			for i := range r.Runs {
				a := &r.Runs[i].Audit
				a.Lost, a.Deliveries = 5, a.Deliveries-5
				r.Runs[i].SetAuditMetrics()
			}
		}, "its figures are fail: lost is 5, must be 0", results.ExitFail},
		{"no checks", func(r *results.Result) { r.Variants[0].Checks = nil }, `each wasn't judged by its invariant "lost == 0", which the profile has now`, results.ExitInvalid},
		{"a check too many", func(r *results.Result) {
			r.Variants[0].Checks = append(r.Variants[0].Checks, results.Check{Expression: "lost >= 0", Source: results.FromExpect, Status: results.Pass})
		}, `each was judged by its expect "lost >= 0", which the profile doesn't have now`, results.ExitInvalid},
		{"the value of a check", func(r *results.Result) {
			c := r.Variants[0].Checks
			c[len(c)-1].Value = results.Number(1000)
		}, `each says of its threshold "live.p99 < 250ms": pass, 1 ms, met by 2 repeats; its figures say: pass, 14.1 ms, met by 2 repeats`, results.ExitInvalid},
		{"other seeds", func(r *results.Result) {
			for i := range r.Runs {
				r.Runs[i].Seed++
			}
		}, "each, repeat 1, has the seed 2; the profile's gives that repeat 1", results.ExitInvalid},
		{"hash of a variant", func(r *results.Result) { r.Variants[0].Hash = "fff" }, "each has the hash fff; the profile's is 1111", results.ExitInvalid},
		{"ack policy", func(r *results.Result) { r.Variants[0].AckPolicy = "count" }, `each has the ack policy "count"; the profile's is "each"`, results.ExitInvalid},
		{"no such variant", func(r *results.Result) { r.Variants = r.Variants[:1] }, "every 10 has runs and isn't among its variants", results.ExitInvalid},
		{"a strange variant", func(r *results.Result) { r.Variants = append(r.Variants, results.Variant{Name: "strange"}) }, "the profile doesn't have its variant strange", results.ExitInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, r := baselineOf(t, sample(t, 2)), sample(t, 2)
			tc.change(r)
			o := reportOnly
			o.Doubts = JudgeAgain(r, sampleRules(t, 2), sampleSeed)
			if said := strings.Join(o.Doubts, "\n"); !strings.Contains(said, tc.says) || (tc.says == "") != (said == "") {
				t.Errorf("%q, want %q", said, tc.says)
			}
			rep := JudgeBaseline(r, b, o)
			if rep.ExitCode != tc.want {
				t.Errorf("exit %d, want %d: %+v", rep.ExitCode, tc.want, rep.Verdict.Reasons)
			}
			if again := JudgeAgain(r, sampleRules(t, 2), sampleSeed); tc.name != "other seeds" && len(again) > 0 {
				t.Errorf("judged a third time it contradicts itself: %q", again)
			}
		})
	}
}

// TestUpdateReportingTimings: who gates counts alone needn't accept the noise of
// timings, but a count all the same.
func TestUpdateReportingTimings(t *testing.T) {
	old, r := baselineOf(t, sample(t, 2)), sample(t, 2)
	scale(r, "each", "server_cpu_us_per_delivery", 3)
	delete(r.Runs[0].Histograms, "send")
	reported := UpdateOptions{Timings: ReportTimings}
	if _, worse, err := Update(old, r, later, UpdateOptions{}); err == nil {
		t.Errorf("timings are held: %q", worse)
	}
	if _, worse, err := Update(old, r, later, reported); err != nil || len(worse) > 0 {
		t.Errorf("%q, %v", worse, err)
	}
	scale(r, "each", "redis_commands_per_send", 2)
	if _, worse, err := Update(old, r, later, reported); err == nil || len(worse) != 1 || !strings.Contains(worse[0], "redis_commands_per_send") {
		t.Errorf("%q, %v", worse, err)
	}
}

// TestNoTimings: an empty list holds none, not the usual ones.
func TestNoTimings(t *testing.T) {
	b, r := baselineOf(t, sample(t, 2)), sample(t, 2)
	b.Tolerances = map[string]float64{"server_cpu_us_per_delivery": 0.1}
	scale(r, "each", "server_cpu_us_per_delivery", 3)
	o := BaselineOptions{Metrics: []Gated{}}
	if rep := JudgeBaseline(r, b, o); rep.ExitCode != results.ExitPass {
		t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict.Reasons)
	}
	if text := TooFew(b, o, 2); text != "" {
		t.Errorf("no timing is held: %s", text)
	}
}

func TestTooFew(t *testing.T) {
	for name, tc := range map[string]struct {
		before, now int
		o           BaselineOptions
		few         bool
	}{
		"two":           {2, 2, BaselineOptions{}, true},
		"two, reported": {2, 2, reportOnly, false},
		"five":          {5, 5, BaselineOptions{}, false},
		"five and four": {5, 4, BaselineOptions{}, true},
		"four and five": {4, 5, BaselineOptions{}, true},
	} {
		if text := TooFew(baselineOf(t, sample(t, tc.before)), tc.o, tc.now); (text != "") != tc.few {
			t.Errorf("%s: %q", name, text)
		}
	}
}
