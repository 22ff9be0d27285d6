package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// addition is a key that a format has and the one before it has not.
type addition struct {
	list string // the list or section that holds it; "" is the result itself
	key  string
	what string // said when it is left out
}

// additions returns what came with a format.
func additions(schema string) []addition {
	if schema != SchemaV2 {
		return nil
	}
	return []addition{
		{"", "sweep", "the grid of the sweep"},
		{"profile", "seed", "the profile's seed"},
		{"runs", "number", "the order of the runs"},
		{"variants", "hash", "the variants' hashes"},
		{"variants", "set", "what the variants set"},
	}
}

// later returns what a format doesn't know yet.
func later(schema string) []addition {
	var out []addition
	for _, s := range Schemas()[slices.Index(Schemas(), schema)+1:] {
		out = append(out, additions(s)...)
	}
	return out
}

// holders returns the objects of a document that may hold the addition.
func (a addition) holders(doc map[string]any) []map[string]any {
	if a.list == "" {
		return []map[string]any{doc}
	}
	var out []map[string]any
	switch at := doc[a.list].(type) {
	case map[string]any:
		out = append(out, at)
	case []any:
		for _, e := range at {
			if m, ok := e.(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// Encode returns the JSON of a valid result in the current format, see Validate.
func Encode(r *Result) ([]byte, error) {
	c := r.normalized()
	c.Schema = SchemaCurrent
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding result: %w", err)
	}
	return append(b, '\n'), nil
}

// EncodeAs returns the JSON in an older format, for a reader that knows no
// newer one, and says what of the result that format can't hold. Metrics that
// came later stay: every format names them freely.
func EncodeAs(r *Result, schema string) (b []byte, leftOut []string, err error) {
	if !slices.Contains(Schemas(), schema) {
		return nil, nil, unknownSchema(schema)
	}
	if b, err = Encode(r); err != nil || schema == SchemaCurrent {
		return b, nil, err
	}
	doc, err := document(b)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding result as %s: %w", schema, err)
	}
	doc["schema"] = schema
	for _, a := range later(schema) {
		held := false
		for _, m := range a.holders(doc) {
			held = held || !empty(m[a.key])
			delete(m, a.key)
		}
		if held {
			leftOut = append(leftOut, a.what)
		}
	}
	if b, err = json.MarshalIndent(doc, "", " "); err != nil {
		return nil, nil, fmt.Errorf("encoding result as %s: %w", schema, err)
	}
	return append(b, '\n'), leftOut, nil
}

// empty tells a value that says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// document reads JSON without losing digits.
func document(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var doc map[string]any
	err := d.Decode(&doc)
	return doc, err
}

func unknownSchema(schema string) error {
	return fmt.Errorf("schema %q is not known; this version reads and writes %s", schema, strings.Join(Schemas(), ", "))
}

// Decode reads the JSON of a result in the format that its schema id names:
// without unknown keys, and valid. What an older format doesn't say is empty in
// the result, whose Schema stays the file's.
func Decode(b []byte) (*Result, error) {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, explainJSON(b, err)
	}
	switch {
	case head.Schema == nil:
		return nil, fmt.Errorf("no \"schema\": not a result of loadgen (expected one of %s)", strings.Join(Schemas(), ", "))
	case !slices.Contains(Schemas(), *head.Schema):
		return nil, unknownSchema(*head.Schema)
	}
	if err := onlyOwnKeys(b, *head.Schema); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var r Result
	if err := d.Decode(&r); err != nil {
		return nil, explainJSON(b, err)
	}
	out := r.normalized()
	if err := out.Validate(); err != nil {
		return nil, err
	}
	return out, nil
}

// onlyOwnKeys refuses a file that says it is of an older format and isn't.
func onlyOwnKeys(b []byte, schema string) error {
	unknown := later(schema)
	if len(unknown) == 0 {
		return nil
	}
	doc, err := document(b)
	if err != nil {
		return explainJSON(b, err)
	}
	for _, a := range unknown {
		for _, m := range a.holders(doc) {
			if _, has := m[a.key]; has {
				return fmt.Errorf("not a result: %s has no key %q in %s", schema, a.key, cmp.Or(a.list, "the result"))
			}
		}
	}
	return nil
}
