package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ackmark/loadgen/engine"
	"ackmark/results"
	"ackmark/results/sweep"
)

// attempts is how often a turn is measured at most, when the machine is to blame
// each time.
const attempts = 3

// runsDir holds a result file per run, and its histograms.
const runsDir = "runs"

// open makes the directory, keeps others out of it and writes the plan.
func (s *sweeping) open(o *sweepOptions) error {
	if s.dir == nil {
		dir, err := newOutput(o.out, s.cfg.Source.Name(), time.Now())
		if err != nil {
			return err
		}
		s.dir = dir
	}
	failed := func(err error) error { return &failure{results.ExitCouldNotRun, err} }
	if err := os.MkdirAll(filepath.Join(s.dir.path, runsDir), 0o755); err != nil {
		return failed(err)
	}
	lock, err := os.Open(s.dir.path)
	if err != nil {
		return failed(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		return usagef("another loadgen is at work on the sweep in %s; wait for it, or stop it", s.dir.path)
	}
	s.lock = lock // which the kernel lets go of when this process ends, however it does
	b, err := s.plan.Encode()
	for _, path := range s.broken {
		err = errors.Join(err, os.Rename(path, path+".broken"))
	}
	if err == nil {
		err = results.WriteFile(filepath.Join(s.dir.path, sweep.PlanName), b)
	}
	if err != nil {
		s.close()
		return failed(err)
	}
	return nil
}

func (s *sweeping) close() { _ = s.lock.Close() }

// readRuns reads the runs of an earlier part of the sweep. A file that can't be
// read is put aside, and its run is missing.
func (s *sweeping) readRuns() error {
	files, err := filepath.Glob(filepath.Join(s.dir.path, runsDir, "*.json"))
	if err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	for _, path := range files {
		r, err := results.Read(path)
		if err == nil && len(r.Runs) != 1 {
			err = fmt.Errorf("%d runs, should be 1", len(r.Runs))
		}
		if err != nil {
			s.progress.line(fmt.Sprintf("warning: %v: that run is measured again", err))
			s.broken = append(s.broken, path)
			continue
		}
		turn, ok := s.turnOf(&r.Runs[0])
		if !ok || r.Profile.Hash != s.plan.Hash {
			return usagef("%s is no run of this sweep; take it away", path)
		}
		s.kept[turn] = append(s.kept[turn], attempt{r})
		s.number = max(s.number, r.Runs[0].Number)
	}
	for _, of := range s.kept {
		slices.SortFunc(of, func(a, b attempt) int { return cmp.Compare(a.run().Number, b.run().Number) })
	}
	return nil
}

func (s *sweeping) turnOf(r *results.Run) (sweep.Turn, bool) {
	i := slices.IndexFunc(s.plan.Points, func(p sweep.PlanPoint) bool { return p.Name == r.Variant })
	return sweep.Turn{Point: i, Repeat: r.Repeat}, i >= 0 && r.Repeat >= 1 && r.Repeat <= s.plan.Repeats
}

// missing are the turns that nobody measured, in order.
func (s *sweeping) missing() []sweep.Turn {
	return slices.DeleteFunc(s.plan.Turns(), func(t sweep.Turn) bool { return len(s.kept[t]) > 0 })
}

// again are the turns that were measured in vain, for the machine's sake, and may
// be measured once more.
func (s *sweeping) again() []sweep.Turn {
	return slices.DeleteFunc(s.plan.Turns(), func(t sweep.Turn) bool {
		of := s.kept[t]
		return len(of) == 0 || len(of) >= attempts || !machineToBlame(best(of).run().Verdict)
	})
}

// machineToBlame tells a run that is invalid because the generator had not the
// machine it needs, and not for what was measured.
func machineToBlame(v results.Verdict) bool {
	health := false
	for _, r := range v.Reasons {
		switch r.Kind {
		case results.ReasonHealth:
			health = true
		case results.ReasonReconcile, results.ReasonReplay, results.ReasonInvariant:
			return false
		}
	}
	return health && v.Status == results.Invalid
}

// best is the last attempt that isn't invalid, or the last.
func best(of []attempt) attempt {
	for _, t := range slices.Backward(of) {
		if t.run().Verdict.Status != results.Invalid {
			return t
		}
	}
	return of[len(of)-1]
}

// measure carries out what is missing, then what must be measured again.
func (s *sweeping) measure(ctx context.Context) error {
	turns := s.missing()
	if done := len(s.plan.Turns()) - len(turns); done > 0 {
		s.progress.line(fmt.Sprintf("%d of %d runs are measured, %d are missing", done, len(s.plan.Turns()), len(turns)))
	}
	for len(turns) > 0 {
		for i := range turns {
			if err := s.measureOne(ctx, turns[i:]); err != nil || s.interrupted {
				return err
			}
		}
		if turns = s.again(); len(turns) > 0 {
			s.progress.line(fmt.Sprintf("%d runs are invalid because the machine was too busy: they are measured again", len(turns)))
		}
	}
	return nil
}

// measureOne measures the first of the turns and keeps it. Each run has a store
// and server of its own, so that a run owes nothing to the ones before.
func (s *sweeping) measureOne(ctx context.Context, turns []sweep.Turn) error {
	turn, number := turns[0], s.number+1
	cfg := s.cfg
	cfg.Order = []engine.Turn{{Setting: turn.Point, Repeat: turn.Repeat}}
	cfg.LogDir = s.dir.path
	point := strings.TrimRight(fileName(s.plan.Points[turn.Point].Name), "-")
	base := filepath.Join(s.dir.path, runsDir, fmt.Sprintf("%03d-%s-%d", number, point, turn.Repeat))
	cfg.Histograms = func(h engine.RunHistograms) error { return writeHistograms(base+".hlog", h) }
	left := s.timeLeft(turns)
	began := time.Now()
	s.progress.left = func() string { return roughly(max(0, left-time.Since(began))) + " left" }
	defer func() { s.progress.left = nil }()
	cfg.Progress = func(e engine.Progress) {
		if e.Kind == engine.Note && e.Run == 0 {
			if s.said[e.Note] {
				return
			}
			s.said[e.Note] = true
		}
		e.Run, e.Runs = number, number+len(turns)-1
		s.progress.show(e)
	}
	result, err := engine.Run(ctx, cfg)
	s.interrupted = result != nil && result.Interrupted || errors.Is(err, context.Canceled)
	switch {
	case err != nil:
		return err
	case s.interrupted || len(result.Runs) != 1:
		return nil
	}
	if err := s.sameMachine(result); err != nil {
		return err
	}
	result.Runs[0].Number = number
	if err := results.Write(base+".json", result); err != nil {
		return err
	}
	s.number, s.kept[turn] = number, append(s.kept[turn], attempt{result})
	return nil
}

// sameMachine refuses a run whose store isn't that of the runs before.
func (s *sweeping) sameMachine(r *results.Result) error {
	first := s.first()
	if first == nil {
		return nil
	}
	var out []string
	for _, d := range results.Differences(first.Environment, r.Environment) {
		out = append(out, fmt.Sprintf("%s was %s, is %s", d.What, d.A, d.B))
	}
	if len(out) > 0 {
		return usagef("the earlier runs of this sweep were measured otherwise: %s; begin another sweep", strings.Join(out, "; "))
	}
	return nil
}

// first is the earliest of the kept runs, nil for none.
func (s *sweeping) first() *results.Result {
	var first *results.Result
	for _, of := range s.kept {
		for _, t := range of {
			if first == nil || t.result.Started.Before(first.Started) {
				first = t.result
			}
		}
	}
	return first
}

func (s *sweeping) timeLeft(turns []sweep.Turn) time.Duration {
	var took, planned time.Duration
	runs := 0
	for turn, of := range s.kept {
		for _, t := range of {
			took, planned, runs = took+t.result.Ended.Sub(t.result.Started), planned+s.plan.Planned(turn), runs+1
		}
	}
	return s.plan.Left(turns, took, planned, runs)
}

// result joins the runs and judges them together; nil where there is none.
func (s *sweeping) result() (*results.Result, error) {
	first := s.first()
	if first == nil {
		return nil, nil
	}
	r := *first
	r.Started, r.Ended, r.Runs = s.plan.Started, first.Ended, nil
	if first.Started.Before(r.Started) {
		r.Started = first.Started
	}
	r.Interrupted = s.interrupted
	r.Sweep = &results.Sweep{Vary: s.plan.Vary, Order: s.plan.Order}
	for _, of := range s.kept {
		t := best(of)
		run := *t.run()
		run.StartedMs += t.result.Started.Sub(r.Started).Milliseconds()
		if len(of) > 1 {
			run.Warnings = append(slices.Clone(run.Warnings), fmt.Sprintf("measured %d times, the machine was too busy before", len(of)))
		}
		r.Runs = append(r.Runs, run)
		if t.result.Ended.After(r.Ended) {
			r.Ended = t.result.Ended
		}
	}
	slices.SortFunc(r.Runs, func(a, b results.Run) int { return cmp.Compare(a.Number, b.Number) })
	rules, err := engine.RulesOf(s.cfg.Settings)
	if err != nil {
		return nil, err
	}
	for i := range rules.Variants {
		rules.Variants[i].Set = s.cfg.Settings[i].Set
	}
	results.Judge(&r, rules)
	return &r, nil
}
