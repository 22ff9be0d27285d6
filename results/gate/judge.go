package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ackmark/results"
)

// JudgeBaseline holds a judged result against a baseline: invariants first, then
// whether the two are of one profile, seed and set of variants, then counts, then
// timings. What is missing, empty, not to be trusted or not comparable is invalid
// and never a pass.
func JudgeBaseline(r *results.Result, b *Baseline, o BaselineOptions) Report {
	j := &judge{r: r, b: b, o: o, held: timings(b, o.Metrics), differences: results.Differences(b.Environment, r.Environment)}
	j.rep = Report{
		Mode: AgainstBaseline, Profile: r.Profile.Name,
		Candidate:   strings.TrimSpace("loadgen " + r.ToolVersion),
		Reference:   strings.TrimSpace(fmt.Sprintf("baseline of %s by loadgen %s", day(b.Date), b.ToolVersion)),
		Differences: j.differences, Checks: []Check{}, Notes: []string{},
	}
	j.invariants()
	if len(o.Doubts) > 0 {
		j.whole("result", false, "%s", Contradiction(o.Doubts))
	}
	j.measurement()
	j.sameness()
	j.conditions()
	if j.b.Schema == SchemaBaseline {
		for i := range b.Variants {
			j.variant(&b.Variants[i])
		}
		j.asked()
	}
	if j.few {
		j.add(Check{Metric: "repeats", Gated: true, Outcome: Undecided, Text: TooFew(b, o, j.repeats())})
	}
	j.notes()
	finish(&j.rep)
	return j.rep
}

// Unusable is the report for a baseline that can't be read: invalid, with the
// reason.
func Unusable(profile, candidate, reference string, err error) Report {
	rep := Report{Mode: AgainstBaseline, Profile: profile, Candidate: candidate, Reference: reference,
		Differences: []results.Difference{}, Notes: []string{},
		Checks: []Check{{Metric: "baseline", Gated: true, Outcome: Bad, Text: err.Error()}}}
	finish(&rep)
	return rep
}

type judge struct {
	r           *results.Result
	b           *Baseline
	o           BaselineOptions
	held        map[string]float64 // timings with their tolerances
	differences []results.Difference
	few         bool // timings weren't decided for want of repeats
	rep         Report
}

func (j *judge) add(c Check) { j.rep.Checks = append(j.rep.Checks, c) }

// whole adds what concerns the measurement as such.
func (j *judge) whole(what string, ok bool, format string, args ...any) {
	c := Check{Metric: what, Gated: true, Outcome: Bad, Text: fmt.Sprintf(format, args...)}
	if ok {
		c.Gated, c.Outcome, c.Text = false, Passed, ""
	}
	j.add(c)
}

// invariants hold in every repeat of every variant, unless the variant expects
// otherwise; that a result says of itself that it is a pass isn't asked.
func (j *judge) invariants() {
	for _, v := range j.r.Variants {
		runs := inOrder(j.r.RunsOf(v.Name))
		for _, c := range results.DefaultInvariants() {
			if replaced(v, c) {
				continue
			}
			zero := 0.0
			check := Check{Variant: v.Name, Metric: c.Metric.Name, Unit: c.Metric.Unit, Class: results.Invariant, Gated: true, Outcome: Passed,
				Reference: &zero, Tolerance: &zero}
			s, problem := samples(runs, c.Metric.Name)
			if problem != "" {
				check.Outcome, check.Text = Bad, fmt.Sprintf("%s %s", c.Metric.Name, problem)
				// What one repeat lacks doesn't excuse what another one lost.
				s = known(runs, c.Metric.Name)
			}
			for i, x := range s {
				if i == 0 || math.Abs(x) > math.Abs(*check.Candidate) { // one below 0 breaks it too
					check.Candidate = results.Number(x)
				}
			}
			if slices.ContainsFunc(s, func(x float64) bool { return !c.Met(x) }) {
				check.Outcome, check.Text = Failed, fmt.Sprintf("%s is %s, must be 0", c.Metric.Name, results.FormatValue(c.Metric.Unit, *check.Candidate))
			}
			j.add(check)
		}
	}
}

func known(runs []*results.Run, metric string) []float64 {
	var out []float64
	for _, run := range runs {
		if s, problem := samples([]*results.Run{run}, metric); problem == "" {
			out = append(out, s...)
		}
	}
	return out
}

// replaced tells whether the variant expects that an invariant may be broken.
func replaced(v results.Variant, c results.Condition) bool {
	return slices.ContainsFunc(v.Checks, func(check results.Check) bool {
		if check.Source != results.FromExpect {
			return false
		}
		expected, err := results.Conditions([]string{check.Expression}, results.FromExpect)
		return err == nil && expected[0].Replaces(c)
	})
}

// measurement asks whether the figures can be trusted at all.
func (j *judge) measurement() {
	r := j.r
	j.whole("complete", !r.Interrupted, "the measurement was interrupted")
	embedded := slices.ContainsFunc(r.Redis, isEmbedded) || slices.ContainsFunc(r.Servers, isEmbedded)
	j.whole("store", !embedded, "the store was embedded: no real Redis took part, whose costs these could be")
	reduced := slices.IndexFunc(r.Runs, func(run results.Run) bool { return run.Audit.Reduced })
	j.whole("audit", reduced < 0, "the audit is reduced to what clients saw: the target gives no counters")
	if r.Sweep != nil {
		j.whole("kind", false, "the result is a sweep, whose points no baseline knows")
	}
	j.whole("variants", len(r.Variants) > 0 && len(r.Runs) > 0, "nothing was measured")
	trusted := true
	for _, v := range r.Variants {
		verdicts := []results.Verdict{v.Verdict}
		for _, run := range r.RunsOf(v.Name) {
			verdicts = append(verdicts, run.Verdict)
		}
		if i := slices.IndexFunc(verdicts, untrusted); i >= 0 {
			trusted = false
			j.add(Check{Variant: v.Name, Metric: "measurement", Gated: true, Outcome: Bad, Text: described(verdicts[i])})
		}
	}
	for _, run := range r.Runs {
		if !slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return v.Name == run.Variant }) {
			j.whole("runs", false, "there is a run of %s, which isn't among the variants of the result", run.Variant)
			break
		}
	}
	if trusted && untrusted(r.Verdict) {
		j.whole("measurement", false, "%s", described(r.Verdict))
	}
}

