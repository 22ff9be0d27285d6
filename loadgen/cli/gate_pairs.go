package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/gate"
)

// side is one of the two servers of a pair.
type side struct {
	name string        // "candidate" or "reference", as in the names of files
	what string        // in words
	cfg  engine.Config // without an order
}

// pairs measures two servers beside each other until everything is decided or
// the most pairs are measured.
func (g *gating) pairs(ctx context.Context) error {
	o, err := g.pairOptions()
	if err != nil {
		return err
	}
	candidate, reference, err := g.sides(ctx)
	if err != nil {
		return err
	}
	if err := g.begin(); err != nil {
		return err
	}
	m := newPairing(g, candidate, reference, o.Looks[0], o.Looks[len(o.Looks)-1])
	p := gate.NewPairs(o)
	take := func(s *profiles.Setting, a, b *results.Run) (bool, string) {
		return p.Add(s.Name, s.Profile.Clients.Ack.Policy, a, b)
	}
	if err := m.measure(ctx, take, p.Look); err != nil {
		return err
	}
	rep := p.Report()
	rep.Profile, rep.Candidate, rep.Reference = g.name, candidate.what, reference.what
	g.caution(&rep, m.environment)
	if g.o.againstTarget != "" {
		rep.Notes = append(rep.Notes, "both servers are targets: the audits are reduced to what clients saw, of stores, CPU and memory nothing is known, "+
			"and what the profile sets below server and redis isn't applied to them")
	}
	return g.conclude(rep)
}

// pairOptions are those of the flags; where no timing is held, with no more pairs
// than counts take.
func (g *gating) pairOptions() (gate.PairOptions, error) {
	o := gate.DefaultPairOptions()
	if g.metrics != nil {
		o.Metrics = g.metrics
	}
	switch {
	case len(g.o.looks) > 0:
		o.Looks = g.o.looks
	case len(o.Metrics) == 0:
		o.Looks = []int{gate.CountPairs}
	}
	o.Seed = g.settings[0].Profile.Seed
	if err := o.Check(); err != nil {
		return o, usagef("--pairs or --metrics: %w", err)
	}
	return o, nil
}

