package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// sweepOf makes the arguments of a sweep of two points, small ones.
func sweepOf(dir string, more ...string) []string {
	args := append([]string{"sweep"}, short("traffic.group.arrivals=uniform")...)
	return append(append(args, "--vary", "clients.ack.every=2,5", "--out", dir), more...)
}

// swept runs a sweep with a temporary directory of its own.
func swept(t *testing.T, args ...string) outcome {
	t.Helper()
	needRedis(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o := loadgen(args...)
	nothingLeft(t, tmp)
	return o
}

func runFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readable fails unless the sweep's result is sound, or invalid only because this
// machine was too busy.
func readable(t *testing.T, o outcome, dir string) *results.Result {
	t.Helper()
	o.dir = dir
	r, err := results.Read(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.err)
	}
	for _, reason := range r.Verdict.Reasons {
		if reason.Kind != results.ReasonHealth {
			t.Errorf("verdict %s: %s", r.Verdict.Status, reason)
		}
	}
	return r
}

func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := swept(t, sweepOf(dir, "--repeats", "2", "--choose", "acks", "--subject-to", "unacked_window_mean < 100, lost == 0")...)
	r := readable(t, o, dir)
	if r.Sweep == nil || r.Sweep.Vary[0].Key != "clients.ack.every" || len(r.Runs) != 4 || len(r.Variants) != 2 {
		t.Fatalf("sweep %+v, %d runs, %d points", r.Sweep, len(r.Runs), len(r.Variants))
	}
	for i, run := range r.Runs {
		if i > 0 && (run.StartedMs <= r.Runs[i-1].StartedMs || run.Number <= r.Runs[i-1].Number) {
			t.Errorf("run %d began at %d ms, the one before at %d", run.Number, run.StartedMs, r.Runs[i-1].StartedMs)
		}
		if replay := run.Acks.ReplayedError; replay == nil || *replay != 0 {
			t.Errorf("%s: acks are off the replayed policy by %v", run.Variant, replay)
		}
	}
	if v := r.Variants[1]; v.Set["clients.ack.every"] == "" || v.Hash == "" {
		t.Errorf("point %s sets %v, hash %q", v.Name, v.Set, v.Hash)
	}
	if r.Verdict.Status == results.Pass && (o.code != 0 || !strings.Contains(o.out, "recommended: every=5") || !strings.Contains(o.out, "--set clients.ack.every=5")) {
		t.Errorf("exit %d\n%s", o.code, o.out)
	}
	if !strings.Contains(o.err, " left]") || !strings.Contains(o.err, "written to "+dir) {
		t.Errorf("stderr %s", o.err)
	}
	for _, name := range []string{sweep.PlanName, "table.csv", "table.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	testResume(t, dir, o)
}

