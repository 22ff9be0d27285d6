package profiles

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile bounds a profile: the largest sensible one is a few kilobytes, and on
// deep nesting the YAML parser recurses and takes time with the square.
const maxFile = 32 << 10

// layer says how specific an assignment is; a problem between two keys is
// blamed on the more specific one.
type layer int

const (
	layerDefault layer = iota
	layerFile
	layerVariant
	layerPoint // a value of an axis of a sweep
	layerFlag
)

// assigned is a parsed value and where it was written.
type assigned struct {
	value any
	at    Pos
	layer layer
}

// values are the assignments of one section tree.
type values struct {
	set      map[string]assigned
	sections map[string]Pos  // sections that were written, empty ones too
	broken   map[string]bool // keys and sections with a problem
}

func newValues() *values {
	return &values{set: map[string]assigned{}, sections: map[string]Pos{}, broken: map[string]bool{}}
}

// reader walks a YAML document along the schema and collects problems.
type reader struct {
	schema   *schema
	file     string
	flag     string // set while the value of a --set flag is read
	layer    layer
	problems Problems
}

func (r *reader) pos(t *token.Token) Pos {
	if r.flag != "" {
		return Pos{Flag: r.flag}
	}
	if t == nil || t.Position == nil {
		return Pos{File: r.file, Line: 1, Col: 1}
	}
	return Pos{File: r.file, Line: max(t.Position.Line, 1), Col: max(t.Position.Column, 1)}
}

func (r *reader) problem(at Pos, right, format string, args ...any) {
	r.problems = append(r.problems, Problem{Pos: at, What: fmt.Sprintf(format, args...), Right: right})
}

// document gives the one body of a YAML text, or nil after a problem.
func (r *reader) document(b []byte) (body ast.Node) {
	start := Pos{File: r.file, Line: 1, Col: 1, Flag: r.flag}
	if len(b) > maxFile {
		r.problem(start, fmt.Sprintf("at most %d", maxFile), "a profile of %d bytes is too large", len(b))
		return nil
	}
	defer func() { // a parser that gives up must not take the program with it
		if e := recover(); e != nil {
			r.problem(start, "a YAML document", "not readable as YAML (%v)", e)
			body = nil
		}
	}()
	f, err := parser.ParseBytes(b, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			r.syntax(r.pos(syntax.GetToken()), syntax.GetMessage())
		} else {
			r.syntax(start, err.Error())
		}
		return nil
	}
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			r.problem(r.pos(d.Body.GetToken()), "one profile per file", "a second document")
			return nil
		}
		body = d.Body
	}
	if body == nil {
		r.problem(start, "begin with profile: "+Version, "the profile is empty")
	}
	return body
}

// syntax reports what the YAML parser says, in one line.
func (r *reader) syntax(at Pos, message string) {
	right := "valid YAML"
	if strings.Contains(message, "\t") {
		message, right = strings.ReplaceAll(message, "'\t'", "TAB"), "indent with spaces"
	}
	r.problem(at, right, "%s", strings.Join(strings.Fields(message), " "))
}

// mapping gives the entries of a section, or false where it is none.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// section reads the entries of one section and of those below it.
func (r *reader) section(s *section, entries []*ast.MappingValueNode, into *values) {
	seen := map[string]Pos{}
	for _, e := range entries {
		name, at := r.key(e)
		if name == "" {
			continue
		}
		if first, twice := seen[name]; twice {
			r.problem(at, fmt.Sprintf("keep one; the first is in line %d", first.Line), "%s is written twice", s.join(name))
			continue
		}
		seen[name] = at
		path := s.join(name)
		if key, ok := s.keys[name]; ok {
			v, ok := r.value(key, path, at, e.Value)
			if !ok {
				into.broken[path] = true
			}
			if ok || key.Type == TypeList && v != nil { // the sound elements of a list are checked on
				into.set[path] = assigned{value: v, at: r.valuePos(e.Value, at), layer: r.layer}
			}
			continue
		}
		sub, ok := s.subs[name]
		if !ok {
			r.unknown(s, name, at)
			continue
		}
		into.sections[path] = at
		inner, ok := mapping(e.Value)
		if !ok {
			into.broken[path] = true
			r.notASection(sub, at, e.Value)
			continue
		}
		r.section(sub, inner, into)
	}
}

