package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type variant struct {
	name   string
	at     Pos
	own    settings // what it sets itself
	set    settings // own, over what the variant that it is the crash of sets
	expect []string
	crash  string // crash_of
	broken bool   // only while Parse collects problems
}

func (s *Source) readVariants(r *reader) {
	list, _ := s.base.set["variants"].value.([]element)
	seen := map[string]Pos{}
	for _, e := range list {
		v := variant{at: e.at, broken: e.broken}
		v.name, _ = e.values.set["variants[].name"].value.(string)
		v.own, _ = e.values.set["variants[].set"].value.(settings)
		v.expect, _ = e.values.set["variants[].expect"].value.([]string)
		v.crash, _ = e.values.set["variants[].crash_of"].value.(string)
		v.set = v.own
		at := e.values.set["variants[].name"].at
		switch first, twice := seen[v.name]; {
		case at.Line == 0: // missing or broken: reported already
		case v.name == "" || len([]rune(v.name)) > maxName || strings.ContainsAny(v.name, "\n\t"):
			r.problem(at, fmt.Sprintf("1 to %d characters in one line", maxName), "%q can't name a variant", v.name)
		case twice:
			r.problem(at, fmt.Sprintf("a name of its own; the first is in line %d", first.Line), "two variants are called %q", v.name)
		default:
			seen[v.name] = at
		}
		if !s.inherit(r, &v, e.values.set["variants[].crash_of"].at) {
			v.broken = true
		}
		s.variants = append(s.variants, v)
	}
}

// crashKeys are what a variant may set that is another one with crashes: what
// breaks, and how users come back. All else it takes from the other one, so
// that a row of the ladder compares one design with itself.
func crashKeys() []string {
	return []string{"clients.crash.", "clients.session", "clients.away", "clients.send.", "redis.fsync", "faults"}
}

// inherit gives a variant with crash_of what that one sets. False after a
// problem.
func (s *Source) inherit(r *reader, v *variant, at Pos) bool {
	if at.Line == 0 {
		return true
	}
	var names []string
	for _, of := range s.variants {
		if of.crash != "" {
			continue
		}
		names = append(names, of.name)
		if of.name != v.crash {
			continue
		}
		v.set = maps.Clone(of.set)
		if v.set == nil {
			v.set = settings{}
		}
		maps.Copy(v.set, v.own)
		return s.onlyCrashes(r, v) && !of.broken
	}
	right := "one that stands before it, and is no crash_of itself"
	if n := nearest(v.crash, names); n != "" {
		right = "did you mean " + n + "? " + right
	}
	r.problem(at, right, "crash_of: no variant %q", v.crash)
	return false
}

func (s *Source) onlyCrashes(r *reader, v *variant) bool {
	ok := true
	for _, k := range s.schema.keys { // in order of the table, not of the map
		a, set := v.own[k.Name]
		if !set || slices.ContainsFunc(crashKeys(), func(p string) bool { return strings.HasPrefix(k.Name, p) }) {
			continue
		}
		r.problem(a.at, "set it in variant "+v.crash+"; here only clients.crash, clients.session, clients.away, clients.send, redis.fsync and faults can differ",
			"variant %s is crash_of %s, but sets %s", v.name, v.crash, k.Name)
		ok = false
	}
	return ok
}

// Variants lists the variants as they were written; empty if there are none.
func (s *Source) Variants() []Variant {
	out := make([]Variant, len(s.variants))
	for i, v := range s.variants {
		out[i] = Variant{Name: v.name, Set: map[string]string{}, Expect: slices.Clone(v.expect), CrashOf: v.crash}
		for name, a := range v.own {
			out[i].Set[name] = s.schema.text(name, a.value)
		}
	}
	return out
}
