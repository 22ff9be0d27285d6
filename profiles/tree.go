package profiles

import (
	"reflect"
	"strings"
)

// section is one level of keys. The sections come from the dotted names of the
// table; nothing else knows them.
type section struct {
	path  string // "" for the top, "clients.ack", "faults[]"
	names []string
	subs  map[string]*section
	keys  map[string]Key
}

// schema is the table in the forms that the reader needs.
type schema struct {
	keys   []Key
	byName map[string]Key
	top    *section
	lists  map[string]*section // the elements of "faults" and "variants"
}

func newSchema() *schema {
	s := &schema{keys: Schema(), byName: map[string]Key{}, top: newSection(""), lists: map[string]*section{}}
	for _, k := range s.keys {
		s.byName[k.Name] = k
		at, name := s.top, k.Name
		if list, field, ok := strings.Cut(k.Name, "[]."); ok {
			if s.lists[list] == nil {
				s.lists[list] = newSection(list + "[]")
			}
			at, name = s.lists[list], field
		}
		for {
			head, rest, dotted := strings.Cut(name, ".")
			if !dotted {
				at.keys[head] = k
				at.names = append(at.names, head)
				break
			}
			at, name = at.sub(head), rest
		}
	}
	return s
}

func newSection(path string) *section {
	return &section{path: path, subs: map[string]*section{}, keys: map[string]Key{}}
}

func (s *section) sub(name string) *section {
	if s.subs[name] == nil {
		s.subs[name] = newSection(s.join(name))
		s.names = append(s.names, name)
	}
	return s.subs[name]
}

// join gives the path of a name in the section.
func (s *section) join(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

// known are the names a profile may use here, in order.
func (s *section) known() []string {
	var names []string
	for _, n := range s.names {
		if s.keys[n].Type != TypePlanned {
			names = append(names, n)
		}
	}
	return names
}

// fieldOf gives the struct field that a dotted name stands for, found by its
// json tags. A nil pointer on the way is an optional section that is absent:
// it is made if alloc says so, else ok is false.
func fieldOf(v reflect.Value, name string, alloc bool) (f reflect.Value, ok bool) {
	for name != "" {
		var head string
		head, name, _ = strings.Cut(name, ".")
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !alloc {
					return reflect.Value{}, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		i := taggedField(v.Type(), head)
		if i < 0 {
			return reflect.Value{}, false
		}
		v = v.Field(i)
	}
	return v, true
}

func taggedField(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return i
		}
	}
	return -1
}

// optionalSection gives the first section on the way to a key that a profile
// may leave out altogether (traffic.group of traffic.group.rate), or "".
func optionalSection(name string) string {
	t, path := reflect.TypeFor[Profile](), ""
	for rest := name; rest != ""; {
		var head string
		head, rest, _ = strings.Cut(rest, ".")
		i := taggedField(t, head)
		if i < 0 {
			return ""
		}
		if path != "" {
			path += "."
		}
		path += head
		t = t.Field(i).Type
		if t.Kind() == reflect.Pointer {
			return path
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
	}
	return ""
}

// store puts a parsed value into its field.
func store(f reflect.Value, v any) {
	n, isInteger := v.(uint64)
	switch {
	case isInteger && f.CanInt():
		f.SetInt(int64(n)) // bounded by Key.Max
	case isInteger:
		f.SetUint(n)
	default:
		f.Set(reflect.ValueOf(v))
	}
}

// defaultsInto fills the struct of the keys that begin with prefix ("" for the
// profile, "faults[]." for a fault): what is assigned, else the default.
// Defaults don't make an absent optional section; assignments do.
func defaultsInto(s *schema, prefix string, into reflect.Value, set map[string]assigned) {
	for _, k := range s.keys {
		name, ok := strings.CutPrefix(k.Name, prefix)
		if !ok || (prefix == "" && strings.Contains(k.Name, "[]")) {
			continue
		}
		if a, ok := set[k.Name]; ok {
			if f, ok := fieldOf(into, name, true); ok && plainValue(a.value) {
				store(f, a.value)
			}
			continue
		}
		if k.Default == "" {
			continue
		}
		if f, ok := fieldOf(into, name, false); ok {
			v, _ := k.parse(k.Default) // a test parses every default
			store(f, v)
		}
	}
}
