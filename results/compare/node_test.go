package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ackmark/results"
)

// jsVersion is the implementation that must read our histograms.
const jsVersion = "hdr-histogram-js@3.0.1"

// TestAnotherImplementationAgrees has hdr-histogram-js, which shares no code
// with the library that wrote them, decode every histogram of the result files
// and of some extreme distributions: count and percentiles are those that the
// results state, at the rank that results define (testdata/decode.mjs). It needs node, npm and a registry; without them it is skipped,
// unless ACKMARK_TEST_NODE=1.
func TestAnotherImplementationAgrees(t *testing.T) {
	stated := histograms(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	lack := func(format string, args ...any) {
		t.Helper()
		if os.Getenv("ACKMARK_TEST_NODE") == "1" {
			t.Fatalf(format, args...)
		}
		t.Skipf(format+"; ACKMARK_TEST_NODE=1 makes this a failure", args...)
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			lack("%s isn't in the PATH", program)
		}
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix", dir, jsVersion)
	install.Dir, install.WaitDelay = dir, time.Second
	if out, err := install.CombinedOutput(); err != nil {
		lack("npm install %s: %v\n%s", jsVersion, err, out)
	}
	script, err := filepath.Abs("testdata/decode.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	for _, h := range stated {
		in.WriteString(h.HDR + "\n")
	}
	decode := exec.CommandContext(ctx, "node", script, dir)
	decode.Stdin, decode.Stderr, decode.WaitDelay = &in, &stderr, time.Second
	out, err := decode.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for i, h := range stated {
		var js struct{ Count, P50, P90, P99, P999, Max int64 }
		if err := decoder.Decode(&js); err != nil {
			t.Fatalf("histogram %d: %v", i, err)
		}
		if js.Count+h.Overflow != h.Count {
			t.Errorf("%s: %d values and %d above the range, the result says %d", h.name, js.Count, h.Overflow, h.Count)
		}
		if h.Overflow > 0 {
			continue // percentiles of a result count what is above the range
		}
		for _, f := range []struct {
			name string
			js   int64
			ours *int64
		}{{"p50", js.P50, h.P50}, {"p90", js.P90, h.P90}, {"p99", js.P99, h.P99}, {"p99.9", js.P999, h.P999}, {"max", js.Max, h.Max}} {
			if f.ours == nil || f.js != *f.ours {
				t.Errorf("%s, %s: %d, the result says %s", h.name, f.name, f.js, plain(toFloat(f.ours)))
			}
		}
	}
	t.Logf("%d histograms", len(stated))
}

func toFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return results.Number(float64(*n))
}

type named struct {
	results.Histogram
	name string
}

func histograms(t *testing.T) []named {
	var out []named
	for _, file := range []string{"../testdata/result-v1.json", "../testdata/result-v2.json"} {
		r, err := results.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range r.Runs {
			for name, h := range run.Histograms {
				if h.HDR != "" {
					out = append(out, named{h, filepath.Base(file) + " " + run.Variant + " " + name})
				}
			}
		}
	}
	if len(out) < 8 {
		t.Fatalf("only %d histograms in the result files", len(out))
	}
	for name, values := range map[string][]int64{
		"one value": {1}, "zero": {0, 0, 3}, "hours": {1, 1000, (20 * time.Hour).Microseconds()}, "powers": {1, 2, 4, 1024, 2047, 2048, 2049, 1 << 20, 1 << 30, 1<<36 - 1},
	} {
		out = append(out, named{histogram(t, values...), name})
	}
	return out
}
