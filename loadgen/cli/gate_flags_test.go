package cli_test

import (
	"os"
	"path/filepath"
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
		"tolerances of nothing":   {[]string{"--tolerances", calibration(t, 0, results.Environment{})}, "proposes none"},
		"too few to calibrate":    {[]string{"--calibrate", "3"}, "fewer than 8"},
		"calibrating two":         {[]string{"--calibrate", "8", "--against", notLoadgen}, "--calibrate"},
		"timings":                 {[]string{"--timings", "off"}, "gate or report"},
		"pairs without a partner": {[]string{"--pairs", "3"}, "--against"},
		"no pairs":                {[]string{"--against", notLoadgen, "--pairs", "0"}, "1 or more"},
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
