package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/gate"
)

// gateArgs measure a small profile: users log in and pull 30 messages each in
// pages of 10, which is counts alone, exact on any machine.
func gateArgs(more ...string) []string {
	return append([]string{"gate", filepath.Join("testdata", "gate.yaml"), "--quiet"}, more...)
}

// gateRun runs gate with a temporary directory of its own and reads its report.
func gateRun(t *testing.T, args ...string) (outcome, gate.Report) {
	t.Helper()
	tmp, report := t.TempDir(), filepath.Join(t.TempDir(), "report.md")
	t.Setenv("TMPDIR", tmp)
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	updates := slices.Contains(args, "--update-baseline")
	if !updates {
		args = append(args, "--markdown", report)
	}
	o := loadgen(append(gateArgs("--json"), args...)...)
	nothingLeft(t, tmp)
	var rep gate.Report
	if strings.HasPrefix(o.out, "{") && !updates {
		if err := json.Unmarshal([]byte(o.out), &rep); err != nil {
			t.Fatalf("%v in %s", err, o.out)
		}
		if int(rep.ExitCode) != o.code {
			t.Errorf("exit %d, the report says %d", o.code, rep.ExitCode)
		}
		if rep.Schema != gate.SchemaReport || rep.Profile != "gate" {
			t.Errorf("schema %q, profile %q", rep.Schema, rep.Profile)
		}
	}
	return o, rep
}

// checks are those of a metric, or all with "".
func checks(rep gate.Report, metric string, outcome gate.Outcome) (out []gate.Check) {
	for _, c := range rep.Checks {
		if (metric == "" || c.Metric == metric) && c.Outcome == outcome {
			out = append(out, c)
		}
	}
	return out
}

