package gate

import (
	"fmt"
	"maps"
	"slices"

	"ackmark/results"
)

// worseThan lists in which points b promises less than old, a sentence each; where
// timings are only reported, counts alone.
func worseThan(old, b *Baseline, mode TimingsMode) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if old.Profile.Hash != b.Profile.Hash {
		say("another profile is measured: its hash was %s, is %s", short(old.Profile.Hash), short(b.Profile.Hash))
	}
	if old.Profile.Seed != b.Profile.Seed {
		say("another seed is measured: it was %d, is %d", old.Profile.Seed, b.Profile.Seed)
	}
	if b.Profile.Repeats < old.Profile.Repeats {
		say("fewer repeats are measured: there were %d, are %d", old.Profile.Repeats, b.Profile.Repeats)
	}
	sameMachine := len(results.Differences(old.Environment, b.Environment)) == 0
	for _, was := range old.Variants {
		is := b.variant(was.Name)
		if is == nil {
			say("%s is no longer measured", was.Name)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(was.Metrics)) {
			if was.Metrics[name].Class == results.Timing && mode == ReportTimings {
				continue
			}
			m, known := results.Lookup(name)
			now, measured := is.Metrics[name]
			if !known || !measured {
				say("%s: %s is no longer measured", was.Name, name)
				continue
			}
			if was.Metrics[name].Class == results.Deterministic && now.Class != results.Deterministic {
				say("%s: %s was a count that is gated, is none now", was.Name, name)
			}
			tolerance, held := heldBy(old, m, now.Class, b, sameMachine)
			if was.Hash != is.Hash || old.Profile.Seed != b.Profile.Seed || !held {
				continue
			}
			if now.Class == results.Deterministic {
				before := was.Metrics[name].Samples
				if s := shifted(now.Samples, before, tolerance, m.Better); s.worse {
					say("%s: %s was %s, is %s: %s, allowed %s%s", was.Name, spoken(name), results.FormatValue(m.Unit, before[s.at-1]),
						results.FormatValue(m.Unit, now.Samples[s.at-1]), changeText(s.change()), percent(tolerance), s.where())
				}
				continue
			}
			x, y := median(was.Metrics[name].Samples), median(now.Samples)
			if change := off(y, x); beyond(change, tolerance) && worse(change, m.Better) {
				say("%s: %s was %s, is %s: %s, allowed %s", was.Name, spoken(name), results.FormatValue(m.Unit, x), results.FormatValue(m.Unit, y),
					changeText(change), percent(tolerance))
			}
		}
	}
	return out
}

// heldBy returns the tolerance that a metric is held to from one baseline to the
// next; false where the two aren't comparable.
func heldBy(old *Baseline, m results.Metric, class results.Class, b *Baseline, sameMachine bool) (tolerance float64, ok bool) {
	if class != results.Deterministic {
		tolerance, ok = timings(old, nil)[m.Name]
		return tolerance, ok && sameMachine
	}
	if !isMemory(m.Name) {
		return defaultCounts, true
	}
	was := release(old.Environment.RedisVersion)
	return defaultMemory, was != "" && was == release(b.Environment.RedisVersion)
}

func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	if hash == "" {
		return "(none)"
	}
	return hash
}
