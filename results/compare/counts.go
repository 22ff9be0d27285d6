package compare

import (
	"fmt"
	"math"

	"ackmark/results"
	"ackmark/results/stats"
)

// shared are a count's values in those runs of two sides whose seeds both have,
// since profile and seed determine it; all says that there are no others.
func shared(a, b Runs, metric string) (x, y []float64, all bool) {
	of := func(side, other Runs) []float64 {
		seeds := map[uint64]bool{}
		for _, run := range other.runs {
			seeds[run.Seed] = true
		}
		var out []float64
		for _, run := range side.runs {
			if v, ok := run.Value(metric); ok && seeds[run.Seed] && !math.IsNaN(v) && !math.IsInf(v, 0) {
				out = append(out, v)
			}
		}
		return out
	}
	x, y = of(a, b), of(b, a)
	return x, y, len(x) == len(a.runs) && len(y) == len(b.runs)
}

// compareCounts concludes from a count, and corrects the ratio where the sides
// share only some seeds. With no seed in common they may differ by as much as
// the seeds of one side do.
func (m *Metric) compareCounts(i int, v *Variant) Outcome {
	a, b := &m.Cells[0], &m.Cells[i]
	x, y, all := shared(v.Sides[0], v.Sides[i], m.Name)
	if len(x) == 0 || len(y) == 0 {
		out := exact(*a.Median, *b.Median, m.Class, m.Better)
		if out.concludes() && *a.Low <= *b.High && *b.Low <= *a.High {
			return NoDifference
		}
		return out
	}
	if all {
		return exact(*a.Median, *b.Median, m.Class, m.Better)
	}
	was, is := stats.Median(x), stats.Median(y)
	b.Ratio = nil
	if was != 0 {
		b.Ratio = results.Number(is / was)
	}
	b.Warnings = append(b.Warnings, fmt.Sprintf("compared by the runs whose seeds both sides have: %d and %d", len(x), len(y)))
	return exact(was, is, m.Class, m.Better)
}
