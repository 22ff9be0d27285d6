package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"ackmark/results"
)

// Pairs gathers pairs of runs, one by each build, of the same variant and seed,
// and decides. The zero value isn't usable, see NewPairs.
type Pairs struct {
	o        PairOptions
	metrics  []results.Metric // the registry, which is made anew for whoever asks
	held     []results.Metric // those of o.Metrics, in their order
	variants []*paired        // in the order in which they came
	looked   int              // looks that were spent
	atLook   bool             // nothing was added since the last of them
	done     bool
}

// paired is what is known of one variant.
type paired struct {
	name       string
	ackPolicy  string
	pairs      []pair
	discards   discards
	broken     []string // what the candidate's own counts contradict, by pair
	invariants []Check
	unjudged   []string // what kept a usable pair's run from being judged, by pair: a figure that it lacks
}

type pair struct{ candidate, reference *results.Run }

// NewPairs begins a comparison; o.Check must have found nothing.
func NewPairs(o PairOptions) *Pairs {
	p := &Pairs{o: o, metrics: results.AllMetrics()}
	for _, g := range o.Metrics {
		m, _ := results.Lookup(canonical(g.Metric))
		p.held = append(p.held, m)
	}
	return p
}

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
// measured again. What the candidate did wrong is kept, and what a run lacks,
// since measuring again won't bring it.
func (p *Pairs) Add(variant, ackPolicy string, candidate, reference *results.Run) (usable bool, why string) {
	v := p.variant(variant, ackPolicy)
	p.atLook = false
	if c, ok := brokenInvariant(variant, candidate); ok {
		v.invariants = append(v.invariants, c)
		v.pairs = append(v.pairs, pair{candidate, reference})
		return true, ""
	}
	candidateBad, referenceBad := unusable(candidate), unusable(reference)
	discard := func(why string) (bool, string) {
		v.discards.add(candidateBad, referenceBad, why)
		return false, why
	}
	if text := reasonsOf(candidate, results.ReasonReconcile, results.ReasonReplay); text != "" && reasonsOf(reference, results.ReasonReconcile, results.ReasonReplay) == "" {
		v.broken = append(v.broken, text)
		return discard("candidate: " + text)
	}
	if candidate.Seed != reference.Seed {
		candidateBad, referenceBad = false, false
		return discard("the two were measured with different seeds")
	}
	switch {
	case referenceBad:
		return discard("reference: " + allReasons(reference))
	case candidateBad:
		return discard("candidate: " + allReasons(candidate))
	}
	lacks := ""
	for _, side := range []struct {
		who string
		run *results.Run
	}{{"reference", reference}, {"candidate", candidate}} {
		if side.run.Verdict.Status == results.Invalid {
			lacks = side.who + ": " + allReasons(side.run)
		}
	}
	if lacks != "" {
		v.unjudged = append(v.unjudged, lacks)
	}
	v.pairs = append(v.pairs, pair{candidate, reference})
	return true, ""
}

// unusable tells whether a run can't be trusted, and another might be.
func unusable(run *results.Run) bool {
	switch run.Verdict.Status {
	case results.Pass, results.Fail:
		return false
	case results.Invalid:
		return !onlyMissing(run)
	}
	return true
}

// onlyMissing tells whether a run is invalid for what it lacks and nothing else:
// one that was starved as well is not worth a figure.
func onlyMissing(run *results.Run) bool {
	for _, r := range run.Verdict.Reasons {
		if r.Kind != results.ReasonMissing {
			return false
		}
	}
	return len(run.Verdict.Reasons) > 0
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
		if len(v.invariants) > 0 || len(v.broken) >= 2 || v.discards.all() > p.o.maxDiscarded() {
			p.done = true
		}
	}
	if n >= CountPairs && (p.lacking() || slices.ContainsFunc(slices.Concat(p.counts(), p.commands()), func(c Check) bool { return c.Outcome == Failed || c.Outcome == Bad })) {
		p.done = true
	}
	if p.looked < len(p.o.Looks) && n >= p.o.Looks[p.looked] {
		p.looked++
		p.atLook = true
		held := p.timings(false)
		failed := slices.ContainsFunc(held, func(c Check) bool { return c.Outcome == Failed || c.Outcome == Bad })
		open := slices.ContainsFunc(held, func(c Check) bool { return c.Outcome == Undecided })
		if failed || !open || p.looked == len(p.o.Looks) {
			p.done = true
		}
	}
	return p.done
}

