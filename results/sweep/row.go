package sweep

import (
	"math"
	"slices"

	"ackmark/results"
	"ackmark/results/stats"
)

// Row is one point, with the variants that are the same with crashes.
type Row struct {
	Name    string   // of the setting
	Variant string   // of the profile; "" where it has one that is no crash_of
	Values  []string // of the axes, in their order
	Set     map[string]string
	Status  results.Status // the worst of the point and its crash variants
	Front   bool           // on the Pareto front

	sides []side // the point itself, then its crash variants
}

// side is a variant with its runs.
type side struct {
	variant *results.Variant
	runs    []*results.Run
}

// risky are the metrics that crash variants are there to show: of these a row
// has the worst of its sides, of all others its own without crashes.
func risky(m results.Metric) bool {
	if m.Class == results.Invariant {
		return true
	}
	return slices.Contains([]string{
		"redelivered", "redelivered_per_crash", "retransmitted", "crashes", "crash_dropped", "beyond_window", "pending", "unknown",
	}, m.Name)
}

// draw picks the runs of a side; the runs themselves, or a resample.
type draw func(side int, runs []*results.Run) []*results.Run

func asMeasured(_ int, runs []*results.Run) []*results.Run { return runs }

// Value is a metric of the point: the median of the repeats, of an invariant the
// worst of them; of a risk, the worst of the point and its crash variants. False
// where a repeat lacks it.
func (r *Row) Value(m results.Metric) (float64, bool) { return r.value(m, asMeasured) }

func (r *Row) value(m results.Metric, pick draw) (float64, bool) {
	best, found := 0.0, false
	for i, s := range r.sides {
		if i > 0 && !risky(m) {
			break
		}
		v, ok := figure(m, samples(m, pick(i, s.runs)), len(s.runs))
		if ok && (!found || worse(m, v, best)) {
			best, found = v, true
		}
	}
	return best, found
}

// worseSide is the side that Value comes from; -1 for none.
func (r *Row) worseSide(m results.Metric) int {
	v, ok := r.Value(m)
	if !ok {
		return -1
	}
	return slices.IndexFunc(r.sides, func(s side) bool {
		x, ok := figure(m, samples(m, s.runs), len(s.runs))
		return ok && x == v
	})
}

func worse(m results.Metric, a, b float64) bool {
	if m.Better == results.Higher {
		return a < b
	}
	return a > b
}

// better tells which of two values of an objective is preferred.
func better(m results.Metric, a, b float64) bool { return worse(m, b, a) }

func figure(m results.Metric, samples []float64, runs int) (float64, bool) {
	switch {
	case len(samples) == 0 || len(samples) < runs:
		return 0, false
	case m.Class == results.Invariant:
		return slices.Max(samples), true
	}
	return stats.Median(samples), true
}

func samples(m results.Metric, runs []*results.Run) []float64 {
	var out []float64
	for _, run := range runs {
		if v, ok := run.Value(m.Name); ok {
			out = append(out, v)
		}
	}
	return out
}

// repeats is the least number of runs of its sides.
func (r *Row) repeats() int {
	n := math.MaxInt
	for _, s := range r.sides {
		n = min(n, len(s.runs))
	}
	return n
}

// why lists what keeps the point from being chosen: its verdict, then each
// constraint that isn't met.
func (r *Row) why(q *Question, pick draw) []excluded {
	var out []excluded
	if r.Status != results.Pass {
		text := "its verdict is " + string(r.Status)
		if r.Status == NotMeasured {
			text = "it was not measured"
		}
		out = append(out, excluded{what: "the verdict", text: text})
	}
	for _, c := range q.Constraints {
		v, ok := r.value(c.Metric, pick)
		switch {
		case !ok:
			out = append(out, excluded{what: c.Text, text: c.Metric.Name + " wasn't measured"})
		case !c.Met(v):
			out = append(out, excluded{what: c.Text, text: c.Metric.Name + " is " + results.FormatValue(c.Metric.Unit, v), value: true})
		}
	}
	if _, ok := r.value(q.Objective, pick); !ok {
		out = append(out, excluded{what: "the objective", text: q.Objective.Name + " wasn't measured"})
	}
	return out
}

// excluded is one reason why a point can't be chosen.
type excluded struct {
	what  string // "the verdict", "the objective", or the constraint as it was written
	text  string
	value bool // a constraint was measured and isn't met
}