// testResume goes on with a sweep that is complete, then with one whose runs are
// partly gone or broken.
func testResume(t *testing.T, dir string, before outcome) {
	turns := filesByTurn(t, dir)
	o := swept(t, "sweep", "--resume", dir, "--dry-run")
	if o.code != 0 || !strings.Contains(o.out, "measured, about") {
		t.Errorf("--dry-run of a complete sweep: exit %d, %s", o.code, o.out)
	}
	for _, file := range turns[0] {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range turns[1] {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b[:len(b)/2], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	whole := turns[2][0]
	kept, err := os.Stat(whole)
	if err != nil {
		t.Fatal(err)
	}
	o = swept(t, "sweep", "--resume", dir, "--json")
	r := readable(t, o, dir)
	if len(r.Runs) != 4 || !strings.Contains(o.err, "that run is measured again") || !strings.Contains(o.err, "2 of 4 runs measured before, 2 missing") {
		t.Errorf("%d runs\n%s", len(r.Runs), o.err)
	}
	if _, err := os.Stat(turns[1][0] + ".broken"); err != nil {
		t.Errorf("the broken file isn't put aside: %v", err)
	}
	if now, err := os.Stat(whole); err != nil || !now.ModTime().Equal(kept.ModTime()) {
		t.Errorf("a run that was there is measured again: %v", err)
	}
	var doc struct {
		Table  sweep.Document
		Result json.RawMessage
	}
	if err := json.Unmarshal([]byte(o.out), &doc); err != nil || len(doc.Table.Points) != 2 || doc.Table.Recommendation == nil {
		t.Errorf("--json: %v, %d points", err, len(doc.Table.Points))
	}
	if _, err := results.Decode(doc.Result); err != nil {
		t.Errorf("--json: the result: %v", err)
	}
	for _, tt := range []struct{ flags, want string }{
		{"--repeats 3", "--set (with --repeats and --seed) was "},
		{"--vary clients.ack.every=2,7", "--vary was clients.ack.every=2,5, is clients.ack.every=2,7"},
		{"--order-seed 9", "--order-seed was 1, is 9"},
		{"--embedded", "the store was private Redis, is embedded store"},
		{"--variant smoke", "--variant was none, is smoke"},
		{"--out x", "leave --out out"},
	} {
		o := loadgen(append([]string{"sweep", "--resume", dir}, strings.Fields(tt.flags)...)...)
		if o.code != 2 || !strings.Contains(o.err, tt.want) {
			t.Errorf("--resume with %s: exit %d, %s", tt.flags, o.code, o.err)
		}
	}
}

// filesByTurn are the files of a sweep's runs by point and repeat: a busy machine
// has several tries of one.
func filesByTurn(t *testing.T, dir string) [][]string {
	t.Helper()
	at := map[string]int{}
	var turns [][]string
	for _, file := range runFiles(t, dir) {
		r, err := results.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		turn := fmt.Sprint(r.Runs[0].Variant, r.Runs[0].Repeat)
		if _, known := at[turn]; !known {
			at[turn] = len(turns)
			turns = append(turns, nil)
		}
		turns[at[turn]] = append(turns[at[turn]], file)
	}
	return turns
}

func TestSweepProblems(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, tt := range []struct{ args, want string }{
		{"smoke", "varies nothing; say what to vary"},
		{"", "takes one argument, a profile"},
		{"smoke ack-storm --vary clients.ack.every=1", "takes one argument, a profile; it was given 2"},
		{"smoke --vary clients.ack.every", "--vary clients.ack.every: no '='"},
		{"smoke --vary clients.ack.every=1,300", "(point every=300)"},
		{"smoke --vary clients.ack.every=1 --set clients.ack.every=2", "clients.ack.every is varied"},
		{"smoke --vary clients.ack.every=1 --choose cpus", "--choose: choose: there is no metric cpus"},
		{"smoke --vary clients.ack.every=1 --subject-to live.p99<2s", "what must be met is said, but not what to choose by"},
		{"smoke --vary clients.ack.every=1 --choose CPU", "--choose: choose: there is no metric CPU; did you mean cpu, "},
		{"smoke --vary clients.ack.every=1 --choose=", "--choose names no metric"},
		{"smoke --vary clients.ack.every=1 --pareto=", "--pareto: pareto: no metric is named"},
		{"smoke --vary clients.ack.every=1 --pareto cpu,", "--pareto: pareto: no metric is named"},
		{"smoke --vary clients.ack.every=1 --choose cpu --subject-to lost==0,", "--subject-to: subject to: \"\" compares nothing"},
		{"smoke --resume=", "--resume names no directory"},
		{"--resume=", "--resume names no directory"},
		{"smoke --vary clients.ack.every=1 --choose cpu --subject-to live.p99<2", "--subject-to: subject to"},
		{"smoke --vary clients.ack.every=1 --pareto cpu", "--pareto: pareto: cpu; it takes a cost and a risk"},
		{"smoke --vary clients.ack.every=1 --variant each", "there is no such variant"},
		{"--resume " + dir, "it should be the directory of a sweep"},
	} {
		args := append([]string{"sweep"}, strings.Fields(tt.args)...)
		if !strings.Contains(tt.args, "--resume") { // which takes no --out
			args = append(args, "--out", dir)
		}
		if o := loadgen(args...); o.code != 2 || !strings.Contains(o.err, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.args, o.code, o.err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("%s: made the directory", tt.args)
		}
	}
}

func TestSweepDryRun(t *testing.T) {
	o := loadgen("sweep", "smoke", "--vary", "clients.ack.every=10,300", "--vary", "clients.window=256,400", "--skip-impossible", "--repeats", "3", "--dry-run")
	for _, want := range []string{"3 points × 3 repeats = 9 runs, about ", "clients.window: 256, 400", "  every=300 window=400\n", "left out: --vary clients.ack.every=10,300: "} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	// One of each is said so, and what would warn later warns now.
	o = loadgen("sweep", "smoke", "--vary", "clients.poll=1s", "--repeats", "1", "--dry-run")
	if !strings.Contains(o.out, "1 point × 1 repeat = 1 run, about ") || !strings.Contains(o.err, "warning: ") || !strings.Contains(o.err, "clients.poll has no effect") {
		t.Errorf("stdout %s\nstderr %s", o.out, o.err)
	}
	// A profile without a name is none, and no crash.
	if o := loadgen("sweep", "", "--vary", "clients.ack.every=10", "--dry-run"); o.code != 2 || o.err == "" {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	o = loadgen("sweep", "smoke", "--vary", "clients.ack.every=10,20", "--dry-run", "--json")
	if p, err := sweep.DecodePlan([]byte(o.out)); err != nil || len(p.Points) != 2 {
		t.Errorf("--dry-run --json: %v\n%s", err, o.out)
	}
}

// No point that can be recommended is exit code 1, with the constraint that is to
// blame; unless the measurement can't be trusted anyway.
func TestSweepNothingEligible(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := swept(t, sweepOf(dir, "--choose", "cpu", "--subject-to", "requests_per_login < 5")...)
	r := readable(t, o, dir)
	want := 1
	if r.Verdict.Status == results.Invalid {
		want = 3
	}
	if o.code != want || !strings.Contains(o.out, "requests_per_login < 5 excludes 2, 2 of them for want of the figure") {
		t.Errorf("exit %d, want %d\n%s", o.code, want, o.out)
	}
}
