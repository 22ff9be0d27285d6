package profiles

import (
	"fmt"
	"slices"
	"strings"
)

// maxPoints bounds the grid of a sweep; more is a slip of the pen.
const maxPoints = 10_000

// Points gives the settings of a sweep: each combination of the values of the
// axes (the last axis changes fastest), and of each the variants. No axes at all
// gives what Resolve gives. A variant is what it sets, a point over it, the sets
// over both; Setting.Set and Setting.Point tell them apart.
//
// A point is called by its values ("every=10 interval=200ms"), with " · " and the
// variant's name behind it where that isn't the only one that is no crash_of.
// The crash variants are the crash_of of their own point.
//
// The error is Problems; an impossible combination is one, and names the point.
func (s *Source) Points(vary []Axis, sets []string) ([]Setting, error) {
	t, problems := s.points(vary, sets)
	if err := append(problems, t.named("point")...).asError(); err != nil {
		return nil, err
	}
	return t.settings, nil
}

// PossiblePoints leaves impossible combinations out, and says why. A point that
// is impossible with crashes is left out without them too: its risk would never
// be known.
func (s *Source) PossiblePoints(vary []Axis, sets []string) (settings []Setting, left Problems, err error) {
	t, problems := s.points(vary, sets)
	if err := problems.asError(); err != nil {
		return nil, nil, err
	}
	left = t.named("point")
	_ = left.asError() // which sorts them
	for i, set := range t.settings {
		if !t.bad[t.families[i]] {
			settings = append(settings, set)
		}
	}
	if len(settings) == 0 {
		return nil, nil, left.asError()
	}
	return settings, left, nil
}

func (s *Source) points(vary []Axis, sets []string) (trial, Problems) {
	axes, problems := s.axesOf(vary)
	flags, more := s.readSets(sets)
	if problems = append(problems, more...); len(problems) > 0 {
		return trial{}, problems
	}
	points := 1
	for _, a := range axes {
		if f, twice := flags[a.Key]; twice {
			problems = append(problems, Problem{Pos: f.at, What: a.Key + " is varied", Right: "leave it out here, or out of vary"})
		}
		if points *= len(a.Values); points > maxPoints {
			return trial{}, append(problems, Problem{Pos: a.at, What: "the axes make more than " + fmt.Sprint(maxPoints) + " points", Right: "fewer values or axes"})
		}
	}
	problems = append(problems, s.variedBySome(axes)...)
	if len(problems) > 0 {
		return trial{}, problems
	}
	return s.tryAll(s.grid(axes), flags), nil
}

// axesOf makes sure that the values have been read.
func (s *Source) axesOf(vary []Axis) ([]Axis, Problems) {
	var problems Problems
	axes := slices.Clone(vary)
	for i, a := range axes {
		at := a.at
		if a.read == nil {
			r := &reader{schema: s.schema, flag: "--vary " + a.Key + "=" + strings.Join(a.Values, ","), layer: layerPoint}
			at = Pos{Flag: r.flag}
			axes[i], _ = r.axis(a.Key, at, a.Values)
			problems = append(problems, r.problems...)
		}
		if slices.ContainsFunc(vary[:i], func(b Axis) bool { return b.Key == a.Key }) {
			problems = append(problems, Problem{Pos: at, What: a.Key + " is varied twice", Right: "one list of all its values"})
		}
	}
	return axes, problems
}

// variedBySome: what the profile varies, none of its variants may set, or each
// point would lie about the variant or about itself. What a flag varies goes over
// the variants, with a warning, as --set does.
func (s *Source) variedBySome(axes []Axis) Problems {
	var problems Problems
	for _, a := range axes {
		if a.at.Flag != "" {
			continue
		}
		for _, v := range s.variants {
			if own, set := v.own[a.Key]; set {
				problems = append(problems, Problem{Pos: own.at, What: fmt.Sprintf("variant %s sets %s, which is varied", v.name, a.Key), Right: "leave it out here, or out of vary"})
			}
		}
	}
	return problems
}

// grid puts the candidates of each point behind each other.
func (s *Source) grid(axes []Axis) []candidate {
	base := s.candidates()
	if len(axes) == 0 {
		return base
	}
	alone := 0
	for _, c := range base {
		if c.crash == "" {
			alone++
		}
	}
	short := shortKeys(axes)
	var out []candidate
	at := make([]int, len(axes))
	for n := 0; ; n++ {
		point, words := map[string]assigned{}, make([]string, len(axes))
		for i, a := range axes {
			point[a.Key], words[i] = a.read[at[i]], short[i]+"="+shortValue(a, at[i])
		}
		name := strings.Join(words, " ")
		called := func(variant string, isBase bool) string {
			if isBase && alone == 1 {
				return name
			}
			return name + " · " + variant
		}
		for _, c := range base {
			c.name, c.point = called(c.variant.name, c.crash == ""), point
			if c.crash != "" {
				c.crash = called(c.crash, true)
			}
			c.family += n * (len(s.variants) + 1)
			out = append(out, c)
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return out
		}
	}
}

// shortKeys gives the shortest ends of the keys that tell the axes apart:
// every, interval; group.rate where direct.rate varies too.
func shortKeys(axes []Axis) []string {
	end := func(key string, words int) string {
		parts := strings.Split(key, ".")
		return strings.Join(parts[max(0, len(parts)-words):], ".")
	}
	out := make([]string, len(axes))
	for i, a := range axes {
		for words := 1; ; words++ {
			out[i] = end(a.Key, words)
			same := func(b Axis) bool { return b.Key != a.Key && end(b.Key, words) == out[i] }
			if out[i] == a.Key || !slices.ContainsFunc(axes, same) {
				break
			}
		}
	}
	return out
}

// longestValue is how long a value may be that stands in a point's name.
const longestValue = 24

// shortValue is the value, or its number where it is too long for a name.
func shortValue(a Axis, i int) string {
	if v := a.Values[i]; len([]rune(v)) <= longestValue && !strings.ContainsAny(v, "\n\t") {
		return v
	}
	return fmt.Sprintf("#%d", i+1)
}
