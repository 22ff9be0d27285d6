package compare

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func document(t *testing.T, text []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document(t, JSONSchema())); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(of *Comparison) map[string]any {
		b, err := of.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return document(t, b).(map[string]any)
	}
	other, empty, one := later(measured(t, 1, 2)), measured(t), later(measured(t, 1, 2))
	other.Variants[0].Hash = "other"
	one.Variants, one.Runs = one.Variants[:1], onlyEach(one.Runs)
	for name, of := range map[string]*Comparison{"changed": changed(t), "troubled": troubled(t),
		"mixed, empty, absent": compared(t, Options{}, side("a", measured(t, 1, 2), other), side("b", empty), side("c", one)),
		"nothing":              compared(t, Options{}, side("a", empty), side("b", empty)),
		"few":                  compared(t, Options{All: true}, side("a", measured(t, 1)), side("b", measured(t, 2)))} {
		if err := schema.Validate(any(encoded(of))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(map[string]any){
		"an unknown key":     func(d map[string]any) { d["extra"] = 1 },
		"a missing key":      func(d map[string]any) { delete(d, "variants") },
		"another version":    func(d map[string]any) { d["schema"] = "ackmark/compare/v2" },
		"null for a list":    func(d map[string]any) { d["warnings"] = nil },
		"a verdict's code":   func(d map[string]any) { d["exit_code"] = 1 },
		"an unknown outcome": func(d map[string]any) { first(first(first(d, "variants"), "metrics"), "cells")["outcome"] = "good" },
		"p above 1": func(d map[string]any) {
			first(first(first(d, "variants"), "metrics"), "cells")["p"] = json.Number("1.1")
		},
	} {
		doc := encoded(changed(t))
		change(doc)
		if schema.Validate(any(doc)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func first(in map[string]any, list string) map[string]any {
	return in[list].([]any)[0].(map[string]any)
}

// TestSchemaHasEveryField walks Go types and schema side by side.
func TestSchemaHasEveryField(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	walk(t, root["$defs"].(map[string]any), "comparison", reflect.TypeFor[Comparison](), root)
}

func walk(t *testing.T, defs map[string]any, where string, typ reflect.Type, s map[string]any) {
	if ref, ok := s["$ref"].(string); ok {
		s = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	switch typ.Kind() {
	case reflect.Pointer:
		if kinds, _ := s["type"].([]any); !slices.Contains(kinds, any("null")) {
			t.Errorf("%s may be null in Go, not in the schema", where)
		}
	case reflect.Slice:
		walk(t, defs, where+"[]", typ.Elem(), s["items"].(map[string]any))
	case reflect.Struct:
		properties, required := s["properties"].(map[string]any), s["required"].([]any)
		n := 0
		for _, f := range reflect.VisibleFields(typ) {
			name := f.Tag.Get("json")
			if !f.IsExported() {
				continue
			}
			n++
			p, ok := properties[name].(map[string]any)
			if !ok || !slices.Contains(required, any(name)) {
				t.Errorf("%s.%s is not in the schema, or not required", where, name)
				continue
			}
			walk(t, defs, where+"."+name, f.Type, p)
		}
		if len(properties) != n || len(required) != n || s["additionalProperties"] != false {
			t.Errorf("%s: %d properties, %d required, %d Go fields", where, len(properties), len(required), n)
		}
	}
}
