package sweep

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"ackmark/profiles"
	"ackmark/results"
)

// Table is a sweep laid out by point.
type Table struct {
	Axes     []results.Axis
	Question Question
	Rows     []*Row // by variant, then by the values of the axes
	// Choice is nil where nothing was to be chosen.
	Choice *Recommendation

	result  *results.Result
	offside int // points that passed and lack cost or risk, so that the front can't have them
	held    int // points that the front was drawn among
}

// ErrNoSweep is the error of NewTable for a result that isn't one of a sweep.
var ErrNoSweep = errors.New("the result isn't that of a sweep")

// NewTable lays out a judged result, marks the Pareto front and answers the
// question.
func NewTable(r *results.Result, q Question) (*Table, error) {
	if r.Sweep == nil {
		return nil, ErrNoSweep
	}
	t := &Table{Axes: r.Sweep.Vary, Question: q, result: r}
	byName := map[string]*Row{}
	for i := range r.Variants {
		v := &r.Variants[i]
		s := side{variant: v, runs: r.RunsOf(v.Name)}
		if base := byName[v.CrashOf]; v.CrashOf != "" && base != nil {
			base.sides = append(base.sides, s)
			continue
		}
		row := &Row{Name: v.Name, Set: v.Set, sides: []side{s}}
		if _, suffix, ok := strings.Cut(v.Name, " · "); ok {
			row.Variant = suffix
		}
		for _, a := range t.Axes {
			row.Values = append(row.Values, v.Set[a.Key])
		}
		byName[v.Name] = row
		t.Rows = append(t.Rows, row)
	}
	t.sort()
	for _, row := range t.Rows {
		row.Status = row.verdict()
	}
	t.Question.pareto(t.Rows)
	t.front()
	if q.Objective.Name != "" {
		t.Choice = t.choose()
	}
	return t, nil
}

// sort orders the rows by the variant's place in the profile, then by value: as
// numbers where all values of an axis are some, else as the axis lists them.
func (t *Table) sort() {
	place := map[string]int{}
	for _, row := range t.Rows {
		if _, ok := place[row.Variant]; !ok {
			place[row.Variant] = len(place)
		}
	}
	order := make([]map[string]float64, len(t.Axes))
	for i, a := range t.Axes {
		order[i] = magnitudes(a.Values)
	}
	slices.SortStableFunc(t.Rows, func(a, b *Row) int {
		c := cmp.Compare(place[a.Variant], place[b.Variant])
		for i := range t.Axes {
			c = cmp.Or(c, cmp.Compare(order[i][a.Values[i]], order[i][b.Values[i]]))
		}
		return c
	})
}

func magnitudes(values []string) map[string]float64 {
	out := map[string]float64{}
	for _, v := range values {
		x, ok := magnitude(v)
		if !ok {
			for i, v := range values {
				out[v] = float64(i)
			}
			return out
		}
		out[v] = x
	}
	return out
}

// magnitude reads a value in canonical text as a number.
func magnitude(text string) (float64, bool) {
	if text == "off" {
		return 0, true
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, !math.IsNaN(v)
	}
	if v, err := profiles.ParseDuration(text); err == nil {
		return float64(v), true
	}
	if v, err := profiles.ParseRate(text); err == nil {
		return float64(v), true
	}
	if v, err := profiles.ParsePercent(text); err == nil {
		return float64(v), true
	}
	if v, err := profiles.ParseBytes(text); err == nil {
		return float64(v), true
	}
	return 0, false
}

// front marks the points that passed and of which no other that passed is at
// least as good in cost and in risk, and better in one. Equal points stay; those
// without one of the figures are only counted.
func (t *Table) front() {
	q := &t.Question
	if q.Cost.Name == "" {
		return
	}
	type at struct {
		row        *Row
		cost, risk float64
	}
	var points []at
	for _, row := range t.Rows {
		cost, ok := row.Value(q.Cost)
		risk, also := row.Value(q.Risk)
		switch {
		case row.Status != results.Pass:
		case ok && also:
			points = append(points, at{row, cost, risk})
		default:
			t.offside++
		}
	}
	t.held = len(points)
	for _, p := range points {
		p.row.Front = !slices.ContainsFunc(points, func(o at) bool {
			noWorse := !worse(q.Cost, o.cost, p.cost) && !worse(q.Risk, o.risk, p.risk)
			return noWorse && (o.cost != p.cost || o.risk != p.risk)
		})
	}
}
