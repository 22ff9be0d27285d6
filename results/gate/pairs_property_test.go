package gate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ackmark/results"
)

// What is added first makes no difference: up to 16 pairs every pattern of signs
// is counted.
func TestPairsInAnyOrder(t *testing.T) {
	from := aaPairs(t, laterPairs)
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Permutation(from).Draw(t, "pairs")[:10]
		again := rapid.Permutation(some).Draw(t, "again")
		report := func(pairs [][2]*results.Run) Report {
			p := NewPairs(DefaultPairOptions())
			for _, pr := range pairs {
				p.Add("v", "count-or-interval", pr[0], pr[1])
			}
			p.Look()
			return p.report(nil)
		}
		a, b := report(some), report(again)
		for i := range a.Checks {
			x, y := a.Checks[i], b.Checks[i]
			if x.Outcome != y.Outcome || x.Low != nil && (*x.Low/(*y.Low)-1 > 1e-9 || *y.Low/(*x.Low)-1 > 1e-9) {
				t.Fatalf("%+v\n%+v", x, y)
			}
		}
	})
}

// A slower candidate is never judged better than a faster one from the same
// pairs.
func TestPairsGetWorseAsTheCandidateDoes(t *testing.T) {
	from := aaPairs(t, laterPairs)
	rank := map[Outcome]int{Passed: 0, Undecided: 1, Failed: 2}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Permutation(from).Draw(t, "pairs")[:10]
		a := rapid.Float64Range(0.5, 2).Draw(t, "factor")
		b := a * rapid.Float64Range(1, 1.5).Draw(t, "slower by")
		outcome := func(factor float64) Outcome {
			p := NewPairs(DefaultPairOptions())
			for _, pr := range some {
				p.Add("v", "count-or-interval", slower(pr[0], map[string]float64{"server_cpu_us_per_delivery": factor}), pr[1])
			}
			p.Look()
			rep := p.report(nil)
			return rep.Checks[slices.IndexFunc(rep.Checks, func(c Check) bool { return c.Metric == "server_cpu_us_per_delivery" })].Outcome
		}
		if x, y := outcome(a), outcome(b); rank[y] < rank[x] {
			t.Fatalf("× %g: %s, × %g: %s", a, x, b, y)
		}
	})
}

// Whatever is taken from whichever run of a gate that passes, it passes no more,
// unless it is a figure that isn't held.
func TestPairsThatLackSomethingNeverPass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	names := slices.Sorted(maps.Keys(even(1)[0][0].Metrics))
	for _, name := range names {
		pairs := even(16)
		run := pairs[r.IntN(3)][r.IntN(2)]
		run.Metrics.SetNull(name)
		m, _ := results.Lookup(name)
		held := slices.ContainsFunc(DefaultPairOptions().Metrics, func(g Gated) bool { return g.Metric == name })
		switch m.ClassUnder("count") {
		case results.Invariant:
			run.Verdict = invalid(results.ReasonMissing) // as Judge says
		case results.Timing:
			if !held {
				continue
			}
		}
		if rep, _ := judgePairs(DefaultPairOptions(), pairs); rep.ExitCode != results.ExitInvalid {
			t.Errorf("without %s: exit %d", name, rep.ExitCode)
		}
	}
}
