package gate

import (
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

// even are pairs of equal runs: what a test then changes is all that differs.
func even(n int) [][2]*results.Run {
	out := make([][2]*results.Run, n)
	for i := range out {
		for k := range out[i] {
			run := sampleRun("every 10", i+1)
			run.Verdict = results.Verdict{Status: results.Pass}
			run.Metrics.Set("server_allocated_bytes_per_delivery", 25)
			out[i][k] = &run
		}
	}
	return out
}

func invalid(kinds ...results.ReasonKind) results.Verdict {
	v := results.Verdict{Status: results.Invalid}
	for _, k := range kinds {
		v.Reasons = append(v.Reasons, results.Reason{Kind: k, Text: "because of " + string(k)})
	}
	return v
}

// judgePairs adds pairs until Look has enough.
func judgePairs(o PairOptions, pairs [][2]*results.Run) (rep Report, usable int) {
	p := NewPairs(o)
	for _, pr := range pairs {
		if ok, _ := p.Add("every 10", "count", pr[0], pr[1]); ok {
			usable++
		}
		if p.Look() {
			break
		}
	}
	return p.Report(), usable
}

func TestPairs(t *testing.T) {
	const cpu = "server_cpu_us_per_delivery"
	scaled := func(metric string, f float64) func(i int, c, r *results.Run) {
		return func(_ int, c, _ *results.Run) { c.Metrics.Set(metric, *c.Metrics[metric]*f) }
	}
	for _, tt := range []struct {
		name   string
		change func(i int, c, r *results.Run)
		want   results.Status
		pairs  int // usable ones when it is decided
		metric string
	}{
		{"equal", nil, results.Pass, 8, ""},
		{"20 % more CPU", scaled(cpu, 1.2), results.Fail, 8, cpu},
		{"20 % less CPU", scaled(cpu, 0.8), results.Pass, 8, ""},
		{"exactly the tolerance", scaled(cpu, 1.07), results.Inconclusive, 20, cpu},
		{"a command more per send", scaled("redis_commands_per_send", 2), results.Fail, 3, "redis_commands_per_send"},
		{"half a command less per send", scaled("redis_commands_per_send", 0.5), results.Pass, 8, ""},
		{"memory within 2 %", scaled("memory_bytes_per_message", 1.015), results.Pass, 8, ""},
		{"memory past 2 %", scaled("memory_bytes_per_message", 1.03), results.Fail, 3, "memory_bytes_per_message"},
		{"a count that has no better, less", scaled("sends", 0.95), results.Fail, 3, "sends"},
		{"a lost message", func(i int, c, _ *results.Run) {
			if i == 1 {
				c.Verdict = results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant, Metric: "lost", Text: "lost is 1, must be 0"}}}
			}
		}, results.Fail, 2, "lost"},
		{"the reference loses one", func(_ int, _, r *results.Run) {
			r.Verdict = results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant, Metric: "lost"}}}
		}, results.Pass, 8, ""},
		{"no CPU of the candidate", func(_ int, c, _ *results.Run) { delete(c.Metrics, cpu) }, results.Invalid, 3, cpu},
		{"no CPU of the reference", func(_ int, _, r *results.Run) { r.Metrics.SetNull(cpu) }, results.Invalid, 3, cpu},
		{"no CPU of either", func(_ int, c, r *results.Run) { c.Metrics.SetNull(cpu); r.Metrics.SetNull(cpu) }, results.Invalid, 3, cpu},
		{"no CPU once", func(i int, c, _ *results.Run) {
			if i == 0 {
				c.Metrics.SetNull(cpu)
			}
		}, results.Invalid, 3, cpu},
		{"Redis' CPU is 0", scaled("redis_cpu_us_per_delivery", 0), results.Invalid, 3, "redis_cpu_us_per_delivery"},
		{"Redis' CPU is negative", scaled("redis_cpu_us_per_delivery", -1), results.Invalid, 3, "redis_cpu_us_per_delivery"},
		{"a count on one side only", func(_ int, c, _ *results.Run) { delete(c.Metrics, "rows_per_message") }, results.Invalid, 3, "rows_per_message"},
		{"a count on neither side", func(_ int, c, r *results.Run) {
			delete(c.Metrics, "rows_per_message")
			delete(r.Metrics, "rows_per_message")
		}, results.Pass, 8, ""},
		{"an invariant isn't known", func(_ int, c, _ *results.Run) {
			c.Metrics.SetNull("lost")
			c.Verdict = invalid(results.ReasonMissing)
		}, results.Invalid, 3, "judged runs"},
		{"an invariant of the reference isn't known", func(_ int, _, r *results.Run) { r.Verdict = invalid(results.ReasonMissing) }, results.Invalid, 3, "judged runs"},
		{"starved, and lacks something", func(_ int, c, _ *results.Run) { c.Verdict = invalid(results.ReasonMissing, results.ReasonHealth) }, results.Invalid, 0, "usable pairs"},
		{"starved", func(_ int, _, r *results.Run) { r.Verdict = invalid(results.ReasonHealth) }, results.Invalid, 0, "usable pairs"},
		{"starved now and then", func(i int, _, r *results.Run) {
			if i%4 == 0 {
				r.Verdict = invalid(results.ReasonHealth)
			}
		}, results.Pass, 8, ""},
		{"counts contradict each other", func(_ int, c, _ *results.Run) { c.Verdict = invalid(results.ReasonReconcile) }, results.Fail, 0, "counts that must agree"},
		{"counts of both do", func(_ int, c, r *results.Run) {
			c.Verdict, r.Verdict = invalid(results.ReasonReconcile), invalid(results.ReasonReconcile)
		}, results.Invalid, 0, "usable pairs"},
		{"other seeds", func(_ int, c, _ *results.Run) { c.Seed += 1000 }, results.Invalid, 0, "usable pairs"},
		{"not judged", func(_ int, c, _ *results.Run) { c.Verdict = results.Verdict{} }, results.Invalid, 0, "usable pairs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pairs := even(40)
			for i, pr := range pairs {
				if tt.change != nil {
					tt.change(i, pr[0], pr[1])
				}
			}
			rep, n := judgePairs(DefaultPairOptions(), pairs)
			if rep.Verdict.Status != tt.want || n != tt.pairs {
				t.Errorf("%s after %d usable pairs, want %s after %d: %+v", rep.Verdict.Status, n, tt.want, tt.pairs, rep.Verdict.Reasons)
			}
			named := slices.ContainsFunc(rep.Verdict.Reasons, func(r results.Reason) bool { return r.Metric == tt.metric && r.Text != "" })
			if tt.metric != "" && !named {
				t.Errorf("no reason is about %s: %+v", tt.metric, rep.Verdict.Reasons)
			}
		})
	}
}