// key gives the text of a key; "" after a problem.
func (r *reader) key(e *ast.MappingValueNode) (string, Pos) {
	at := r.pos(e.Key.GetToken())
	switch k := e.Key.(type) {
	case *ast.MergeKeyNode:
		r.problem(at, "write the values out", "merge keys (<<) are not supported")
		return "", at
	case *ast.StringNode:
		if k.Value != "" {
			return k.Value, at
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return e.Key.GetToken().Value, at
	}
	r.problem(at, "a plain key, e.g. seed: 1", "this can't be a key")
	return "", at
}

func (r *reader) unknown(s *section, name string, at Pos) {
	where := ""
	if s.path != "" {
		where = " in " + s.path
	}
	if strings.Contains(name, ".") && r.schema.byName[s.join(name)].Name != "" {
		r.problem(at, "write it as sections, e.g. a: {b: 1}; dotted keys are for set and --set", "unknown key %q%s", name, where)
		return
	}
	if n := nearest(name, s.known()); n != "" {
		r.problem(at, "did you mean "+n+"?", "unknown key %q%s", name, where)
		return
	}
	var elsewhere []string
	for _, k := range r.schema.keys {
		if k.Name != name && strings.HasSuffix(k.Name, "."+name) {
			elsewhere = append(elsewhere, k.Name)
		}
	}
	if len(elsewhere) > 0 {
		r.problem(at, "did you mean "+strings.Join(elsewhere, " or ")+"?", "unknown key %q%s", name, where)
		return
	}
	r.problem(at, "known here: "+strings.Join(s.known(), ", "), "unknown key %q%s", name, where)
}

func (r *reader) notASection(s *section, at Pos, n ast.Node) {
	right := "a section with " + strings.Join(s.known(), ", ")
	kind := nodeKind(n)
	switch {
	case kind == "nothing":
		r.problem(at, right+", or leave the key out", "%s has no value", s.path)
	case kind == "a list" && s.path == "clients":
		r.problem(r.valuePos(n, at), "one class: clients: {online: 100%}", "a list of client classes is not supported yet")
	default:
		r.problem(r.valuePos(n, at), right, "%s is %s", s.path, kind)
	}
}

// nodeKind names what was found in place of what was wanted.
func nodeKind(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a section"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or alias"
	case *ast.TagNode:
		return "a tag"
	}
	return "a single value"
}

// valuePos is where a value stands; a block section has no mark of its own, so
// its first key stands for it, and an absent value is found at its key.
func (r *reader) valuePos(n ast.Node, key Pos) Pos {
	if n == nil || nodeKind(n) == "nothing" {
		return key
	}
	if m, ok := mapping(n); ok && len(m) > 0 && n.GetToken().Value != "{" {
		return r.pos(m[0].Key.GetToken())
	}
	return r.pos(n.GetToken())
}

// value reads the value of a key; false after a problem.
func (r *reader) value(k Key, path string, at Pos, n ast.Node) (any, bool) {
	if nodeKind(n) == "nothing" && k.Type != TypePlanned {
		r.problem(at, k.wants()+", or leave the key out", "%s has no value", path)
		return nil, false
	}
	switch k.Type {
	case TypePlanned:
		r.planned(path, at)
		return nil, false
	case TypeChecks:
		return r.checks(k, path, at, n)
	case TypeSettings:
		return r.settings(k, path, at, n)
	case TypeList:
		return r.list(k, path, at, n)
	case TypeAxes:
		return r.axes(k, path, at, n)
	case TypeMetrics:
		return r.metrics(k, path, at, n)
	}
	text, quoted, ok := scalar(n)
	switch {
	case !ok:
		r.problem(r.valuePos(n, at), k.wants(), "%s is %s", path, nodeKind(n))
		return nil, false
	case quoted && k.Type == TypeInteger:
		r.problem(r.pos(n.GetToken()), k.wants()+", without quotes", "%s: %q is a text", path, text)
		return nil, false
	}
	v, err := k.parse(text)
	if err != nil {
		r.problem(r.pos(n.GetToken()), err.Right, "%s: %s", path, err.What)
		return nil, false
	}
	return v, true
}

func (r *reader) planned(path string, at Pos) {
	right := "leave it out"
	if path == "traffic.open" {
		right = "supported: traffic.group, traffic.direct, traffic.login"
	}
	r.problem(at, right, "%s is not supported yet", path)
}

// scalar gives the text of a single value as it was written.
func scalar(n ast.Node) (text string, quoted, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		t := n.GetToken().Type
		return n.Value, t == token.DoubleQuoteType || t == token.SingleQuoteType, true
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), true, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, false, true
	}
	return "", false, false
}
