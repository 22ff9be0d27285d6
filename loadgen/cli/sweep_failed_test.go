package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

func failsAt(points ...string) func(string, int) error {
	return func(point string, _ int) error {
		if slices.Contains(points, point) {
			return errors.New("the server refuses " + point)
		}
		return nil
	}
}

// beginOf sweeps more points than two. With the seed of smoke the order is every=…
// as inOrder says.
func (f *fakeEngine) beginOf(dir, values string, more ...string) said {
	return f.sweep(append([]string{"smoke", "--vary", "clients.ack.every=" + values, "--out", dir}, more...)...)
}

// inOrder are the points of a sweep in the order of its first round.
func inOrder(t *testing.T, values string) []string {
	t.Helper()
	f := &fakeEngine{t: t}
	if o := f.beginOf(filepath.Join(t.TempDir(), "order"), values); o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.err)
	}
	return f.order
}

// A point that can't be measured is passed over: the others are, the end names it,
// and a sweep that goes on tries it last.
func TestSweepPassesOver(t *testing.T) {
	for i := range 3 {
		order := inOrder(t, "1,2,5")
		bad := order[i]
		t.Run(fmt.Sprintf("point %d", i+1), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			f := &fakeEngine{t: t, fails: failsAt(bad)}
			o := f.beginOf(dir, "1,2,5", "--repeats", "2", "--choose", "cpu")
			// Of the bad point one repeat is tried, of the others both are measured.
			if o.code != int(results.ExitCouldNotRun) || f.calls != 5 || len(kept(t, dir)) != 4 {
				t.Fatalf("exit %d, %d calls, %d files\n%s", o.code, f.calls, len(kept(t, dir)), o.err)
			}
			for _, want := range []string{
				bad + ", repeat 1, couldn't be measured: the server refuses " + bad + "\n",
				"loadgen: 1 of 3 points couldn't be measured:\n  " + bad + ", repeat 1: the server refuses " + bad + "\n",
				"loadgen sweep --resume " + dir + " measures the 2 of 6 runs missing\n", "written to " + dir,
			} {
				if !strings.Contains(o.err, want) {
					t.Errorf("no %q in\n%s", want, o.err)
				}
			}
			if !strings.Contains(o.out, "1 of 3 points could not be judged (not measured: "+bad+")") || !strings.Contains(o.out, "recommended: every=") {
				t.Errorf("stdout\n%s", o.out)
			}
			// Its log is kept, under its name; one that is empty says nothing.
			logs, _ := filepath.Glob(filepath.Join(dir, runsDir, "*.logs", "*"))
			if len(logs) != 1 || !strings.Contains(logs[0], strings.Replace(bad, "=", "-", 1)+"-1.logs/server-3.log") {
				t.Errorf("logs %v", logs)
			}
			if dirs, _ := filepath.Glob(filepath.Join(dir, runsDir, "*.logs")); len(dirs) != 1 {
				t.Errorf("directories of logs %v", dirs)
			}
			// What went missing comes first, the bad point last.
			if err := os.Remove(kept(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			f.order, f.calls = nil, 0
			o = f.sweep("--resume", dir)
			if o.code != int(results.ExitCouldNotRun) || f.calls != 2 || f.order[0] == bad || f.order[1] != bad {
				t.Errorf("resumed: exit %d, order %v\n%s", o.code, f.order, o.err)
			}
			// Mended, it is measured, and nothing is noted any more.
			f.fails, f.order = nil, nil
			o = f.sweep("--resume", dir)
			if o.code != 0 || !slices.Equal(f.order, []string{bad, bad}) {
				t.Errorf("mended: exit %d, order %v\n%s", o.code, f.order, o.err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, sweep.PlanName)); err != nil || strings.Contains(string(b), "failed") {
				t.Errorf("the plan still notes a failure: %v\n%s", err, b)
			}
		})
	}
}

// A repeat that fails leaves the others of its point alone.
func TestSweepRepeatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	once := 0
	f := &fakeEngine{t: t, fails: func(point string, _ int) error {
		if point == "every=2" {
			if once++; once == 2 {
				return errors.New("broken off")
			}
		}
		return nil
	}}
	if o := f.begin(dir, "--repeats", "3"); o.code != int(results.ExitCouldNotRun) || f.calls != 6 || len(kept(t, dir)) != 5 || !strings.Contains(o.err, "  every=2, repeat 2: broken off\n") {
		t.Errorf("exit %d, %d calls, %d files\n%s", o.code, f.calls, len(kept(t, dir)), o.err)
	}
}

