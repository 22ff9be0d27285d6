package gate

import (
	"cmp"
	"math"
	"slices"

	"ackmark/results"
)

// ReasonRefused is the kind of reason that says: gated, and not comparable.
const ReasonRefused results.ReasonKind = "refused"

// finish derives verdict and exit code from the checks. A broken invariant comes
// first, since nothing excuses a lost message; then whatever can't be trusted or
// compared, since a gate that could not look has not passed; then what failed,
// then what could not be decided. A report that gates nothing is invalid.
func finish(rep *Report) {
	rep.Schema = SchemaReport
	if !slices.ContainsFunc(rep.Checks, func(c Check) bool { return c.Gated && c.Outcome != Reported }) {
		rep.Checks = append(rep.Checks, Check{Metric: "gated metrics", Gated: true, Outcome: Bad,
			Text: "nothing was gated: no metric of any variant was held against anything"})
	}
	count := map[Outcome]int{}
	broken := false
	reasons := []results.Reason{}
	for _, c := range worstFirst(rep.Checks) {
		outcome := c.Outcome
		if !outcome.known() {
			outcome = Bad // an outcome that nobody gave is none
		}
		count[outcome]++
		broken = broken || c.broken()
		if outcome != Passed && outcome != Reported && !c.told {
			reasons = append(reasons, c.reason())
		}
	}
	status := results.Pass
	switch {
	case broken:
		status = results.Fail
	case count[Bad]+count[Refused] > 0:
		status = results.Invalid
	case count[Failed] > 0:
		status = results.Fail
	case count[Undecided] > 0:
		status = results.Inconclusive
	}
	rep.Verdict = results.Verdict{Status: status, Reasons: reasons}
	rep.ExitCode = status.Exit()
}

func (o Outcome) known() bool {
	switch o {
	case Passed, Failed, Bad, Undecided, Reported, Refused:
		return true
	}
	return false
}

// broken tells whether the check is an invariant that does not hold.
func (c Check) broken() bool { return c.Class == results.Invariant && c.Outcome == Failed }

// rank orders checks from bad to good.
func (c Check) rank() int {
	switch {
	case c.broken():
		return 0
	case c.Outcome == Failed:
		return 3
	case c.Outcome == Refused:
		return 2
	case c.Outcome == Undecided:
		return 4
	case c.Outcome == Reported:
		return 5
	case c.Outcome == Passed:
		return 6
	}
	return 1
}

// worstFirst returns the checks ordered by outcome, then by how far they are
// off, then as they were.
func worstFirst(checks []Check) []Check {
	out := slices.Clone(checks)
	slices.SortStableFunc(out, func(a, b Check) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.distance(), a.distance()))
	})
	return out
}

// distance is how far a check is off, twice as much being as far as half.
func (c Check) distance() float64 {
	switch {
	case c.Ratio == nil:
		return 0
	case *c.Ratio <= 0:
		return math.Inf(1)
	}
	return math.Abs(math.Log(*c.Ratio))
}

func (c Check) reason() results.Reason {
	kind := results.ReasonMissing
	switch {
	case c.broken():
		kind = results.ReasonInvariant
	case c.Outcome == Failed:
		kind = results.ReasonThreshold
	case c.Outcome == Refused:
		kind = ReasonRefused
	case c.Outcome == Undecided:
		kind = results.ReasonDisagree
	}
	return results.Reason{Kind: kind, Variant: c.Variant, Metric: c.Metric, Value: c.Candidate, Limit: c.limit(), Text: c.Text}
}

// limit is the value that the tolerance allows in the direction in which the
// candidate is off.
func (c Check) limit() *float64 {
	if c.Reference == nil || c.Tolerance == nil {
		return nil
	}
	way := 1 + *c.Tolerance
	if c.Ratio != nil && *c.Ratio < 1 {
		way = 1 - *c.Tolerance
	}
	return results.Number(*c.Reference * way)
}
