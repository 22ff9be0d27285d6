package gate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"ackmark/results"
)

func TestNewBaseline(t *testing.T) {
	b := baselineOf(t, sample(t, 2))
	if b.Date != written || b.Profile != (BaselineProfile{"ci", "abc0123456789def", 7, 2}) || b.Environment != machine("7.0.15", 2) || len(b.Variants) != 2 {
		t.Errorf("%+v", b)
	}
	each := b.Variants[0]
	if each.Name != "each" || each.Hash != "1111" || each.AckPolicy != "each" {
		t.Errorf("%+v", each)
	}
	for name, want := range map[string]BaselineMetric{
		"ack_requests_total":         {results.Deterministic, "", []float64{149_700, 149_700}},
		"server_cpu_us_per_delivery": {results.Timing, "us", []float64{11.3 * wobble(1), 11.3}},
		"live.p99":                   {results.Timing, "us", []float64{14_058, 14_200}},
	} {
		if got := each.Metrics[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	for _, absent := range []string{"lost", "live.max", "sync.p99"} {
		if _, ok := each.Metrics[absent]; ok {
			t.Errorf("%s is kept", absent)
		}
	}
}

func TestNewBaselineRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*results.Result)
		says   string
	}{
		"interrupted": {func(r *results.Result) { r.Interrupted = true }, "interrupted"},
		"embedded":    {func(r *results.Result) { r.Redis[0].Kind = results.Embedded }, "embedded"},
		"target":      {func(r *results.Result) { r.Servers[0].Kind = results.Given }, "target"},
		"reduced":     {func(r *results.Result) { r.Runs[0].Audit.Reduced = true }, "reduced"},
		"failed": {func(r *results.Result) {
			a := &r.Runs[0].Audit
			a.Lost, a.Deliveries = 2, a.Deliveries-2
			r.Runs[0].SetAuditMetrics()
			r.Runs[0].Health.Reconciliations = nil
			rejudge(t, r, 2)
		}, "fail: each, repeat 1"},
		"invalid":      {func(r *results.Result) { delete(r.Runs[0].Metrics, "sends"); rejudge(t, r, 2) }, "invalid"},
		"inconclusive": {func(r *results.Result) { r.Verdict.Status = results.Inconclusive }, "inconclusive"},
		"not judged":   {func(r *results.Result) { r.Verdict = results.Verdict{} }, "not judged"},
		"a bad run":    {func(r *results.Result) { r.Runs[0].Verdict.Status = results.Invalid }, "each, repeat 1"},
		"a sweep":      {func(r *results.Result) { r.Sweep = &results.Sweep{} }, "sweep"},
		"an old file":  {func(r *results.Result) { r.Schema = results.SchemaV1 }, "version 1"},
		"nothing":      {func(r *results.Result) { r.Runs = nil }, "nothing was measured"},
		"a stranger": {func(r *results.Result) {
			run := sampleRun("stranger", 1)
			run.Verdict.Status = results.Pass
			r.Runs = append(r.Runs, run)
		}, "stranger"},
		"uneven repeats":  {func(r *results.Result) { r.Runs = r.Runs[:3] }, "each has 2 repeats, every 10 has 1"},
		"no profile hash": {func(r *results.Result) { r.Profile.Hash = "" }, "hash"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample(t, 2)
			tc.change(r)
			for _, old := range []*Baseline{nil, baselineOf(t, sample(t, 2))} {
				b, _, err := Update(old, r, later, UpdateOptions{AcceptWorse: "for a good reason"})
				if err == nil || b != nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%v, want one that says %q", err, tc.says)
				}
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*results.Result)
		worse  string // "" is nothing
	}{
		"the same":                      {func(*results.Result) {}, ""},
		"a count that is better":        {func(r *results.Result) { scale(r, "each", "redis_commands_per_send", 0.5) }, ""},
		"a count that is worse":         {func(r *results.Result) { scale(r, "each", "redis_commands_per_send", 2) }, "each: redis_commands_per_send was 1, is 2: +100 %, allowed 1 %"},
		"a count within its tolerance":  {func(r *results.Result) { scale(r, "each", "redis_commands_per_send", 1.009) }, ""},
		"a count that has no direction": {func(r *results.Result) { scale(r, "each", "offered_per_s", 0.5) }, "offered_per_s"},
		"fewer of what should be more":  {func(r *results.Result) { scale(r, "each", "deliveries", 0.9); unaudited(r) }, "deliveries"},
		"CPU that is worse":             {func(r *results.Result) { scale(r, "each", "server_cpu_us_per_delivery", 1.2) }, "server_cpu_us_per_delivery"},
		"CPU within its tolerance":      {func(r *results.Result) { scale(r, "each", "server_cpu_us_per_delivery", 1.1) }, ""},
		"CPU of another machine": {func(r *results.Result) {
			scale(r, "each", "server_cpu_us_per_delivery", 3)
			r.Environment = machine("7.0.15", 8)
		}, ""},
		"memory of another Redis": {func(r *results.Result) {
			scale(r, "each", "memory_bytes_per_message", 3)
			r.Environment = machine("7.2.4", 2)
		}, ""},
		"memory that is worse":            {func(r *results.Result) { scale(r, "each", "memory_bytes_per_message", 1.03) }, "memory_bytes_per_message"},
		"another profile":                 {func(r *results.Result) { r.Profile.Hash = "fff" }, "another profile"},
		"another seed":                    {func(r *results.Result) { r.Profile.Seed++ }, "it was 7, is 8"},
		"a metric that is gone":           {func(r *results.Result) { delete(r.Runs[0].Metrics, "rows_per_message") }, "each: rows_per_message is no longer measured"},
		"a variant that is gone":          {func(r *results.Result) { r.Variants = r.Variants[:1]; r.Runs = []results.Run{r.Runs[0], r.Runs[2]} }, "every 10 is no longer measured"},
		"fewer repeats":                   {func(r *results.Result) { r.Runs = r.Runs[:2] }, "fewer repeats"},
		"a timing that nobody holds":      {func(r *results.Result) { scale(r, "each", "deliveries_per_s", 0.5) }, ""},
		"worse, in a variant of old name": {func(r *results.Result) { scale(r, "each", "redis_commands_per_send", 2); r.Variants[0].Hash = "fff" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			old := baselineOf(t, sample(t, 2))
			old.Tolerances = map[string]float64{"server_cpu_us_per_delivery": 0.15}
			old.Accepted = []Accepted{{written, "an older reason", []string{"x"}}}
			r := sample(t, 2)
			tc.change(r)
			b, worse, err := Update(old, r, later, UpdateOptions{})
			if tc.worse == "" {
				if err != nil || len(worse) != 0 || len(b.Accepted) != 1 || b.Date != later || b.Tolerances["server_cpu_us_per_delivery"] != 0.15 {
					t.Errorf("%+v, %q, %v", b, worse, err)
				}
				return
			}
			if b != nil || !errors.Is(err, ErrWorse) || !strings.Contains(strings.Join(worse, "\n"), tc.worse) || !strings.Contains(err.Error(), tc.worse) {
				t.Fatalf("%q, %v", worse, err)
			}
			if _, _, err := Update(old, r, later, UpdateOptions{AcceptWorse: " \t"}); !errors.Is(err, ErrWorse) {
				t.Errorf("a blank reason: %v", err)
			}
			b, worse, err = Update(old, r, later, UpdateOptions{AcceptWorse: "it pays for order"})
			if err != nil {
				t.Fatal(err)
			}
			want := []Accepted{old.Accepted[0], {later, "it pays for order", worse}}
			if !reflect.DeepEqual(b.Accepted, want) || len(old.Accepted) != 1 {
				t.Errorf("history is %+v, want %+v", b.Accepted, want)
			}
			if _, err := EncodeBaseline(b); err != nil {
				t.Error(err)
			}
		})
	}
}

