package engine

import (
	"maps"
	"slices"
	"time"

	"ackmark/profiles"
	"ackmark/results"
)

// RulesOf gathers what a result with these settings is judged by. Thresholds that
// all variants have are the profile's; a variant that sets its own is judged by
// those. The error lies in a condition.
func RulesOf(settings []profiles.Setting) (results.Rules, error) {
	rules := results.Rules{Limits: results.DefaultLimits(), Repeats: settings[0].Profile.Repeats}
	shared := !slices.ContainsFunc(settings, func(s profiles.Setting) bool {
		return !slices.Equal(s.Profile.Thresholds, settings[0].Profile.Thresholds)
	})
	for _, s := range settings {
		thresholds, err := results.Conditions(s.Profile.Thresholds, results.FromThreshold)
		if err != nil {
			return results.Rules{}, err
		}
		expect, err := results.Conditions(s.Expect, results.FromExpect)
		if err != nil {
			return results.Rules{}, err
		}
		if shared {
			rules.Thresholds = thresholds
		} else {
			expect = append(thresholds, expect...)
		}
		rules.Variants = append(rules.Variants, results.VariantRule{
			Name: s.Name, AckPolicy: s.Profile.Clients.Ack.Policy, CrashOf: s.CrashOf,
			Hash: profiles.HashSettings([]profiles.Setting{s}), Set: maps.Clone(s.Set),
			Expect: expect, Required: results.RequiredFor(s.Profile),
		})
	}
	return rules, nil
}

// newResult is the result before anything was measured.
func (e *engine) newResult() *results.Result {
	src := e.cfg.Source
	r := &results.Result{
		Schema: results.SchemaCurrent, ToolVersion: e.cfg.ToolVersion, Started: e.began.UTC(), Ended: e.began.UTC(),
		Profile: results.Profile{
			Name: src.Name(), Hash: profiles.HashSettings(e.cfg.Settings), Seed: e.cfg.Settings[0].Profile.Seed, Source: string(src.YAML()),
			Sets: e.cfg.Sets, Thresholds: e.cfg.Settings[0].Profile.Thresholds,
		},
		Environment: results.FingerprintFrom(results.Collect("")),
		Generators:  []results.Node{{Name: "generator 1", Kind: results.Private, Version: e.cfg.ToolVersion}},
	}
	server := results.Node{Name: "server 1", Kind: results.Private, Version: e.cfg.ServerVersion}
	if e.cfg.Target != "" {
		server.Kind, server.Version = results.Given, ""
	}
	r.Servers = []results.Node{server}
	r.Runs, _ = e.cfg.earlier()
	return r
}

// finish judges. A failure of the infrastructure outranks whatever the runs
// that were complete would say.
func (e *engine) finish(failed error) {
	e.result.Ended = time.Now().UTC()
	results.Judge(e.result, e.cfg.judged(e.rules))
	if failed == nil {
		return
	}
	e.result.ExitCode = results.ExitCouldNotRun
	e.result.Verdict.Status = results.Invalid
	e.result.Verdict.Reasons = append(e.result.Verdict.Reasons, results.Reason{
		Kind: results.ReasonIncomplete, Text: "could not run: " + failed.Error(),
	})
}
