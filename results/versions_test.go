package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func stored(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func valid(t *testing.T, id string, b []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := compileSchema(t, id).Validate(doc); err != nil {
		t.Errorf("%s: %v", id, err)
	}
}

// The files stay as they are for ever: they were written by the builds that
// wrote these formats, and whoever kept such files must be able to read them.
func TestFilesOfEveryVersionStayReadable(t *testing.T) {
	for _, tt := range []struct {
		file, schema string
		seed         uint64
		number       int
		set          map[string]string
		sweep        int // axes
	}{
		{file: "result-v1.json", schema: SchemaV1, set: map[string]string{}},
		{file: "result-v2.json", schema: SchemaV2, seed: 1, number: 2, set: map[string]string{"clients.ack.every": "10"}, sweep: 1},
	} {
		t.Run(tt.file, func(t *testing.T) {
			b := stored(t, tt.file)
			valid(t, tt.schema, b)
			r, err := Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if r.Schema != tt.schema || r.Profile.Name != "ack-storm" || r.Profile.Seed != tt.seed || len(r.Runs) != 2 || len(r.Variants) != 2 {
				t.Fatalf("schema %s, profile %s, seed %d, %d runs, %d variants", r.Schema, r.Profile.Name, r.Profile.Seed, len(r.Runs), len(r.Variants))
			}
			// 132 messages to 499 others each, by the file's own text.
			run := r.Runs[1]
			if got, _ := run.Value("deliveries"); got != 132*499 || run.Audit.Sends != 132 || run.Number != tt.number {
				t.Errorf("%v deliveries of %d sends in run %d", got, run.Audit.Sends, run.Number)
			}
			live := run.Histograms["live"]
			h, err := live.Decode()
			if err != nil || h.TotalCount() != live.Count || live.P99 == nil || h.ValueAtPercentile(99) != *live.P99 {
				t.Errorf("live doesn't decode to its own figures: %v", err)
			}
			v := r.Variants[1]
			if got := v.Set; len(got) != len(tt.set) || got["clients.ack.every"] != tt.set["clients.ack.every"] {
				t.Errorf("set is %v", got)
			}
			if (r.Sweep != nil) != (tt.sweep > 0) || r.Sweep != nil && len(r.Sweep.Vary) != tt.sweep {
				t.Errorf("sweep is %+v", r.Sweep)
			}
			now, err := Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, SchemaCurrent, now)
			if again, err := Decode(now); err != nil || again.Schema != SchemaCurrent {
				t.Errorf("what is written again isn't read: %v", err)
			}
		})
	}
}

func TestEncodeAsOlder(t *testing.T) {
	r, err := Decode(stored(t, "result-v2.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, leftOut, err := EncodeAs(r, SchemaV1)
	if err != nil {
		t.Fatal(err)
	}
	valid(t, SchemaV1, b)
	want := []string{"the grid of the sweep", "the profile's seed", "the order of the runs", "the variants' hashes", "what the variants set"}
	if !slices.Equal(leftOut, want) {
		t.Errorf("left out %q, want %q", leftOut, want)
	}
	old, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if old.Runs[0].Seed != r.Runs[0].Seed || old.Runs[0].Metrics["deliveries"] == nil {
		t.Error("what v1 can hold didn't survive")
	}
	// A result that came from v1 loses nothing on the way back.
	if r, err = Decode(stored(t, "result-v1.json")); err != nil {
		t.Fatal(err)
	}
	if _, leftOut, err = EncodeAs(r, SchemaV1); err != nil || len(leftOut) > 0 {
		t.Errorf("v1 to v1 leaves out %q, %v", leftOut, err)
	}
	if _, _, err := EncodeAs(r, "ackmark/result/v9"); err == nil || !strings.Contains(err.Error(), "this version reads and writes") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestAFileIsOfTheVersionThatItNames(t *testing.T) {
	for key, change := range map[string]func(map[string]any){
		"sweep":  func(d map[string]any) { d["sweep"] = nil },
		"number": func(d map[string]any) { d["runs"].([]any)[0].(map[string]any)["number"] = 1 },
		"set":    func(d map[string]any) { d["variants"].([]any)[1].(map[string]any)["set"] = map[string]any{} },
	} {
		var doc map[string]any
		if err := json.Unmarshal(stored(t, "result-v1.json"), &doc); err != nil {
			t.Fatal(err)
		}
		change(doc)
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), "has no key \""+key+"\"") {
			t.Errorf("%s in a file of v1: %v", key, err)
		}
	}
}

var newGolden = flag.String("golden-from", "", "make testdata/result-v2.json from a result of v1; only when v2 is made")

// TestMakeGolden documents how the golden files were made: two runs of one
// measurement by the build that wrote the format.
func TestMakeGolden(t *testing.T) {
	if *newGolden == "" {
		t.Skip("only with -golden-from")
	}
	r, err := Read(*newGolden)
	if err != nil {
		t.Fatal(err)
	}
	Judge(r, Rules{Limits: DefaultLimits(), Repeats: 1, Variants: []VariantRule{
		{Name: "each", AckPolicy: "each"}, {Name: "10 or 500ms", AckPolicy: "count-or-interval"},
	}})
	b, _, err := EncodeAs(r, SchemaV1)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile("testdata/result-v1.json", b); err != nil {
		t.Fatal(err)
	}
	r.Profile.Seed = 1
	r.Sweep = &Sweep{Vary: []Axis{{Key: "clients.ack.every", Values: []string{"1", "10"}}}, Order: 7}
	for i := range r.Runs {
		r.Runs[i].Number = i + 1
	}
	for i, every := range []string{"1", "10"} {
		r.Variants[i].Hash = strings.Repeat("ab", 32)
		r.Variants[i].Set = map[string]string{"clients.ack.every": every}
	}
	if err := Write("testdata/result-v2.json", r); err != nil {
		t.Fatal(err)
	}
}
