package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// candidate is a setting that is still to be checked.
type candidate struct {
	variant
	name   string
	crash  string
	point  map[string]assigned // nil but for the points of a sweep
	family int                 // candidates that are the same but for their crashes share one
}

// candidates are the variants, or the profile itself where it has none.
func (s *Source) candidates() []candidate {
	variants := s.variants
	if len(variants) == 0 {
		variants = []variant{{name: s.Name()}}
	}
	var out []candidate
	for i, v := range variants {
		if v.broken {
			continue
		}
		c := candidate{variant: v, name: v.name, crash: v.crash, family: i}
		if v.crash != "" {
			c.family = slices.IndexFunc(variants, func(of variant) bool { return of.name == v.crash })
		}
		out = append(out, c)
	}
	return out
}

// trial is what became of candidates.
type trial struct {
	settings []Setting            // of all of them, in order
	families []int                // of each
	bad      map[int]bool         // families with a problem
	found    map[Problem][]string // problem → the settings that have it
}

// tryAll builds and checks each candidate.
func (s *Source) tryAll(candidates []candidate, flags map[string]assigned) trial {
	t := trial{bad: map[int]bool{}, found: map[Problem][]string{}}
	for _, v := range candidates {
		merged := maps.Clone(s.base.set)
		maps.Copy(merged, v.set)
		maps.Copy(merged, v.point)
		maps.Copy(merged, flags)
		c := &checker{source: s, set: merged, p: s.build(merged)}
		c.overridden(v.variant, v.point)
		c.overridden(v.variant, flags)
		c.all()
		for _, p := range c.problems {
			t.found[p] = append(t.found[p], v.name)
			t.bad[v.family] = true
		}
		t.families = append(t.families, v.family)
		t.settings = append(t.settings, Setting{
			Name: v.name, Variant: v.variant.name, Profile: c.p, Expect: slices.Clone(v.expect), CrashOf: v.crash, Warnings: c.warnings,
			Set: s.texts(merged, v.set, v.point), Point: s.texts(merged, v.point),
		})
	}
	return t
}

// texts gives the values of the keys in canonical text, nil for no maps of
// keys that aren't nil.
func (s *Source) texts(merged map[string]assigned, keys ...map[string]assigned) map[string]string {
	if len(keys) == 1 && keys[0] == nil {
		return nil
	}
	out := map[string]string{}
	for _, of := range keys {
		for k := range of {
			out[k] = s.schema.text(k, merged[k].value)
		}
	}
	return out
}

// mostNamed is how many settings a problem names.
const mostNamed = 3

// named gives the problems, with the settings that have them where not all do.
func (t trial) named(what string) Problems {
	var out Problems
	for p, in := range t.found {
		if len(in) < len(t.settings) {
			more := ""
			if len(in) > mostNamed && what != "variant" {
				more, in = fmt.Sprintf(" and %d more", len(in)-mostNamed), in[:mostNamed]
			}
			p.What += " (" + what + " " + strings.Join(in, ", ") + more + ")"
		}
		out = append(out, p)
	}
	return out
}
