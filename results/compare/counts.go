package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"ackmark/results"
	"ackmark/results/stats"
)

// BySeed is how a count was compared. Profile and seed determine it, so each
// seed is held against itself: a run that is off in one seed isn't hidden by the
// medians of several.
type BySeed struct {
	Seeds  int      `json:"seeds"`  // that both sides have
	Moved  int      `json:"moved"`  // of these, by more than 1 %
	First  *float64 `json:"first"`  // median of these seeds on the first side
	Median *float64 `json:"median"` // and on this one

	a, b []float64 // a number per seed, in ascending order
}

// cells are the two sides of a row: numbers of the seeds that both have, with
// their range.
func (by *BySeed) cells(of Cell) (a, b Cell) {
	a = Cell{N: len(by.a), Median: by.First, Low: &by.a[0], High: &by.a[len(by.a)-1]}
	b = of
	b.Median, b.Low, b.High = by.Median, &by.b[0], &by.b[len(by.b)-1]
	return a, b
}

// pair is a count of one seed on two sides: the medians of its runs.
type pair struct {
	seed uint64
	a, b float64
}

// ratio is that of the pair; +Inf where there was nothing before.
func (p pair) ratio() float64 {
	if p.a == p.b {
		return 1
	}
	if p.a == 0 {
		return math.Inf(1)
	}
	return quotient(p.b, p.a)
}

// distance is how far the pair moved, as much for a half as for the double.
func (p pair) distance() float64 { return math.Abs(math.Log(p.ratio())) }

// quotient is b ÷ a, and the greatest number where that is none: a ratio that is
// not known means that a was 0.
func quotient(b, a float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, b/a))
}

// ofSeeds are a count's values by the seed of their runs.
func ofSeeds(g Runs, metric string) map[uint64][]float64 {
	out := map[uint64][]float64{}
	for _, run := range g.runs {
		if v, ok := valueOf(run, metric); ok {
			out[run.Seed] = append(out[run.Seed], v)
		}
	}
	for _, values := range out {
		slices.Sort(values)
	}
	return out
}

// pairs holds the seeds that both sides have against each other, in ascending
// order; all says that neither has others.
func pairs(a, b map[uint64][]float64) (out []pair, all bool) {
	for _, seed := range slices.Sorted(maps.Keys(a)) {
		if y, ok := b[seed]; ok {
			out = append(out, pair{seed, stats.Median(a[seed]), stats.Median(y)})
		}
	}
	return out, len(out) == len(a) && len(out) == len(b)
}

// compareCounts concludes from a count, seed by seed. With no seed in common the
// sides may differ by as much as the seeds of one side do.
func (m *Metric) compareCounts(i int, v *Variant) Outcome {
	a, b := &m.Cells[0], &m.Cells[i]
	x, y := ofSeeds(v.Sides[0], m.Name), ofSeeds(v.Sides[i], m.Name)
	b.noteSpread(0, x)
	b.noteSpread(i, y)
	both, all := pairs(x, y)
	if len(both) == 0 {
		b.Warnings = append(b.Warnings, "the sides share no seed: compared by their medians and ranges")
		out := exact(*a.Median, *b.Median, m.Class, m.Better)
		if out.concludes() && *a.Low <= *b.High && *b.Low <= *a.High {
			return NoDifference
		}
		return out
	}
	return m.bySeed(b, letter(i), both, all)
}

// noteSpread says so when the runs of one seed differ on a side, which profile
// and seed should have determined.
func (c *Cell) noteSpread(side int, values map[uint64][]float64) {
	var off []pair
	for _, seed := range slices.Sorted(maps.Keys(values)) {
		x := values[seed]
		if p := (pair{seed, x[0], x[len(x)-1]}); exact(p.a, p.b, results.Deterministic, results.Neither) != Same {
			off = append(off, p)
		}
	}
	if len(off) == 0 {
		return
	}
	most := farthest(off)
	c.doubted = true
	c.note("the runs of one seed differ on %s, in %d of %s, most in seed %d: %s to %s", letter(side), len(off),
		results.Plural(len(values), "seed"), most.seed, number(most.a), number(most.b))
}

// farthest is the pair that moved most, the first of several.
func farthest(all []pair) pair {
	return slices.MaxFunc(all, func(p, q pair) int {
		switch {
		case p.distance() < q.distance():
			return -1
		case p.distance() > q.distance():
			return 1
		}
		return 0
	})
}

// bySeed concludes from pairs: the same only where every seed agrees, better or
// worse where all that moved moved that way. The ratio is the median of the
// pairs where all moved alike or none did, and else that of the pair that moved
// most.
func (m *Metric) bySeed(b *Cell, on string, both []pair, all bool) Outcome {
	by := &BySeed{Seeds: len(both)}
	var ratios []float64
	var moved []pair
	more := 0
	for _, p := range both {
		by.a, by.b = append(by.a, p.a), append(by.b, p.b)
		ratios = append(ratios, p.ratio())
		if exact(p.a, p.b, m.Class, m.Better) != Same {
			moved = append(moved, p)
			if p.b > p.a {
				more++
			}
		}
	}
	slices.Sort(by.a)
	slices.Sort(by.b)
	slices.Sort(ratios)
	by.Moved, by.First, by.Median = len(moved), results.Number(stats.Median(by.a)), results.Number(stats.Median(by.b))
	b.BySeed, b.Ratio = by, results.Number(stats.Median(ratios))
	if !all {
		b.note("%s is compared by the %s that it shares with A", on, results.Plural(len(both), "seed"))
	}
	less := len(moved) - more
	switch {
	case len(moved) == 0:
		return Same
	case len(moved) == len(both) && (more == 0 || less == 0):
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s of %s; the change is the median of theirs", moreOrLess(more, less), results.Plural(len(both), "seed")))
		return direction(moved[0].a, moved[0].b, m.Better)
	}
	most := farthest(moved)
	b.Ratio = results.Number(most.ratio())
	b.note("%s of %s on %s; the change is that of the seed that moved most, %d: %s to %s", moreOrLess(more, less),
		results.Plural(len(both), "seed"), on, most.seed, number(most.a), number(most.b))
	if more > 0 && less > 0 {
		return Changed
	}
	return direction(most.a, most.b, m.Better)
}

// moreOrLess says in how many seeds a count moved which way.
func moreOrLess(more, less int) string {
	switch {
	case less == 0:
		return fmt.Sprintf("more in %d", more)
	case more == 0:
		return fmt.Sprintf("less in %d", less)
	}
	return fmt.Sprintf("more in %d, less in %d", more, less)
}
