package sweep

import (
	"slices"

	"ackmark/results"
)

// MostTries is how often a turn is measured at most, when the machine is to
// blame each time.
const MostTries = 3

// Tries are the runs at hand, a result with one run each: of a turn one, or
// several where the machine was too busy, in the order of measuring.
type Tries map[Turn][]*results.Result

// Missing are the turns that nobody measured, in order.
func (p *Plan) Missing(tries Tries) []Turn {
	return slices.DeleteFunc(p.Turns(), func(t Turn) bool { return len(tries[t]) > 0 })
}

// Again are the turns that were measured in vain, for the machine's sake, and may
// be measured once more, in order.
func (p *Plan) Again(tries Tries) []Turn {
	return slices.DeleteFunc(p.InVain(tries), func(t Turn) bool { return len(tries[t]) >= MostTries })
}

// AtMost are the turns that are left if the machine is to blame each time, one
// that is measured again as often as that.
func (p *Plan) AtMost(tries Tries) []Turn {
	var out []Turn
	for _, t := range append(p.Missing(tries), p.Again(tries)...) {
		out = append(out, slices.Repeat([]Turn{t}, MostTries-len(tries[t]))...)
	}
	return out
}

// InVain are all turns that were only measured in vain, in order.
func (p *Plan) InVain(tries Tries) []Turn {
	return slices.DeleteFunc(p.Turns(), func(t Turn) bool {
		of := tries[t]
		return len(of) == 0 || !MachineToBlame(Counting(of).Runs[0].Verdict)
	})
}

// Counting is the one of a turn's tries that its point is judged by, alone: the
// last that isn't invalid, or else the last.
func Counting(of []*results.Result) *results.Result {
	for _, r := range slices.Backward(of) {
		if r.Runs[0].Verdict.Status != results.Invalid {
			return r
		}
	}
	return of[len(of)-1]
}

// MachineToBlame tells a run that is invalid because the generator had not the
// machine it needs, and not for what was measured.
func MachineToBlame(v results.Verdict) bool {
	health := false
	for _, r := range v.Reasons {
		switch r.Kind {
		case results.ReasonHealth:
			health = true
		case results.ReasonReconcile, results.ReasonReplay, results.ReasonInvariant:
			return false
		}
	}
	return health && v.Status == results.Invalid
}
