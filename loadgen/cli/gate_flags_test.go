package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ackmark/results"
	"ackmark/results/gate"
)

// calibration writes a calibration file with one tolerance, or none at 0.
func calibration(t *testing.T, tolerance float64, e results.Environment) string {
	t.Helper()
	c := &gate.Calibration{Schema: gate.SchemaCalibration, Date: time.Unix(1, 0).UTC(), Profile: "gate", Pairs: 8, Looks: []int{8}, Alpha: 0.05,
		Environment: e, Metrics: []gate.Calibrated{}, Tolerances: map[string]float64{}, Notes: []string{}}
	if tolerance > 0 {
		c.Tolerances["sync.p99"] = tolerance
		c.Metrics = append(c.Metrics, gate.Calibrated{Variant: "cursor", Metric: "sync.p99", Pairs: 8, Tolerance: &tolerance, Held: true})
	}
	path := filepath.Join(t.TempDir(), "calibration.json")
	if err := gate.WriteCalibration(path, c); err != nil {
		t.Fatal(err)
	}
	return path
}

// tolerated judges by tolerances of this machine and of another.
func tolerated(t *testing.T, result, baseline string) {
	r, err := results.Read(result)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]results.Environment{"this": r.Environment, "another": results.FingerprintFrom(results.Facts{CPUModel: "another"})} {
		o, rep := gateRun(t, "--result", result, "--baseline", baseline, "--tolerances", calibration(t, 0.5, e))
		timings := checks(rep, "sync.p99", gate.Undecided) // of 2 repeats
		if o.code != 4 || len(timings) == 0 || timings[0].Tolerance == nil || *timings[0].Tolerance != 0.5 {
			t.Errorf("%s: exit %d\n%s%s", name, o.code, o.out, o.err)
		}
		if warned := strings.Contains(strings.Join(rep.Notes, ""), "calibrate here"); warned != (name == "another") {
			t.Errorf("%s machine: %q", name, rep.Notes)
		}
	}
}

