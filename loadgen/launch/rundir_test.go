package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestSweepTakesOnlyWhatNobodyHolds(t *testing.T) {
	ownTemp(t)
	mine, err := newRunDir()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.remove()
	base := filepath.Dir(mine.path)
	abandoned := filepath.Join(base, "run-1")
	noLock := filepath.Join(base, "run-2")
	foreign := filepath.Join(base, "something")
	for _, d := range []string{filepath.Join(abandoned, "redis"), noLock, foreign} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(abandoned, lockName), filepath.Join(abandoned, "redis", "appendonly.aof"), filepath.Join(base, "run-file")} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := sweepBase(base)
	slices.Sort(removed)
	if err != nil || !slices.Equal(removed, []string{abandoned, noLock}) {
		t.Errorf("removed %v, %v; want %v", removed, err, []string{abandoned, noLock})
	}
	for _, p := range []string{mine.path, foreign, filepath.Join(base, "run-file")} {
		if _, err := os.Stat(p); err != nil {
			t.Errorf("the sweep took %s", p)
		}
	}
}

func TestBaseOfSomebodyElseIsRefused(t *testing.T) {
	ownTemp(t)
	base := bases()[0]
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, base); err != nil {
		t.Fatal(err)
	}
	if _, err := New(); err == nil || !strings.Contains(err.Error(), base) {
		t.Errorf("a symbolic link in place of the directory: %v; want it refused by name", err)
	}
	if err := os.Remove(base); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := New(); err == nil || !strings.Contains(err.Error(), "only user") {
		t.Errorf("a directory that everybody can write: %v; want it refused", err)
	}
}

func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"blank lines don't count", "a\n\n  b  \n\n\nc\n\n", []string{"b", "c"}},
		{"no newline at the end", "a\nb", []string{"a", "b"}},
		{"long lines are cut", strings.Repeat("x", 1000), []string{strings.Repeat("x", 300)}},
		{"only the tail of a large file", strings.Repeat("head\n", 10000) + "y\nz\n", []string{"y", "z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lastLines(path, 2); !slices.Equal(got, tt.want) {
				t.Errorf("got %q; want %q", got, tt.want)
			}
		})
	}
	if got := lastLines(filepath.Join(t.TempDir(), "none"), 2); got != nil {
		t.Errorf("a missing file gives %q", got)
	}
}

// Many runs come and go at once in one base, which the last one removes each
// time: none may lose its directory, and nothing may be left.
func TestRunsComeAndGoAtOnce(t *testing.T) {
	ownTemp(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				d, err := newRunDir()
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := Sweep(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(filepath.Join(d.path, lockName)); err != nil {
					t.Errorf("a run that lives lost its directory: %v", err)
				}
				if err := d.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(bases()[0]); !os.IsNotExist(err) {
		t.Errorf("the directory of runs is left: %v", err)
	}
}
