package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// A run that nobody needed, put there by hand, isn't said to be measured again
// because the machine was busy.
func TestSweepNeedlessTry(t *testing.T) {
	f := &fakeEngine{t: t}
	dir := sweptAt(t, f)
	extra := filepath.Join(dir, runsDir, "009-extra.json")
	copyTo(t, kept(t, dir)[0], extra)
	edit(t, extra, func(d map[string]any) { d["runs"].([]any)[0].(map[string]any)["number"] = 9 })
	o := f.sweep("--resume", dir)
	if o.code != 0 || f.calls != 2 || strings.Contains(o.out, "busy") || !strings.Contains(o.out, "measured 2 times, run 9 counts: the last that is valid") {
		t.Errorf("exit %d, %d calls\n%s%s", o.code, f.calls, o.out, o.err)
	}
}

// What must be met stays when a sweep goes on, and that is said; "" and none drop
// it, for good.
func TestSweepDropsConstraints(t *testing.T) {
	const cpu, subject = "system_cpu_us_per_delivery", "requests_per_login < 5"
	for _, drop := range []string{"", "none", " none "} {
		f := &fakeEngine{t: t}
		dir := filepath.Join(t.TempDir(), "out")
		if o := f.begin(dir, "--choose", "cpu", "--subject-to", subject); o.code != int(results.ExitFail) || strings.Contains(o.err, "asked: ") {
			t.Fatalf("begun: exit %d\n%s", o.code, o.err)
		}
		for _, step := range []struct {
			args []string
			code results.ExitCode
			want string
		}{
			{nil, results.ExitFail, "asked: the best in " + cpu + ", subject to " + subject + "; that is kept from before, and --subject-to none drops it\n"},
			{[]string{"--choose", "commands"}, results.ExitFail, "asked: the best in redis_commands_per_delivery, subject to " + subject + "; that is kept"},
			{[]string{"--choose", "cpu", "--subject-to", "unacked_window_mean < 5"}, results.ExitPass, "asked: the best in " + cpu + ", subject to unacked_window_mean < 5\n"},
			{[]string{"--subject-to", drop}, results.ExitPass, "asked: the best in " + cpu + ", subject to nothing\n"},
			{nil, results.ExitPass, "asked: the best in " + cpu + ", subject to nothing\n"},
		} {
			if o := f.sweep(append([]string{"--resume", dir}, step.args...)...); o.code != int(step.code) || !strings.Contains(o.err, step.want) {
				t.Errorf("%q, %q: exit %d, want %d and %q\n%s", drop, step.args, o.code, step.code, step.want, o.err)
			}
		}
	}
}

// What a profile wants met is dropped as well, and stays dropped.
func TestSweepDropsProfilesConstraints(t *testing.T) {
	f := &fakeEngine{t: t}
	profile := filepath.Join(t.TempDir(), "strict.yaml")
	b, err := os.ReadFile("../../profiles/smoke.yaml")
	if err != nil {
		t.Fatal(err)
	}
	put(t, profile, string(b)+"\nchoose: cpu\nsubject_to: [requests_per_login < 5]\n")
	dir := filepath.Join(t.TempDir(), "out")
	if o := f.sweep(profile, "--vary", "clients.ack.every=2,5", "--out", dir, "--subject-to", "none"); o.code != 0 {
		t.Fatalf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	if o := f.sweep("--resume", dir); o.code != 0 || !strings.Contains(o.err, "subject to nothing") {
		t.Errorf("resumed: exit %d\n%s", o.code, o.err)
	}
}

// A complete sweep answers though its directory takes nothing; the answer is then
// the table alone.
func TestSweepAnswersUnwritten(t *testing.T) {
	f := &fakeEngine{t: t}
	dir := sweptAt(t, f)
	for _, name := range []string{results.TableCSV, results.FileName} {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := f.sweep("--resume", dir, "--choose", "cpu")
	if o.code != 0 || f.calls != 2 || !strings.Contains(o.out, "recommended: ") || !strings.Contains(o.err, "warning: the answer is printed only: ") {
		t.Errorf("exit %d, %d calls\n%s%s", o.code, f.calls, o.out, o.err)
	}
	if strings.Contains(o.err, "--out") || strings.Contains(o.err, "written to") {
		t.Errorf("stderr\n%s", o.err)
	}
	// A sweep that measured something wanted it written.
	if err := os.Remove(kept(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	if o := f.sweep("--resume", dir); o.code != int(results.ExitCouldNotRun) || f.calls != 3 {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
}

// A file that is no run is put aside; only one in the place of a run has it
// measured again.
func TestSweepStrayFile(t *testing.T) {
	f := &fakeEngine{t: t}
	dir := sweptAt(t, f)
	stray := filepath.Join(dir, runsDir, results.FileName)
	copyTo(t, filepath.Join(dir, results.FileName), stray)
	o := f.sweep("--resume", dir)
	if o.code != 0 || f.calls != 2 || !strings.Contains(o.err, "2 runs, should be 1: it is put aside, and no run of this sweep is missing for it") {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
	if _, err := os.Stat(stray + ".broken"); err != nil {
		t.Error(err)
	}
	first := kept(t, dir)[0]
	put(t, first, "{")
	if o := f.sweep("--resume", dir); o.code != 0 || f.calls != 3 || !strings.Contains(o.err, first+": ") || !strings.Contains(o.err, ": that run is measured again\n") {
		t.Errorf("exit %d, %d calls\n%s", o.code, f.calls, o.err)
	}
}

// Crash variants alone are points of their own.
func TestSweepDryRunOfCrashes(t *testing.T) {
	f := &fakeEngine{t: t}
	for _, tt := range []struct{ variant, want string }{
		{"crash", "24 points × "},
		{"steady", "24 points × "},
		{"", "24 points, with crash variants 48 settings, × "},
	} {
		args := []string{"batch-ack-sweep", "--dry-run"}
		if tt.variant != "" {
			args = append(args, "--variant", tt.variant)
		}
		if o := f.sweep(args...); o.code != 0 || !strings.Contains(o.out, "batch-ack-sweep: "+tt.want) {
			t.Errorf("%s: exit %d\n%.300s%s", tt.variant, o.code, o.out, o.err)
		}
	}
}

// The plan notes what failed only while something did.
func TestPlanWithoutFailures(t *testing.T) {
	f := &fakeEngine{t: t}
	b, err := os.ReadFile(filepath.Join(sweptAt(t, f), sweep.PlanName))
	if err != nil || strings.Contains(string(b), "failed") {
		t.Errorf("%v\n%s", err, b)
	}
}
