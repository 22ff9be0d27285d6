package compare

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"ackmark/results"
	"ackmark/results/stats"
)

// measure fills every variant with its metrics.
func (c *Comparison) measure(o Options) {
	for i := range c.Variants {
		v := &c.Variants[i]
		for _, name := range candidates(v, o) {
			v.Metrics = append(v.Metrics, c.metric(v, name, o))
		}
	}
	for side := 1; side < len(c.sides); side++ {
		c.conclude(side, o)
	}
	for i := range c.Variants {
		v := &c.Variants[i]
		for k := range v.Metrics {
			for side := 1; side < len(c.sides); side++ {
				if b := &v.Metrics[k].Cells[side]; b.Outcome.concludes() && isTotal(v.Metrics[k]) && c.otherwise(side, v.Name) {
					b.Outcome = Changed
				}
			}
		}
		if !c.explicit {
			c.fold(v)
		}
		for k := range v.Metrics {
			c.ratios(v.Name, &v.Metrics[k], o)
		}
	}
}

// metric summarizes one metric on each side.
func (c *Comparison) metric(v *Variant, name string, o Options) Metric {
	reg, _ := results.Lookup(name)
	m := Metric{Name: name, Title: reg.Title, Unit: reg.Unit, Class: classOn(v, reg), Better: reg.Better}
	for i := range v.Sides {
		m.Cells = append(m.Cells, summarize(v.Sides[i].samples(name), m.Class, o.Confidence))
	}
	for i := 1; i < len(m.Cells); i++ {
		m.compareWith(i, v, c, o)
	}
	return m
}

// classOn is the class of a metric for all sides: where ack policies differ,
// the looser one.
func classOn(v *Variant, m results.Metric) results.Class {
	for _, s := range v.Sides {
		if s.State != Absent && m.ClassUnder(s.ackPolicy) == results.Timing {
			return results.Timing
		}
	}
	for _, s := range v.Sides {
		if s.State != Absent {
			return m.ClassUnder(s.ackPolicy)
		}
	}
	return m.Class
}

