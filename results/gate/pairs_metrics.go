package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ackmark/results"
	"ackmark/results/stats"
)

// counts holds what profile and seed determine, which is the same in every pair.
func (p *Pairs) counts() []Check {
	var out []Check
	for _, v := range p.variants {
		for _, m := range p.metrics {
			if m.ClassUnder(v.ackPolicy) != results.Deterministic {
				continue
			}
			if c, ok := v.count(m, p.o); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

func (v *paired) count(m results.Metric, o PairOptions) (Check, bool) {
	tolerance := o.Counts
	if isMemory(m.Name) {
		tolerance = o.Memory
	}
	c := Check{Variant: v.name, Metric: m.Name, Unit: m.Unit, Class: results.Deterministic, Gated: true, Outcome: Passed, Tolerance: &tolerance}
	var before, now, changes []float64
	for _, pr := range v.pairs {
		x, has := pr.reference.Value(m.Name)
		y, hasToo := pr.candidate.Value(m.Name)
		switch {
		case !has && !hasToo:
			continue
		case has != hasToo:
			c.Outcome, c.Text = Bad, fmt.Sprintf("%s %s on one side, repeat %d", m.Name, absence(absent(pr, has), m.Name), pr.candidate.Repeat)
			return c, true
		}
		before, now, changes = append(before, x), append(now, y), append(changes, off(y, x))
	}
	if len(changes) == 0 {
		return c, false
	}
	if len(changes) < len(v.pairs) {
		c.Outcome, c.Text = Bad, fmt.Sprintf("%s has a value in %d of %s only", m.Name, len(changes), results.Plural(len(v.pairs), "pair"))
		return c, true
	}
	c.Reference, c.Candidate = results.Number(median(before)), results.Number(median(now))
	c.ratio()
	var moved, toWorse []int
	for i, x := range changes {
		if beyond(x, tolerance) {
			moved = append(moved, i)
			if worse(x, m.Better) {
				toWorse = append(toWorse, i)
			}
		}
	}
	change := median(changes)
	sentence := fmt.Sprintf("%s is %s, was %s: %s in %d of %s", m.Name, results.FormatValue(m.Unit, *c.Candidate), results.FormatValue(m.Unit, *c.Reference),
		changeText(change), len(moved), results.Plural(len(changes), "pair"))
	switch {
	case len(moved) == 0:
		return c, true
	case beyond(change, tolerance) && worse(change, m.Better):
		c.Outcome, c.Text = Failed, sentence
		return c, true
	case beyond(change, tolerance) && len(toWorse) == 0:
		c.Text = sentence + isBetter
		return c, true
	}
	// What the median doesn't show: the figures are those of the worst pair.
	from := moved
	if len(toWorse) > 0 {
		from = toWorse
	}
	worst := slices.MaxFunc(from, func(a, b int) int { return cmp.Compare(math.Abs(changes[a]), math.Abs(changes[b])) })
	c.Reference, c.Candidate = results.Number(before[worst]), results.Number(now[worst])
	c.ratio()
	c.Text = fmt.Sprintf("%s is %s, was %s: %s in pair %d; more than %s in %d of %s", m.Name, results.FormatValue(m.Unit, now[worst]), results.FormatValue(m.Unit, before[worst]),
		changeText(changes[worst]), v.pairs[worst].candidate.Repeat, percent(tolerance), len(moved), results.Plural(len(changes), "pair"))
	if len(toWorse) >= 2 || 2*len(moved) >= len(changes) {
		c.Outcome = Undecided
		switch {
		case m.Better == results.Neither:
		case len(toWorse) == len(moved):
			c.Text += ", always to the worse side"
		case len(toWorse) > 0:
			c.Text += fmt.Sprintf(", to the worse side in %d", len(toWorse))
		}
	}
	return c, true
}

// isBetter ends the sentence about a count that changed for the better.
const isBetter = ", which is better"

// someMoved says which counts moved in few pairs, and still pass.
func someMoved(counts []Check) []string {
	var out []string
	for _, c := range counts {
		if c.Outcome == Passed && c.Text != "" && !strings.HasSuffix(c.Text, isBetter) {
			out = append(out, c.where()+": "+c.Text)
		}
	}
	return out
}

// absent is the side that lacks a value.
func absent(pr pair, referenceHas bool) *results.Run {
	if referenceHas {
		return pr.candidate
	}
	return pr.reference
}

// ratios returns the logarithms of candidate ÷ reference with the two sides'
// figures, or what is wrong with them.
func (v *paired) ratios(m results.Metric) (logs []float64, before, now []float64, problem string) {
	for _, pr := range v.pairs {
		for _, side := range []struct {
			who string
			run *results.Run
			to  *[]float64
		}{{"the reference", pr.reference, &before}, {"the candidate", pr.candidate, &now}} {
			s, what := samples([]*results.Run{side.run}, m.Name)
			if what != "" {
				return nil, nil, nil, fmt.Sprintf("%s of %s %s", spoken(m.Name), side.who, what)
			}
			if s[0] <= 0 {
				return nil, nil, nil, fmt.Sprintf("%s of %s is %g, which makes no ratio, in repeat %d", spoken(m.Name), side.who, s[0], side.run.Repeat)
			}
			*side.to = append(*side.to, s[0])
		}
		r := math.Log(now[len(now)-1] / before[len(before)-1])
		logs = append(logs, r)
	}
	return logs, before, now, ""
}

// timings decides the held timings of all variants at the level of one look.
// Fail: the hypothesis "within the tolerance" is refused, at Holm's level since
// any of them would raise the alarm. Pass: "past the tolerance" is refused for
// each, which all must be, so there each has the whole level. Intervals are for
// those who read; they decide nothing that the tests don't.
func (p *Pairs) timings(intervals bool) []Check {
	var out []Check
	var worseP, passP []float64
	var at []int // of out
	for _, v := range p.variants {
		for i, m := range p.held {
			tolerance := p.o.Metrics[i].Tolerance
			c := Check{Variant: v.name, Metric: m.Name, Unit: m.Unit, Class: results.Timing, Gated: true, Outcome: Undecided, Tolerance: &tolerance}
			flip, ok := p.fill(&c, v, m, len(out))
			if ok && intervals {
				p.between(&c, flip)
			}
			if ok {
				limit := math.Log1p(tolerance)
				if m.Better == results.Higher { // more is better: turned round
					limit = math.Log1p(-tolerance)
					worseP, passP = append(worseP, flip.Less(limit)), append(passP, flip.Greater(limit))
				} else {
					worseP, passP = append(worseP, flip.Greater(limit)), append(passP, flip.Less(limit))
				}
				at = append(at, len(out))
			} else {
				c.Outcome = Bad
			}
			out = append(out, c)
		}
	}
	adjusted := stats.Holm(worseP)
	for i, k := range at {
		c := &out[k]
		sentence := fmt.Sprintf("%s is %s, was %s: %s", spoken(c.Metric), results.FormatValue(c.Unit, *c.Candidate), results.FormatValue(c.Unit, *c.Reference), changeText(*c.Ratio-1))
		if c.Low != nil && c.High != nil {
			sentence += fmt.Sprintf(" (%s to %s)", changeText(*c.Low-1), changeText(*c.High-1))
		}
		switch {
		case !p.atLook:
			c.Text = sentence + "; timings are decided after " + listed(p.o.Looks, "or") + " pairs only"
		case adjusted[i] <= p.o.level():
			c.Outcome, c.Text = Failed, fmt.Sprintf("%s, past the tolerance of %s", sentence, percent(*c.Tolerance))
		case passP[i] <= p.o.level():
			c.Outcome, c.Text = Passed, sentence
		default:
			c.Text = fmt.Sprintf("%s; neither within nor past %s is certain after %s", sentence, percent(*c.Tolerance), results.Plural(len(p.variantOf(c.Variant).pairs), "pair"))
		}
	}
	return out
}

func (p *Pairs) variantOf(name string) *paired {
	return p.variants[slices.IndexFunc(p.variants, func(v *paired) bool { return v.name == name })]
}

// fill puts medians and ratio of a timing into its check.
func (p *Pairs) fill(c *Check, v *paired, m results.Metric, i int) (*stats.SignFlip, bool) {
	logs, before, now, problem := v.ratios(m)
	switch {
	case problem != "":
		c.Text = problem
		return nil, false
	case len(logs) == 0:
		c.Text = "there is no usable pair"
		return nil, false
	}
	c.Reference, c.Candidate = results.Number(median(before)), results.Number(median(now))
	mean, _ := stats.MeanStdDev(logs)
	c.Ratio = results.Number(math.Exp(mean))
	return stats.NewSignFlip(logs, p.rng(i)), true
}

// between puts the interval of the ratio into its check; none with so few pairs
// that there is none.
func (p *Pairs) between(c *Check, flip *stats.SignFlip) {
	low, high := flip.Interval(p.o.level())
	if !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		c.Low, c.High = results.Number(math.Exp(low)), results.Number(math.Exp(high))
	}
}

// reportedTimings are shown beside those that are held.
func reportedTimings() []string {
	return []string{"server_cpu_us_per_delivery", "redis_cpu_us_per_delivery", "server_allocated_bytes_per_delivery", "generator_cpu_us_per_delivery", "live.p50", "live.p99",
		"sync.p50", "sync.p99", "redis_commands_per_delivery", "cursor_commands_per_delivery", "redis_round_trips_per_delivery",
		"ack_requests_per_delivery", "wire_bytes_per_delivery", "writes_per_delivery", "server_rss_bytes"}
}

func (p *Pairs) reported() []Check {
	var out []Check
	for _, v := range p.variants {
		for i, name := range reportedTimings() {
			m, _ := results.Lookup(name)
			held := slices.ContainsFunc(p.held, func(h results.Metric) bool { return h.Name == name })
			if held || m.ClassUnder(v.ackPolicy) != results.Timing {
				continue
			}
			c := Check{Variant: v.name, Metric: name, Unit: m.Unit, Class: results.Timing, Outcome: Reported}
			if flip, ok := p.fill(&c, v, m, 1000+i); ok {
				p.between(&c, flip)
				c.Text = changeText(*c.Ratio - 1)
				out = append(out, c)
			}
		}
	}
	return out
}
