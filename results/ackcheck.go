package results

import (
	"fmt"
	"math"
)

// AckCheck is one variant's ack requests against the two checks of
// measuring.md (14). Each check shows the repeat that is farthest off.
type AckCheck struct {
	Variant      string
	Measured     int64
	Replayed     *int64   // the policy replayed over the recorded arrivals
	ReplayError  *float64 // relative
	FormError    *float64 // relative, against the closed form
	Chance       *float64 // relative, 95 % of runs are off by less by chance alone
	Seconds      float64  // measured
	limits       Limits
	replay, form float64
}

// Within95 is how many standard errors 95 % of runs are within: the ack requests
// of a run come from many batches, so that they are about normal.
const Within95 = 1.96

// ReplayOK tells whether the exact check holds, or doesn't apply.
func (c AckCheck) ReplayOK() bool {
	return c.ReplayError == nil || math.Abs(*c.ReplayError) <= c.limits.ReplayError
}

func ackCheck(variant string, runs []*Run) (AckCheck, bool) {
	out := AckCheck{Variant: variant, limits: DefaultLimits(), replay: -1, form: -1}
	for _, run := range runs {
		a := run.Acks
		if a.Replayed != nil && a.ReplayedError != nil && math.Abs(*a.ReplayedError) > out.replay {
			out.replay = math.Abs(*a.ReplayedError)
			out.Measured, out.Replayed, out.ReplayError = a.Requests, a.Replayed, a.ReplayedError
		}
		if a.PredictedError != nil && math.Abs(*a.PredictedError) > out.form {
			out.form = math.Abs(*a.PredictedError)
			out.FormError, out.Chance, out.Seconds = a.PredictedError, nil, run.MeasuredSeconds()
			if a.PredictedChance != nil {
				out.Chance = Number(Within95 * *a.PredictedChance)
			}
			if out.Replayed == nil {
				out.Measured = a.Requests
			}
		}
	}
	return out, out.replay >= 0 || out.form >= 0
}

func checkHeads() [][]string {
	return [][]string{
		{"ack checks", "variant"},
		{"requests", "measured"},
		{"policy", "replayed"},
		{"off by", "(limit " + percent(DefaultLimits().ReplayError*100) + ")"},
		{""},
		{"closed form", "off by"},
		{"chance (95 %),", "or limit"},
	}
}

// texts returns a cell per head.
func (c AckCheck) texts() []string {
	out := []string{c.Variant, fixed(float64(c.Measured), 0), noValue, noValue, "", noValue, ""}
	if c.Replayed != nil {
		out[2], out[3] = fixed(float64(*c.Replayed), 0), signedPercent(*c.ReplayError)
		out[4] = "ok"
		if !c.ReplayOK() {
			out[4] = "outside"
		}
	}
	if c.FormError == nil {
		return out
	}
	out[5] = signedPercent(*c.FormError)
	form := "limit " + percent(c.limits.ClosedFormError*100)
	switch {
	case c.Seconds >= c.limits.ClosedFormSeconds && math.Abs(*c.FormError) > c.limits.ClosedFormError:
		out[6] = form + ": outside"
	case c.Seconds >= c.limits.ClosedFormSeconds:
		out[6] = form + ": ok"
	case c.Chance != nil:
		out[6] = fmt.Sprintf("±%s in %s s", percent(*c.Chance*100), significant(c.Seconds, 3))
	default:
		out[6] = "not judged"
	}
	return out
}

func signedPercent(ratio float64) string {
	if ratio > 0 {
		return "+" + percent(ratio*100)
	}
	return percent(ratio * 100)
}
