package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ackmark/results"
)

// variant holds one variant's figures against the baseline's, metric by metric.
func (j *judge) variant(was *BaselineVariant) {
	i := slices.IndexFunc(j.r.Variants, func(v results.Variant) bool { return v.Name == was.Name })
	if i < 0 {
		j.add(Check{Variant: was.Name, Metric: "variant", Gated: true, Outcome: Bad, Text: "the baseline has this variant, the result doesn't"})
		return
	}
	v, runs := j.r.Variants[i], inOrder(j.r.RunsOf(was.Name))
	for _, c := range []struct {
		what string
		ok   bool
		text string
	}{
		{"variant hash", v.Hash == was.Hash, fmt.Sprintf("the variant's hash is %s, the baseline's is %s: something else was measured", short(v.Hash), short(was.Hash))},
		{"ack policy", v.AckPolicy == was.AckPolicy, fmt.Sprintf("the ack policy is %q, the baseline's is %q", v.AckPolicy, was.AckPolicy)},
		{"repeats", j.complete(runs), fmt.Sprintf("%s measured, the baseline has %d, each of its own seed", results.Plural(len(runs), "repeat"), j.b.Profile.Repeats)},
	} {
		if !c.ok {
			j.add(Check{Variant: was.Name, Metric: c.what, Gated: true, Outcome: Bad, Text: c.text})
		}
	}
	for _, name := range inRegistryOrder(was.Metrics) {
		if !j.o.ignores(name) {
			j.metric(was.Name, name, was.Metrics[name], v.AckPolicy, runs)
		}
	}
	j.unknown(was, figures(runs, v.AckPolicy))
}

// unknown says what was measured and the baseline doesn't have. A count that
// came with a later version is only noted, but a baseline without any count, or
// without a timing that is to be held, would let everything pass.
func (j *judge) unknown(was *BaselineVariant, now map[string]BaselineMetric) {
	bad := func(metric, text string) {
		j.add(Check{Variant: was.Name, Metric: metric, Gated: true, Outcome: Bad, Text: text})
	}
	var fresh []string
	for _, name := range inRegistryOrder(now) {
		_, had := was.Metrics[name]
		_, held := j.held[name]
		switch {
		case had || j.o.ignores(name):
		case now[name].Class == results.Deterministic:
			fresh = append(fresh, name)
		case held && j.o.Timings != ReportTimings:
			bad(name, fmt.Sprintf("the baseline doesn't have %s, so that it can't be held; make a new baseline", spoken(name)))
		}
	}
	if len(fresh) == 0 {
		return
	}
	slices.Sort(fresh)
	counted := func(m BaselineMetric) bool { return m.Class == results.Deterministic }
	if !slices.ContainsFunc(slices.Collect(maps.Values(was.Metrics)), counted) {
		bad("counts", "the baseline has no count of this variant, and some were measured; make a new baseline")
	}
	j.rep.Notes = append(j.rep.Notes, fmt.Sprintf("%s: the baseline doesn't have %s yet", was.Name, strings.Join(fresh, ", ")))
}

// complete tells whether the runs are the repeats 1, 2, … of the baseline.
func (j *judge) complete(runs []*results.Run) bool {
	for i, run := range runs {
		if run.Repeat != i+1 {
			return false
		}
	}
	return len(runs) == j.b.Profile.Repeats
}

