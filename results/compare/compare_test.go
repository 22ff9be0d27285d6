package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ackmark/results"
)

const cpu = "server_cpu_us_per_delivery"

func near(p *float64, want float64) bool { return p != nil && math.Abs(*p-want) < 1e-9 }

// Six runs of 10 … 15 and six of half that don't overlap: the U test gives 2 of
// the C(12, 6) = 924 orders. The median of 10 … 15 is 12.5, and the interval of
// a median of six that is right in 95 % is the whole range.
func TestByHand(t *testing.T) {
	c := compared(t, Options{Metrics: []string{cpu}, Variants: []string{"each"}}, side("old", measured(t, slow...)), side("new", measured(t, fast...)))
	a, b := c.Variants[0].Metrics[0].Cells[0], c.Variants[0].Metrics[0].Cells[1]
	if !near(a.Median, 12.5) || !near(a.Low, 10) || !near(a.High, 15) || a.N != 6 || a.Ratio != nil || a.Outcome != NoOutcome {
		t.Errorf("first: %+v", a)
	}
	if !near(b.Median, 6.25) || !near(b.Ratio, 0.5) || !near(b.P, 2./924) || !near(b.AdjustedP, 2./924) || b.Outcome != Better {
		t.Errorf("other: %+v", b)
	}
	if b.RatioLow == nil || *b.RatioLow < 0.33 || *b.RatioLow >= 0.5 || *b.RatioHigh <= 0.5 || *b.RatioHigh > 0.75 {
		t.Errorf("the ratio lies in %v … %v", b.RatioLow, b.RatioHigh)
	}
	if c.ExitCode != 0 || len(c.Differences)+len(c.Warnings) > 0 {
		t.Errorf("exit %d, %v, %q", c.ExitCode, c.Differences, c.Warnings)
	}
	if worse := outcomeOf(t, Options{}, cpu, side("old", measured(t, fast...)), side("new", measured(t, slow...))); worse != Worse {
		t.Errorf("the other way round: %s", worse)
	}
}

// Holm over one variant's CPU and two percentiles that move with it: three
// p-values of 2/924, the first of which counts three times. Redis' CPU is the
// same in every run, so it could never be anything and isn't counted.
func TestHolmOverWhatIsShown(t *testing.T) {
	o := Options{Metrics: []string{cpu, "live.p50", "live.p99", "redis_cpu_us_per_delivery"}, Variants: []string{"each"}}
	c := compared(t, o, side("old", measured(t, slow...)), side("new", measured(t, fast...)))
	for _, m := range o.Metrics[:3] {
		if b := cell(t, c, "each", m); !near(b.P, 2./924) || !near(b.AdjustedP, 6./924) || b.Outcome != Better {
			t.Errorf("%s: %+v", m, b)
		}
	}
	if b := cell(t, c, "each", "redis_cpu_us_per_delivery"); b.P != nil || b.Outcome != Same {
		t.Errorf("the same number everywhere: %+v", b)
	}
}

// What is shown whatever it says and what is shown only when it changed have
// half of alpha each. Watched are the CPU and three percentiles of two variants,
// 8 timings; of the others only the greatest latency of each varies, 2.
func TestTwoFamiliesShareAlpha(t *testing.T) {
	c := compared(t, Options{}, side("old", measured(t, slow...)), side("new", measured(t, fast...)))
	for metric, want := range map[string]float64{cpu: 2 * 8 * 2. / 924, "live.p99": 2 * 8 * 2. / 924, "live.max": 2 * 2 * 2. / 924} {
		if b := cell(t, c, "each", metric); !near(b.AdjustedP, want) {
			t.Errorf("%s: %v, want %v", metric, *b.AdjustedP, want)
		}
	}
}

func TestTooFew(t *testing.T) {
	c := compared(t, Options{}, side("old", measured(t, 10, 11)), side("new", measured(t, 5, 6)))
	b := cell(t, c, "each", cpu)
	// 2 and 2 runs: 2 of C(4, 2) = 6 orders.
	if !near(b.P, 1./3) || b.Outcome != TooFew || b.Low != nil || b.RatioLow == nil {
		t.Errorf("%+v", b)
	}
	text := strings.Join(b.Warnings, "\n")
	// Eight timings are watched in two variants (Redis' CPU is constant): 8 × 2 ÷ C(2n, n) ≤ 0.05 from n = 6 on.
	if !strings.Contains(text, ">= 6 samples for confidence interval") || !strings.Contains(text, "2 and 2 runs") || !strings.Contains(text, "among 8 timings; 6 a side can") {
		t.Errorf("warnings: %s", text)
	}
	if !strings.Contains(strings.Join(c.Warnings, "\n"), "with 2 runs on a side") {
		t.Errorf("%q", c.Warnings)
	}
	one := outcomeOf(t, Options{}, cpu, side("old", measured(t, 10)), side("new", measured(t, 5)))
	if one != TooFew {
		t.Errorf("one run each: %s", one)
	}
}

