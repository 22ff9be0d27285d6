package engine

import (
	"fmt"
	"slices"

	"ackmark/profiles"
	"ackmark/results"
)

// Turn is one run: a setting, by its index in Config.Settings, and a repeat
// from 1, which decides the seed.
type Turn struct{ Setting, Repeat int }

// interleaved gives the order of runs: ABC CBA ABC …, so that a machine that
// warms up or slows down over time favours nobody (measuring.md, 24).
func interleaved(settings, repeats int) []Turn {
	order := make([]Turn, 0, settings*repeats)
	for r := range repeats {
		for i := range settings {
			s := i
			if r%2 == 1 {
				s = settings - 1 - i
			}
			order = append(order, Turn{s, r + 1})
		}
	}
	return order
}

// order is what is to be measured.
func (c *Config) order() []Turn {
	if c.Order != nil {
		return c.Order
	}
	return interleaved(len(c.Settings), c.Settings[0].Profile.Repeats)
}

// checkOrder finds turns and runs that no setting belongs to.
func (c *Config) checkOrder() error {
	for i, t := range c.Order {
		if t.Setting < 0 || t.Setting >= len(c.Settings) || t.Repeat < 1 {
			return fmt.Errorf("turn %d asks for setting %d, repeat %d; settings are 0 to %d and repeats begin with 1", i, t.Setting, t.Repeat, len(c.Settings)-1)
		}
	}
	for i := range c.Done {
		if c.settingOf(c.Done[i].Variant) < 0 {
			return fmt.Errorf("a run that was measured earlier is of variant %q, which isn't among those to be measured", c.Done[i].Variant)
		}
	}
	return nil
}

func (c *Config) settingOf(variant string) int {
	return slices.IndexFunc(c.Settings, func(s profiles.Setting) bool { return s.Name == variant })
}

// judged narrows rules down to what was asked for: with an order, the settings
// that it or an earlier run names, each as often as all of them are.
func (c *Config) judged(rules results.Rules) results.Rules {
	if c.Order == nil {
		return rules
	}
	times := make([]int, len(c.Settings))
	for _, t := range c.Order {
		times[t.Setting]++
	}
	for i := range c.Done {
		times[c.settingOf(c.Done[i].Variant)]++
	}
	variants := rules.Variants
	rules.Variants, rules.Repeats = nil, 0
	for i, n := range times {
		if n == 0 {
			continue
		}
		if rules.Variants = append(rules.Variants, variants[i]); len(rules.Variants) == 1 || n < rules.Repeats {
			rules.Repeats = n
		}
	}
	return rules
}

// earlier gives the runs of Done in the order of measuring, and the number of
// the last one.
func (c *Config) earlier() (done []results.Run, last int) {
	done = slices.Clone(c.Done)
	slices.SortStableFunc(done, func(a, b results.Run) int { return a.Number - b.Number })
	last = len(done)
	for i := range done {
		last = max(last, done[i].Number)
	}
	return done, last
}

// judgedAlone is a run with the verdict of a measurement that holds just it.
func judgedAlone(run results.Run, rules results.Rules) results.Run {
	i := slices.IndexFunc(rules.Variants, func(v results.VariantRule) bool { return v.Name == run.Variant })
	rules.Variants, rules.Repeats = rules.Variants[i:i+1], 1
	alone := results.Result{Runs: []results.Run{run}}
	results.Judge(&alone, rules)
	return alone.Runs[0]
}