// measured makes a result to judge, and a baseline of it.
func measured(t *testing.T) (result, baseline string) {
	t.Helper()
	needRedis(t)
	dir := t.TempDir()
	result, baseline = filepath.Join(dir, "out"), filepath.Join(dir, "baseline.json")
	o, _ := gateRun(t, "--update-baseline", "--baseline", baseline, "--out", result)
	tooBusy(t, o)
	if o.code != 0 || !strings.Contains(o.err, "written: "+baseline) {
		t.Fatalf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	return result, baseline
}

// tooBusy skips where this machine was too busy for the generator three times.
func tooBusy(t *testing.T, o outcome) {
	t.Helper()
	if o.code == 3 && (strings.Contains(o.err+o.out, "the generator") || strings.Contains(o.err+o.out, "schedule lag")) {
		t.Skipf("not checked, this machine is too busy: %s%s", o.out, o.err)
	}
}

// changed writes a copy of a JSON file after a change.
func changed(t *testing.T, path string, change func(map[string]any)) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // seeds have more digits than a float
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	if b, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

func object(doc map[string]any, key string) map[string]any {
	m, _ := doc[key].(map[string]any)
	return m
}

func first(doc map[string]any, list string) map[string]any {
	m, _ := doc[list].([]any)[0].(map[string]any)
	return m
}

// anotherMachine has other facts, and the hash that belongs to them.
func anotherMachine(doc map[string]any) {
	version, _ := object(doc, "environment")["redis_version"].(string) // else its memory couldn't be compared either
	e := results.FingerprintFrom(results.Facts{CPUModel: "another", Cores: 64, RedisVersion: version})
	b, _ := json.Marshal(e)
	var environment map[string]any
	_ = json.Unmarshal(b, &environment)
	doc["environment"] = environment
}

// TestGateBaseline measures once, and judges that by files that were changed.
func TestGateBaseline(t *testing.T) {
	result, baseline := measured(t)
	t.Run("judge", func(t *testing.T) { judged(t, result, baseline) })
	t.Run("outputs", func(t *testing.T) { keptOutputs(t, result, baseline) })
	t.Run("tolerances", func(t *testing.T) { tolerated(t, result, baseline) })
	t.Run("measure", func(t *testing.T) { measuredAgain(t, baseline) })
	t.Run("another measurement", func(t *testing.T) { otherMeasurement(t, baseline) })
	t.Run("update", func(t *testing.T) { updated(t, result, baseline) })
	t.Run("too few", func(t *testing.T) { tooFew(t, baseline) })
	t.Run("read again", func(t *testing.T) { readAgain(t, result, baseline) })
}

// judged holds one result against baselines that differ from its own in one
// thing each.
func judged(t *testing.T, result, baseline string) {
	metrics := func(doc map[string]any) map[string]any { return object(first(doc, "variants"), "metrics") }
	for name, c := range map[string]struct {
		baseline func(map[string]any)
		result   func(map[string]any)
		more     []string
		code     int
		metric   string // of the check that decides
		outcome  gate.Outcome
	}{
		"the same":                   {metric: "requests_per_login", outcome: gate.Passed},
		"timings of too few repeats": {more: []string{"--timings", "gate"}, code: 4, metric: "server_cpu_us_per_delivery", outcome: gate.Undecided},
		"a count is worse": {
			baseline: func(doc map[string]any) { object(metrics(doc), "requests_per_login")["samples"] = []any{3.9, 3.9} },
			code:     1, metric: "requests_per_login", outcome: gate.Failed,
		},
		"a count is missing": {
			result: func(doc map[string]any) {
				for _, run := range doc["runs"].([]any) {
					delete(object(run.(map[string]any), "metrics"), "pages_per_login")
				}
			},
			code: 3, metric: "pages_per_login", outcome: gate.Bad,
		},
		"another machine": {
			baseline: anotherMachine,
			more:     []string{"--timings", "gate"}, code: 3, metric: "server_cpu_us_per_delivery", outcome: gate.Refused,
		},
		"another machine, timings reported": {
			baseline: anotherMachine,
			metric:   "server_cpu_us_per_delivery", outcome: gate.Reported,
		},
		"another seed": {
			baseline: func(doc map[string]any) { object(doc, "profile")["seed"] = 99 },
			code:     3, outcome: gate.Bad,
		},
		"a histogram is empty": {
			result: func(doc map[string]any) {
				for _, run := range doc["runs"].([]any) {
					h := object(object(run.(map[string]any), "histograms"), "sync")
					for key := range h {
						h[key] = nil
					}
					h["count"], h["overflow"], h["unit"], h["hdr"] = 0, 0, "us", ""
				}
			},
			more: []string{"--timings", "gate", "--metrics", "sync.p99=50%"}, code: 3, metric: "sync.p99", outcome: gate.Bad,
		},
		"the generator was saturated": {
			result: func(doc map[string]any) {
				invalid := map[string]any{"status": "invalid", "reasons": []any{map[string]any{
					"kind": "health", "variant": "cursor", "repeat": 1, "metric": "", "value": nil, "limit": nil, "text": "the generator used 2 of its 2 cores",
				}}}
				first(doc, "runs")["verdict"], first(doc, "variants")["verdict"], doc["verdict"], doc["exit_code"] = invalid, invalid, invalid, 3
			},
			code: 3, outcome: gate.Bad,
		},
		"a message is lost": {
			result: func(doc map[string]any) {
				run := first(doc, "runs")
				object(run, "metrics")["lost"], object(run, "audit")["lost"] = 1, 1
				object(run, "metrics")["deliveries"], object(run, "audit")["deliveries"] = 149, 149
			},
			code: 1, metric: "lost", outcome: gate.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, r := baseline, filepath.Join(result, results.FileName)
			if c.baseline != nil {
				b = changed(t, b, c.baseline)
			}
			if c.result != nil {
				r = changed(t, r, c.result)
			}
			more := c.more
			if more == nil {
				more = []string{"--timings", "report"}
			}
			o, rep := gateRun(t, append([]string{"--result", r, "--baseline", b}, more...)...)
			if o.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", o.code, c.code, o.out, o.err)
			}
			if len(checks(rep, c.metric, c.outcome)) == 0 {
				t.Errorf("no check of %q that is %s:\n%s", c.metric, c.outcome, o.out)
			}
		})
	}
}

// measuredAgain measures and judges in one go, and writes every output.
func measuredAgain(t *testing.T, baseline string) {
	dir := t.TempDir()
	junit, summary, out := filepath.Join(dir, "junit.xml"), filepath.Join(dir, "summary.md"), filepath.Join(dir, "out")
	if err := os.WriteFile(summary, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	o := loadgen(gateArgs("--baseline", baseline, "--timings", "report", "--junit", junit, "--out", out)...)
	tooBusy(t, o)
	if o.code != 0 || !strings.Contains(o.out, "pass") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	for path, want := range map[string]string{
		junit: "<testsuite", summary: "pass", filepath.Join(out, "gate.json"): `"ackmark/gate/v1"`, filepath.Join(out, results.FileName): `"runs"`,
	} {
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v; no %q in it", path, err, want)
		}
	}
	if b, _ := os.ReadFile(summary); !strings.HasPrefix(string(b), "before\n") {
		t.Error("the step summary was written over, not appended to")
	}
}