func TestNoDifference(t *testing.T) {
	if got := outcomeOf(t, Options{}, cpu, side("old", measured(t, slow...)), side("new", measured(t, 10.1, 11.1, 12.1, 12.9, 13.9, 14.9))); got != NoDifference {
		t.Error(got)
	}
}

func TestCounts(t *testing.T) {
	set := func(metric string, x float64) *results.Result {
		return each(measured(t, slow...), func(r *results.Run) { r.Metrics.Set(metric, x) })
	}
	for _, tc := range []struct {
		name, metric string
		b            *results.Result
		want         Outcome
	}{
		{"the same", "redis_commands_per_send", measured(t, slow...), Same},
		{"1 % more", "redis_commands_per_send", set("redis_commands_per_send", 1.01), Same},
		{"more", "redis_commands_per_send", set("redis_commands_per_send", 1.02), Worse},
		{"less", "redis_commands_per_send", set("redis_commands_per_send", 0.5), Better},
		{"no direction", "sends", set("sends", 400), Changed},
		{"acks under each", "ack_requests_total", set("ack_requests_total", 160_000), Worse},
		{"an invariant", "lost", set("lost", 1), Worse},
		{"missing", "redis_commands_per_send", each(measured(t, slow...), func(r *results.Run) { r.Metrics.SetNull("redis_commands_per_send") }), NoData},
	} {
		if got := outcomeOf(t, Options{}, tc.metric, side("old", measured(t, slow...)), side("new", tc.b)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	// A count that varies is shown by its median, and says so: 1, 1, 2, 2 … of
	// the runs of both variants are 1 … 6 for the repeats of each, against 1.
	varies := measured(t, slow...)
	for i := range varies.Runs {
		varies.Runs[i].Metrics.Set("redis_commands_per_send", float64(1+i/2))
	}
	c := compared(t, Options{Metrics: []string{"redis_commands_per_send"}}, side("old", measured(t, slow...)), side("new", varies))
	if b := cell(t, c, "each", "redis_commands_per_send"); !near(b.Median, 3.5) || !near(b.Low, 1) || !near(b.High, 6) || len(b.Warnings) != 2 || b.P != nil || b.Outcome != Worse || !near(b.Ratio, 6) {
		t.Errorf("%+v", b)
	}
}

// One run that loses is enough, though the median of six is 0.
func TestWorstRunOfAnInvariant(t *testing.T) {
	b := measured(t, slow...)
	b.Runs[4].Metrics.Set("lost", 3)
	c := compared(t, Options{}, side("old", measured(t, slow...)), side("new", b))
	if got := cell(t, c, "each", "lost"); !near(got.Median, 3) || got.Outcome != Worse {
		t.Errorf("%+v", got)
	}
}

func TestInvalidIsNeverBetter(t *testing.T) {
	busy := results.Verdict{Status: results.Invalid, Reasons: []results.Reason{{Kind: results.ReasonHealth, Text: "schedule lag p99 is 9 ms: at most half"}}}
	loses := results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant, Text: "3 deliveries were lost"}}}
	some := func(v results.Verdict, n int) *results.Result {
		r := measured(t, fast...)
		for i := range n {
			r.Runs[i].Verdict = v
		}
		return r
	}
	for _, tc := range []struct {
		name  string
		b     *results.Result
		state State
		n     int
		exit  results.ExitCode
		says  string
	}{
		{"one run", some(busy, 1), Partial, 5, 0, "B, each: 1 of its 6 runs is invalid and left out: schedule lag p99 is 9 ms"},
		{"two of a variant", some(busy, 3), Partial, 4, 0, "B, each: 2 of its 6 runs are invalid"},
		{"all", some(busy, 12), Spoiled, 6, 3, "B is invalid: none of its 12 runs"},
		{"unjudged", some(results.Verdict{}, 12), Spoiled, 6, 3, "B is invalid"},
		{"lost messages", some(loses, 12), Broken, 6, 0, "B, each: 3 deliveries were lost"},
	} {
		for _, swapped := range []bool{false, true} {
			sides := []Side{side("a", measured(t, slow...)), side("b", tc.b)}
			if swapped {
				slices.Reverse(sides)
			}
			c := compared(t, Options{}, sides...)
			at := 1
			if swapped {
				at = 0
			}
			v := c.Variants[0]
			if v.Sides[at].State != tc.state || v.Sides[at].Used != tc.n || c.ExitCode != tc.exit {
				t.Errorf("%s: %+v, exit %d", tc.name, v.Sides[at], c.ExitCode)
			}
			if b := cell(t, c, "each", cpu); b.Outcome != NotJudged || b.Ratio == nil {
				t.Errorf("%s: %+v", tc.name, b)
			}
			if warnings := strings.Join(c.Warnings, "\n"); !swapped && !strings.Contains(warnings, tc.says) {
				t.Errorf("%s: %s", tc.name, warnings)
			}
		}
	}
	failed := results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonThreshold, Text: "live.p99"}}}
	if got := outcomeOf(t, Options{}, cpu, side("a", measured(t, slow...)), side("b", some(failed, 12))); got != Better {
		t.Errorf("a missed threshold spoils no number: %s", got)
	}
}