// What fails everywhere isn't tried everywhere.
func TestSweepGivesUp(t *testing.T) {
	const values = "1,2,5,10,20"
	order := inOrder(t, values)
	same := func(points ...string) func(string, int) error {
		return func(point string, _ int) error {
			if slices.Contains(points, point) {
				return errors.New("no route")
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name  string
		fails func(string, int) error
		calls int
		why   string
	}{
		{"the first two", failsAt(order[0], order[1]), 2, "given up, since the first two points failed"},
		{"the first and the third", failsAt(order[0], order[2]), 5, ""},
		{"three later ones, each for its own reason", failsAt(order[1], order[2], order[3]), 5, ""},
		{"three for one reason", same(order[1], order[2], order[3]), 4, "given up, since 3 points failed for the same reason"},
		{"two for one reason", same(order[1], order[4]), 5, ""},
		{"a full disk", func(point string, _ int) error {
			if point == order[1] {
				return fmt.Errorf("keeping: %w", syscall.ENOSPC)
			}
			return nil
		}, 2, "no space left on device"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			f := &fakeEngine{t: t, fails: tt.fails}
			o := f.beginOf(dir, values)
			if o.code != int(results.ExitCouldNotRun) || f.calls != tt.calls || !strings.Contains(o.err, tt.why) {
				t.Errorf("exit %d, %d calls, want %d\n%s", o.code, f.calls, tt.calls, o.err)
			}
			if some := " runs missing (what failed, after the others)\n"; strings.Contains(tt.why, "given up") && !strings.Contains(o.err, some) {
				t.Errorf("no %q in\n%s", some, o.err)
			}
			if tt.why == "" && strings.Contains(o.err, "given up") {
				t.Errorf("it gave up\n%s", o.err)
			}
			// Going on, it gets past what stopped it, unless that is the disk.
			if f.sweep("--resume", dir); tt.name != "a full disk" && !slices.Contains(f.order[tt.calls-1:], order[4]) && tt.calls < 5 {
				t.Errorf("resumed, it never reaches the last point: %v", f.order)
			}
		})
	}
}

// Once something was measured, two points that fail are these two.
func TestSweepGoesOnAfterResume(t *testing.T) {
	const values = "1,2,5,10,20"
	order := inOrder(t, values)
	dir := filepath.Join(t.TempDir(), "out")
	f := &fakeEngine{t: t, before: func(call int) error {
		if call == 2 {
			return errors.New("no Redis")
		}
		return nil
	}}
	f.beginOf(dir, values) // measures the first, and ends
	f.before, f.fails = nil, failsAt(order[1], order[2])
	if o := f.sweep("--resume", dir); strings.Contains(o.err, "given up") || !slices.Contains(f.order, order[4]) {
		t.Errorf("the last point isn't measured: %v\n%s", f.order, o.err)
	}
}

// Without a store, or before anything began, the next run would fail as well.
func TestSweepNoStore(t *testing.T) {
	f := &fakeEngine{t: t, before: func(call int) error {
		if call == 2 {
			return errors.New("no Redis")
		}
		return nil
	}}
	dir := filepath.Join(t.TempDir(), "out")
	if o := f.beginOf(dir, "1,2,5"); o.code != int(results.ExitCouldNotRun) || f.calls != 2 || strings.Contains(o.err, "couldn't be measured") {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
}

// A busy run whose next try fails isn't tried for ever.
func TestSweepBusyThenFails(t *testing.T) {
	f := &fakeEngine{t: t, busy: busyAt("every=2", 9), fails: func(point string, try int) error {
		if point == "every=2" && try > 1 {
			return errors.New("broken off")
		}
		return nil
	}}
	dir := filepath.Join(t.TempDir(), "out")
	if o := f.begin(dir); o.code != int(results.ExitCouldNotRun) || f.calls != 3 || !strings.Contains(o.err, "1 of 2 points couldn't be measured:\n  every=2, repeat 1: broken off") {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
}

// A directory that goes away during a sweep is not one to go on with.
func TestSweepDirectoryGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f := &fakeEngine{t: t}
	f.before = func(call int) error {
		if call == 2 {
			return os.RemoveAll(dir)
		}
		return nil
	}
	o := f.beginOf(dir, "1,2,5")
	if o.code != int(results.ExitCouldNotRun) || f.calls != 2 || strings.Contains(o.err, "--resume") {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was made again")
	}
}