// unaudited lets a test change a figure that the audit has too.
func unaudited(r *results.Result) {
	for i := range r.Runs {
		r.Runs[i].Audit = results.Audit{}
	}
}

func TestUpdateOfAnother(t *testing.T) {
	r := sample(t, 2)
	for name, old := range map[string]func(*Baseline){
		"profile": func(b *Baseline) { b.Profile.Name = "smoke" },
		"schema":  func(b *Baseline) { b.Schema = "ackmark/baseline/v2" },
		"day":     func(b *Baseline) { b.Date = later.Add(time.Hour) },
	} {
		b := baselineOf(t, sample(t, 2))
		old(b)
		if _, _, err := Update(b, r, later, UpdateOptions{AcceptWorse: "whatever"}); err == nil || errors.Is(err, ErrWorse) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestBaselineFile(t *testing.T) {
	b := baselineOf(t, sample(t, 2))
	b.Tolerances["live.p99"] = 0.3
	b.Accepted = []Accepted{{written, "it pays for order", []string{"each: redis_commands_per_send was 1, is 2"}}}
	path := filepath.Join(t.TempDir(), "ci.json")
	if err := WriteBaseline(path, b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadBaseline(path)
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("%v\n%+v\n%+v", err, got, b)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "baseline.json", text)
	if _, err := ReadBaseline(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	b.Variants = nil
	if WriteBaseline(path, b) == nil {
		t.Error("a damaged baseline was written")
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
		t.Error("the file was touched")
	}
}

// TestStrict: what a baseline file must not have is an error, never a figure
// that nothing is held against.
func TestStrict(t *testing.T) {
	valid := readGolden(t)
	type object = map[string]any
	each := func(d object) object { return d["variants"].([]any)[0].(object) }
	metric := func(d object) object { return each(d)["metrics"].(object)["sends"].(object) }
	for name, tc := range map[string]struct {
		change func(object)
		says   string
	}{
		"a future schema":       {func(d object) { d["schema"] = "ackmark/baseline/v2" }, `"ackmark/baseline/v2" is not known; this version reads "ackmark/baseline/v1"`},
		"no schema":             {func(d object) { delete(d, "schema") }, "not a baseline"},
		"a result":              {func(d object) { d["schema"] = results.SchemaV1 }, "is not known"},
		"an unknown key":        {func(d object) { d["tolerance"] = object{} }, "unknown field"},
		"an unknown inner key":  {func(d object) { metric(d)["median"] = 1 }, "unknown field"},
		"a null sample":         {func(d object) { metric(d)["samples"] = []any{300, nil} }, "null"},
		"samples that are text": {func(d object) { metric(d)["samples"] = []any{"300", "300"} }, "not a baseline"},
		"no samples":            {func(d object) { delete(metric(d), "samples") }, "sends: 0 samples for 2 repeats"},
		"too few samples":       {func(d object) { metric(d)["samples"] = []any{300} }, "1 sample for 2 repeats"},
		"no unit":               {func(d object) { delete(metric(d), "unit") }, "unit"},
		"a class unknown":       {func(d object) { metric(d)["class"] = "invariant" }, "class"},
		"no date":               {func(d object) { delete(d, "date") }, "date"},
		"no repeats":            {func(d object) { d["profile"].(object)["repeats"] = 0 }, "repeats"},
		"no hash":               {func(d object) { d["profile"].(object)["hash"] = "" }, "hash"},
		"no variants":           {func(d object) { d["variants"] = []any{} }, "no variants"},
		"no metrics":            {func(d object) { each(d)["metrics"] = object{} }, "no metrics"},
		"null for metrics":      {func(d object) { each(d)["metrics"] = nil }, "no metrics"},
		"a variant twice":       {func(d object) { d["variants"] = append(d["variants"].([]any), each(d)) }, "twice"},
		"another machine's":     {func(d object) { d["environment"].(object)["cores"] = 64 }, "environment.hash"},
		"no reason":             {func(d object) { d["accepted"].([]any)[0].(object)["reason"] = " " }, "reason"},
		"tolerance of a count":  {func(d object) { d["tolerances"] = object{"sends": 0.5} }, "only timings"},
		"tolerance of nothing":  {func(d object) { d["tolerances"] = object{"life.p99": 0.5} }, "no metric"},
		"tolerance of 0":        {func(d object) { d["tolerances"] = object{"live.p99": 0} }, "between 0 and 1"},
		"tolerance of all":      {func(d object) { d["tolerances"] = object{"live.p99": 1} }, "between 0 and 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var doc object
			if err := json.Unmarshal(valid, &doc); err != nil {
				t.Fatal(err)
			}
			tc.change(doc)
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeBaseline(text); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want one that says %q", err, tc.says)
			}
		})
	}
	for name, text := range map[string]string{"nothing": " \n", "half a file": string(valid[:len(valid)/2]), "more behind it": string(valid) + "{}", "a list": "[]"} {
		if _, err := DecodeBaseline([]byte(text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func readGolden(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "baseline.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// FuzzBaseline: what is read can be written, is then read as the same, and can
// be judged against.
func FuzzBaseline(f *testing.F) {
	f.Add(readGolden(f))
	f.Add([]byte(`{"schema": "ackmark/baseline/v1"}`))
	f.Add([]byte(`{"schema": "ackmark/baseline/v1", "variants": [{"metrics": {"sends": {"samples": [null]}}}]}`))
	r := sample(f, 2)
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := DecodeBaseline(text)
		if err != nil {
			return
		}
		again, err := EncodeBaseline(b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := DecodeBaseline(again)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if !c.Date.Equal(b.Date) || !reflect.DeepEqual(c.Variants, b.Variants) || !reflect.DeepEqual(c.Tolerances, b.Tolerances) {
			t.Errorf("%+v\n%+v", b, c)
		}
		if rep := JudgeBaseline(r, b, reportOnly); rep.ExitCode == results.ExitPass && b.Profile != baselineOf(t, r).Profile {
			t.Error("passed against the baseline of something else")
		}
	})
}
