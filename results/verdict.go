package results

// Status is the outcome of a run, a variant, a check or a whole measurement.
type Status string

// The statuses.
const (
	Pass         Status = "pass"
	Fail         Status = "fail"         // an invariant, threshold or expectation is not met
	Invalid      Status = "invalid"      // the measurement can't be trusted
	Inconclusive Status = "inconclusive" // the repeats disagree
)

// Verdict is a status with its reasons; a pass has none.
type Verdict struct {
	Status  Status   `json:"status"`
	Reasons []Reason `json:"reasons"`
}

// ReasonKind groups reasons by the rule that gave them.
type ReasonKind string

// The kinds of reason.
const (
	ReasonInvariant  ReasonKind = "invariant"  // fail: lost, shown twice, out of order
	ReasonThreshold  ReasonKind = "threshold"  // fail
	ReasonExpect     ReasonKind = "expect"     // fail: a variant did not show what it is there to show
	ReasonDisagree   ReasonKind = "disagree"   // inconclusive
	ReasonHealth     ReasonKind = "health"     // invalid: the generator is to blame
	ReasonMissing    ReasonKind = "missing"    // invalid: no such figure
	ReasonReconcile  ReasonKind = "reconcile"  // invalid: two counts of one thing differ
	ReasonReplay     ReasonKind = "replay"     // invalid: ack requests are not those of the policy
	ReasonIncomplete ReasonKind = "incomplete" // invalid: no run at all, or interrupted
)

// Reason is one sentence of a verdict, with the figures in it.
type Reason struct {
	Kind    ReasonKind `json:"kind"`
	Variant string     `json:"variant"` // "" when it concerns the whole
	Repeat  int        `json:"repeat"`  // 0 when it concerns all repeats
	Metric  string     `json:"metric"`  // "" when it concerns no metric
	Value   *float64   `json:"value"`   // in the metric's unit
	Limit   *float64   `json:"limit"`   // in the metric's unit
	Text    string     `json:"text"`
}

// rank orders verdicts from good to bad. A broken invariant is worst, see Judge.
func (v Verdict) rank() int {
	switch v.Status {
	case Pass:
		return 0
	case Inconclusive:
		return 1
	case Invalid:
		return 3
	}
	for _, r := range v.Reasons {
		if r.Kind == ReasonInvariant {
			return 4
		}
	}
	return 2
}

// verdictOf derives the status of one run or one variant's conditions.
func verdictOf(reasons []Reason) Verdict {
	v := Verdict{Status: Pass, Reasons: reasons}
	if v.Reasons == nil {
		v.Reasons = []Reason{}
	}
	has := map[ReasonKind]bool{}
	for _, r := range reasons {
		has[r.Kind] = true
	}
	switch {
	case has[ReasonInvariant] && !has[ReasonReconcile]:
		v.Status = Fail
	case has[ReasonReconcile] || has[ReasonReplay] || has[ReasonMissing] || has[ReasonIncomplete] || has[ReasonHealth]:
		v.Status = Invalid
	case has[ReasonThreshold] || has[ReasonExpect]:
		v.Status = Fail
	case has[ReasonDisagree]:
		v.Status = Inconclusive
	}
	return v
}

// worst joins verdicts: the worst status, and all reasons. No verdicts at all
// are invalid.
func worst(all []Verdict) Verdict {
	if len(all) == 0 {
		return Verdict{Status: Invalid, Reasons: []Reason{}}
	}
	out := Verdict{Status: Pass, Reasons: []Reason{}}
	top := -1
	for _, v := range all {
		if r := v.rank(); r > top {
			top, out.Status = r, v.Status
		}
		out.Reasons = append(out.Reasons, v.Reasons...)
	}
	return out
}
