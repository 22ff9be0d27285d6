package cli

import (
	"strings"
	"testing"

	"ackmark/loadgen/selftest"
	"ackmark/results"
)

func TestSelftestText(t *testing.T) {
	rep := &selftest.Report{
		Verdict: results.Fail, ExitCode: results.ExitFail, Seconds: 48.4, Notes: []string{"lost, attempt 1 of 5: one time off"},
		Checks: []selftest.Check{
			{Case: "constant 80ms", What: "live.p50", Unit: results.Microseconds, Expected: 80_000, Found: results.Number(79_200), Status: selftest.OK, Timing: true},
			{Case: "constant 80ms", What: "lost", Expected: 0, Found: results.Number(0), Status: selftest.OK},
			{Case: "lost", What: "lost", Expected: 44, Found: results.Number(43), Status: selftest.Wrong},
			{Case: "lost", What: "out of order", Expected: 0, Found: nil, Status: selftest.Wrong},
		},
	}
	text, err := selftestText(rep, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"80 ms", "79.2 ms", "−1.00 %", "44", "wrong", "–", "1 more checks found nothing", "note: lost", "verdict: fail"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if all, _ := selftestText(rep, true); strings.Contains(all, "more checks") {
		t.Errorf("--all hides something:\n%s", all)
	}
}
