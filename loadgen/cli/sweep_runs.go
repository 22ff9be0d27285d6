package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/results"
	"ackmark/results/sweep"
)

// measure carries out what is missing, then what must be measured again. A point
// whose run fails is passed over; the error names those, or why nothing more was
// tried.
func (s *sweeping) measure(ctx context.Context) error {
	turns := s.failedLast(s.plan.Missing(s.kept))
	if done := len(s.plan.Turns()) - len(turns); done > 0 {
		again := ""
		if n := len(s.plan.Again(s.kept)); n > 0 {
			again = fmt.Sprintf(", %d to be measured again", n)
		}
		s.say("%d of %s measured before, %d missing%s", done, results.Plural(len(s.plan.Turns()), "run"), len(turns), again)
	}
	for {
		if err := s.measureAll(ctx, turns); err != nil || s.interrupted {
			return err
		}
		if turns = s.hopeful(s.plan.Again(s.kept)); len(turns) == 0 {
			break
		}
		s.say("measuring again, since this machine was too busy for the generator: %s", results.Plural(len(turns), "run"))
	}
	if n := len(s.plan.InVain(s.kept)); n > 0 {
		s.progress.line(fmt.Sprintf("warning: this machine was too busy for the generator in %d of %s, %d times each; a quieter machine or less load would help",
			n, results.Plural(len(s.plan.Turns()), "run"), sweep.MostTries))
	}
	return s.unmeasured()
}

// measureAll carries out the turns, as far as they can be. What failed and
// whether it was interrupted is in s.
func (s *sweeping) measureAll(ctx context.Context, turns []sweep.Turn) error {
	for len(turns) > 0 {
		turn := turns[0]
		err := s.measureOne(ctx, turns)
		var own *pointFailure
		switch {
		case s.interrupted && err == nil:
			return nil
		case err == nil:
			err = s.measuredAfterAll(turn)
		case errors.As(err, &own):
			err = s.noteFailure(turn, own.err)
		}
		if err != nil {
			return err
		}
		turns = s.hopeful(turns[1:])
	}
	return nil
}

// say is for who waits, and wants to.
func (s *sweeping) say(format string, args ...any) {
	if !s.progress.quiet {
		s.progress.line(fmt.Sprintf(format, args...))
	}
}

// measureOne measures the first of the turns and keeps it. Each run has a store
// and server of its own, so that a run owes nothing to the ones before.
func (s *sweeping) measureOne(ctx context.Context, turns []sweep.Turn) error {
	turn, number := turns[0], s.number+1
	cfg := s.cfg
	cfg.Order = []engine.Turn{{Setting: turn.Point, Repeat: turn.Repeat}}
	base := filepath.Join(s.dir.path, runsDir, fmt.Sprintf("%03d-%s", number, s.runName(turn)))
	var unwritten error
	cfg.Histograms = func(h engine.RunHistograms) error {
		unwritten = writeHistograms(base+".hlog", h)
		return unwritten
	}
	later := slices.DeleteFunc(s.plan.Again(s.kept), func(t sweep.Turn) bool { return slices.Contains(turns, t) })
	left := s.timeLeft(slices.Concat(turns, later))
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
	var result *results.Result
	err := s.withLogs(&cfg, base+".logs", func() (err error) {
		result, err = s.run(ctx, cfg)
		return err
	})
	s.interrupted = result != nil && result.Interrupted || ctx.Err() != nil && errors.Is(err, context.Canceled)
	switch {
	case s.interrupted && (err == nil || errors.Is(err, context.Canceled)):
		return nil
	case err != nil && (unwritten != nil || s.interrupted):
		return err
	case err != nil:
		return s.ownFailure(result, err)
	case len(result.Runs) != 1:
		return fmt.Errorf("run %d of %s left %d results, should be 1", number, s.plan.Points[turn.Point].Name, len(result.Runs))
	}
	if first := s.first(); first != nil {
		if differ := measuredOtherwise(first, result); differ != "" {
			return usagef("the earlier runs of this sweep were measured otherwise: %s; begin another sweep", differ)
		}
	}
	result.Runs[0].Number = number
	if err := results.Write(base+".json", result); err != nil {
		return err
	}
	s.number, s.kept[turn] = number, append(s.kept[turn], result)
	if text := notUsable(s.kept[turn]); text != "" {
		s.say("%s, repeat %d: %s", s.plan.Points[turn.Point].Name, turn.Repeat, text)
	}
	return nil
}

// first is the earliest of the kept runs, nil for none.
func (s *sweeping) first() *results.Result {
	var first *results.Result
	for _, of := range s.kept {
		for _, r := range of {
			if first == nil || r.Started.Before(first.Started) {
				first = r
			}
		}
	}
	return first
}

func (s *sweeping) timeLeft(turns []sweep.Turn) time.Duration {
	var took, planned time.Duration
	runs := 0
	for turn, of := range s.kept {
		for _, r := range of {
			took, planned, runs = took+r.Ended.Sub(r.Started), planned+s.plan.Planned(turn), runs+1
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
		t := sweep.Counting(of)
		run := t.Runs[0]
		run.StartedMs += t.Started.Sub(r.Started).Milliseconds()
		if len(of) > 1 {
			run.Warnings = append(slices.Clone(run.Warnings), fmt.Sprintf("measured %d times, %s", len(of), whyAgain(of, t)))
		}
		r.Runs = append(r.Runs, run)
		if t.Ended.After(r.Ended) {
			r.Ended = t.Ended
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
