package sweep

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// Verdicts that only points of a sweep have. To a result both are invalid; who
// reads a sweep that ended early wants to know what was tried and what wasn't.
const (
	NotMeasured results.Status = "not measured" // no run at all
	Incomplete  results.Status = "incomplete"   // runs are missing, and those there are can be trusted
)

// verdict is the worst of the sides, in the order in which results judges: a
// broken invariant, invalid, fail, inconclusive. What is invalid only for want of
// runs is said to be that.
func (r *Row) verdict() results.Status {
	rank := func(v results.Verdict) int {
		switch v.Status {
		case results.Pass:
			return 0
		case results.Inconclusive:
			return 1
		case results.Fail:
			if slices.ContainsFunc(v.Reasons, func(r results.Reason) bool { return r.Kind == results.ReasonInvariant }) {
				return 4
			}
			return 2
		}
		return 3
	}
	worst, runs, doubtful := r.sides[0].variant.Verdict, 0, false
	for _, s := range r.sides {
		if rank(s.variant.Verdict) > rank(worst) {
			worst = s.variant.Verdict
		}
		runs += len(s.runs)
		doubtful = doubtful || s.variant.Verdict.Status == results.Invalid && !s.short()
	}
	switch {
	case worst.Status != results.Invalid || doubtful:
		return worst.Status
	case runs == 0:
		return NotMeasured
	}
	return Incomplete
}

// short tells that a side is invalid for want of runs alone.
func (s side) short() bool {
	if len(s.runs) == 0 {
		return true
	}
	doubt := func(r results.Reason) bool {
		switch r.Kind {
		case results.ReasonThreshold, results.ReasonExpect, results.ReasonDisagree: // of the runs there are
			return false
		case results.ReasonMissing:
			return r.Metric != ""
		}
		return true
	}
	reasons := s.variant.Verdict.Reasons
	return len(reasons) > 0 && !slices.ContainsFunc(reasons, doubt)
}

// judged tells a point of which is known whether it is good enough: one side that
// fails is enough.
func (r *Row) judged() bool {
	if slices.ContainsFunc(r.sides, func(s side) bool { return s.variant.Verdict.Status == results.Fail }) {
		return true
	}
	return r.Status != results.Invalid && r.Status != NotMeasured && r.Status != Incomplete
}

// unjudged are the points that couldn't be judged.
func (t *Table) unjudged() []*Row {
	return slices.DeleteFunc(slices.Clone(t.Rows), (*Row).judged)
}

// openText says how many points couldn't be judged, which, and what that means;
// "" where all could.
func (t *Table) openText(means string) string {
	open := t.unjudged()
	if len(open) == 0 {
		return ""
	}
	var groups []string
	missing := false
	for _, status := range []results.Status{results.Invalid, Incomplete, NotMeasured} {
		var names []string
		for _, r := range open {
			if r.Status == status {
				names = append(names, r.Name)
			}
		}
		if len(names) > 0 {
			groups = append(groups, string(status)+": "+some(names))
			missing = missing || status != results.Invalid
		}
	}
	text := fmt.Sprintf("%d of %s could not be judged (%s)%s", len(open), results.Plural(len(t.Rows), "point"), strings.Join(groups, "; "), means)
	if missing {
		text += "; resuming the sweep measures what is missing"
	}
	return text
}

// recommended tells the point that is chosen, where there was a choice.
func (t *Table) recommended(r *Row) bool {
	return t.Choice != nil && t.Choice.Point == r && !t.Choice.NoChoice
}

// Size says how large a sweep is: its points, and its settings where crash
// variants make more of them.
func Size(points, settings int) string {
	text := results.Plural(points, "point")
	if settings > points {
		text += fmt.Sprintf(", with crash variants %d settings,", settings)
	}
	return text
}
