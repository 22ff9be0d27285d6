package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ackmark/results"
	"ackmark/results/sweep"
)

// sweptAt is a complete sweep of two points in a directory with an odd name.
func sweptAt(t *testing.T, f *fakeEngine, more ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's [1] *")
	if o := f.begin(dir, more...); o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.err)
	}
	return dir
}

// edit changes one value of a JSON file.
func edit(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	if b, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	put(t, path, string(b))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	put(t, to, string(b))
}

// While one sweep measures, a second is kept out before it reads anything; a dry
// run may look.
func TestSweepLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, second := &fakeEngine{t: t}, &fakeEngine{t: t}
	f.before = func(call int) error {
		if call == 1 {
			return nil
		}
		o := second.sweep("--resume", dir)
		if o.code != int(results.ExitUsage) || !strings.Contains(o.err, "another loadgen is at work on the sweep in "+dir) {
			t.Errorf("second: exit %d, %s", o.code, o.err)
		}
		if o := second.sweep("--resume", dir, "--dry-run"); o.code != 0 || !strings.Contains(o.out, "= 2 runs, 1 of them measured, about ") {
			t.Errorf("dry run: exit %d, %s%s", o.code, o.out, o.err)
		}
		return nil
	}
	if o := f.begin(dir); o.code != 0 || f.calls != 2 || second.calls != 0 {
		t.Errorf("exit %d, %d and %d runs\n%s", o.code, f.calls, second.calls, o.err)
	}
	// The lock is asked for before the plan and the runs are read.
	lock, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatalf("the end of a sweep leaves it locked: %v", err)
	}
	put(t, filepath.Join(dir, sweep.PlanName), "half a pl")
	put(t, kept(t, dir)[0], "half a ru")
	if o := second.sweep("--resume", dir); o.code != int(results.ExitUsage) || !strings.Contains(o.err, "another loadgen is at work") || strings.Contains(o.err, "not ") {
		t.Errorf("it read before it locked: exit %d, %s", o.code, o.err)
	}
}

// relabel makes a run say that it is of the point of another file.
func relabel(t *testing.T, path, other string) {
	t.Helper()
	r, err := results.Read(other)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(d map[string]any) {
		run := d["runs"].([]any)[0].(map[string]any)
		run["variant"], run["number"] = r.Runs[0].Variant, 9
	})
}

// A refusal lets go of the directory, so that a mended one can go on.
func TestSweepRefused(t *testing.T) {
	f := &fakeEngine{t: t}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir, first, second string)
		code   results.ExitCode
		want   string
	}{
		{"a copy", func(t *testing.T, dir, first, _ string) {
			copyTo(t, first, filepath.Join(dir, runsDir, "009-copy.json"))
		},
			results.ExitUsage, "009-copy.json are both run 1 of this sweep; take the copy away"},
		{"a run of another profile", func(t *testing.T, _, first, _ string) {
			edit(t, first, func(d map[string]any) { d["profile"].(map[string]any)["hash"] = "0" })
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a run of another point", func(t *testing.T, _, first, _ string) {
			edit(t, first, func(d map[string]any) { d["runs"].([]any)[0].(map[string]any)["variant"] = "every=3" })
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a run with the name of another point", func(t *testing.T, _, first, second string) {
			relabel(t, first, second)
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a run whose settings are another point's", func(t *testing.T, _, first, _ string) {
			edit(t, first, func(d map[string]any) {
				d["variants"].([]any)[0].(map[string]any)["set"] = map[string]any{"clients.ack.every": "7"}
			})
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a run whose point is another profile's", func(t *testing.T, _, first, _ string) {
			edit(t, first, func(d map[string]any) { d["variants"].([]any)[0].(map[string]any)["hash"] = "0" })
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a repeat too many", func(t *testing.T, _, first, _ string) {
			edit(t, first, func(d map[string]any) { d["runs"].([]any)[0].(map[string]any)["repeat"] = 2 })
		}, results.ExitUsage, "is no run of this sweep; take it away"},
		{"a run on another Redis", func(t *testing.T, _, _, second string) {
			other := &fakeEngine{t: t, redis: "8.0"}
			copyTo(t, kept(t, sweptAt(t, other))[1], second)
		}, results.ExitUsage, "were measured otherwise: Redis was 7.0.15, is 8.0"},
		{"a run that can't be read", func(t *testing.T, _, first, _ string) {
			if err := errors.Join(os.Remove(first), os.Mkdir(first, 0o755)); err != nil {
				t.Fatal(err)
			}
		}, results.ExitCouldNotRun, "should be a run of this sweep: make it readable, or take it away"},
		{"a link to nothing", func(t *testing.T, dir, _, _ string) {
			if err := os.Symlink("nowhere", filepath.Join(dir, runsDir, "y.json")); err != nil {
				t.Fatal(err)
			}
		}, results.ExitCouldNotRun, "y.json should be a run of this sweep: make it readable, or take it away"},
		{"a file for the runs", func(t *testing.T, dir, _, _ string) {
			if err := os.RemoveAll(filepath.Join(dir, runsDir)); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, runsDir), "")
		}, results.ExitCouldNotRun, "not a directory"},
		{"no plan", func(t *testing.T, dir, _, _ string) {
			if err := os.Remove(filepath.Join(dir, sweep.PlanName)); err != nil {
				t.Fatal(err)
			}
		}, results.ExitUsage, "there is no sweep.json; it should be the directory of a sweep"},
		{"an empty plan", func(t *testing.T, dir, _, _ string) { put(t, filepath.Join(dir, sweep.PlanName), "") },
			results.ExitUsage, "the file is empty; begin another sweep"},
		{"a plan with another profile in it", func(t *testing.T, dir, _, _ string) {
			edit(t, filepath.Join(dir, sweep.PlanName), func(d map[string]any) { d["source"] = "x: 1" })
		}, results.ExitUsage, "sweep.json can't be read; begin another sweep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := sweptAt(t, f)
			files := kept(t, dir)
			tt.damage(t, dir, files[0], files[1])
			before := f.calls
			o := f.sweep("--resume", dir)
			if o.code != int(tt.code) || !strings.Contains(o.err, tt.want) || f.calls != before {
				t.Errorf("exit %d, %d runs, %s", o.code, f.calls-before, o.err)
			}
			lock, err := os.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
				t.Errorf("it is still locked: %v", err)
			}
		})
	}
}

