package cli

import (
	"fmt"
	"slices"

	"ackmark/results"
	"ackmark/results/sweep"
)

// notUsable says why the last try of a turn can't be used, and what follows; ""
// where it can.
func notUsable(of []*results.Result) string {
	v := of[len(of)-1].Runs[0].Verdict
	if v.Status != results.Invalid {
		return ""
	}
	busy := sweep.MachineToBlame(v)
	text := "not usable: " + firstReason(v, busy)
	switch {
	case !busy:
		return text + "; not measured again, since the machine isn't to blame"
	case len(of) < sweep.MostTries:
		return text + "; measured again later"
	}
	return fmt.Sprintf("%s; not measured again, after %d tries", text, len(of))
}

// firstReason is the first that makes a run invalid. Where the machine is to
// blame it is the one that says so: that a figure is missing only follows.
func firstReason(v results.Verdict, busy bool) string {
	i := slices.IndexFunc(v.Reasons, func(r results.Reason) bool {
		switch r.Kind {
		case results.ReasonHealth:
			return true
		case results.ReasonMissing, results.ReasonReconcile, results.ReasonReplay, results.ReasonIncomplete:
			return !busy
		}
		return false
	})
	if i < 0 {
		return "no reason is known"
	}
	return results.OneLine(v.Reasons[i].Text)
}

// whyAgain says why there are several tries, of which one counts. Files that were
// put there by hand may be tries that nobody needed.
func whyAgain(of []*results.Result, counting *results.Result) string {
	busy := 0
	for _, r := range of {
		if sweep.MachineToBlame(r.Runs[0].Verdict) {
			busy++
		}
	}
	switch {
	case busy == len(of):
		return "the machine was too busy each time"
	case busy == len(of)-1 && counting == of[busy]:
		return "the machine was too busy before"
	}
	which := "the last that is valid"
	if counting.Runs[0].Verdict.Status == results.Invalid {
		which = "the last"
	}
	return fmt.Sprintf("run %d counts: %s", counting.Runs[0].Number, which)
}
