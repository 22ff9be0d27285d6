package cli

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/gate"
)

// calibrationFile is what a calibration is called beside its runs; --tolerances
// reads it.
const calibrationFile = "calibration.json"

// calibration measures pairs of one build with itself: how far they differ is
// the machine's own spread, and says what a gate can hold here (measuring.md, 29).
func (g *gating) calibration(ctx context.Context) error {
	o := gate.DefaultPairOptions()
	if len(g.o.looks) > 0 {
		o.Looks = g.o.looks
	}
	o.Seed = g.settings[0].Profile.Seed
	if err := o.Check(); err != nil {
		return usagef("--pairs: %w", err)
	}
	build, err := g.side(ctx, "a", g.o.candidate)
	if err != nil {
		return err
	}
	same := *build
	same.name = "b"
	if err := g.begin(); err != nil {
		return err
	}
	m := newPairing(g, build, &same, g.o.calibrate, g.o.calibrate)
	p := gate.NewPairs(o)
	take := func(s *profiles.Setting, a, b *results.Run) (bool, string) {
		return p.Add(s.Name, s.Profile.Clients.Ack.Policy, a, b)
	}
	if err := m.measure(ctx, take, func() bool { return p.Gathered(g.o.calibrate) }); err != nil {
		return err
	}
	c, err := gate.Calibrate(p, time.Now())
	if err != nil {
		return &failure{results.ExitInvalid, err}
	}
	c.Profile, c.Build, c.Environment = g.name, build.what, m.environment
	path := filepath.Join(g.dir.path, calibrationFile)
	if err := gate.WriteCalibration(path, c); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	if !g.o.quiet {
		g.progress.line("written to " + path + ", which --tolerances reads")
	}
	return g.showCalibration(c)
}

func (g *gating) showCalibration(c *gate.Calibration) error {
	if g.o.json {
		b, err := gate.EncodeCalibration(c)
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return g.print(string(b))
	}
	var b strings.Builder
	if err := gate.RenderCalibration(&b, c, g.textOptions()); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return g.print(b.String())
}