// What holds no result is put aside, over nothing, and measured again; in a
// directory whose name a pattern or a shell would take for something else.
func TestSweepPutsAside(t *testing.T) {
	f := &fakeEngine{t: t}
	dir := sweptAt(t, f)
	if o := f.sweep("--resume", dir, "--quiet"); o.code != 0 || f.calls != 2 || o.err != "" {
		t.Fatalf("exit %d, %d runs; want those that were there\n%s", o.code, f.calls, o.err)
	}
	first := kept(t, dir)[0]
	put(t, first, "{")
	put(t, first+".broken", "an older one")
	f.before = func(int) error { return errors.New("no luck") }
	o := f.sweep("--resume", dir)
	if want := "loadgen sweep --resume '" + strings.ReplaceAll(dir, "'", `'\''`) + "' measures the 1 of 2 runs missing"; o.code != 5 || !strings.Contains(o.err, want) {
		t.Errorf("exit %d, want %s\n%s", o.code, want, o.err)
	}
	for path, want := range map[string]string{first + ".broken": "an older one", first + ".broken-2": "{"} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	f.before = nil
	if o := f.sweep("--resume", dir); o.code != 0 || len(kept(t, dir)) != 2 {
		t.Errorf("exit %d\n%s", o.code, o.err)
	}
}

// A Redis of one's own is not in the plan with its secrets: it is named again.
func TestSweepResumeOnGiven(t *testing.T) {
	f := &fakeEngine{t: t}
	dir := sweptAt(t, f, "--redis", "redis://:secret@127.0.0.1:1/0")
	if b, err := os.ReadFile(filepath.Join(dir, sweep.PlanName)); err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("the plan has the secret, or none: %v", err)
	}
	for _, tt := range []struct {
		args []string
		code results.ExitCode
		want string
	}{
		{nil, results.ExitUsage, "measured on Redis 127.0.0.1:1/0; name it again with --redis"},
		{[]string{"--embedded"}, results.ExitUsage, "name it again with --redis"},
		{[]string{"--redis", "redis://127.0.0.1:2/0"}, results.ExitUsage, "the store was Redis 127.0.0.1:1/0, is Redis 127.0.0.1:2/0"},
		{[]string{"--redis", "redis://:other@127.0.0.1:1/0"}, results.ExitPass, "2 of 2 runs measured before"},
	} {
		if o := f.sweep(append([]string{"--resume", dir}, tt.args...)...); o.code != int(tt.code) || !strings.Contains(o.err, tt.want) {
			t.Errorf("%v: exit %d, %s", tt.args, o.code, o.err)
		}
	}
	dir = sweptAt(t, f, "--target", "127.0.0.1:1", "--token-secret", "a", "--admin-secret", "b")
	if o := f.sweep("--resume", dir); o.code != 2 || !strings.Contains(o.err, "measured on target 127.0.0.1:1; name it again with --target, and its secrets") {
		t.Errorf("target: exit %d, %s", o.code, o.err)
	}
}
