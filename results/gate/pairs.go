package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"ackmark/results"
	"ackmark/results/stats"
)

// PairOptions says how two builds are held against each other.
type PairOptions struct {
	Metrics []Gated // timings that are held; others are reported
	Counts  float64 // relative tolerance of counts
	Memory  float64 // of counts of Redis' memory
	Looks   []int   // numbers of pairs after which is decided, rising; the last is the cap
	Alpha   float64 // chance of a false alarm over all timings, variants and looks
	Seed    uint64  // of the sign patterns, beyond 12 pairs
}

// DefaultPairOptions rest on 26 A/A pairs of ack-storm "10 or 500ms", 5 s a run,
// on two shared cores (testdata/aa.csv). The logarithm of the ratio of a pair had
// a standard deviation of 0.078 for the server's CPU per delivery, 0.121 for
// Redis', and 0.23 and more for percentiles of latency, which are therefore
// reported and not held. With these tolerances and at most 16 pairs, nearly every
// A/A gate is decided as a pass and a server that costs 15 % more as a fail:
// TestErrorRates holds both. The looks share alpha evenly, since the first
// is where a run of pairs is worth ending.
func DefaultPairOptions() PairOptions {
	return PairOptions{
		Metrics: []Gated{{"server_cpu_us_per_delivery", 0.07}, {"redis_cpu_us_per_delivery", 0.12}},
		Counts:  defaultCounts, Memory: defaultMemory, Looks: []int{8, 12, 16}, Alpha: alpha,
	}
}

// firstLook is the number of pairs after which counts decide: they are
// determined, so two more pairs only rule out a mishap.
const firstLook = 3

// maxDiscarded bounds the pairs of a variant that are measured again since the
// machine was busy, relative to the cap of pairs.
func (o PairOptions) maxDiscarded() int { return max(3, o.cap()/2) }

func (o PairOptions) cap() int { return o.Looks[len(o.Looks)-1] }

// Check finds options that make no sense.
func (o PairOptions) Check() error {
	switch {
	case len(o.Looks) == 0 || o.Looks[0] < 1 || !slices.IsSorted(o.Looks):
		return fmt.Errorf("looks after %v pairs; they should rise from 1 or more", o.Looks)
	case o.Alpha <= 0 || o.Alpha >= 0.5:
		return fmt.Errorf("alpha is %g; it should lie between 0 and 0.5", o.Alpha)
	}
	for _, g := range o.Metrics {
		m, ok := results.Lookup(g.Metric)
		switch {
		case !ok:
			return fmt.Errorf("there is no metric %q", g.Metric)
		case m.Class != results.Timing || m.Better == results.Neither:
			return fmt.Errorf("%s isn't a timing with a better direction; counts and invariants are held anyway", g.Metric)
		case g.Tolerance <= 0 || g.Tolerance >= 1:
			return fmt.Errorf("%s has a tolerance of %g; it should lie between 0 and 1: 0.05 allows 5 %%", g.Metric, g.Tolerance)
		}
	}
	return nil
}

// Pairs gathers pairs of runs, one by each build, of the same variant and seed,
// and decides. The zero value isn't usable, see NewPairs.
type Pairs struct {
	o        PairOptions
	variants []*paired // in the order in which they came
	looked   int       // looks that were spent
	done     bool
}

// paired is what is known of one variant.
type paired struct {
	name       string
	ackPolicy  string
	pairs      []pair
	discarded  int
	broken     []string // what the candidate's own counts contradict, by pair
	invariants []Check
}

type pair struct{ candidate, reference *results.Run }

// NewPairs begins a comparison; o.Check must have found nothing.
func NewPairs(o PairOptions) *Pairs { return &Pairs{o: o} }

func (p *Pairs) variant(name, ackPolicy string) *paired {
	for _, v := range p.variants {
		if v.name == name {
			return v
		}
	}
	v := &paired{name: name, ackPolicy: ackPolicy}
	p.variants = append(p.variants, v)
	return v
}

// Add takes a pair of judged runs. A pair of which one side can't be trusted for
// the machine's sake isn't usable: why says what was wrong, and it should be
// measured again. What the candidate did wrong is kept.
func (p *Pairs) Add(variant, ackPolicy string, candidate, reference *results.Run) (usable bool, why string) {
	v := p.variant(variant, ackPolicy)
	if c, ok := brokenInvariant(variant, candidate); ok {
		v.invariants = append(v.invariants, c)
		v.pairs = append(v.pairs, pair{candidate, reference})
		return true, ""
	}
	if text := reasonsOf(candidate, results.ReasonReconcile, results.ReasonReplay); text != "" && reasonsOf(reference, results.ReasonReconcile, results.ReasonReplay) == "" {
		v.broken = append(v.broken, text)
		v.discarded++
		return false, "candidate: " + text
	}
	for _, side := range []struct {
		who string
		run *results.Run
	}{{"reference", reference}, {"candidate", candidate}} {
		switch status := side.run.Verdict.Status; {
		case candidate.Seed != reference.Seed:
			v.discarded++
			return false, "the two were measured with different seeds"
		case status == results.Invalid && reasonsOf(side.run, results.ReasonMissing) != "":
			// It would be missing again: the check of the metric says so.
		case status != results.Pass && status != results.Fail:
			v.discarded++
			return false, side.who + ": " + allReasons(side.run)
		}
	}
	v.pairs = append(v.pairs, pair{candidate, reference})
	return true, ""
}