// lacking tells whether something that is held is missing, or makes no ratio: no
// further pair brings it.
func (p *Pairs) lacking() bool {
	return slices.ContainsFunc(p.variants, func(v *paired) bool {
		return len(v.unjudged) > 0 || slices.ContainsFunc(p.held, func(m results.Metric) bool {
			_, _, _, problem := v.ratios(m)
			return problem != ""
		})
	})
}

// rng gives the same patterns for the same variant and metric at each call.
func (p *Pairs) rng(i int) *rand.Rand { return rand.New(rand.NewPCG(p.o.Seed, uint64(i))) }

// Report says what was found so far; final once Look has said done. Between the
// planned looks, where an interrupt may leave it, no timing is decided.
func (p *Pairs) Report() Report { return p.report(p.reported()) }

func (p *Pairs) report(reported []Check) Report {
	rep := Report{Mode: AgainstBuild, Differences: []results.Difference{}, Checks: []Check{}, Notes: []string{}, Pairs: p.count()}
	d := p.discarded()
	rep.Discarded, rep.DiscardedCandidate, rep.DiscardedReference = d.all(), d.candidate, d.reference
	for _, v := range p.variants {
		rep.Checks = append(rep.Checks, v.health(p.o)...)
		rep.Notes = append(rep.Notes, v.contradicted()...)
	}
	rep.Checks = append(rep.Checks, p.lopsided()...)
	commands, counts := p.commands(), p.counts()
	rep.Checks = append(rep.Checks, counts...)
	rep.Notes = append(rep.Notes, someMoved(counts)...)
	rep.Checks = append(rep.Checks, commands...)
	rep.Notes = append(rep.Notes, uncomparedNotes(commands)...)
	rep.Checks = append(rep.Checks, p.timings(true)...)
	rep.Checks = append(rep.Checks, reported...)
	for _, v := range p.variants {
		rep.Notes = append(rep.Notes, v.missed()...)
	}
	finish(&rep)
	return rep
}

// missed says in what the candidate misses what the profile asks of a run, its
// thresholds, more often than the reference. It decides nothing: a threshold that
// noise crosses now and then would, in one pair of twenty.
func (v *paired) missed() []string {
	var text string
	var candidate, reference int
	for _, pr := range v.pairs {
		if t := reasonsOf(pr.candidate, results.ReasonThreshold, results.ReasonExpect); t != "" {
			text = t
			candidate++
		}
		if reasonsOf(pr.reference, results.ReasonThreshold, results.ReasonExpect) != "" {
			reference++
		}
	}
	if candidate <= reference {
		return nil
	}
	return []string{fmt.Sprintf("%s: the candidate misses what the profile asks for in %d of %s, the reference in %d: %s; pairs don't judge by it",
		v.name, candidate, results.Plural(len(v.pairs), "pair"), reference, text)}
}

// health is what concerns the runs as such.
func (v *paired) health(o PairOptions) []Check {
	if len(v.invariants) > 0 {
		return v.invariants[:1]
	}
	zero := 0.0
	out := []Check{{Variant: v.name, Metric: "invariants", Class: results.Invariant, Gated: true, Outcome: Passed, Tolerance: &zero,
		Text: fmt.Sprintf("hold in %s", results.Plural(len(v.pairs), "pair"))}}
	switch {
	case len(v.broken) >= 2:
		out[0].Outcome, out[0].Metric = Failed, "counts that must agree"
		out[0].Text = fmt.Sprintf("in %s the candidate's counts contradict each other, and the reference's don't: %s", results.Plural(len(v.broken), "pair"), v.broken[0])
	case v.discards.all() > o.maxDiscarded():
		out = append(out, Check{Variant: v.name, Metric: "usable pairs", Gated: true, Outcome: Bad,
			Text: v.discards.tooMany()})
	case len(v.unjudged) > 0:
		out = append(out, Check{Variant: v.name, Metric: "judged runs", Gated: true, Outcome: Bad,
			Text: fmt.Sprintf("in %s a run couldn't be judged: %s", results.Plural(len(v.unjudged), "pair"), v.unjudged[0])})
	case len(v.pairs) == 0:
		out = append(out, Check{Variant: v.name, Metric: "usable pairs", Gated: true, Outcome: Bad, Text: "there is no usable pair"})
	}
	return out
}
