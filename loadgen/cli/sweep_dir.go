package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

// runsDir holds a result file per run, and its histograms.
const runsDir = "runs"

func couldNotRun(err error) error { return &failure{results.ExitCouldNotRun, err} }

// take takes over the directory of an earlier sweep: before anything of it is
// read, since another loadgen may be adding to it. A dry run changes nothing and
// reads what there is.
func (s *sweeping) take(o *sweepOptions) error {
	switch {
	case !o.given("resume"):
		return nil
	case o.resume == "":
		return usagef("--resume names no directory; it should be that of a sweep")
	case o.given("out"):
		return usagef("--resume goes on in the directory of the sweep; leave --out out")
	}
	s.dir = &output{path: o.resume}
	if o.dryRun {
		return nil
	}
	return s.keepOut()
}

// keepOut locks the directory. The kernel lets go of the lock when this process
// ends, however it does.
func (s *sweeping) keepOut() error {
	dir, err := os.Open(s.dir.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("there is no %s; it should be the directory of a sweep", s.dir.path)
	case err != nil:
		return couldNotRun(err)
	}
	switch err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		_ = dir.Close()
		return usagef("another loadgen is at work on the sweep in %s; wait for it, or stop it", s.dir.path)
	case err != nil:
		_ = dir.Close()
		return couldNotRun(fmt.Errorf("locking %s: %w", s.dir.path, err))
	}
	s.lock = dir
	return nil
}

func (s *sweeping) close() {
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// open makes the directory of a new sweep, and writes the plan.
func (s *sweeping) open(o *sweepOptions) error {
	if s.dir == nil {
		dir, err := newOutput(o.out, s.cfg.Source.Name(), time.Now())
		if err != nil {
			return err
		}
		s.dir = dir
		if err := s.keepOut(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(s.dir.path, runsDir), 0o755); err != nil {
		return couldNotRun(err)
	}
	var err error
	for _, path := range s.broken {
		err = errors.Join(err, putAside(path))
	}
	if err != nil {
		return couldNotRun(err)
	}
	if err := s.writePlan(); err != nil && !s.complete() {
		return err
	}
	return nil // of a complete sweep the table will be refused, too, and that is said
}

// complete tells that nothing is left to measure.
func (s *sweeping) complete() bool {
	return len(s.plan.Missing(s.kept))+len(s.plan.Again(s.kept)) == 0
}

// putAside renames a file, over no other.
func putAside(path string) error {
	to := path + ".broken"
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, to)
		}
		to = fmt.Sprintf("%s.broken-%d", path, n)
	}
}

// abandon removes the directory of a new sweep that kept nothing. False: it
// stays, for it is an older one or holds something: logs of children, or a note of
// what failed.
func (s *sweeping) abandon() bool {
	if len(s.dir.made) == 0 || len(s.failed.order) > 0 || os.Remove(filepath.Join(s.dir.path, runsDir)) != nil {
		return false
	}
	plan := filepath.Join(s.dir.path, sweep.PlanName)
	if entries, err := os.ReadDir(s.dir.path); err != nil || len(entries) != 1 || os.Remove(plan) != nil {
		return false
	}
	return s.dir.abandon() == nil
}

func readPlan(dir string) (*sweep.Plan, error) {
	path := filepath.Join(dir, sweep.PlanName)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, usagef("--resume %s: there is no %s; it should be the directory of a sweep", dir, sweep.PlanName)
	case err != nil:
		return nil, couldNotRun(err)
	}
	p, err := sweep.DecodePlan(b)
	if err != nil {
		return nil, usagef("--resume: %s: %w; begin another sweep", path, err)
	}
	return p, nil
}

// readRuns reads the runs of an earlier part of the sweep. A file that holds no
// run is put aside; one that can't be read stays, and is an error: it may be a
// good run.
func (s *sweeping) readRuns() error {
	dir := filepath.Join(s.dir.path, runsDir)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return couldNotRun(err)
	}
	pathOf := map[int]string{} // by the number of the run
	first, firstPath := (*results.Result)(nil), ""
	var broken []error // of s.broken
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if filepath.Ext(path) != ".json" {
			continue
		}
		r, err := results.Read(path)
		if err == nil && len(r.Runs) != 1 {
			err = fmt.Errorf("%s: %d runs, should be 1", path, len(r.Runs))
		}
		var unreadable *fs.PathError
		switch {
		case errors.As(err, &unreadable):
			return couldNotRun(fmt.Errorf("%w; %s should be a run of this sweep: make it readable, or take it away", err, path))
		case err != nil:
			broken = append(broken, err)
			s.broken = append(s.broken, path)
			continue
		}
		turn, ok := s.turnOf(r)
		number := r.Runs[0].Number
		switch {
		case !ok || r.Profile.Hash != s.plan.Hash:
			return usagef("%s is no run of this sweep; take it away", path)
		case pathOf[number] != "":
			return usagef("%s and %s are both run %d of this sweep; take the copy away", pathOf[number], path, number)
		}
		pathOf[number] = path
		if first == nil {
			first, firstPath = r, path
		}
		if differ := measuredOtherwise(first, r); differ != "" {
			return usagef("%s and %s were measured otherwise: %s; they can't share a table, take one of them away", firstPath, path, differ)
		}
		s.kept[turn] = append(s.kept[turn], r)
		s.number = max(s.number, number)
	}
	for _, of := range s.kept {
		slices.SortFunc(of, func(a, b *results.Result) int { return cmp.Compare(a.Runs[0].Number, b.Runs[0].Number) })
	}
	for i, path := range s.broken {
		what := "it is put aside, and no run of this sweep is missing for it"
		if s.missingFor(path) {
			what = "that run is measured again"
		}
		s.progress.line(fmt.Sprintf("warning: %v: %s", broken[i], what))
	}
	return nil
}

// turnOf finds the turn that a file with one run is of. What was measured must be
// the point, and not only bear its name.
func (s *sweeping) turnOf(r *results.Result) (sweep.Turn, bool) {
	run := &r.Runs[0]
	i := slices.IndexFunc(s.cfg.Settings, func(set profiles.Setting) bool { return set.Name == run.Variant })
	if i < 0 || len(r.Variants) != 1 || run.Repeat < 1 || run.Repeat > s.plan.Repeats {
		return sweep.Turn{}, false
	}
	set, was := s.cfg.Settings[i], r.Variants[0]
	same := was.Name == set.Name && was.Hash == profiles.HashSettings([]profiles.Setting{set}) && maps.Equal(was.Set, set.Set)
	return sweep.Turn{Point: i, Repeat: run.Repeat}, same
}

// runName is how the files of a turn are called, behind their number.
func (s *sweeping) runName(t sweep.Turn) string {
	return fmt.Sprintf("%s-%d", strings.TrimRight(fileName(s.plan.Points[t.Point].Name), "-"), t.Repeat)
}

// missingFor tells that a file has the name of a run that is missing.
func (s *sweeping) missingFor(path string) bool {
	number, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
	_, err := strconv.Atoi(number)
	return err == nil && slices.ContainsFunc(s.plan.Missing(s.kept), func(t sweep.Turn) bool { return s.runName(t) == name })
}

// measuredOtherwise says in what machine and store of two runs differ; "" is not
// at all.
func measuredOtherwise(was, is *results.Result) string {
	var out []string
	for _, d := range results.Differences(was.Environment, is.Environment) {
		out = append(out, fmt.Sprintf("%s was %s, is %s", d.What, d.A, d.B))
	}
	return strings.Join(out, "; ")
}
