package profiles

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// element is one entry of a list of sections.
type element struct {
	values *values
	at     Pos
	broken bool // has a problem of its own
}

// plainValue tells whether a value goes into its field as it is.
func plainValue(v any) bool {
	switch v.(type) {
	case []element, settings, []Axis:
		return false
	}
	return true
}

// items gives the entries of a list; false after a problem.
func (r *reader) items(k Key, path string, at Pos, n ast.Node) ([]ast.Node, bool) {
	if seq, ok := n.(*ast.SequenceNode); ok {
		return seq.Values, true
	}
	r.problem(r.valuePos(n, at), k.wants(), "%s is %s", path, nodeKind(n))
	return nil, false
}

// checks reads a list of statements.
func (r *reader) checks(k Key, path string, at Pos, n ast.Node) (any, bool) {
	items, ok := r.items(k, path, at, n)
	out := make([]string, 0, len(items))
	for i, item := range items {
		text, _, isText := scalar(item)
		if !isText {
			r.problem(r.valuePos(item, at), `a statement, e.g. "lost == 0"`, "%s[%d] is %s", path, i, nodeKind(item))
			ok = false
			continue
		}
		t, err := ParseThreshold(text)
		if err != nil {
			e := err.(*ValueError) // what ParseThreshold promises
			r.problem(r.pos(item.GetToken()), e.Right, "%s: %s", path, e.What)
			ok = false
			continue
		}
		out = append(out, t.String())
	}
	return out, ok
}

// list reads a list of sections.
func (r *reader) list(k Key, path string, at Pos, n ast.Node) (any, bool) {
	items, ok := r.items(k, path, at, n)
	out := make([]element, 0, len(items))
	s := r.schema.lists[k.Name]
	for i, item := range items {
		where := r.valuePos(item, at)
		entries, isSection := mapping(item)
		if !isSection {
			r.problem(where, "a section with "+strings.Join(s.known(), ", "), "%s[%d] is %s", path, i, nodeKind(item))
			ok = false
			continue
		}
		e := element{values: newValues(), at: where}
		before := len(r.problems)
		r.section(s, entries, e.values)
		r.required(s, e.values, where)
		e.broken = len(r.problems) > before
		ok = ok && !e.broken
		out = append(out, e)
	}
	return out, ok
}

// required reports keys of a section that must be there and aren't.
func (r *reader) required(s *section, v *values, at Pos) {
	for _, name := range s.names {
		path := s.join(name)
		if _, set := v.set[path]; s.keys[name].Required && !set && !v.broken[path] {
			k := s.keys[name]
			r.problem(at, "add "+name+": "+strings.TrimPrefix(k.example()+requiredExample(k), ", e.g. "), "%s is missing", path)
		}
	}
}

func requiredExample(k Key) string {
	if k.example() != "" {
		return ""
	}
	if k.Type == TypeName {
		return "my-profile"
	}
	return "TEXT"
}

// settings are the assignments of a variant, by dotted key, in table order.
type settings map[string]assigned

// settings reads what a variant sets.
func (r *reader) settings(k Key, path string, at Pos, n ast.Node) (any, bool) {
	entries, ok := mapping(n)
	if !ok {
		r.problem(r.valuePos(n, at), k.wants(), "%s is %s", path, nodeKind(n))
		return nil, false
	}
	out := settings{}
	outer := r.layer
	r.layer = layerVariant
	defer func() { r.layer = outer }()
	for _, e := range entries {
		name, keyAt := r.key(e)
		if name == "" {
			ok = false
			continue
		}
		key, found := r.settable(name, keyAt)
		switch first, twice := out[name]; {
		case !found:
			ok = false
		case twice:
			r.problem(keyAt, fmt.Sprintf("keep one; the first is in line %d", first.at.Line), "%s is set twice", name)
			ok = false
		case key.Whole:
			r.problem(keyAt, "set it for the whole profile", "%s can't differ between variants", name)
			ok = false
		default:
			v, good := r.value(key, name, keyAt, e.Value)
			if !good {
				ok = false
				continue
			}
			out[name] = assigned{value: v, at: r.valuePos(e.Value, keyAt), layer: layerVariant}
		}
	}
	return out, ok
}

// settable finds the key of a dotted name in a variant or flag.
func (r *reader) settable(name string, at Pos) (Key, bool) {
	k, ok := r.schema.byName[name]
	if ok && !strings.Contains(name, "[]") {
		return k, true
	}
	var known, below []string
	for _, k := range r.schema.keys {
		if strings.Contains(k.Name, "[]") || k.Type == TypePlanned {
			continue
		}
		known = append(known, k.Name)
		if strings.HasPrefix(k.Name, name+".") {
			below = append(below, k.Name)
		}
	}
	if len(below) > 0 {
		r.problem(at, "name one key in full, e.g. "+below[0], "%s is a section", name)
		return Key{}, false
	}
	if n := nearest(name, known); n != "" {
		r.problem(at, "did you mean "+n+"?", "unknown key %q", name)
		return Key{}, false
	}
	last := name[strings.LastIndex(name, ".")+1:]
	var same []string
	for _, n := range known {
		if n == last || strings.HasSuffix(n, "."+last) {
			same = append(same, n)
		}
	}
	if len(same) > 0 {
		r.problem(at, "did you mean "+strings.Join(same, " or ")+"?", "unknown key %q", name)
		return Key{}, false
	}
	r.problem(at, "loadgen profiles keys lists all keys", "unknown key %q", name)
	return Key{}, false
}

// faultsOf makes the faults of a list. What doesn't belong to the kind is zero
// unless it was written, which the checks then refuse.
func (s *schema) faultsOf(list []element) []Fault {
	out := make([]Fault, len(list))
	for i, e := range list {
		defaultsInto(s, "faults[].", reflect.ValueOf(&out[i]), e.values.set)
		if _, written := e.values.set["faults[].down"]; out[i].Kind == FaultReset && !written {
			out[i].Down = 0
		}
		if _, written := e.values.set["faults[].share"]; !out[i].shared() && !written {
			out[i].Share = 0
		}
	}
	return out
}