// inRegistryOrder returns the names as the registry lists them, then those that
// it doesn't have.
func inRegistryOrder(metrics map[string]BaselineMetric) []string {
	var out []string
	for _, m := range results.AllMetrics() {
		if _, ok := metrics[m.Name]; ok {
			out = append(out, m.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (j *judge) metric(variant, name string, was BaselineMetric, ackPolicy string, runs []*results.Run) {
	c := Check{Variant: variant, Metric: name, Unit: was.Unit, Class: was.Class, Gated: true, Outcome: Bad}
	defer func() { j.add(c) }()
	m, ok := results.Lookup(name)
	switch {
	case !ok:
		c.Text = fmt.Sprintf("the baseline has %s, which this version doesn't know; make a new baseline", name)
		return
	case m.ClassUnder(ackPolicy) != was.Class:
		c.Text = fmt.Sprintf("%s is a %s here, in the baseline it is a %s; make a new baseline", name, m.ClassUnder(ackPolicy), was.Class)
		return
	case m.Unit != was.Unit:
		c.Text = fmt.Sprintf("%s is in %q here, in the baseline it is in %q; make a new baseline", name, m.Unit, was.Unit)
		return
	case len(was.Samples) == 0:
		c.Text = fmt.Sprintf("the baseline's %s is empty", name)
		return
	}
	c.Reference = results.Number(median(was.Samples))
	s, problem := samples(runs, name)
	if problem != "" {
		// A timing that is only shown isn't one that has vanished: that is no noise.
		c.Text = fmt.Sprintf("%s %s; the baseline has it", spoken(name), problem)
		return
	}
	c.Candidate = results.Number(median(s))
	if was.Class == results.Deterministic {
		j.count(&c, m, s, was.Samples, j.complete(runs))
	} else {
		c.ratio()
		j.timing(&c, m, s, was.Samples)
	}
}

// ratio is candidate ÷ reference; none of a reference of 0.
func (c *Check) ratio() {
	c.Ratio = nil
	if c.Reference != nil && c.Candidate != nil && *c.Reference != 0 {
		c.Ratio = results.Number(*c.Candidate / *c.Reference)
	}
}

// count holds what profile and seed determine: it may not move in any repeat, to
// neither side. What became better is a change too, which only a new baseline
// explains. The figures shown are those of the repeat that is furthest off.
func (j *judge) count(c *Check, m results.Metric, candidate, reference []float64, complete bool) {
	tolerance := j.o.counts(m.Name)
	c.Tolerance = &tolerance
	if here, there := j.r.Environment.RedisVersion, j.b.Environment.RedisVersion; isMemory(m.Name) && (release(here) == "" || release(here) != release(there)) {
		c.ratio()
		c.Outcome = Refused
		c.Text = fmt.Sprintf("%s isn't comparable: Redis is %s here, was %s for the baseline, and what a key takes depends on it", m.Name, orUnknown(here), orUnknown(there))
		return
	}
	if !complete || len(candidate) != len(reference) { // invalid as a whole, see variant
		c.Gated, c.Outcome, c.Text = false, Reported, "not held: the repeats aren't those of the baseline"
		return
	}
	s := shifted(candidate, reference, tolerance, m.Better)
	x, y := candidate[s.at-1], reference[s.at-1]
	c.Candidate, c.Reference = results.Number(x), results.Number(y)
	c.ratio()
	c.Outcome = Passed
	if len(s.off) == 0 {
		return
	}
	c.Outcome = Failed
	c.Text = fmt.Sprintf("%s is %s, the baseline has %s: %s, allowed %s%s", spoken(m.Name), results.FormatValue(m.Unit, x), results.FormatValue(m.Unit, y),
		changeText(s.change()), percent(tolerance), s.where())
	if !s.worse {
		c.Text += "; that is better: if it is meant, make a new baseline, which needs no reason then"
	}
}

func (j *judge) timing(c *Check, m results.Metric, candidate, reference []float64) {
	tolerance, held := j.held[m.Name]
	if held {
		c.Tolerance = &tolerance
	}
	if !held || j.o.Timings == ReportTimings {
		c.Gated, c.Outcome = false, Reported
		c.Text = "shown, not gated"
		return
	}
	x, y := median(candidate), median(reference)
	sentence := fmt.Sprintf("%s is %s, the baseline has %s: %s, allowed %s", spoken(m.Name), results.FormatValue(m.Unit, x), results.FormatValue(m.Unit, y),
		changeText(off(x, y)), percent(tolerance))
	switch {
	case slices.ContainsFunc(j.r.Servers, isGiven):
		c.Outcome, c.Text = Refused, fmt.Sprintf("%s isn't comparable: the server was a target, of whose machine nothing is known", spoken(m.Name))
		return
	case len(j.differences) > 0:
		c.Outcome, c.Text = Refused, fmt.Sprintf("%s isn't comparable with another machine's: %s", spoken(m.Name), differencesText(j.differences))
		return
	case len(candidate) < minSamples || len(reference) < minSamples:
		j.few, c.told = true, true
		c.Outcome, c.Text = Undecided, sentence+"; not decided, there are too few repeats"
		return
	}
	j.interval(c, m, candidate, reference, sentence)
}

func orUnknown(version string) string {
	if version == "" {
		return "of an unknown version"
	}
	return version
}

func differencesText(all []results.Difference) string {
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = fmt.Sprintf("%s was %s, is %s", d.What, d.A, d.B)
	}
	return strings.Join(texts, "; ")
}
