package gate

import (
	"errors"
	"math"
	"testing"

	"ackmark/results"
)

func TestFinish(t *testing.T) {
	check := func(o Outcome) Check {
		return Check{Metric: "m", Class: results.Deterministic, Gated: true, Outcome: o}
	}
	broken := Check{Metric: "lost", Class: results.Invariant, Gated: true, Outcome: Failed}
	shown := Check{Metric: "live.p99", Class: results.Timing, Outcome: Reported}
	for name, tc := range map[string]struct {
		checks []Check
		want   results.ExitCode
	}{
		"nothing":                            {nil, results.ExitInvalid},
		"nothing gated":                      {[]Check{shown}, results.ExitInvalid},
		"passed but not gated":               {[]Check{{Metric: "seed", Outcome: Passed}}, results.ExitInvalid},
		"gated but only reported":            {[]Check{{Metric: "m", Gated: true, Outcome: Reported}}, results.ExitInvalid},
		"passed":                             {[]Check{check(Passed), shown}, results.ExitPass},
		"failed":                             {[]Check{check(Passed), check(Failed)}, results.ExitFail},
		"undecided":                          {[]Check{check(Passed), check(Undecided)}, results.ExitInconclusive},
		"failed before undecided":            {[]Check{check(Undecided), check(Failed)}, results.ExitFail},
		"invalid before failed":              {[]Check{check(Failed), check(Bad)}, results.ExitInvalid},
		"refused before failed":              {[]Check{check(Failed), check(Refused)}, results.ExitInvalid},
		"invalid before undecided":           {[]Check{check(Undecided), check(Bad)}, results.ExitInvalid},
		"a broken invariant before all else": {[]Check{check(Bad), check(Refused), broken}, results.ExitFail},
		"an outcome that nobody gave":        {[]Check{check(Passed), check("")}, results.ExitInvalid},
		"an outcome that is none":            {[]Check{check(Passed), check("ok")}, results.ExitInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			rep := Report{Checks: tc.checks}
			finish(&rep)
			if rep.ExitCode != tc.want || rep.Verdict.Status.Exit() != tc.want || rep.Schema != SchemaReport {
				t.Errorf("exit %d, %+v", rep.ExitCode, rep.Verdict)
			}
			if (rep.ExitCode == results.ExitPass) != (len(rep.Verdict.Reasons) == 0) {
				t.Errorf("reasons: %+v", rep.Verdict.Reasons)
			}
		})
	}
}

func TestWorstFirst(t *testing.T) {
	ratio := func(o Outcome, r float64) Check { return Check{Outcome: o, Ratio: &r} }
	in := []Check{ratio(Passed, 1), ratio(Failed, 1.1), ratio(Failed, 0.5), ratio(Failed, 0), {Class: results.Invariant, Outcome: Failed}, {Outcome: Bad}, {Outcome: Refused}}
	out := worstFirst(in)
	want := []Outcome{Failed, Bad, Refused, Failed, Failed, Failed, Passed}
	for i, c := range out {
		if c.Outcome != want[i] {
			t.Fatalf("place %d is %s, want %s", i, c.Outcome, want[i])
		}
	}
	if *out[3].Ratio != 0 || *out[4].Ratio != 0.5 || *out[5].Ratio != 1.1 {
		t.Error("what is further off doesn't come first")
	}
}

func TestUnusable(t *testing.T) {
	rep := Unusable("ci", "loadgen 1", "file", errors.New("schema is of tomorrow"))
	if rep.ExitCode != results.ExitInvalid || rep.Verdict.Reasons[0].Text != "schema is of tomorrow" {
		t.Errorf("%+v", rep)
	}
}

func TestSide(t *testing.T) {
	for name, tc := range map[string]struct {
		low, high float64
		better    results.Better
		want      Outcome
	}{
		"lower, within":             {-0.02, 0.04, results.Lower, Passed},
		"lower, past":               {0.06, 0.20, results.Lower, Failed},
		"lower, across":             {0.01, 0.20, results.Lower, Undecided},
		"lower, much better":        {-0.60, -0.50, results.Lower, Passed},
		"higher, within":            {-0.04, 0.02, results.Higher, Passed},
		"higher, past":              {-0.20, -0.06, results.Higher, Failed},
		"higher, much better":       {0.50, 0.60, results.Higher, Passed},
		"without direction, within": {-0.04, 0.04, results.Neither, Passed},
		"without direction, above":  {0.06, 0.07, results.Neither, Failed},
		"without direction, below":  {-0.07, -0.06, results.Neither, Failed},
		"without direction, across": {-0.07, 0.06, results.Neither, Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			if got := side(tc.low, tc.high, 0.05, tc.better); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestOff(t *testing.T) {
	for _, tc := range []struct{ candidate, reference, want float64 }{{0, 0, 0}, {3, 0, math.Inf(1)}, {105, 100, 0.05}, {0, 4, -1}} {
		if got := off(tc.candidate, tc.reference); got != tc.want {
			t.Errorf("off(%g, %g) = %g", tc.candidate, tc.reference, got)
		}
	}
}