func TestPairsOfAnEmptyHistogram(t *testing.T) {
	o := DefaultPairOptions()
	o.Metrics = []Gated{{"live.p99", 0.3}}
	pairs := even(8)
	for _, pr := range pairs {
		pr[0].Histograms["live"] = results.Histogram{Unit: results.Microseconds}
	}
	if rep, _ := judgePairs(o, pairs); rep.ExitCode != results.ExitInvalid {
		t.Errorf("exit %d: %+v", rep.ExitCode, rep.Verdict)
	}
}

// More is better: a rate that halves fails, one that doubles passes.
func TestPairsOfARate(t *testing.T) {
	o := DefaultPairOptions()
	o.Metrics = []Gated{{"deliveries_per_s", 0.1}}
	for factor, want := range map[float64]results.Status{0.5: results.Fail, 0.88: results.Fail, 0.95: results.Pass, 2: results.Pass} {
		pairs := even(16)
		for _, pr := range pairs {
			pr[0].Metrics.Set("deliveries_per_s", *pr[0].Metrics["deliveries_per_s"]*factor)
		}
		if rep, _ := judgePairs(o, pairs); rep.Verdict.Status != want {
			t.Errorf("× %g: %s, want %s", factor, rep.Verdict.Status, want)
		}
	}
}

// A variant that lacks pairs holds the look back.
// A threshold that the candidate alone misses is said, and decides nothing.
func TestPairsTellOfThresholds(t *testing.T) {
	miss := func(run *results.Run) {
		run.Verdict = results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonThreshold, Text: "live.p99 is 240 ms, should be < 200 ms"}}}
	}
	for _, tt := range []struct {
		candidate, reference int
		want                 string
	}{
		{2, 0, "every 10: the candidate misses what the profile asks for in 2 of 8 pairs, the reference in 0: live.p99 is 240 ms"},
		{1, 1, ""},
		{0, 3, ""},
	} {
		p := NewPairs(PairOptions{Metrics: []Gated{{"server_cpu_us_per_delivery", 0.07}}, Counts: 0.01, Memory: 0.02, Looks: []int{8}, Alpha: 0.05})
		for i, pr := range even(8) {
			if i < tt.candidate {
				miss(pr[0])
			}
			if i < tt.reference {
				miss(pr[1])
			}
			p.Add("every 10", "count", pr[0], pr[1])
			p.Look()
		}
		rep := p.Report()
		notes := strings.Join(rep.Notes, "\n")
		if rep.ExitCode != results.ExitPass || tt.want == "" && strings.Contains(notes, "asks for") || !strings.Contains(notes, tt.want) {
			t.Errorf("%d and %d: exit %d, %s", tt.candidate, tt.reference, rep.ExitCode, notes)
		}
	}
}

