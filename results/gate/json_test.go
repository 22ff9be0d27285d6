package gate

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ackmark/results"
)

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
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

func document(t *testing.T, text []byte) map[string]any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func encoded(t *testing.T, rep Report) []byte {
	t.Helper()
	b, err := Encode(rep)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReportSchema(t *testing.T) {
	schema := compile(t, Schema())
	strange := troubled(t)
	x := math.NaN()
	strange.Checks[0].Ratio = &x
	for name, rep := range map[string]Report{"pass": passing(t), "troubled": strange, "odd": odd(t), "unusable": Unusable("ci", "a", "b", ErrWorse)} {
		if err := schema.Validate(any(document(t, encoded(t, rep)))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !math.IsNaN(*strange.Checks[0].Ratio) {
		t.Error("encoding changes the report")
	}
	if !bytes.Contains(encoded(t, troubled(t)), []byte(`"what": "Redis"`)) {
		t.Error("differences are missing")
	}
	for name, change := range map[string]func(map[string]any){
		"an unknown key":      func(d map[string]any) { d["extra"] = 1 },
		"a missing key":       func(d map[string]any) { delete(d, "checks") },
		"an outcome unknown":  func(d map[string]any) { d["checks"].([]any)[0].(map[string]any)["outcome"] = "ok" },
		"another version":     func(d map[string]any) { d["schema"] = "ackmark/gate/v2" },
		"null for a list":     func(d map[string]any) { d["notes"] = nil },
		"an exit code of run": func(d map[string]any) { d["exit_code"] = 130 },
	} {
		doc := document(t, encoded(t, passing(t)))
		change(doc)
		if schema.Validate(any(doc)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestBaselineSchema(t *testing.T) {
	schema := compile(t, BaselineSchema())
	if err := schema.Validate(any(document(t, readGolden(t)))); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(map[string]any){
		"an unknown key":      func(d map[string]any) { d["extra"] = 1 },
		"no variants":         func(d map[string]any) { d["variants"] = []any{} },
		"a date that is none": func(d map[string]any) { d["date"] = "yesterday" },
		"a tolerance of 0":    func(d map[string]any) { d["tolerances"] = map[string]any{"live.p99": json.Number("0")} },
		"another version":     func(d map[string]any) { d["schema"] = "ackmark/baseline/v2" },
	} {
		doc := document(t, readGolden(t))
		change(doc)
		if schema.Validate(any(doc)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestCalibrationSchema(t *testing.T) {
	schema := compile(t, CalibrationSchema())
	c := calibrated(t, 2)
	c.Metrics[0].Ratio, c.Metrics[0].PairsFor5 = nil, nil
	text, err := EncodeCalibration(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(any(document(t, text))); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(map[string]any){
		"an unknown key":      func(d map[string]any) { d["extra"] = 1 },
		"few pairs":           func(d map[string]any) { d["pairs"] = json.Number("7") },
		"a tolerance of 100%": func(d map[string]any) { d["tolerances"] = map[string]any{"live.p99": json.Number("1")} },
		"another version":     func(d map[string]any) { d["schema"] = "ackmark/calibration/v2" },
	} {
		doc := document(t, text)
		change(doc)
		if schema.Validate(any(doc)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSchemasHaveEveryField walks Go types and schemas side by side.
func TestSchemasHaveEveryField(t *testing.T) {
	for _, tc := range []struct {
		name string
		typ  reflect.Type
		text []byte
	}{{"report", reflect.TypeFor[Report](), Schema()}, {"baseline", reflect.TypeFor[Baseline](), BaselineSchema()},
		{"calibration", reflect.TypeFor[Calibration](), CalibrationSchema()}} {
		var root map[string]any
		if err := json.Unmarshal(tc.text, &root); err != nil {
			t.Fatal(err)
		}
		walk(t, root["$defs"].(map[string]any), tc.name, tc.typ, root)
	}
}

func walk(t *testing.T, defs map[string]any, where string, typ reflect.Type, s map[string]any) {
	if ref, ok := s["$ref"].(string); ok {
		s = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if typ == reflect.TypeFor[results.Difference]() {
		typ = reflect.TypeFor[difference]()
	}
	switch typ.Kind() {
	case reflect.Pointer:
		if kinds, _ := s["type"].([]any); !slices.Contains(kinds, any("null")) {
			t.Errorf("%s may be null in Go, not in the schema", where)
		}
	case reflect.Slice:
		walk(t, defs, where+"[]", typ.Elem(), s["items"].(map[string]any))
	case reflect.Map:
		walk(t, defs, where+"{}", typ.Elem(), s["additionalProperties"].(map[string]any))
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() {
			return
		}
		properties, required := s["properties"].(map[string]any), s["required"].([]any)
		fields := slices.DeleteFunc(reflect.VisibleFields(typ), func(f reflect.StructField) bool { return !f.IsExported() })
		for _, f := range fields {
			name := f.Tag.Get("json")
			p, ok := properties[name].(map[string]any)
			if !ok || !slices.Contains(required, any(name)) {
				t.Errorf("%s.%s is not in the schema, or not required", where, name)
				continue
			}
			walk(t, defs, where+"."+name, f.Type, p)
		}
		if len(properties) != len(fields) || len(required) != len(fields) || s["additionalProperties"] != false {
			t.Errorf("%s: %d properties, %d required, %d Go fields", where, len(properties), len(required), len(fields))
		}
	}
}