// samples are one number per run, in ascending order.
func (g Runs) samples(metric string) []float64 {
	var out []float64
	for _, run := range g.runs {
		if x, ok := valueOf(run, metric); ok {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// valueOf is a run's number, if it has one.
func valueOf(run *results.Run, metric string) (float64, bool) {
	x, ok := run.Value(metric)
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

func summarize(x []float64, class results.Class, confidence float64) Cell {
	cell := Cell{N: len(x), Warnings: []string{}, samples: x}
	if len(x) == 0 {
		return cell
	}
	s := benchmath.NewSample(x, &benchmath.DefaultThresholds)
	nothing := benchmath.AssumeNothing.Summary(s, confidence)
	if class != results.Timing {
		// The value of a count is the same in every run of one seed. Where it
		// isn't, the most frequent one, which AssumeExact gives, would be the
		// least of several that occur once, so the median is shown and the warning
		// kept.
		exactly := benchmath.AssumeExact.Summary(s, confidence)
		center := nothing.Center
		if class == results.Invariant { // one run that breaks it is enough
			center = exactly.Hi
		}
		cell.Median, cell.Low, cell.High = results.Number(center), results.Number(exactly.Lo), results.Number(exactly.Hi)
		cell.warn(exactly.Warnings)
		return cell
	}
	cell.Median, cell.Low, cell.High = results.Number(nothing.Center), results.Number(nothing.Lo), results.Number(nothing.Hi)
	if cell.Low == nil || cell.High == nil {
		cell.Low, cell.High = nil, nil
	}
	cell.warn(nothing.Warnings)
	return cell
}

// note warns of what a reader has to know before the row, so that it stands
// below the table as well.
func (c *Cell) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.notes, c.Warnings = append(c.notes, text), append(c.Warnings, text)
}

func (c *Cell) warn(warnings []error) {
	for _, w := range warnings {
		if !slices.Contains(c.Warnings, w.Error()) {
			c.Warnings = append(c.Warnings, w.Error())
		}
	}
}

// compareWith gives the cell of a side everything but what depends on the other
// metrics that are looked at.
func (m *Metric) compareWith(i int, v *Variant, c *Comparison, o Options) {
	a, b := &m.Cells[0], &m.Cells[i]
	switch {
	case a.Median == nil || b.Median == nil:
		b.Outcome = NoData
		return
	case *a.Median != 0:
		b.Ratio = results.Number(quotient(*b.Median, *a.Median))
	}
	doubtful := m.doubt(i, v)
	b.Outcome = m.settle(i, v, c, o)
	// An invariant that a run of this side broke stays broken, whatever its other
	// runs lack.
	broke := m.Class == results.Invariant && b.Outcome == Worse && a.N == len(v.Sides[0].runs) && a.samples[0] >= 0 && b.samples[0] >= 0
	if doubtful && !broke {
		b.Outcome = NotJudged
	}
	if m.Class != results.Timing || doubtful {
		return
	}
	s := func(cell *Cell) *benchmath.Sample {
		return benchmath.NewSample(cell.samples, &benchmath.Thresholds{CompareAlpha: o.Alpha})
	}
	test := benchmath.AssumeNothing.Compare(s(a), s(b))
	if constant(a.samples, b.samples) { // no order of ranks is rarer than another
		if b.Outcome == NoOutcome {
			b.Outcome = Same
		}
		return
	}
	b.P, b.attainable = results.Number(min(1, test.P)), leastP(a.N, b.N) // ties in the middle give the test more than 1
	b.warn(test.Warnings)
}

// settle concludes what needs no test; NoOutcome leaves it to one.
func (m *Metric) settle(i int, v *Variant, c *Comparison, o Options) Outcome {
	a, b := &m.Cells[0], &m.Cells[i]
	switch {
	case m.Class == results.Invariant && v.Sides[i].State != Spoiled && v.Sides[0].State != Spoiled:
		out := exact(*a.Median, *b.Median, m.Class, m.Better)
		if out == Better && v.Sides[i].State != Usable {
			return NotJudged
		}
		return out
	case v.Sides[0].State != Usable || v.Sides[i].State != Usable:
		left := v.Sides[0].State != Spoiled && v.Sides[i].State != Spoiled
		if left && m.Class == results.Deterministic && m.compareCounts(i, v) == Same {
			return Same
		}
		return NotJudged
	case m.Class == results.Deterministic:
		out := m.compareCounts(i, v)
		if isMemory(m.Name) && c.apart(i, concernsMemory) && out != Same {
			return NotComparable
		}
		return out
	case c.apart(i, concernsTimings) && !o.Anyway:
		return NotComparable
	}
	return NoOutcome
}

// doubt notes why nothing can be concluded from the numbers of either side,
// whatever they are: runs without the figure aren't missing by chance, as a p99.9
// above the range is not, and no invariant or count is below 0.
func (m *Metric) doubt(i int, v *Variant) bool {
	b := &m.Cells[i]
	for _, side := range []int{0, i} {
		x, all := m.Cells[side].samples, len(v.Sides[side].runs)
		if len(x) < all {
			b.doubted = true
			b.note("%s has it in %d of %s", letter(side), len(x), results.Plural(all, "run"))
		}
		if m.neverNegative() && x[0] < 0 {
			b.doubted = true
			b.note("%s on %s is impossible; nothing is below 0 there", number(x[0]), letter(side))
		}
	}
	return b.doubted
}

// neverNegative tells whether the metric counts something. What is a timing
// under some ack policies only is still a count.
func (m *Metric) neverNegative() bool {
	reg, _ := results.Lookup(m.Name)
	return m.Class != results.Timing || reg.Class != results.Timing
}

func constant(a, b []float64) bool {
	return a[0] == a[len(a)-1] && b[0] == b[len(b)-1] && a[0] == b[0]
}

// leastP is the least p-value that the two-sided U test gives for so many runs:
// that of sides which don't overlap, 2 ÷ C(n+m, n).
func leastP(n, m int) float64 {
	ln := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return min(1, 2*math.Exp(ln(n)+ln(m)-ln(n+m)))
}

// runsNeeded is how many runs a side needs before the U test can tell anything
// among so many timings.
func runsNeeded(timings int, alpha float64) int {
	n := 2
	for n < 100 && float64(timings)*leastP(n, n) > alpha {
		n++
	}
	return n
}

// family is how many timings a p-value was adjusted for. Where there are two
// families each has a part of alpha, so that together they don't err more often.
type family struct{ timings, parts int }

func (f family) weight() int { return f.timings * f.parts }

// conclude adjusts the p-values of a side for all that is looked at, and words
// them. The metrics that are shown whatever they say are one family; the
// others, which are shown only when they changed, are a second one, so that
// their number doesn't drown the first.
func (c *Comparison) conclude(side int, o Options) {
	families := map[bool][]*Metric{}
	for i := range c.Variants {
		for k := range c.Variants[i].Metrics {
			m := &c.Variants[i].Metrics[k]
			if m.Cells[side].P != nil {
				watched := c.explicit || slices.Contains(Watched(), m.Name)
				families[watched] = append(families[watched], m)
			}
		}
	}
	for _, metrics := range families {
		p := make([]float64, len(metrics))
		for i, m := range metrics {
			p[i] = *m.Cells[side].P
		}
		of := family{len(metrics), len(families)}
		for i, adjusted := range stats.Holm(p) {
			m := metrics[i]
			a, b := &m.Cells[0], &m.Cells[side]
			adjusted = min(1, adjusted*float64(of.parts))
			b.AdjustedP, b.family = results.Number(adjusted), of
			switch {
			case b.Outcome != NoOutcome:
			case adjusted <= o.Alpha:
				b.Outcome = direction(*a.Median, *b.Median, m.Better)
			case float64(of.weight())*b.attainable > o.Alpha:
				b.Outcome = TooFew
				b.Warnings = append(b.Warnings, fmt.Sprintf("%d and %d runs can't show a difference among %s; %d a side can",
					a.N, b.N, results.Plural(of.timings, "timing"), runsNeeded(of.weight(), o.Alpha)))
			default:
				b.Outcome = NoDifference
			}
		}
	}
}

// ratios gives each side the interval of its ratio, of timings: a count has
// none. Each has random numbers of its own, so that it stays the same whatever
// else is shown.
func (c *Comparison) ratios(variant string, m *Metric, o Options) {
	if m.Class != results.Timing {
		return
	}
	for i := 1; i < len(m.Cells); i++ {
		b := &m.Cells[i]
		h := fnv.New64a()
		h.Write([]byte(strings.Join([]string{variant, m.Name, fmt.Sprint(i)}, "\x00")))
		rng := rand.New(rand.NewPCG(o.Seed, h.Sum64()))
		if low, high, ok := stats.BootstrapRatio(m.Cells[0].samples, b.samples, o.Confidence, rng); ok {
			b.RatioLow, b.RatioHigh = results.Number(low), results.Number(high)
		}
	}
}
