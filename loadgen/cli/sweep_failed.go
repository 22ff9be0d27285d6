package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ackmark/loadgen/engine"
	"ackmark/results"
	"ackmark/results/sweep"
)

// pointFailure is the error of a run that may be its point's own, such as a
// server that refuses a setting: other points are still worth a try.
type pointFailure struct{ err error }

func (f *pointFailure) Error() string { return f.err.Error() }
func (f *pointFailure) Unwrap() error { return f.err }

// sameFailures is how many points with the same error show that it isn't theirs.
const sameFailures = 3

// failures are the runs that ended in an error, and weren't measured since.
type failures struct {
	known map[sweep.Turn]error // noted before this process began
	fresh map[sweep.Turn]error // of this process
	order []sweep.Turn         // of fresh
	runs  int                  // measured by this process
}

// of is the failure of a turn; nil is none.
func (f *failures) of(t sweep.Turn) error {
	if err := f.fresh[t]; err != nil {
		return err
	}
	return f.known[t]
}

// points are those that failed in this process and not before, in order.
func (f *failures) points() []int {
	var out []int
	for _, t := range f.order {
		before := func(known sweep.Turn) bool { return known.Point == t.Point }
		if !slices.Contains(out, t.Point) && !containsKey(f.known, before) {
			out = append(out, t.Point)
		}
	}
	return out
}

func containsKey(of map[sweep.Turn]error, is func(sweep.Turn) bool) bool {
	for t := range of {
		if is(t) {
			return true
		}
	}
	return false
}

// general says why what went wrong isn't the points' own, so that the rest needn't
// be tried; "" where it may be theirs. measured says that some run of the sweep has
// come to its end. Points that failed in an earlier process, too, prove nothing:
// they are tried last, and each is.
func (f *failures) general(measured bool) string {
	points := f.points()
	if !measured && len(points) == 2 {
		return "the first two points failed"
	}
	same := map[string][]int{}
	for _, t := range f.order {
		text := f.fresh[t].Error()
		if slices.Contains(points, t.Point) && !slices.Contains(same[text], t.Point) {
			if same[text] = append(same[text], t.Point); len(same[text]) == sameFailures {
				return fmt.Sprintf("%d points failed for the same reason", sameFailures)
			}
		}
	}
	return ""
}

// ownFailure tells what one point may be to blame for from what every run would
// meet: a request that is wrong, no store, a directory that takes nothing.
func (s *sweeping) ownFailure(r *results.Result, err error) error {
	if r == nil || s.cfg.Target == "" && len(r.Redis) == 0 {
		return err
	}
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, fs.ErrPermission} {
		if errors.Is(err, of) {
			return err
		}
	}
	if s.dirGone() {
		return err
	}
	return &pointFailure{err}
}

func (s *sweeping) dirGone() bool {
	_, err := os.Stat(filepath.Join(s.dir.path, runsDir))
	return errors.Is(err, fs.ErrNotExist)
}

// noteFailure keeps the failure of a turn in the plan's file, so that a process
// that goes on with the sweep tries it after the others. The error is why
// nothing more should be tried.
func (s *sweeping) noteFailure(t sweep.Turn, err error) error {
	if s.failed.fresh[t] == nil {
		s.failed.order = append(s.failed.order, t)
	}
	s.failed.fresh[t] = err
	s.progress.line(fmt.Sprintf("%s, repeat %d, couldn't be measured: %s", s.plan.Points[t.Point].Name, t.Repeat, indented(err)))
	if err := s.writePlan(); err != nil {
		return err
	}
	if why := s.failed.general(len(s.kept) > 0); why != "" {
		return couldNotRun(fmt.Errorf("%w\ngiven up, since %s", s.unmeasured(), why))
	}
	return nil
}

// measuredAfterAll forgets the failure of a turn.
func (s *sweeping) measuredAfterAll(t sweep.Turn) error {
	s.failed.runs++
	if s.failed.of(t) == nil {
		return nil
	}
	delete(s.failed.fresh, t)
	delete(s.failed.known, t)
	s.failed.order = slices.DeleteFunc(s.failed.order, func(o sweep.Turn) bool { return o == t })
	return s.writePlan()
}

