package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

func busyAt(point string, upTo int) func(string, int) bool {
	return func(p string, try int) bool { return p == point && try <= upTo }
}

// rowOf is the line of the safety table, which ends with the verdict.
func rowOf(out, point string) string {
	lines := strings.Split(out, "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "safety") })
	for _, l := range lines[max(i, 0):] {
		if strings.HasPrefix(l, point+" ") {
			return l
		}
	}
	return ""
}

// A run that is invalid at its last try too makes the sweep invalid: exit code 3,
// a message, and a mark at its point alone.
func TestSweepStaysBusy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f := &fakeEngine{t: t, busy: busyAt("every=2", sweep.MostTries)}
	o := f.begin(dir, "--choose", "cpu")
	if o.code != int(results.ExitInvalid) || f.tries["every=2 #1"] != sweep.MostTries || f.tries["every=5 #1"] != 1 {
		t.Fatalf("exit %d after tries %v\n%s", o.code, f.tries, o.err)
	}
	if n := strings.Count(o.err, "measuring again, since this machine was too busy for the generator: 1 run\n"); n != sweep.MostTries-1 {
		t.Errorf("said %d times that it measures again\n%s", n, o.err)
	}
	if !strings.Contains(o.err, "too busy for the generator in 1 of 2 runs, 3 times each") || strings.Contains(o.err, "--resume") {
		t.Errorf("stderr\n%s", o.err)
	}
	if row := rowOf(o.out, "every=2"); !strings.HasSuffix(row, "invalid") {
		t.Errorf("every=2 isn't marked: %q\n%s", row, o.out)
	}
	if row := rowOf(o.out, "every=5"); !strings.HasSuffix(row, "pass") {
		t.Errorf("every=5: %q\n%s", row, o.out)
	}
	for _, want := range []string{"verdict: invalid", "measured 3 times, the machine was too busy each time", "no choice: of 2 points only every=5 could be judged", "1 of 2 points could not be judged (invalid: every=2), and might be better"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	if r := resultOf(t, dir, o); len(r.Runs) != 2 || r.ExitCode != results.ExitInvalid || len(kept(t, dir)) != 4 {
		t.Errorf("%d runs, exit code %d, %d files", len(r.Runs), r.ExitCode, len(kept(t, dir)))
	}
	// Resumed, nothing is left to measure, and the verdict stands.
	calls := f.calls
	if o := f.sweep("--resume", dir); o.code != int(results.ExitInvalid) || f.calls != calls {
		t.Errorf("resumed: exit %d, %d more runs\n%s", o.code, f.calls-calls, o.err)
	}
}

// A run that succeeds at its second try counts once, with that try's figures.
func TestSweepBusyOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f := &fakeEngine{t: t, busy: busyAt("every=2", 1)}
	o := f.begin(dir, "--repeats", "2", "--choose", "cpu")
	if o.code != int(results.ExitPass) || f.calls != 6 {
		t.Fatalf("exit %d after %d runs\n%s%s", o.code, f.calls, o.out, o.err)
	}
	if !strings.Contains(o.err, "measuring again, since this machine was too busy for the generator: 2 runs") {
		t.Errorf("stderr\n%s", o.err)
	}
	r := resultOf(t, dir, o)
	if len(r.Runs) != 4 || len(kept(t, dir)) != 6 {
		t.Fatalf("%d runs of %d files", len(r.Runs), len(kept(t, dir)))
	}
	for _, run := range r.Runs {
		cpu, _ := run.Value("system_cpu_us_per_delivery")
		want, note := 100.0, 0
		if run.Variant == "every=2" {
			want, note = 200, 1
		}
		if cpu != want || len(run.Warnings) != note || run.Verdict.Status != results.Pass {
			t.Errorf("%s %d: %v µs, want %v; %s, warnings %q", run.Variant, run.Repeat, cpu, want, run.Verdict.Status, run.Warnings)
		}
	}
	q, err := sweep.NewQuestion("cpu", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := sweep.NewTable(r, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range table.Document().Points {
		if cpu := p.Figures["system_cpu_us_per_delivery"]; p.Repeats != 2 || cpu == nil || (*cpu == 200) != (p.Point == "every=2") {
			t.Errorf("%s: %d repeats, %v µs", p.Point, p.Repeats, cpu)
		}
	}
}

// Wherever a sweep ends, those that go on with it try no run more often than
// allowed, and none less.
func TestSweepResumeBetweenTries(t *testing.T) {
	stop := errors.New("the end of the world")
	for ends := 1; ends <= 4; ends++ {
		t.Run(fmt.Sprintf("in run %d", ends), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			f := &fakeEngine{t: t, busy: busyAt("every=2", 99)}
			f.before = func(call int) error {
				if call == ends {
					return stop
				}
				return nil
			}
			o := f.begin(dir)
			if o.code != int(results.ExitCouldNotRun) || !strings.Contains(o.err, stop.Error()) {
				t.Fatalf("exit %d\n%s", o.code, o.err)
			}
			if ends == 1 { // nothing is kept, so nothing is left behind
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(left) > 0 || strings.Contains(o.err, "--resume") {
					t.Errorf("left %v\n%s", left, o.err)
				}
				return
			}
			if !strings.Contains(o.err, "loadgen sweep --resume "+dir+" measures ") {
				t.Errorf("doesn't say how to go on:\n%s", o.err)
			}
			f.before = nil
			if o := f.sweep("--resume", dir); o.code != int(results.ExitInvalid) {
				t.Errorf("exit %d\n%s", o.code, o.err)
			}
			if f.tries["every=2 #1"] != sweep.MostTries || f.tries["every=5 #1"] != 1 || len(kept(t, dir)) != sweep.MostTries+1 {
				t.Errorf("tries %v, %d files", f.tries, len(kept(t, dir)))
			}
		})
	}
}
