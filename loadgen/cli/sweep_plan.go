package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

// sweeping is one sweep under way.
type sweeping struct {
	plan     *sweep.Plan
	cfg      engine.Config
	question sweep.Question
	before   bool              // what its points must meet was said before this process
	left     profiles.Problems // impossible points
	progress *progress
	said     map[string]bool // notes of runs that were shown
	dir      *output
	lock     *os.File

	kept        sweep.Tries
	failed      failures
	broken      []string // files in the place of runs that hold none
	number      int      // of the last run
	interrupted bool
	run         func(context.Context, engine.Config) (*results.Result, error) // engine.Run
}

// planSweep resolves the points, and with --resume holds them against what was
// planned and reads what was measured.
func (a *app) planSweep(s *sweeping, name string, o *sweepOptions) error {
	var was *sweep.Plan
	var err error
	if s.dir != nil {
		if was, err = readPlan(s.dir.path); err != nil {
			return err
		}
	}
	source, err := s.source(name, was)
	if err != nil {
		return err
	}
	if was != nil {
		if err := o.fromPlan(was); err != nil {
			return err
		}
	}
	sets := o.overrides()
	if was != nil && !o.given("set") && !o.given("repeats") && !o.given("seed") {
		sets = was.Sets
	}
	axes, err := o.axes(source)
	if err != nil {
		return err
	}
	settings, err := s.points(source, axes, sets, o)
	if err != nil {
		return err
	}
	if s.cfg, err = o.configOf(a, source, settings, sets); err != nil {
		return err
	}
	if err := s.ask(o); err != nil {
		return err
	}
	s.plan = newPlan(source, axes, s.cfg, o)
	if was != nil && !o.given("order-seed") {
		s.plan.Order = was.Order
	}
	s.question.Seed = s.plan.Order
	if was == nil {
		return nil
	}
	if changed := sweep.Changed(was, s.plan); len(changed) > 0 {
		return usagef("%s was begun otherwise: %s; go on with it as it was begun, without those flags, or begin another sweep", s.dir.path, strings.Join(changed, "; "))
	}
	if was.ToolVersion != s.plan.ToolVersion {
		s.progress.line(fmt.Sprintf("warning: runs were measured by loadgen %s, this is %s; they share a table only if both servers are the same", was.ToolVersion, s.plan.ToolVersion))
	}
	s.plan.Started = was.Started
	if err := s.readRuns(); err != nil {
		return err
	}
	s.recall(was)
	return nil
}

// source is the profile: as it was where a sweep goes on and none is named.
func (s *sweeping) source(name string, was *sweep.Plan) (*profiles.Source, error) {
	if was == nil || name != "" {
		source, err := profiles.Load(name)
		if err != nil {
			return nil, usage(err)
		}
		return source, nil
	}
	source, err := profiles.Parse(was.File, []byte(was.Source))
	if err != nil {
		path := filepath.Join(s.dir.path, sweep.PlanName)
		return nil, usagef("the profile in %s can't be read; begin another sweep:\n%w", path, err)
	}
	return source, nil
}

// fromPlan fills in what the flags don't say. Where the store or server was is
// kept without secrets, so that has to be said again.
func (o *sweepOptions) fromPlan(p *sweep.Plan) error {
	if !o.given("vary") {
		o.vary = nil
		for _, a := range p.Vary {
			o.vary = append(o.vary, a.Key+"="+strings.Join(a.Values, ","))
		}
	}
	if !o.given("variant") {
		o.variants = p.Variants
	}
	if !o.given("skip-impossible") {
		o.skip = p.Skip
	}
	if !o.given("choose") {
		o.choose = p.Choose
	}
	if !o.given("subject-to") {
		o.subjectTo = p.SubjectTo
	}
	if !o.given("pareto") {
		o.pareto = strings.Join(p.Pareto, ",")
	}
	if o.given("redis") || o.given("target") {
		return nil
	}
	if flag := storeFlag(p.Store); flag != "" {
		return usagef("the runs of this sweep were measured on %s; name it again with %s", p.Store, flag)
	}
	o.embedded = o.embedded || p.Store == storeEmbedded
	return nil
}

func (o *sweepOptions) axes(source *profiles.Source) ([]profiles.Axis, error) {
	axes := source.Vary()
	if len(o.vary) > 0 {
		axes = nil
		for _, text := range o.vary {
			axis, err := profiles.ParseAxis(text)
			if err != nil {
				return nil, usage(err)
			}
			axes = append(axes, axis)
		}
	}
	if len(axes) == 0 {
		return nil, usagef("%s varies nothing; say what to vary, e.g. --vary clients.ack.every=1,10,100", source.File())
	}
	return axes, nil
}

func (s *sweeping) points(source *profiles.Source, axes []profiles.Axis, sets []string, o *sweepOptions) ([]profiles.Setting, error) {
	var settings []profiles.Setting
	var err error
	if o.skip {
		settings, s.left, err = source.PossiblePoints(axes, sets)
	} else {
		settings, err = source.Points(axes, sets)
	}
	if err != nil {
		return nil, usage(err)
	}
	if len(o.variants) > 0 {
		if err := knownVariants(source, o.variants); err != nil {
			return nil, err
		}
		settings = slices.DeleteFunc(settings, func(s profiles.Setting) bool { return !slices.Contains(o.variants, s.Variant) })
		if len(settings) == 0 {
			return nil, usagef("no point of --variant %s is possible", strings.Join(o.variants, ", "))
		}
	}
	return settings, metricsExist(source, settings)
}

func knownVariants(source *profiles.Source, names []string) error {
	var all []profiles.Setting
	for _, v := range source.Variants() {
		all = append(all, profiles.Setting{Name: v.Name})
	}
	if len(all) == 0 {
		all = []profiles.Setting{{Name: source.Name()}}
	}
	_, err := choose(all, names)
	return err
}

func (s *sweeping) warnings() []string {
	var out []string
	for _, set := range s.cfg.Settings {
		for _, w := range set.Warnings {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
