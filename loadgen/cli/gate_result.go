package cli

import (
	"context"
	"fmt"
	"slices"

	"ackmark/loadgen/engine"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/gate"
)

// result reads what was measured, or measures.
func (g *gating) result(ctx context.Context) (*results.Result, error) {
	if g.o.result == "" {
		return g.measure(ctx)
	}
	r, err := results.Read(g.o.result)
	if err != nil {
		return nil, usagef("--result: %w", err)
	}
	if r.Profile.Name != g.name {
		return nil, usagef("--result %s: it is of profile %q, not of %q", g.o.result, r.Profile.Name, g.name)
	}
	if r.Sweep != nil || r.Schema == results.SchemaV1 {
		return r, nil // refused in any case: points, or a file without the seed
	}
	return r, g.judgeAgain(r)
}

// judgeAgain judges what was read by PROFILE, and keeps in what it contradicts
// itself. It is an error when something else was measured than PROFILE says.
func (g *gating) judgeAgain(r *results.Result) error {
	settings, err := g.settingsOf(r)
	if err != nil {
		return usagef("--result %s: what was measured isn't what %s says now: %w; name the profile that was measured, or measure again", g.o.result, g.profile, err)
	}
	if hash := profiles.HashSettings(settings); hash != r.Profile.Hash {
		return usagef("--result %s: what was measured isn't what %s says now: the profile's hash is %.12s… there, %.12s… here; name the profile that was measured, or measure again",
			g.o.result, g.profile, r.Profile.Hash, hash)
	}
	rules, err := engine.RulesOf(settings)
	if err != nil {
		return usage(err)
	}
	seed := settings[0].Profile.Seed
	if r.Profile.Seed != seed {
		g.doubts = append(g.doubts, fmt.Sprintf("it says that its seed is %d; by the profile and its own --set it is %d", r.Profile.Seed, seed))
	}
	g.doubts = append(g.doubts, gate.JudgeAgain(r, rules, func(repeat int) uint64 { return schedule.RepeatSeed(seed, repeat-1) })...)
	return nil
}

// settingsOf resolves PROFILE as it was for a result: with its --set and those of its
// variants that were measured.
func (g *gating) settingsOf(r *results.Result) ([]profiles.Setting, error) {
	settings, err := g.cfg.Source.Resolve(r.Profile.Sets)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	for _, run := range r.Runs {
		if !slices.Contains(names, run.Variant) {
			names = append(names, run.Variant)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(settings, func(s profiles.Setting) bool { return s.Name == name }) {
			return nil, fmt.Errorf("it has no variant %q", name)
		}
	}
	if len(names) == 0 {
		return settings, nil
	}
	return choose(settings, names)
}
