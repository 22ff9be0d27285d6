package profiles

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Setting is one variant of a profile, ready to run.
type Setting struct {
	Name     string // the variant's name; the profile's name where it has no variants; of a point see Points
	Variant  string // the variant's name in the profile, of a point too
	Profile  *Profile
	Expect   []string // what the variant expects, as ParseThreshold texts
	CrashOf  string   // the variant that this one is, with crashes; "" is none
	Warnings []string // possible but doubtful: POS: what; what would be right

	Set   map[string]string // dotted key → canonical text: what makes it this variant, or point; never nil
	Point map[string]string // of these, the keys that a sweep varies; nil where none does
}

// Source is a profile as it was written: checked, with the positions that
// later problems refer to.
type Source struct {
	file     string
	yaml     []byte
	schema   *schema
	base     *values
	variants []variant
}

// Parse reads and checks a profile. The error is Problems: everything that is
// wrong with it, in any of its variants. file is used in messages only.
func Parse(file string, b []byte) (*Source, error) {
	r := &reader{schema: newSchema(), file: file, layer: layerFile}
	s := &Source{file: file, yaml: slices.Clone(b), schema: r.schema, base: newValues()}
	body := r.document(b)
	if body == nil {
		return nil, r.problems.asError()
	}
	entries, ok := mapping(body)
	if !ok {
		r.problem(r.pos(body.GetToken()), "begin with profile: "+Version, "a profile is a section, this is %s", nodeKind(body))
		return nil, r.problems.asError()
	}
	r.section(r.schema.top, entries, s.base)
	r.required(r.schema.top, s.base, Pos{File: file, Line: 1, Col: 1})
	s.readVariants(r)
	_, problems := s.resolve(nil)
	if err := append(r.problems, problems...).asError(); err != nil {
		return nil, err
	}
	return s, nil
}

// File is the name that Parse was given.
func (s *Source) File() string { return s.file }

// YAML is the text as it was written, comments included.
func (s *Source) YAML() []byte { return slices.Clone(s.yaml) }

// Name is the profile's name.
func (s *Source) Name() string { n, _ := s.base.set["name"].value.(string); return n }

// About is the profile's description.
func (s *Source) About() string { a, _ := s.base.set["about"].value.(string); return a }

// Resolve gives one Setting per variant, or a single one where there are none:
// the defaults, then the file, then the variant, then sets (each KEY=VALUE, as
// of --set). The error is Problems; those of a set name the flag.
func (s *Source) Resolve(sets []string) ([]Setting, error) {
	out, problems := s.resolve(sets)
	if err := problems.asError(); err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Source) resolve(sets []string) ([]Setting, Problems) {
	flags, problems := s.readSets(sets)
	if len(problems) > 0 {
		return nil, problems
	}
	t := s.tryAll(s.candidates(), flags)
	return t.settings, append(problems, t.named("variant")...)
}

// build fills a profile from assignments and defaults.
func (s *Source) build(set map[string]assigned) *Profile {
	p := &Profile{Faults: []Fault{}, Thresholds: []string{}}
	root := reflect.ValueOf(p)
	for _, k := range s.schema.keys { // optional sections first, so that their defaults are filled in
		opt := optionalSection(k.Name)
		if opt == "" {
			continue
		}
		_, written := s.base.sections[opt]
		if _, assigned := set[k.Name]; written || assigned {
			f, _ := fieldOf(root, opt, true)
			if f.IsNil() {
				f.Set(reflect.New(f.Type().Elem()))
			}
		}
	}
	defaultsInto(s.schema, "", root, set)
	if list, ok := set["faults"].value.([]element); ok {
		p.Faults = s.schema.faultsOf(list)
	}
	return p
}

// readSets reads --set flags.
func (s *Source) readSets(sets []string) (map[string]assigned, Problems) {
	out := map[string]assigned{}
	r := &reader{schema: s.schema, file: s.file, layer: layerFlag}
	for _, set := range sets {
		r.flag = "--set " + set
		at := Pos{Flag: r.flag}
		name, text, ok := strings.Cut(set, "=")
		if !ok {
			r.problem(at, "KEY=VALUE, e.g. --set clients.ack.every=20", "no '='")
			continue
		}
		k, ok := r.settable(name, at)
		if !ok {
			continue
		}
		var v any
		switch k.Name {
		case "variants", "profile":
			r.problem(at, "set the keys that differ", "%s can't be set by a flag", name)
			continue
		case "vary":
			r.problem(at, "loadgen sweep --vary KEY=VALUE,VALUE", "vary can't be set by --set")
			continue
		}
		v, ok = r.flagValue(k, name, at, text)
		if ok {
			out[name] = assigned{value: v, at: at, layer: layerFlag}
		}
	}
	return out, r.problems
}

// flagValue reads the text of a value that stands in a flag.
func (r *reader) flagValue(k Key, name string, at Pos, text string) (any, bool) {
	switch {
	case text == "":
		r.problem(at, k.wants(), "%s has no value", name)
		return nil, false
	case k.Type == TypeChecks && !strings.HasPrefix(text, "["):
		text = "[" + strconv.Quote(text) + "]" // one statement needs no brackets
		fallthrough
	case k.Type == TypeChecks || k.Type == TypeList || k.Type == TypeMetrics:
		node := r.document([]byte(text))
		if node == nil {
			return nil, false
		}
		return r.value(k, name, at, node)
	case k.Type == TypePlanned:
		r.planned(name, at)
		return nil, false
	}
	v, err := k.parse(text)
	if err != nil {
		r.problem(at, err.Right, "%s: %s", name, err.What)
		return nil, false
	}
	return v, true
}