// otherMeasurement doesn't measure what couldn't be compared.
func otherMeasurement(t *testing.T, baseline string) {
	for _, more := range [][]string{{"--seed", "7"}, {"--set", "clients.pull.page=20"}, {"--variant", "cursor"}, {"--repeats", "3"}} {
		out := filepath.Join(t.TempDir(), "out")
		o, rep := gateRun(t, append(more, "--baseline", baseline, "--timings", "report", "--out", out)...)
		if o.code != 3 || len(checks(rep, "", gate.Bad)) == 0 || !strings.Contains(o.out, "must be those of the baseline; where the change is meant, write a new one with --update-baseline") {
			t.Errorf("%v: exit %d\n%s%s", more, o.code, o.out, o.err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: it was measured", more)
		}
	}
}

// updated writes a baseline anew: over one that promises more only with a
// reason, which the file then keeps.
func updated(t *testing.T, result, baseline string) {
	if o, _ := gateRun(t, "--update-baseline", "--baseline", baseline, "--result", result); o.code != 0 {
		t.Errorf("the same again: exit %d\n%s", o.code, o.err)
	}
	better := changed(t, baseline, func(doc map[string]any) {
		object(object(first(doc, "variants"), "metrics"), "requests_per_login")["samples"] = []any{3, 3}
	})
	before, err := os.ReadFile(better)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := gateRun(t, "--update-baseline", "--baseline", better, "--result", result)
	if after, _ := os.ReadFile(better); o.code != 1 || string(after) != string(before) || !strings.Contains(o.err, "requests_per_login") {
		t.Errorf("worse without a reason: exit %d, %s", o.code, o.err)
	}
	o, _ = gateRun(t, "--update-baseline", "--accept-worse", "pages got smaller", "--baseline", better, "--result", result)
	if o.code != 0 || !strings.Contains(o.err, "accepted: ") {
		t.Errorf("worse with a reason: exit %d\n%s%s", o.code, o.out, o.err)
	}
	o, _ = gateRun(t, "--update-baseline", "--baseline", better, "--result", result)
	b, err := gate.ReadBaseline(better)
	if err != nil || o.code != 0 {
		t.Fatalf("exit %d, %v", o.code, err)
	}
	if len(b.Accepted) != 1 || b.Accepted[0].Reason != "pages got smaller" || len(b.Accepted[0].Worse) == 0 {
		t.Errorf("accepted %+v; the reason should be kept through later updates", b.Accepted)
	}
	// Timings of so few repeats are noise to whoever gates counts alone.
	faster := changed(t, baseline, func(doc map[string]any) {
		cpu := object(object(first(doc, "variants"), "metrics"), "server_cpu_us_per_delivery")
		cpu["samples"] = []any{0.001, 0.001}
	})
	o, _ = gateRun(t, "--update-baseline", "--baseline", faster, "--result", result)
	if o.code != 1 || !strings.Contains(o.err, "server_cpu_us_per_delivery") {
		t.Errorf("CPU that is worse: exit %d\n%s", o.code, o.err)
	}
	o, _ = gateRun(t, "--update-baseline", "--timings", "report", "--baseline", faster, "--result", result)
	if o.code != 0 || strings.Contains(o.err, "accepted: ") || strings.Contains(o.err, "note: ") {
		t.Errorf("CPU that is worse, timings reported: exit %d\n%s", o.code, o.err)
	}
	o, _ = gateRun(t, "--update-baseline", "--baseline", faster, "--result", result)
	if o.code != 0 || !strings.Contains(o.err, "note: of 2 repeats: it can't hold timings, which takes 5 (--repeats 5); gate by it with --timings report") {
		t.Errorf("too few repeats: exit %d\n%s", o.code, o.err)
	}
	failing := changed(t, filepath.Join(result, results.FileName), func(doc map[string]any) {
		doc["interrupted"], doc["exit_code"] = true, 130
	})
	if o, _ := gateRun(t, "--update-baseline", "--baseline", filepath.Join(t.TempDir(), "b.json"), "--result", failing); o.code == 0 {
		t.Error("a baseline was made of a measurement that was interrupted")
	}
}
