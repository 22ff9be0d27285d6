package sweep

import (
	"math/rand/v2"
	"slices"

	"ackmark/results"
)

// Recommendation is the answer to the question of a sweep.
type Recommendation struct {
	Point    *Row // nil: no point is eligible
	Value    float64
	Eligible int
	// Next is the second best of the eligible points, Forbidden the best of those
	// that pass and would be better but break a constraint. Nil: none.
	Next, Forbidden *Other
	// Sure is the share of resamples of the repeats in which the point is still
	// chosen; nil where a point has one repeat only, which tells nothing of that.
	Sure    *float64
	Repeats int // least of any point that was measured
	// Unjudged are the points of which isn't known whether they are good enough:
	// any of them might be better. NoChoice: Point is the only one that was judged.
	Unjudged []*Row
	NoChoice bool
	// Unmeasured are the points with no run yet, of their own or of a crash variant.
	Unmeasured []*Row
	// Alike are the eligible points that are as good or better in more than
	// alikeShare of the resamples: the sweep doesn't tell them apart from Point.
	Alike []*Row
	// Excluded says how many points each constraint excludes, most first.
	Excluded []Exclusion
}

// Other is a point that wasn't chosen.
type Other struct {
	Point *Row
	Value float64
	Why   []string // what it breaks; empty for an eligible point
}

// Exclusion is a constraint with the points that don't meet it.
type Exclusion struct {
	What       string // "the verdict", "the objective", or the constraint as it was written
	Points     int
	Unmeasured int // of these, for want of the figure
}

const (
	// resamples are enough to tell 90 % from 95 %: the standard error of a share
	// is at most 1.6 %.
	resamples = 1000
	// alikeShare is the share of resamples above which two points can't be told
	// apart; 2.5 % is the tail of a two-sided 95 %.
	alikeShare = 0.025
)

func (t *Table) choose() *Recommendation {
	q := &t.Question
	rec := &Recommendation{Repeats: -1, Unjudged: t.unjudged()}
	var eligible []*Row
	counts := map[string]*Exclusion{}
	var order []string
	for _, row := range t.Rows {
		switch n := row.repeats(); {
		case n == 0:
			rec.Unmeasured = append(rec.Unmeasured, row)
		case rec.Repeats < 0 || n < rec.Repeats:
			rec.Repeats = n
		}
		why := row.why(q, asMeasured)
		if len(why) == 0 {
			eligible = append(eligible, row)
		}
		for _, e := range why {
			if counts[e.what] == nil {
				counts[e.what] = &Exclusion{What: e.what}
				order = append(order, e.what)
			}
			counts[e.what].Points++
			if !e.value && e.what != "the verdict" {
				counts[e.what].Unmeasured++
			}
		}
	}
	for _, what := range order {
		rec.Excluded = append(rec.Excluded, *counts[what])
	}
	slices.SortStableFunc(rec.Excluded, func(a, b Exclusion) int { return b.Points - a.Points })
	rec.Eligible = len(eligible)
	rec.Point = t.best(eligible, nil, asMeasured)
	if rec.Point == nil {
		return rec
	}
	rec.Value, _ = rec.Point.Value(q.Objective)
	if n := len(rec.Unjudged); n > 0 && len(t.Rows)-n == 1 {
		rec.NoChoice = true // and resamples would choose the same each time
		return rec
	}
	if next := t.best(eligible, rec.Point, asMeasured); next != nil {
		v, _ := next.Value(q.Objective)
		rec.Next = &Other{Point: next, Value: v}
	}
	rec.Forbidden = t.forbidden(rec.Value)
	if rec.Repeats >= 2 {
		t.resample(rec, eligible)
	}
	return rec
}

// best is the row with the best objective; of equals the first of the table.
func (t *Table) best(rows []*Row, but *Row, pick draw) *Row {
	var best *Row
	at := 0.0
	for _, row := range rows {
		v, ok := row.value(t.Question.Objective, pick)
		if ok && row != but && (best == nil || better(t.Question.Objective, v, at)) {
			best, at = row, v
		}
	}
	return best
}

// forbidden is the best of the points that pass, would be better than the chosen
// one, and miss a constraint.
func (t *Table) forbidden(chosen float64) *Other {
	q := &t.Question
	var out *Other
	for _, row := range t.Rows {
		v, ok := row.Value(q.Objective)
		if !ok || row.Status != results.Pass || !better(q.Objective, v, chosen) || out != nil && !better(q.Objective, v, out.Value) {
			continue
		}
		var texts []string
		for _, e := range row.why(q, asMeasured) {
			texts = append(texts, e.text)
		}
		out = &Other{Point: row, Value: v, Why: texts}
	}
	return out
}

// resample draws the repeats of every point anew, with replacement, and chooses
// again (a bootstrap over runs: one run is one sample, measuring.md 23). The
// figures of one run stay together.
func (t *Table) resample(rec *Recommendation, eligible []*Row) {
	q := &t.Question
	rng := rand.New(rand.NewPCG(q.Seed, 0x5eed))
	again, asGood := 0, map[*Row]int{}
	for range resamples {
		drawn := map[*Row]draw{}
		var open []*Row
		for _, row := range t.Rows {
			drawn[row] = redraw(row, rng)
			if row.Status == results.Pass && len(row.why(q, drawn[row])) == 0 {
				open = append(open, row)
			}
		}
		var best *Row
		at := 0.0
		for _, row := range open {
			if v, _ := row.value(q.Objective, drawn[row]); best == nil || better(q.Objective, v, at) {
				best, at = row, v
			}
		}
		if best == rec.Point {
			again++
		}
		chosen, _ := rec.Point.value(q.Objective, drawn[rec.Point])
		for _, row := range eligible {
			if v, ok := row.value(q.Objective, drawn[row]); ok && row != rec.Point && !better(q.Objective, chosen, v) {
				asGood[row]++
			}
		}
	}
	rec.Sure = results.Number(float64(again) / resamples)
	for _, row := range eligible {
		if float64(asGood[row]) > alikeShare*resamples {
			rec.Alike = append(rec.Alike, row)
		}
	}
}

// redraw picks as many runs of each side as there are, with replacement.
func redraw(row *Row, rng *rand.Rand) draw {
	picked := make([][]*results.Run, len(row.sides))
	for i, s := range row.sides {
		for range s.runs {
			picked[i] = append(picked[i], s.runs[rng.IntN(len(s.runs))])
		}
	}
	return func(i int, _ []*results.Run) []*results.Run { return picked[i] }
}