// unmeasured is the error of a sweep some of whose points couldn't be measured;
// nil where none failed.
func (s *sweeping) unmeasured() error {
	if len(s.failed.order) == 0 {
		return nil
	}
	points := map[int]bool{}
	var lines []string
	for _, t := range s.failed.order {
		points[t.Point] = true
		lines = append(lines, fmt.Sprintf("  %s, repeat %d: %s", s.plan.Points[t.Point].Name, t.Repeat, indented(s.failed.fresh[t])))
	}
	return couldNotRun(fmt.Errorf("%d of %s couldn't be measured:\n%s",
		len(points), results.Plural(len(s.plan.Points), "point"), strings.Join(lines, "\n")))
}

// indented sets the further lines of an error off.
func indented(err error) string {
	return strings.ReplaceAll(strings.TrimRight(err.Error(), "\n"), "\n", "\n    ")
}

// hopeful leaves out the turns that this process needn't try: those that failed
// in it, and the other repeats of a point that failed and was never measured.
func (s *sweeping) hopeful(turns []sweep.Turn) []sweep.Turn {
	return slices.DeleteFunc(turns, func(t sweep.Turn) bool {
		return s.failed.fresh[t] != nil || s.never(t.Point) && containsKey(s.failed.fresh, func(f sweep.Turn) bool { return f.Point == t.Point })
	})
}

// never tells that no run of a point is kept.
func (s *sweeping) never(point int) bool {
	for t := range s.kept {
		if t.Point == point {
			return false
		}
	}
	return true
}

// failedLast puts the turns that failed behind the others.
func (s *sweeping) failedLast(turns []sweep.Turn) []sweep.Turn {
	last := func(t sweep.Turn) int {
		if s.late(t) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(turns, func(a, b sweep.Turn) int { return last(a) - last(b) })
	return turns
}

// late tells a turn that failed, or whose point did and was never measured.
func (s *sweeping) late(t sweep.Turn) bool {
	same := func(f sweep.Turn) bool { return f.Point == t.Point }
	return s.failed.of(t) != nil || s.never(t.Point) && (containsKey(s.failed.known, same) || containsKey(s.failed.fresh, same))
}

// recall takes over what an earlier process noted and nobody measured since.
func (s *sweeping) recall(was *sweep.Plan) {
	for _, f := range was.Failed {
		i := slices.IndexFunc(s.plan.Points, func(p sweep.PlanPoint) bool { return p.Name == f.Point })
		if t := (sweep.Turn{Point: i, Repeat: f.Repeat}); i >= 0 && len(s.kept[t]) == 0 {
			s.failed.known[t] = errors.New(f.Error)
		}
	}
	s.plan.Failed = s.noted()
}

// noted are the failures as the plan's file has them, in the plan's order.
func (s *sweeping) noted() []sweep.Failure {
	var out []sweep.Failure
	for _, t := range s.plan.Turns() {
		if err := s.failed.of(t); err != nil {
			out = append(out, sweep.Failure{Point: s.plan.Points[t.Point].Name, Repeat: t.Repeat, Error: err.Error()})
		}
	}
	return out
}

// writePlan writes the plan with the failures so far.
func (s *sweeping) writePlan() error {
	s.plan.Failed = s.noted()
	b, err := s.plan.Encode()
	if err == nil {
		err = results.WriteFile(filepath.Join(s.dir.path, sweep.PlanName), b)
	}
	if err != nil {
		return couldNotRun(withoutOut(err))
	}
	return nil
}

// withLogs runs one turn with a directory for the logs of its children, which
// stays if the run fails and they logged something. It is the run's own: the
// children of all runs have the same names.
func (s *sweeping) withLogs(cfg *engine.Config, dir string, run func() error) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return couldNotRun(err)
	}
	cfg.LogDir = dir
	err := run()
	logs, _ := os.ReadDir(dir)
	for _, log := range logs {
		if info, err := log.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(filepath.Join(dir, log.Name()))
		}
	}
	_ = os.Remove(dir) // stays where a log is
	return err
}
