package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileSchema(t *testing.T, id string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(id)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func minimal() *Result {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &Result{Schema: SchemaCurrent, Started: at, Ended: at, Environment: FingerprintFrom(Facts{})}
	Judge(r, Rules{Limits: DefaultLimits()})
	return r
}

func TestSchemaAcceptsWhatIsWritten(t *testing.T) {
	complete, rules := storm(t)
	complete.Runs[0].Audit.Examples = []AuditSample{{"lost", "message 3 to user 7"}}
	complete.Runs[1].Histograms["live"] = histogramOf(t) // empty: null figures, and reasons
	complete.Runs[2].Histograms["page"] = histogramOf(t, 5, 80, 12_000)
	Judge(complete, rules)
	schema := compileSchema(t, SchemaCurrent)
	for name, r := range map[string]*Result{"complete": complete, "minimal": minimal(), "one bare run": {
		Schema: SchemaCurrent, Environment: FingerprintFrom(Facts{}), Runs: []Run{{Variant: "each", Repeat: 1}}}} {
		t.Run(name, func(t *testing.T) {
			b, err := Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Fatalf("%v", err)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t, SchemaCurrent)
	for name, change := range map[string]func(doc map[string]any){
		"an unknown key":   func(d map[string]any) { d["extra"] = 1 },
		"a missing key":    func(d map[string]any) { delete(d, "runs") },
		"another version":  func(d map[string]any) { d["schema"] = SchemaV1 },
		"a status unknown": func(d map[string]any) { d["verdict"].(map[string]any)["status"] = "fine" },
		"null for a list":  func(d map[string]any) { d["servers"] = nil },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Encode(minimal())
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := json.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			change(doc)
			if schema.Validate(doc) == nil {
				t.Fatal("accepted")
			}
		})
	}
}

// Others validate with the schema of v1; it changes no more.
func TestSchemaOfV1IsFrozen(t *testing.T) {
	const want = "f49dca737cc578fcf41206ed60a64f3e9b12466bf41e735a48e15f4050443c5c"
	if got := fmt.Sprintf("%x", sha256.Sum256(Schema(SchemaV1))); got != want {
		t.Errorf("schema/v1.json was changed (sha256 %s); what is new belongs into a new version", got)
	}
}

func TestSchemas(t *testing.T) {
	if ids := Schemas(); !slices.Contains(ids, SchemaCurrent) || ids[len(ids)-1] != SchemaCurrent {
		t.Errorf("%s isn't the last of %q", SchemaCurrent, ids)
	}
	if Schema("ackmark/result/v9") != nil {
		t.Error("a schema of no version")
	}
	for _, id := range Schemas() {
		var root map[string]any
		if err := json.Unmarshal(Schema(id), &root); err != nil {
			t.Fatal(err)
		}
		if named := root["properties"].(map[string]any)["schema"].(map[string]any)["const"]; named != id {
			t.Errorf("the schema of %s is for %v", id, named)
		}
		described(t, id, root)
		for name, def := range root["$defs"].(map[string]any) {
			described(t, id+" "+name, def.(map[string]any))
		}
	}
}

// described checks that an object and each of its keys say what they are.
func described(t *testing.T, where string, s map[string]any) {
	t.Helper()
	if s["description"] == nil {
		t.Errorf("%s has no description", where)
	}
	for key, p := range s["properties"].(map[string]any) {
		if p := p.(map[string]any); p["description"] == nil && p["$ref"] == nil {
			t.Errorf("%s.%s has no description", where, key)
		}
	}
}

// TestSchemaHasEveryField walks the Go types and the schema side by side.
func TestSchemaHasEveryField(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(SchemaCurrent), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	visited := map[string]bool{}
	var walk func(where string, typ reflect.Type, s map[string]any)
	walk = func(where string, typ reflect.Type, s map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			visited[name] = true
			s = defs[name].(map[string]any)
		}
		switch typ.Kind() {
		case reflect.Pointer:
			if of, ok := s["oneOf"].([]any); ok { // a section that may be null
				if none, _ := of[0].(map[string]any); none["type"] != "null" {
					t.Errorf("%s may be null in Go, not in the schema", where)
				}
				walk(where, typ.Elem(), of[1].(map[string]any))
				return
			}
			kinds, _ := s["type"].([]any)
			if !slices.Contains(kinds, any("null")) {
				t.Errorf("%s may be null in Go, not in the schema", where)
			}
		case reflect.Slice:
			walk(where+"[]", typ.Elem(), s["items"].(map[string]any))
		case reflect.Map:
			walk(where+"{}", typ.Elem(), s["additionalProperties"].(map[string]any))
		case reflect.Struct:
			if typ == reflect.TypeFor[time.Time]() {
				return
			}
			if s["additionalProperties"] != false {
				t.Errorf("%s: additionalProperties is not false", where)
			}
			properties, required := s["properties"].(map[string]any), s["required"].([]any)
			for _, f := range reflect.VisibleFields(typ) {
				name := f.Tag.Get("json")
				p, ok := properties[name].(map[string]any)
				if !ok {
					t.Errorf("%s.%s is not in the schema", where, name)
					continue
				}
				if !slices.Contains(required, any(name)) {
					t.Errorf("%s.%s is not required", where, name)
				}
				walk(where+"."+name, f.Type, p)
			}
			if n := len(reflect.VisibleFields(typ)); len(properties) != n || len(required) != n {
				t.Errorf("%s: %d properties, %d required, %d Go fields", where, len(properties), len(required), n)
			}
		}
	}
	walk("result", reflect.TypeFor[Result](), root)
	for name := range defs {
		if !visited[name] {
			t.Errorf("$defs/%s is not used", name)
		}
	}
}
