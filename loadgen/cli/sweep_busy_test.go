package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// stopAt ends a sweep in a call.
func stopAt(n int) func(int) error {
	return func(call int) error {
		if call == n {
			return errors.New("the end of the world")
		}
		return nil
	}
}

// Why a run can't be used is the machine's reason where it has one, and else the
// first that makes it invalid.
func TestNotUsable(t *testing.T) {
	health := results.Reason{Kind: results.ReasonHealth, Text: "sends were late"}
	missing := results.Reason{Kind: results.ReasonMissing, Text: "no figure"}
	counts := results.Reason{Kind: results.ReasonReconcile, Text: "counts\ndiffer"}
	slow := results.Reason{Kind: results.ReasonThreshold, Text: "too slow"}
	for _, tt := range []struct {
		tries   int
		status  results.Status
		reasons []results.Reason
		want    string
	}{
		{1, results.Pass, nil, ""},
		{1, results.Fail, []results.Reason{slow}, ""},
		{1, results.Invalid, []results.Reason{missing, slow, health}, "not usable: sends were late; measured again later"},
		{2, results.Invalid, []results.Reason{health}, "not usable: sends were late; measured again later"},
		{3, results.Invalid, []results.Reason{health}, "not usable: sends were late; not measured again, after 3 tries"},
		{1, results.Invalid, []results.Reason{slow, counts, health}, "not usable: counts differ; not measured again, since the machine isn't to blame"},
		{1, results.Invalid, nil, "not usable: no reason is known; not measured again, since the machine isn't to blame"},
	} {
		var of []*results.Result
		for range tt.tries {
			of = append(of, &results.Result{Runs: []results.Run{{Verdict: results.Verdict{Status: tt.status, Reasons: tt.reasons}}}})
		}
		if got := notUsable(of); got != tt.want {
			t.Errorf("try %d, %v:\n%q, want\n%q", tt.tries, tt.reasons, got, tt.want)
		}
	}
}

// A run that can't be used is said to be that as it ends, before what is measured
// next; with --quiet it isn't.
func TestSweepSaysNotUsable(t *testing.T) {
	f := &fakeEngine{t: t, busy: busyAt("every=2", 99)}
	o := f.begin(filepath.Join(t.TempDir(), "out"))
	const run = "every=2, repeat 1: not usable: "
	again, last := strings.Count(o.err, "; measured again later\n"), strings.Count(o.err, "; not measured again, after 3 tries\n")
	if strings.Count(o.err, run) != 3 || again != 2 || last != 1 || strings.Contains(o.err, "every=5, repeat 1: not") {
		t.Errorf("stderr\n%s", o.err)
	}
	if said, round := strings.Index(o.err, run), strings.Index(o.err, "measuring again, "); said < 0 || said > round {
		t.Errorf("not said as it ends:\n%s", o.err)
	}
	f = &fakeEngine{t: t, busy: busyAt("every=2", 99)}
	if o := f.begin(filepath.Join(t.TempDir(), "out"), "--quiet"); strings.Contains(o.err, "not usable") {
		t.Errorf("quiet\n%s", o.err)
	}
}

// Of a sweep that ended early the table tells what wasn't measured, or not often
// enough, from what is invalid.
func TestSweepEndsEarly(t *testing.T) {
	for _, tt := range []struct {
		stop             int // in this run, of 2 points × 2 repeats
		incomplete, none int
	}{{2, 1, 1}, {3, 2, 0}} {
		f := &fakeEngine{t: t, before: stopAt(tt.stop)}
		o := f.begin(filepath.Join(t.TempDir(), "out"), "--repeats", "2", "--choose", "cpu")
		of := map[string]int{}
		for _, point := range []string{"every=2", "every=5"} {
			for _, verdict := range []string{"incomplete", "not measured", "invalid"} {
				if strings.HasSuffix(rowOf(o.out, point), "  "+verdict) {
					of[verdict]++
				}
			}
		}
		if of["incomplete"] != tt.incomplete || of["not measured"] != tt.none || of["invalid"] != 0 {
			t.Errorf("ended in run %d: %v\n%s", tt.stop, of, o.out)
		}
	}
}

// By hand: a fake run takes 2 s. Of 4 turns one is done and one was in vain, so 3
// are left, 6 s; if all are in vain from then on, 2 × 3 + 2 runs, 16 s.
func TestSweepDryRunOfResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f := &fakeEngine{t: t, busy: busyAt("every=2", 1), before: stopAt(3)}
	f.begin(dir, "--repeats", "2")
	o := f.sweep("--resume", dir, "--dry-run")
	for _, want := range []string{
		"= 4 runs, 2 of them measured, 1 of those to be measured again, since this machine was too busy, about 6s, and up to 16s if this machine is too busy: a run is measured 3 times at most\n",
		"  every=2: 0 of 2 runs done, 1 to be measured again\n", "  every=5: 1 of 2 runs done\n",
	} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("exit %d, no %q in\n%s%s", o.code, want, o.out, o.err)
		}
	}
	f.before = nil
	if o := f.sweep("--resume", dir); o.code != 0 || !strings.Contains(o.err, "2 of 4 runs measured before, 2 missing, 1 to be measured again\n") {
		t.Errorf("exit %d\n%s", o.code, o.err)
	}
	if o := f.sweep("--resume", dir, "--dry-run"); !strings.Contains(o.out, ", about 0s\n") || !strings.Contains(o.out, "  every=2: done\n  every=5: done\n") {
		t.Errorf("complete:\n%s", o.out)
	}
	f = &fakeEngine{t: t, busy: busyAt("every=2", sweep.MostTries)}
	dir = filepath.Join(t.TempDir(), "busy")
	f.begin(dir)
	if o := f.sweep("--resume", dir, "--dry-run"); !strings.Contains(o.out, "  every=2: done, 1 of them in vain\n") {
		t.Errorf("busy to the end:\n%s", o.out)
	}
	if o := f.sweep("smoke", "--vary", "clients.ack.every=2,5", "--dry-run"); !strings.Contains(o.out, "  every=2\n  every=5\n") {
		t.Errorf("not begun:\n%s", o.out)
	}
}