func reasonsOf(run *results.Run, kinds ...results.ReasonKind) string {
	for _, r := range run.Verdict.Reasons {
		if slices.Contains(kinds, r.Kind) {
			return r.Text
		}
	}
	return ""
}

func allReasons(run *results.Run) string {
	var texts []string
	for _, r := range run.Verdict.Reasons {
		texts = append(texts, r.Text)
	}
	if len(texts) == 0 {
		return fmt.Sprintf("the run's verdict is %q", run.Verdict.Status)
	}
	return strings.Join(texts, "; ")
}

// brokenInvariant tells what the candidate may never do; what the variant
// expects isn't among the reasons of its verdict.
func brokenInvariant(variant string, run *results.Run) (Check, bool) {
	if run.Verdict.Status != results.Fail {
		return Check{}, false
	}
	for _, r := range run.Verdict.Reasons {
		if r.Kind == results.ReasonInvariant {
			zero := 0.0
			return Check{Variant: variant, Metric: r.Metric, Class: results.Invariant, Gated: true, Outcome: Failed,
				Reference: &zero, Candidate: r.Value, Tolerance: &zero, Text: r.Text}, true
		}
	}
	return Check{}, false
}

// count is the number of usable pairs that every variant has.
func (p *Pairs) count() int {
	if len(p.variants) == 0 {
		return 0
	}
	n := math.MaxInt
	for _, v := range p.variants {
		n = min(n, len(v.pairs))
	}
	return n
}

// Look tells whether it is decided, or won't be. It is called whenever each
// variant has one more pair, usable or not. Timings are looked at only after the
// planned numbers of pairs, since each look spends error.
func (p *Pairs) Look() (done bool) {
	n := p.count()
	for _, v := range p.variants {
		if len(v.invariants) > 0 || len(v.broken) >= 2 || v.discarded > p.o.maxDiscarded() {
			p.done = true
		}
	}
	if n >= firstLook && slices.ContainsFunc(p.counts(), func(c Check) bool { return c.Outcome == Failed || c.Outcome == Bad }) {
		p.done = true
	}
	if p.looked < len(p.o.Looks) && n >= p.o.Looks[p.looked] {
		p.looked++
		held := p.timings()
		failed := slices.ContainsFunc(held, func(c Check) bool { return c.Outcome == Failed || c.Outcome == Bad })
		open := slices.ContainsFunc(held, func(c Check) bool { return c.Outcome == Undecided })
		if failed || !open || p.looked == len(p.o.Looks) {
			p.done = true
		}
	}
	return p.done
}

// level is the error that the present look may spend.
func (p *Pairs) level() float64 { return stats.SpendEvenly(p.o.Alpha, len(p.o.Looks))[0] }

// rng gives the same patterns for the same variant and metric at each call.
func (p *Pairs) rng(i int) *rand.Rand { return rand.New(rand.NewPCG(p.o.Seed, uint64(i))) }

// Report says what was found so far; final once Look has said done.
func (p *Pairs) Report() Report { return p.report(p.reported()) }

func (p *Pairs) report(reported []Check) Report {
	rep := Report{Mode: AgainstBuild, Differences: []results.Difference{}, Checks: []Check{}, Notes: []string{}, Pairs: p.count()}
	for _, v := range p.variants {
		rep.Discarded += v.discarded
		rep.Checks = append(rep.Checks, v.health(p.o)...)
	}
	rep.Checks = append(rep.Checks, p.counts()...)
	rep.Checks = append(rep.Checks, p.timings()...)
	rep.Checks = append(rep.Checks, reported...)
	finish(&rep)
	return rep
}

// health is what concerns the runs as such.
func (v *paired) health(o PairOptions) []Check {
	if len(v.invariants) > 0 {
		return v.invariants[:1]
	}
	zero := 0.0
	out := []Check{{Variant: v.name, Metric: "invariants", Class: results.Invariant, Gated: true, Outcome: Passed, Tolerance: &zero,
		Text: fmt.Sprintf("hold in %s", plural(len(v.pairs), "pair"))}}
	switch {
	case len(v.broken) >= 2:
		out[0].Outcome, out[0].Metric = Failed, "counts that must agree"
		out[0].Text = fmt.Sprintf("in %s the candidate's counts contradict each other, and the reference's don't: %s", plural(len(v.broken), "pair"), v.broken[0])
	case v.discarded > o.maxDiscarded():
		out = append(out, Check{Variant: v.name, Metric: "usable pairs", Gated: true, Outcome: Bad,
			Text: fmt.Sprintf("%s couldn't be trusted; the machine is too busy to measure on", plural(v.discarded, "pair"))})
	case len(v.pairs) == 0:
		out = append(out, Check{Variant: v.name, Metric: "usable pairs", Gated: true, Outcome: Bad, Text: "there is no usable pair"})
	}
	return out
}