func TestPairsWaitForEveryVariant(t *testing.T) {
	p := NewPairs(DefaultPairOptions())
	pairs := even(16)
	for i := range 8 {
		p.Add("a", "count", pairs[i][0], pairs[i][1])
		if i < 7 {
			p.Add("b", "count", pairs[i][0], pairs[i][1])
		}
		if p.Look() {
			t.Fatalf("decided when b has %d pairs", min(i+1, 7))
		}
	}
	if rep := p.Report(); rep.ExitCode == results.ExitPass || find(t, rep, "a", "server_cpu_us_per_delivery").Outcome != Undecided {
		t.Errorf("before the look: exit %d", rep.ExitCode)
	}
	p.Add("b", "count", pairs[8][0], pairs[8][1])
	if !p.Look() || p.Report().ExitCode != results.ExitPass {
		t.Errorf("exit %d", p.Report().ExitCode)
	}
}

// Holm: of six timings that look alike, p = 1/256 each at 8 pairs, the first
// must be at most 0.0167 ÷ 6 and isn't; at 14 pairs it is.
func TestPairsShareTheErrorOverVariants(t *testing.T) {
	p := NewPairs(DefaultPairOptions())
	n := 0
	for _, pr := range even(16) {
		worse := slower(pr[0], map[string]float64{"server_cpu_us_per_delivery": 2})
		p.Add("a", "count", worse, pr[1])
		p.Add("b", "count", pr[0], pr[1])
		p.Add("c", "count", pr[0], pr[1])
		if n++; p.Look() {
			break
		}
	}
	if rep := p.Report(); n != 14 || rep.ExitCode != results.ExitFail || len(rep.Verdict.Reasons) != 1 {
		t.Errorf("exit %d after %d pairs: %+v", rep.ExitCode, n, rep.Verdict.Reasons)
	}
}

func TestNothingMeasuredIsNoPass(t *testing.T) {
	if rep := NewPairs(DefaultPairOptions()).Report(); rep.ExitCode != results.ExitInvalid {
		t.Errorf("exit %d", rep.ExitCode)
	}
}

func TestPairOptions(t *testing.T) {
	if err := DefaultPairOptions().Check(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		name   string
		change func(o *PairOptions)
		want   string
	}{
		{"no looks", func(o *PairOptions) { o.Looks = nil }, "rise"},
		{"falling", func(o *PairOptions) { o.Looks = []int{8, 4} }, "rise"},
		{"twice", func(o *PairOptions) { o.Looks = []int{8, 8} }, "rise"},
		{"of none", func(o *PairOptions) { o.Looks = []int{0, 8} }, "rise"},
		{"no error", func(o *PairOptions) { o.Alpha = 0 }, "alpha"},
		// Two looks share 0.05: 2⁻ⁿ ≤ 0.025 ÷ 2 from n = 7 on.
		{"too few pairs", func(o *PairOptions) { o.Looks = []int{3, 6} }, "certain from 7 on"},
		{"a typo", func(o *PairOptions) { o.Metrics = []Gated{{"sever_cpu", 0.1}} }, "no metric"},
		{"a count", func(o *PairOptions) { o.Metrics = []Gated{{"sends", 0.1}} }, "isn't a timing"},
		{"a tolerance of 5", func(o *PairOptions) { o.Metrics = []Gated{{"live.p99", 5}} }, "allows 5 %"},
		{"one twice", func(o *PairOptions) { o.Metrics = []Gated{{"live.p99.9", 0.1}, {"live.p999", 0.1}} }, "twice"},
	} {
		o := DefaultPairOptions()
		tt.change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	o := DefaultPairOptions()
	if o.Looks = []int{3, 7}; o.Check() != nil {
		t.Error("7 pairs can decide at two looks")
	}
}