// sides finds out how both servers are started or reached, before anything is
// measured.
func (g *gating) sides(ctx context.Context) (candidate, reference *side, err error) {
	if candidate, err = g.side(ctx, "candidate", g.o.candidate); err != nil {
		return nil, nil, err
	}
	if g.o.againstTarget == "" {
		reference, err = g.side(ctx, "reference", g.o.against)
		return candidate, reference, err
	}
	candidate.what = g.o.target
	reference = &side{name: "reference", what: g.o.againstTarget, cfg: g.cfg}
	cfg := &reference.cfg
	cfg.Target = g.o.againstTarget
	for kind, secret := range map[string]*string{"token-secret": &cfg.TokenSecret, "admin-secret": &cfg.AdminSecret} {
		if file := *g.o.againstSecret[kind]; file != "" {
			if *secret, err = g.secretOf("against-"+kind, "", file, true); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := cfg.Check(); err != nil {
		return nil, nil, usage(err)
	}
	return candidate, reference, nil
}

// side is a build; without an executable this one.
func (g *gating) side(ctx context.Context, name, executable string) (*side, error) {
	s := &side{name: name, what: "loadgen " + version(), cfg: g.cfg}
	if executable == "" {
		return s, nil
	}
	_, v, err := engine.ServerOf(ctx, executable)
	if err != nil {
		return nil, usage(err)
	}
	s.what, s.cfg.OtherServer = executable+" "+v, executable
	return s, nil
}

// pairing measures pairs, one after the other.
type pairing struct {
	*gating
	sides       [2]*side
	least, most int   // pairs of each variant
	round       int   // rounds that are over: a usable pair of each variant
	tried       []int // pairs of each variant, discarded ones among them: their numbers
	environment results.Environment
	runs        int           // measured
	took        time.Duration // by them
}

func newPairing(g *gating, candidate, reference *side, least, most int) *pairing {
	return &pairing{gating: g, sides: [2]*side{candidate, reference}, least: least, most: most, tried: make([]int, len(g.settings))}
}

// measure measures pairs of each setting in turn until look says that it is
// enough; take tells whether a pair can be used.
func (m *pairing) measure(ctx context.Context, take func(s *profiles.Setting, a, b *results.Run) (usable bool, why string), look func() (done bool)) error {
	for done := false; !done; m.round++ {
		for i := 0; i < len(m.settings) && !done; {
			a, b, err := m.measurePair(ctx, i)
			if err != nil {
				return err
			}
			s := &m.settings[i]
			usable, why := take(s, a, b)
			if usable {
				i++
				continue
			}
			m.progress.line(fmt.Sprintf("%s: pair %d isn't used: %s", s.Name, m.tried[i], why))
			done = look() // no more than so many are measured again
		}
		done = done || look()
	}
	return nil
}

// measurePair runs both sides of one variant with one seed: A before B in odd
// pairs, B before A in even ones (measuring.md, 24).
func (m *pairing) measurePair(ctx context.Context, setting int) (a, b *results.Run, err error) {
	if !m.o.quiet {
		m.progress.line(m.left(setting))
	}
	m.tried[setting]++
	pair := m.tried[setting]
	var out [2]*results.Run
	for i := range out {
		k := i
		if pair%2 == 0 {
			k = 1 - i
		}
		if out[k], err = m.run(ctx, m.sides[k], engine.Turn{Setting: setting, Repeat: pair}); err != nil {
			return nil, nil, err
		}
	}
	return out[0], out[1], nil
}

// overhead is about what starting, seeding, drain and audit of a run take, until
// one was measured.
const overhead = 3 * time.Second

// left says where the measurement stands and how long it may still take.
func (m *pairing) left(setting int) string {
	each := m.took
	if m.runs > 0 {
		each /= time.Duration(m.runs)
	} else {
		for _, s := range m.settings {
			each += (s.Profile.Phases.Warmup + s.Profile.Phases.Measure).Std() + overhead
		}
		each /= time.Duration(len(m.settings))
	}
	pairs := func(rounds int) time.Duration {
		n := max((rounds-m.round)*len(m.settings)-setting, 0)
		return (time.Duration(2*n) * each).Round(time.Second)
	}
	of, left := strconv.Itoa(m.least), fmt.Sprint(pairs(m.least))
	if m.most > m.least {
		of, left = fmt.Sprintf("%s to %d", of, m.most), fmt.Sprintf("%s to %v", left, pairs(m.most))
	}
	tried := m.tried[setting]
	text := fmt.Sprintf("%s, pair %d, %d of %s usable so far: %s left", m.settings[setting].Name, tried+1, m.round, of, left)
	if discarded := tried - m.round; discarded > 0 {
		text += fmt.Sprintf(", %d discarded", discarded)
	}
	return text
}

// run measures one run in a measurement of its own, with a fresh Redis, and
// keeps it as runs/NNN-VARIANT-SIDE.json.
func (m *pairing) run(ctx context.Context, s *side, turn engine.Turn) (*results.Run, error) {
	cfg := s.cfg
	cfg.Order, cfg.LogDir = []engine.Turn{turn}, m.dir.path
	cfg.Progress = func(p engine.Progress) { m.tell(s, p) }
	began := time.Now()
	r, err := engine.Run(ctx, cfg)
	m.progress.end()
	switch {
	case err != nil:
		return nil, &failure{exitOf(err), fmt.Errorf("the %s, %s: %w", s.name, s.what, err)}
	case r.Interrupted || ctx.Err() != nil:
		return nil, &failure{results.ExitInterrupted, fmt.Errorf("interrupted after %s: the gate says nothing; they are kept in %s", results.Plural(m.runs, "run"), m.dir.path)}
	case len(r.Runs) != 1:
		return nil, &failure{results.ExitCouldNotRun, fmt.Errorf("the %s, %s: %s instead of one", s.name, s.what, results.Plural(len(r.Runs), "run"))}
	case len(r.Redis) == 1 && r.Redis[0].Kind == results.Embedded:
		return nil, &failure{results.ExitCouldNotRun, fmt.Errorf("pairs need a real Redis, and there is no redis-server in PATH; install it, or name one with --redis")}
	}
	m.environment = r.Environment
	m.runs++
	m.took += time.Since(began)
	return &r.Runs[0], m.keep(r, s)
}

// tell shows the status line alone: of a pair it is enough to know that it lives.
func (m *pairing) tell(s *side, p engine.Progress) {
	switch {
	case p.Kind == engine.Note:
		m.progress.line(p.Note)
	case p.Kind != engine.RunEnded && !m.o.quiet:
		text := fmt.Sprintf("%s, %s: %s", p.Variant, s.name, p.Phase)
		if p.Planned > 0 {
			text += fmt.Sprintf(" %v of %v", p.Elapsed.Round(time.Second), p.Planned.Round(time.Second))
		}
		m.progress.status(text, false)
	}
}

func (m *pairing) keep(r *results.Result, s *side) error {
	dir := filepath.Join(m.dir.path, runsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	name := fmt.Sprintf("%03d-%s-%s.json", m.runs, fileName(r.Runs[0].Variant), s.name)
	if err := results.Write(filepath.Join(dir, name), r); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return nil
}
