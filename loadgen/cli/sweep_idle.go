package cli

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

// actsUnder are the ack policies under which a key does something, of the keys
// that not every policy heeds.
func actsUnder(key string) []string {
	switch key {
	case "clients.ack.every":
		return []string{profiles.AckCount, profiles.AckCountOrInterval}
	case "clients.ack.interval":
		return []string{profiles.AckInterval, profiles.AckCountOrInterval}
	}
	return nil
}

// idleAxes warns of what is varied and does nothing at some points: they are
// measured once per value, and are the same but for their names.
func (s *sweeping) idleAxes() []string {
	const policyKey = "clients.ack.policy"
	varied := slices.ContainsFunc(s.plan.Vary, func(a results.Axis) bool { return a.Key == policyKey })
	var out []string
	for _, axis := range s.plan.Vary {
		under := actsUnder(axis.Key)
		if under == nil {
			continue
		}
		var idle, acting []string // acting: variants with a point at which it acts
		for _, set := range s.cfg.Settings {
			switch policy := set.Profile.Clients.Ack.Policy; {
			case slices.Contains(under, policy):
				acting = appendNew(acting, set.Variant)
			case varied:
				idle = appendNew(idle, policyKey+"="+policy)
			default:
				idle = appendNew(idle, fmt.Sprintf("%s (policy %s)", set.Variant, policy))
			}
		}
		if len(idle) == 0 {
			continue
		}
		advice := "limit the sweep with"
		for _, name := range acting {
			advice += " --variant " + sweep.Quoted(name)
		}
		switch {
		case len(acting) == 0:
			advice = "vary something else"
		case varied: // no variant is without it
			advice = "vary it under " + strings.Join(under, " and ") + " alone"
		}
		out = append(out, fmt.Sprintf("%s has no effect with %s: points that differ in nothing else are the same, whatever their names say; %s",
			axis.Key, strings.Join(idle, ", "), advice))
	}
	return out
}

func appendNew(to []string, s string) []string {
	if slices.Contains(to, s) {
		return to
	}
	return append(to, s)
}