// untrusted tells whether a verdict is that of a measurement that can't be
// trusted; one that nobody gave is.
func untrusted(v results.Verdict) bool {
	return !slices.Contains([]results.Status{results.Pass, results.Fail, results.Inconclusive}, v.Status)
}

// sameness asks whether result and baseline are of one thing.
func (j *judge) sameness() {
	r, b := j.r, j.b
	if b.Schema != SchemaBaseline {
		j.whole("baseline", false, "the baseline's schema is %q; this version reads %q", b.Schema, SchemaBaseline)
		return
	}
	if err := b.validate(); err != nil {
		j.whole("baseline", false, "the baseline is damaged: %s", err)
	}
	if r.Schema == results.SchemaV1 {
		j.whole("seed", false, "the result's file is of version 1, which doesn't keep the seed; measure again")
	} else {
		j.whole("seed", r.Profile.Seed == b.Profile.Seed, "the seed is %d, the baseline's is %d: counts of two seeds differ", r.Profile.Seed, b.Profile.Seed)
	}
	j.whole("profile", r.Profile.Name == b.Profile.Name, "the profile is %s, the baseline's is %s", r.Profile.Name, b.Profile.Name)
	j.whole("profile hash", r.Profile.Hash == b.Profile.Hash, "the profile's hash is %s, the baseline's is %s: something else was measured (a changed profile or --set); if that is meant, --update-baseline writes a new one",
		short(r.Profile.Hash), short(b.Profile.Hash))
	for _, v := range r.Variants {
		if b.variant(v.Name) == nil {
			j.add(Check{Variant: v.Name, Metric: "variant", Gated: true, Outcome: Bad, Text: "the baseline doesn't have this variant"})
		}
	}
}

// conditions takes the profile's own thresholds and expectations as checks.
func (j *judge) conditions() {
	for _, v := range j.r.Variants {
		for _, c := range v.Checks {
			if c.Source == results.FromInvariant {
				continue // looked at, see invariants
			}
			check := Check{Variant: v.Name, Metric: c.Expression, Class: results.Timing, Gated: true, Candidate: c.Value}
			if conditions, err := results.Conditions([]string{c.Expression}, c.Source); err == nil {
				check.Unit = conditions[0].Metric.Unit
				if check.Class = conditions[0].Metric.ClassUnder(v.AckPolicy); check.Class == results.Invariant && c.Source == results.FromExpect {
					check.Class = results.Deterministic // to be lossy is what it is there to show
				}
			}
			value := "not known"
			if c.Value != nil {
				value = results.FormatValue(check.Unit, *c.Value)
			}
			switch c.Status {
			case results.Pass:
				check.Outcome = Passed
			case results.Fail:
				check.Outcome, check.Text = Failed, fmt.Sprintf("the profile's %s %q is not met: it is %s", c.Source, c.Expression, value)
			case results.Inconclusive:
				check.Outcome, check.Text = Undecided, fmt.Sprintf("the repeats disagree about the profile's %s %q: %d of them meet it", c.Source, c.Expression, c.Met)
			default:
				check.Outcome, check.Text = Bad, fmt.Sprintf("the profile's %s %q could not be judged", c.Source, c.Expression)
			}
			j.add(check)
		}
	}
}

// asked complains about timings that somebody asked for, in the options or in
// the baseline's tolerances, and no variant of the baseline has.
func (j *judge) asked() {
	asked := slices.Clone(j.o.Metrics)
	if len(j.held) > 0 && j.o.Timings != ReportTimings {
		for _, name := range slices.Sorted(maps.Keys(j.b.Tolerances)) {
			same := func(g Gated) bool { return canonical(g.Metric) == canonical(name) }
			if !slices.ContainsFunc(asked, same) {
				asked = append(asked, Gated{Metric: name})
			}
		}
	}
	for _, g := range asked {
		name := canonical(g.Metric)
		has := func(v BaselineVariant) bool { _, ok := v.Metrics[name]; return ok }
		m, ok := results.Lookup(name)
		switch {
		case j.o.ignores(name):
		case !ok:
			j.whole(g.Metric, false, "there is no metric %s", g.Metric)
		case m.Class == results.Invariant: // has no tolerance
		case !slices.ContainsFunc(j.b.Variants, has):
			j.whole(g.Metric, false, "the baseline has no %s in any variant, so that it can't be held", spoken(name))
		}
	}
}

func (j *judge) notes() {
	if slices.ContainsFunc(j.r.Servers, isGiven) {
		j.rep.Notes = append(j.rep.Notes, "the server was a target that this measurement didn't start; of its machine nothing is known")
	}
	if n := len(j.b.Accepted); n > 0 {
		a := j.b.Accepted[n-1]
		j.rep.Notes = append(j.rep.Notes, fmt.Sprintf("the baseline was last made worse on %s: %s", day(a.Date), a.Reason))
	}
	for _, name := range j.o.Ignore {
		j.rep.Notes = append(j.rep.Notes, name+" is ignored, as asked")
	}
	if j.o.Timings == ReportTimings {
		j.rep.Notes = append(j.rep.Notes, "timings are reported, not gated")
	}
}
