package main

import (
	"strings"
	"testing"
)

const sample = `goos: linux
BenchmarkStorm/ack=each/rate=full-2   3	 0.1 allocs/delivery	 11000 cpu-ns/delivery	 10000 floor-cpu-ns/delivery	 1.100 x-floor	 1.250 x-limit	 2.4 ±%
BenchmarkSendPath-2   3	 8 allocs/send	 6000 cpu-ns/send	 4000 floor-cpu-ns/send	 1.500 x-floor	 1.200 x-limit	 0.6 ±%
BenchmarkIdle-16   1	 9000 rss-B/conn	 10240 rss-limit-B/conn	 3500 heap-B/conn
BenchmarkDecode-2   1000000	 105 ns/op
BenchmarkFree-2   3	 100 cpu-ns/delivery	 50 floor-cpu-ns/delivery	 2.000 x-floor	 1.0 ±%
PASS
`

func TestTable(t *testing.T) {
	var out, errs strings.Builder
	if code := run(strings.NewReader(sample), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	got, ok := strings.CutPrefix(out.String(), sample)
	if !ok {
		t.Fatalf("the input isn't handed on as it came:\n%s", out.String())
	}
	want := [][]string{
		{"benchmark", "cpu", "floor", "ratio", "±", "limit"},
		{"Storm/ack=each/rate=full", "11.00", "µs/delivery", "10.00", "1.10", "2%", "1.25", "ok"},
		{"SendPath", "6.00", "µs/send", "4.00", "1.50", "1%", "1.20", "over"},
		{"Idle", "9000", "B/conn", "10240", "ok"},
		{"Free", "0.10", "µs/delivery", "0.05", "2.00", "1%"},
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(want), got)
	}
	for i, line := range lines {
		if got := strings.Fields(line); strings.Join(got, " ") != strings.Join(want[i], " ") {
			t.Errorf("line %d: got %q, want %q", i, got, want[i])
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, in, message string
		code              int
	}{
		{"nothing", "", "no comparison", 1},
		{"failed", sample + "--- FAIL: BenchmarkX\n", "a benchmark failed", 1},
		{"not built", sample + "FAIL\tackmark/refserver/server [build failed]\n", "a benchmark failed", 1},
		{"bad value", "BenchmarkX-2 3 many x-floor\n", "no comparison", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs strings.Builder
			if code := run(strings.NewReader(c.in), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.message) {
				t.Errorf("exit %d, %q; want %d with %q", code, errs.String(), c.code, c.message)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for line := range strings.Lines(sample) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if r, ok := parse(line); ok && len(r.cells()) != 7 {
			t.Errorf("%q: %d cells", line, len(r.cells()))
		}
	})
}