func TestOfOneSide(t *testing.T) {
	r := measured(t, slow...)
	c := compared(t, Options{Metrics: []string{cpu}}, side("a", measured(t, 10, 11, 12), measured(t, 13, 14, 15)), side("b", r))
	if a := c.Variants[0].Metrics[0].Cells[0]; a.N != 6 || !near(a.Median, 12.5) || c.Sides[0].Results != 2 || c.Sides[0].Runs != 12 {
		t.Errorf("the runs of all results are samples: %+v", a)
	}
	for _, tc := range []struct {
		name  string
		o     Options
		sides []Side
		want  string
	}{
		{"one side", Options{}, []Side{side("a", r)}, "at least 2"},
		{"no result", Options{}, []Side{side("a", r), side("b")}, "b holds no result"},
		{"metric", Options{Metrics: []string{"live.p98"}}, []Side{side("a", r), side("b", r)}, `no metric "live.p98"; did you mean live.p90, live.p99, live.p50?`},
		{"variant", Options{Variants: []string{"eech"}}, []Side{side("a", r), side("b", r)}, `no side has a variant "eech"; there are "each", "every 10"`},
		{"confidence", Options{Confidence: 95}, []Side{side("a", r), side("b", r)}, "95 is no probability"},
	} {
		if _, err := New(tc.sides, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// However the numbers lie: no word for an invalid side, adjusted p-values no
// less than raw ones, a ratio that is that of the medians.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64Range(0.5, 50), 1, 8)
		a, b := measured(t, numbers.Draw(rt, "a")...), measured(t, numbers.Draw(rt, "b")...)
		for i := range b.Runs {
			if rapid.IntRange(0, 5).Draw(rt, "invalid") == 0 {
				b.Runs[i].Verdict.Status = results.Invalid
			}
		}
		c, err := New([]Side{side("a", a), side("b", b)}, Options{Metrics: some()})
		if err != nil {
			rt.Fatal(err)
		}
		for _, v := range c.Variants {
			for _, m := range v.Metrics {
				x, y := m.Cells[0], m.Cells[1]
				if v.Sides[1].State != Usable && y.Outcome == Better {
					rt.Fatalf("%s of a side that is %s is better", m.Name, v.Sides[1].State)
				}
				if y.P != nil && (*y.AdjustedP < *y.P || *y.AdjustedP > 1) {
					rt.Fatalf("p %v, adjusted %v", *y.P, *y.AdjustedP)
				}
				if y.Ratio != nil && math.Abs(*y.Ratio**x.Median-*y.Median) > 1e-9**y.Median {
					rt.Fatalf("%s: ratio %v of %v and %v", m.Name, *y.Ratio, *x.Median, *y.Median)
				}
				if y.Low != nil && (*y.Low > *y.Median || *y.High < *y.Median) {
					rt.Fatalf("%s: %v outside %v … %v", m.Name, *y.Median, *y.Low, *y.High)
				}
			}
		}
	})
}

// some is a metric of each kind: of all of them, the intervals take seconds.
func some() []string {
	return []string{"lost", "deliveries", "ack_requests_total", "redis_commands_per_send", cpu, "redis_cpu_us_per_delivery", "live.p50", "live.max"}
}

// The same results give the same intervals, whatever else is shown.
func TestReproducible(t *testing.T) {
	sides := []Side{side("a", measured(t, slow...)), side("b", measured(t, fast...))}
	one := cell(t, compared(t, Options{All: true}, sides...), "every 10", cpu)
	two := cell(t, compared(t, Options{Metrics: []string{cpu}, Variants: []string{"every 10"}}, sides...), "every 10", cpu)
	if *one.RatioLow != *two.RatioLow || *one.RatioHigh != *two.RatioHigh {
		t.Errorf("%v … %v, then %v … %v", *one.RatioLow, *one.RatioHigh, *two.RatioLow, *two.RatioHigh)
	}
}
