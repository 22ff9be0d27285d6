package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/gate"
	"ackmark/results/sweep"
)

// againstBaseline judges what was measured, now or before, by a baseline.
func (g *gating) againstBaseline(ctx context.Context) error {
	b, err := gate.ReadBaseline(g.o.baseline)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("--baseline %s: %w", g.o.baseline, errNoBaseline)
	case err != nil:
		return g.conclude(gate.Unusable(g.name, "loadgen "+version(), g.o.baseline, err))
	}
	if problems := g.unlike(b); len(problems) > 0 && g.o.result == "" {
		// It could only be refused, so nothing is measured.
		return g.conclude(g.refusal(b, problems))
	}
	o := gate.BaselineOptions{Timings: gate.TimingsMode(g.o.timings), Metrics: g.metrics}
	if few := gate.TooFew(b, o, g.settings[0].Profile.Repeats); few != "" && g.o.result == "" {
		g.progress.line("note: " + few)
	}
	r, err := g.result(ctx)
	if err != nil {
		return err
	}
	o.Doubts = g.doubts
	rep := gate.JudgeBaseline(r, b, o)
	rep.Reference = g.reference(b)
	g.caution(&rep, r.Environment)
	if g.repeated > 0 {
		rep.Notes = append(rep.Notes, results.Plural(g.repeated, "run")+" measured again, since this machine was too busy")
	}
	return g.conclude(rep)
}

// unlike says in what the measurement that the flags ask for differs from that
// of a baseline; none means that they can be compared.
func (g *gating) unlike(b *gate.Baseline) []string {
	var out []string
	add := func(what string, ours, theirs any) {
		if ours != theirs {
			out = append(out, fmt.Sprintf("%s: %v here, %v in the baseline", what, ours, theirs))
		}
	}
	p := g.settings[0].Profile
	add("profile", g.name, b.Profile.Name)
	add("seed", p.Seed, b.Profile.Seed)
	add("repeats", p.Repeats, b.Profile.Repeats)
	var ours, theirs []string
	for _, s := range g.settings {
		ours = append(ours, s.Name)
	}
	for _, v := range b.Variants {
		theirs = append(theirs, v.Name)
	}
	add("variants", strings.Join(ours, "; "), strings.Join(theirs, "; "))
	if hash := profiles.HashSettings(g.settings); len(out) == 0 && hash != b.Profile.Hash {
		out = append(out, fmt.Sprintf("what the profile sets, --set included: its hash is %.8s… here, %.8s… in the baseline", hash, b.Profile.Hash))
	}
	return out
}

// refusal is the report where nothing can be compared.
func (g *gating) refusal(b *gate.Baseline, problems []string) gate.Report {
	rep := gate.Unusable(g.name, "loadgen "+version(), g.reference(b), errors.New("not the measurement that the baseline is of: "+strings.Join(problems, "; ")+
		". --set, --seed, --repeats and --variant must be those of the baseline; where the change is meant, write a new one with --update-baseline, or name another with --baseline"))
	rep.Notes = append(rep.Notes, "nothing was measured, since nothing could have been compared")
	return rep
}

// reference says in words what the baseline is.
func (g *gating) reference(b *gate.Baseline) string {
	return fmt.Sprintf("%s of %s by loadgen %s", g.o.baseline, b.Date.Format(time.DateOnly), b.ToolVersion)
}

// again is how often a run is measured again that is invalid for the machine's
// sake alone, one bad moment of a shared one, say. A generator that can't carry
// the load stays invalid.
const again = 4

// measure measures every variant as often as the profile says. What is written
// beside the gate's report is what run writes.
func (g *gating) measure(ctx context.Context) (*results.Result, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	cfg := g.cfg
	cfg.Histograms, cfg.Progress = g.dir.histograms, g.progress.show
	result, failed := engine.Run(ctx, cfg)
	for try := 0; try < again && failed == nil && !result.Interrupted; try++ {
		good, turns := split(result, g.settings)
		if len(turns) == 0 {
			break
		}
		g.progress.line(fmt.Sprintf("this machine was too busy for %s of %d; measuring them again", results.Plural(len(turns), "run"), len(result.Runs)))
		g.repeated += len(turns)
		cfg.Done, cfg.Order, cfg.Started = good, turns, result.Started
		next, err := engine.Run(ctx, cfg)
		if next == nil {
			next = result
		}
		result, failed = next, err
	}
	g.progress.end()
	return result, g.written(result, failed)
}