func TestGateUsage(t *testing.T) {
	dir := t.TempDir()
	notLoadgen := filepath.Join(dir, "true")
	if err := os.WriteFile(notLoadgen, []byte("#!/bin/sh\necho something 1.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		say  string
	}{
		"no baseline":             {[]string{"--baseline", filepath.Join(dir, "none.json")}, "--update-baseline"},
		"no file":                 {[]string{"--against", filepath.Join(dir, "none")}, "no file"},
		"not executable":          {[]string{"--against", filepath.Join("testdata", "gate.yaml")}, "can't be run"},
		"no loadgen":              {[]string{"--against", notLoadgen}, "neither a loadgen nor a refserver"},
		"both kinds":              {[]string{"--against", notLoadgen, "--target", "127.0.0.1:1"}, "--against"},
		"half a pair of targets":  {[]string{"--against-target", "127.0.0.1:1"}, "--target"},
		"a reason for nothing":    {[]string{"--accept-worse", "x"}, "--update-baseline"},
		"an empty reason":         {[]string{"--update-baseline", "--accept-worse", " "}, "reason"},
		"pairs and a baseline":    {[]string{"--against", notLoadgen, "--update-baseline"}, "baseline"},
		"unknown metric":          {[]string{"--metrics", "live.p98=5%"}, "live.p98"},
		"an invariant":            {[]string{"--metrics", "lost=5%"}, "invariant"},
		"a count":                 {[]string{"--metrics", "rows_per_message=5%"}, "count"},
		"pairs that fall":         {[]string{"--against", notLoadgen, "--pairs", "4,3"}, "rise"},
		"no tolerance":            {[]string{"--metrics", "live.p99"}, "live.p99=10%"},
		"not a tolerance":         {[]string{"--metrics", "live.p99=-5%"}, "tolerance"},
		"a metric twice":          {[]string{"--metrics", "live.p99=5%,live.p99=6%"}, "twice"},
		"no tolerances":           {[]string{"--tolerances", filepath.Join(dir, "none")}, "--tolerances"},
		"another's tolerances":    {[]string{"--tolerances", changed(t, calibration(t, 0.5, results.Environment{}), func(doc map[string]any) { doc["profile"] = "ci" })}, "calibrate gate"},
		"tolerances of nothing":   {[]string{"--tolerances", calibration(t, 0, results.Environment{})}, "proposes none"},
		"too few to calibrate":    {[]string{"--calibrate", "3"}, "fewer than 8"},
		"too many to calibrate":   {[]string{"--calibrate", "1001"}, "more than 1000"},
		"too many pairs":          {[]string{"--against", notLoadgen, "--pairs", "8,1001"}, "more than 1000"},
		"calibrating two":         {[]string{"--calibrate", "8", "--against", notLoadgen}, "--calibrate"},
		"timings":                 {[]string{"--timings", "off"}, "gate or report"},
		"pairs without a partner": {[]string{"--pairs", "3"}, "--against"},
		"no pairs":                {[]string{"--against", notLoadgen, "--pairs", "0"}, "1 or more"},
		"another's secret":        {[]string{"--against-token-secret-file", notLoadgen}, "--against-target"},
		"targets' own costs":      {[]string{"--target", "127.0.0.1:1", "--against-target", "127.0.0.1:2"}, "--metrics"},
		"pairs without Redis":     {[]string{"--against", notLoadgen, "--embedded"}, "--embedded"},
		"an update that judges":   {[]string{"--update-baseline", "--metrics", "live.p99=5%"}, "--metrics"},
		"an unset build":          {[]string{"--against="}, "--against is there without a value"},
		"an unset candidate":      {[]string{"--against", notLoadgen, "--candidate="}, "--candidate is there without a value"},
		"an unset result":         {[]string{"--result", " "}, "--result is there without a value"},
		"unset metrics":           {[]string{"--metrics="}, "--metrics is there without a value"},
		"unset tolerances":        {[]string{"--tolerances="}, "--tolerances is there without a value"},
		"one file for two":        {[]string{"--junit", filepath.Join(dir, "x"), "--markdown", filepath.Join(dir, ".", "x")}, "--junit; name another"},
		"over a build":            {[]string{"--against", notLoadgen, "--junit", notLoadgen}, "--against; name another"},
		"over the usual baseline": {[]string{"--markdown", filepath.Join("results", "baselines", "gate.json")}, "--baseline; name another"},
		"a result and settings":   {[]string{"--result", dir, "--seed", "3"}, "--result"},
	} {
		t.Run(name, func(t *testing.T) {
			o := loadgen(gateArgs(c.args...)...)
			if o.code != 2 || !strings.Contains(o.err, c.say) {
				t.Errorf("exit %d, want 2 and %q\n%s", o.code, c.say, o.err)
			}
		})
	}
}

// keptOutputs: a report isn't written over what it is about, is invalid where it
// couldn't be kept, and what failed still failed then.
func keptOutputs(t *testing.T, result, baseline string) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	nowhere, summary := filepath.Join(dir, "none", "junit.xml"), filepath.Join(dir, "summary.md")
	const full = "/dev/full" // every write to it fails
	if err := os.WriteFile(summary, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	worse := changed(t, baseline, func(doc map[string]any) {
		object(object(first(doc, "variants"), "metrics"), "requests_per_login")["samples"] = []any{2, 2}
	})
	strange := changed(t, filepath.Join(result, results.FileName), func(doc map[string]any) { object(doc, "profile")["name"] = "strange" })
	for name, c := range map[string]struct {
		baseline, result string
		more             []string
		code             int
		out, err         string
	}{
		"nowhere":             {baseline, result, []string{"--junit", nowhere}, 2, "", "none doesn't exist; make it first"},
		"nowhere, either":     {baseline, result, []string{"--markdown", nowhere}, 2, "", "none doesn't exist; make it first"},
		"a directory":         {baseline, result, []string{"--markdown", dir}, 2, "", "it is a directory"},
		"no room":             {baseline, result, []string{"--junit", full}, 5, `"exit_code": 5`, "the disk is full"},
		"failed, and no room": {worse, result, []string{"--junit", full}, 1, `"exit_code": 1`, "the disk is full"},
		"over the result":     {baseline, result, []string{"--junit", filepath.Join(result, results.FileName)}, 2, "", "--result"},
		"over the baseline":   {baseline, result, []string{"--markdown", baseline}, 2, "", "--baseline"},
		"over the summary":    {baseline, result, []string{"--markdown", summary}, 2, "", "GITHUB_STEP_SUMMARY"},
		"of another profile":  {baseline, strange, nil, 2, "", `of profile "strange"`},
	} {
		if _, err := os.Stat(full); err != nil && slices.Contains(c.more, full) {
			continue // another system
		}
		o := loadgen(gateArgs(append([]string{"--json", "--timings", "report", "--baseline", c.baseline, "--result", c.result}, c.more...)...)...)
		if o.code != c.code || !strings.Contains(o.out, c.out) || !strings.Contains(o.err, c.err) || c.out == "" && o.out != "" {
			t.Errorf("%s: exit %d, want %d, %q and %q\n%s%s", name, o.code, c.code, c.out, c.err, o.out, o.err)
		}
	}
	for name, path := range map[string]string{"baseline": baseline, "result": filepath.Join(result, results.FileName), "profile": filepath.Join("testdata", "gate.yaml")} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("GITHUB_STEP_SUMMARY", path)
		o := loadgen(gateArgs("--timings", "report", "--baseline", baseline, "--result", result)...)
		if after, _ := os.ReadFile(path); o.code != 2 || !strings.Contains(o.err, "$GITHUB_STEP_SUMMARY "+path+" is the file of") || string(after) != string(before) {
			t.Errorf("the summary is the %s: exit %d\n%s", name, o.code, o.err)
		}
	}
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	// Of an exit code a system keeps eight bits: 256 is 0 to it.
	odd := changed(t, filepath.Join(result, results.FileName), func(doc map[string]any) { doc["interrupted"], doc["exit_code"] = true, 256 })
	if o := loadgen(gateArgs("--update-baseline", "--baseline", filepath.Join(dir, "none.json"), "--result", odd)...); o.code != 130 {
		t.Errorf("a result that says exit 256: exit %d, want 130", o.code)
	}
	if o := loadgen(gateArgs("--json", "--update-baseline", "--baseline", filepath.Join(dir, "new.json"), "--result", result)...); o.code != 0 {
		t.Errorf("exit %d: %s", o.code, o.err)
	} else if _, err := gate.DecodeBaseline([]byte(o.out)); err != nil {
		t.Errorf("--json prints something else than the baseline: %v", err)
	}
}
