package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func stored(t testing.TB, name string) []byte {
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

// The files stay as they are for ever: whoever kept a file of that time must be
// able to read it. v1 is two runs of a measurement of 48, read, cut down to five
// histograms, judged and written by the last build before v2; v2 is a sweep of
// two points by the first build that had it.
func TestFilesOfEveryVersionStayReadable(t *testing.T) {
	for _, tt := range []struct {
		file, sum, schema string
		variants          []string
		acks              float64 // requests of the second run
		seed              uint64
		number            int // of the second run
		set               map[string]string
		hash              int // length
		sweep             *Sweep
	}{
		{
			file: "result-v1.json", sum: "bcd1fc00a63b1c86373e0384ff5e48f00e1899c5ff85faee730f2816fb39a353", schema: SchemaV1,
			variants: []string{"each", "10 or 500ms"}, acks: 5500, set: map[string]string{},
		},
		{
			file: "result-v2.json", sum: "76fe85145c8f72b6811c28e7ffd12db930d62661f61c28fb9c57e6a179ae210d", schema: SchemaV2,
			variants: []string{"every=1 · every 10", "every=10 · every 10"}, acks: 53_393, seed: 1, number: 2, hash: 64,
			set:   map[string]string{"clients.ack.every": "10", "clients.ack.policy": "count"},
			sweep: &Sweep{Vary: []Axis{{Key: "clients.ack.every", Values: []string{"1", "10"}}}, Order: 7},
		},
	} {
		t.Run(tt.file, func(t *testing.T) {
			b := stored(t, tt.file)
			if sum := fmt.Sprintf("%x", sha256.Sum256(b)); sum != tt.sum {
				t.Fatalf("%s was changed (sha256 %s). Don't: it stands for the files that people kept. Restore it and make Decode read it", tt.file, sum)
			}
			valid(t, tt.schema, b)
			r, err := Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if r.Schema != tt.schema || r.Profile.Name != "ack-storm" || r.Profile.Seed != tt.seed || len(r.Runs) != 2 || r.Verdict.Status != Pass {
				t.Fatalf("schema %s, profile %s, seed %d, %d runs, %s", r.Schema, r.Profile.Name, r.Profile.Seed, len(r.Runs), r.Verdict.Status)
			}
			if got := names(r.Variants); !slices.Equal(got, tt.variants) {
				t.Fatalf("variants %q", got)
			}
			// 132 messages to 499 others each.
			run := r.Runs[1]
			if got, _ := run.Value("deliveries"); got != 132*499 || run.Audit.Sends != 132 || run.Number != tt.number {
				t.Errorf("%v deliveries of %d sends in run %d", got, run.Audit.Sends, run.Number)
			}
			if got, _ := run.Value("ack_requests"); got != tt.acks {
				t.Errorf("%v ack requests, want %v", got, tt.acks)
			}
			if _, ok := run.Value("page.p99"); ok || run.Histograms["page"].P50 != nil {
				t.Error("a histogram of nothing has figures")
			}
			live := run.Histograms["live"]
			h, err := live.Decode()
			if err != nil || h.TotalCount() != live.Count || live.P99 == nil || h.ValueAtPercentile(99) != *live.P99 {
				t.Errorf("live doesn't decode to its own figures: %v", err)
			}
			v := r.Variants[1]
			if v.Set == nil || !maps.Equal(v.Set, tt.set) || len(v.Hash) != tt.hash {
				t.Errorf("set is %v, hash %q", v.Set, v.Hash)
			}
			if !reflect.DeepEqual(r.Sweep, tt.sweep) {
				t.Errorf("sweep is %+v", r.Sweep)
			}
			now, err := Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, SchemaCurrent, now)
			again, err := Decode(now)
			if err != nil || again.Schema != SchemaCurrent {
				t.Fatalf("what is written again isn't read: %v", err)
			}
			if r.Schema != tt.schema {
				t.Error("writing changed what the result says of its file")
			}
			r.Schema = SchemaCurrent
			if !reflect.DeepEqual(again, r) {
				t.Error("what is written again says something else")
			}
		})
	}
}

func names(variants []Variant) []string {
	var out []string
	for _, v := range variants {
		out = append(out, v.Name)
	}
	return out
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

// Whoever builds a result need not know the format's id.
func TestEncodeNamesTheFormatItself(t *testing.T) {
	for _, id := range []string{"", SchemaV1, SchemaV2, "ackmark/result/v0"} {
		r := minimal()
		r.Schema = id
		b, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(b); err != nil || got.Schema != SchemaCurrent || r.Schema != id {
			t.Errorf("%q: written as %v, %v", id, got, err)
		}
	}
}
