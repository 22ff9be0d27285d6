package profiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Axis is one key that a sweep varies.
type Axis struct {
	Key    string   // dotted key, one that a variant may set
	Values []string // canonical text, in the order written, each once

	at   Pos        // of the key; zero where the axis was put together by a program
	read []assigned // the values, as they were read; nil likewise
}

// ParseAxis reads KEY=a,b,c as --vary takes it. Commas inside brackets and
// quotes belong to a value. The error is Problems, which name the flag.
func ParseAxis(text string) (Axis, error) {
	r := &reader{schema: newSchema(), flag: "--vary " + text, layer: layerPoint}
	at := Pos{Flag: r.flag}
	name, list, ok := strings.Cut(text, "=")
	if !ok {
		r.problem(at, "KEY=VALUE,VALUE, e.g. --vary clients.ack.every=1,10,100", "no '='")
		return Axis{}, r.problems.asError()
	}
	axis, _ := r.axis(name, at, splitValues(list))
	return axis, r.problems.asError()
}

// splitValues cuts a list at its commas, but not inside brackets and quotes.
func splitValues(list string) []string {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	var out []string
	depth, quote, from := 0, rune(0), 0
	for i, c := range list {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			out, from = append(out, strings.TrimSpace(list[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}

// axis reads the values of a flag, or of an axis that a program put together.
func (r *reader) axis(name string, at Pos, texts []string) (Axis, bool) {
	k, ok := r.variable(name, at)
	if !ok {
		return Axis{}, false
	}
	axis := Axis{Key: name, at: at}
	for _, text := range texts {
		v, good := r.flagValue(k, name, at, text)
		ok = good && r.addValue(&axis, assigned{value: v, at: at, layer: layerPoint}) && ok
	}
	return axis, r.hasValues(axis, at) && ok
}

// axes reads the section vary: dotted keys with a list of values each.
func (r *reader) axes(k Key, path string, at Pos, n ast.Node) (any, bool) {
	entries, ok := mapping(n)
	if !ok {
		r.problem(r.valuePos(n, at), k.wants(), "%s is %s", path, nodeKind(n))
		return nil, false
	}
	outer := r.layer
	r.layer = layerPoint
	defer func() { r.layer = outer }()
	var out []Axis
	for _, e := range entries {
		name, keyAt := r.key(e)
		if name == "" {
			ok = false
			continue
		}
		if i := slices.IndexFunc(out, func(a Axis) bool { return a.Key == name }); i >= 0 {
			r.problem(keyAt, fmt.Sprintf("keep one; the first is in line %d", out[i].at.Line), "%s is varied twice", name)
			ok = false
			continue
		}
		axis, good := r.axisOf(name, keyAt, e.Value)
		out, ok = append(out, axis), ok && good
	}
	return out, ok
}

func (r *reader) axisOf(name string, at Pos, n ast.Node) (Axis, bool) {
	axis := Axis{Key: name, at: at}
	key, ok := r.variable(name, at)
	if !ok {
		return axis, false
	}
	list, isList := n.(*ast.SequenceNode)
	if !isList {
		r.problem(r.valuePos(n, at), "a list of values, e.g. {"+name+": [1, 2]}", "%s is %s", name, nodeKind(n))
		return axis, false
	}
	for _, item := range list.Values {
		v, good := r.value(key, name, r.valuePos(item, at), item)
		if !good {
			ok = false
			continue
		}
		ok = r.addValue(&axis, assigned{value: v, at: r.valuePos(item, at), layer: layerPoint}) && ok
	}
	return axis, ok && r.hasValues(axis, at)
}

// variable finds the key of an axis: what a variant may set.
func (r *reader) variable(name string, at Pos) (Key, bool) {
	k, ok := r.settable(name, at)
	switch {
	case !ok:
		return Key{}, false
	case k.Type == TypePlanned:
		r.planned(name, at)
		return Key{}, false
	case k.Whole:
		r.problem(at, "a key that a variant may set", "%s can't be varied: it is the whole profile's", name)
		return Key{}, false
	}
	return k, true
}

func (r *reader) addValue(axis *Axis, a assigned) bool {
	if a.value == nil {
		return false // reported already
	}
	text := r.schema.text(axis.Key, a.value)
	if slices.Contains(axis.Values, text) {
		r.problem(a.at, "each value once", "%s has %s twice", axis.Key, text)
		return false
	}
	axis.Values, axis.read = append(axis.Values, text), append(axis.read, a)
	return true
}

func (r *reader) hasValues(axis Axis, at Pos) bool {
	if len(axis.Values) > 0 || len(r.problems) > 0 {
		return len(axis.Values) > 0
	}
	r.problem(at, "a value at least, e.g. "+axis.Key+"="+r.schema.byName[axis.Key].sample(), "%s has no values", axis.Key)
	return false
}

// sample is a value of the key for messages.
func (k Key) sample() string {
	if e := strings.TrimPrefix(k.example(), ", e.g. "); e != "" {
		return e
	}
	return "VALUE"
}

// Vary gives the axes of the profile, in the order written; none: it isn't one
// for sweeps.
func (s *Source) Vary() []Axis {
	axes, _ := s.base.set["vary"].value.([]Axis)
	return slices.Clone(axes)
}

// At is where a key of the whole profile is written, for problems that only a
// later stage finds; the start of the file where it isn't.
func (s *Source) At(key string) Pos {
	if a, ok := s.base.set[key]; ok {
		return a.at
	}
	return Pos{File: s.file, Line: 1, Col: 1}
}

// metrics reads a list of two names of metrics.
func (r *reader) metrics(k Key, path string, at Pos, n ast.Node) (any, bool) {
	items, ok := r.items(k, path, at, n)
	if !ok {
		return nil, false
	}
	var out []string
	for _, item := range items {
		text, _, isText := scalar(item)
		if !isText || !metricName(text) {
			r.problem(r.valuePos(item, at), "the name of a metric, e.g. redelivered_per_crash", "%s: %s", path, notAMetric(text))
			return nil, false
		}
		out = append(out, text)
	}
	if len(out) != 2 || out[0] == out[1] {
		r.problem(r.valuePos(n, at), k.wants(), "%s names %s", path, strings.Join(out, ", "))
		return nil, false
	}
	return out, true
}

func notAMetric(text string) string { return fmt.Sprintf("%q is not the name of a metric", text) }