// split takes the runs apart that are worth measuring again.
func split(r *results.Result, settings []profiles.Setting) (good []results.Run, turns []engine.Turn) {
	for _, run := range r.Runs {
		if !sweep.MachineToBlame(run.Verdict) {
			good = append(good, run)
			continue
		}
		i := slices.IndexFunc(settings, func(s profiles.Setting) bool { return s.Name == run.Variant })
		turns = append(turns, engine.Turn{Setting: i, Repeat: run.Repeat})
	}
	return good, turns
}

// begin makes the directory for what is measured.
func (g *gating) begin() (err error) {
	if g.dir, err = newOutput(g.o.out, g.name, time.Now()); err == nil {
		g.cfg.LogDir = g.dir.path
	}
	return err
}

// written keeps a result. An interrupted one, or none, ends the command.
func (g *gating) written(result *results.Result, failed error) error {
	if failed != nil {
		failed = &failure{exitOf(failed), failed}
	}
	if result == nil || len(result.Runs) == 0 && !result.Interrupted {
		return errors.Join(failed, g.dir.abandon())
	}
	if err := g.dir.write(result, results.NewReport(result)); err != nil && failed == nil {
		failed = &failure{results.ExitCouldNotRun, err}
	}
	switch {
	case failed != nil:
		return failed
	case result.Interrupted:
		return &failure{results.ExitInterrupted, fmt.Errorf("interrupted: the gate says nothing; what was measured is in %s", g.dir.path)}
	}
	return nil
}

// updateBaseline writes a baseline of what was measured, now or before.
func (g *gating) updateBaseline(ctx context.Context) error {
	old, err := gate.ReadBaseline(g.o.baseline)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("--baseline %s: %w; to begin anew, remove it", g.o.baseline, err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		old = nil
	}
	r, err := g.result(ctx)
	if err != nil {
		return err
	}
	if len(g.doubts) > 0 && !r.Interrupted {
		return &failure{results.ExitInvalid, fmt.Errorf("no baseline is made from this result: %s", gate.Contradiction(g.doubts))}
	}
	b, worse, err := gate.Update(old, r, time.Now(), gate.UpdateOptions{AcceptWorse: g.o.acceptWorse, Timings: gate.TimingsMode(g.o.timings)})
	switch {
	case errors.Is(err, gate.ErrWorse):
		return &failure{results.ExitFail, fmt.Errorf("%s stays as it is%s: %w", g.o.baseline, g.whose(" (", ")"), err)}
	case err != nil:
		code := r.Verdict.Status.Exit() // not the file's exit code, which may be anything
		switch {
		case r.Interrupted:
			code = results.ExitInterrupted
		case code == results.ExitPass:
			code = results.ExitInvalid
		}
		return &failure{code, err}
	}
	if err := gate.WriteBaseline(g.o.baseline, b); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	text := fmt.Sprintf("written: %s, %s, of %s\n", g.o.baseline, b.Date.Format(time.DateOnly), results.Plural(len(r.Runs), "run"))
	for _, w := range worse {
		text += "accepted: " + w + "\n"
	}
	if few, needed := gate.FewForTimings(b.Profile.Repeats); few && g.o.timings != string(gate.ReportTimings) {
		text += fmt.Sprintf("note: of %s: it can't hold timings, which takes %d (--repeats %d); gate by it with --timings report\n",
			results.Plural(b.Profile.Repeats, "repeat"), needed, needed)
	}
	if !g.o.json {
		return g.print(text)
	}
	written, err := gate.EncodeBaseline(b)
	if err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	fmt.Fprint(g.Err, text)
	return g.print(string(written))
}
