package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
	b, err := s.plan.Encode()
	for _, path := range s.broken {
		err = errors.Join(err, putAside(path))
	}
	if err == nil {
		err = results.WriteFile(filepath.Join(s.dir.path, sweep.PlanName), b)
	}
	if err != nil {
		return couldNotRun(err)
	}
	return nil
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
// stays, for it is an older one or holds something, such as logs of children.
func (s *sweeping) abandon() bool {
	if len(s.dir.made) == 0 || os.Remove(filepath.Join(s.dir.path, runsDir)) != nil {
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
// result is put aside, and its run is missing; one that can't be read stays, and
// is an error: it may be a good run.
func (s *sweeping) readRuns() error {
	dir := filepath.Join(s.dir.path, runsDir)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return couldNotRun(err)
	}
	pathOf := map[int]string{} // by the number of the run
	first, firstPath := (*results.Result)(nil), ""
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
			return couldNotRun(err)
		case err != nil:
			s.progress.line(fmt.Sprintf("warning: %v: that run is measured again", err))
			s.broken = append(s.broken, path)
			continue
		}
		turn, ok := s.turnOf(&r.Runs[0])
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
	return nil
}

func (s *sweeping) turnOf(r *results.Run) (sweep.Turn, bool) {
	i := slices.IndexFunc(s.plan.Points, func(p sweep.PlanPoint) bool { return p.Name == r.Variant })
	return sweep.Turn{Point: i, Repeat: r.Repeat}, i >= 0 && r.Repeat >= 1 && r.Repeat <= s.plan.Repeats
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
