package compare

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"ackmark/results"
)

func bench(t *testing.T, sides ...Side) string {
	t.Helper()
	var b bytes.Buffer
	if err := compared(t, Options{SingleSided: true}, sides...).RenderBench(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBenchUnits(t *testing.T) {
	for name, want := range map[string]string{
		"server_cpu_us_per_delivery": "server-cpu-us/delivery", "deliveries_per_s": "deliveries/s", "lost": "lost",
		"wire_bytes_per_delivery": "wire-B/delivery", "largest_response_bytes": "largest-response-B", "stored_bytes_per_message": "stored-B/message",
		"late_sends_percent": "late-sends-percent", "live.p999": "live-p99.9-us", "fanout_last.p50": "fanout-last-p50-us", "live.count": "live-count",
	} {
		if got := BenchUnit(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	seen := map[string]string{}
	for _, m := range results.AllMetrics() {
		unit := BenchUnit(m.Name)
		if other, taken := seen[unit]; taken {
			t.Errorf("%s and %s are both %s", m.Name, other, unit)
		}
		seen[unit] = m.Name
		if _, tidy := benchunit.Tidy(1, unit); tidy != unit || strings.ContainsAny(unit, " \t_") {
			t.Errorf("%s: benchstat reads %q as %q", m.Name, unit, tidy)
		}
	}
}

// TestBenchIsRead has benchfmt read what was written: every valid run, every
// number to the last digit, the units' directions and assumptions.
func TestBenchIsRead(t *testing.T) {
	r := measured(t, slow...)
	r.Runs[3].Verdict.Status = results.Invalid // repeat 2 of every 10
	out := bench(t, side("old", r))
	reader := benchfmt.NewReader(strings.NewReader(out), "old.txt")
	i := 0
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			if i == 3 {
				i++
			}
			run := &r.Runs[i]
			i++
			if want := "AckStorm/variant=" + strings.ReplaceAll(run.Variant, " ", "_") + "-2"; rec.Name.String() != want || rec.Iters != 1 {
				t.Errorf("%s, %d iterations, want %s", rec.Name, rec.Iters, want)
			}
			for key, want := range map[string]string{"goos": "linux", "goarch": "amd64", "cpu": "Example CPU @ 2.50GHz", "redis": "7.0.15", "profile": "ack-storm", "profile-hash": "aaaa0000", "seed": "7", "side": ""} {
				if got := rec.GetConfig(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			n := 0
			for _, m := range results.AllMetrics() {
				x, ok := run.Value(m.Name)
				if strings.HasPrefix(m.Name, "page.") { // nothing was recorded
					ok = false
				}
				got, there := rec.Value(BenchUnit(m.Name))
				if ok != there || got != x && ok {
					t.Errorf("%s: %v %t, want %v %t", m.Name, got, there, x, ok)
				}
				if ok {
					n++
				}
			}
			if n != len(rec.Values) {
				t.Errorf("%d values, want %d", len(rec.Values), n)
			}
		}
	}
	if err := reader.Err(); err != nil || i != len(r.Runs) {
		t.Errorf("%d runs read, %v", i, err)
	}
	if !strings.Contains(out, "# left out: 1 invalid run\n") {
		t.Error("nothing is said of the invalid run")
	}
	units := reader.Units()
	for _, tc := range []struct {
		unit   string
		better int
		exact  bool
	}{{"redis-commands/send", -1, true}, {"sends", 0, true}, {"deliveries/s", 1, false}, {"live-p99-us", -1, false}, {"ack-requests-total", -1, true}, {"ack-requests/delivery", -1, false}} {
		assume := units.Get(tc.unit, "assume")
		if units.GetBetter(tc.unit) != tc.better || assume == nil || (assume.Value == "exact") != tc.exact {
			t.Errorf("%s: better %d, assume %v", tc.unit, units.GetBetter(tc.unit), assume)
		}
	}
}

func TestBenchNames(t *testing.T) {
	r := measured(t, slow...)
	r.Profile.Name = "acks, 2nd try"
	for i, name := range []string{"a b/c", "a_b_c"} {
		old := r.Variants[i].Name
		r.Variants[i].Name = name
		each(r, func(run *results.Run) {
			if run.Variant == old {
				run.Variant = name
			}
		})
	}
	out := bench(t, side("old", r))
	for _, want := range []string{"BenchmarkAcks2ndTry/variant=a_b_c-2 1 ", "BenchmarkAcks2ndTry/variant=a_b_c_2-2 1 "} {
		if strings.Count(out, want) != 6 {
			t.Errorf("%d of %q", strings.Count(out, want), want)
		}
	}
	both := bench(t, side("old\nside: x", measured(t, 1)), side("new", measured(t, 2)))
	if !strings.Contains(both, "\nside: old side: x\n") || !strings.Contains(both, "\nside: new\n") {
		t.Error(both)
	}
}

// TestBenchstat has the real program compare two files; its medians and
// p-values are those of this package.
func TestBenchstat(t *testing.T) {
	a, b := side("old", measured(t, slow...)), side("new", measured(t, fast...))
	dir := t.TempDir()
	for _, s := range []Side{a, b} {
		if err := os.WriteFile(filepath.Join(dir, s.Label), []byte(bench(t, s)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-format", "csv", filepath.Join(dir, "old"), filepath.Join(dir, "new"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, stderr.String())
	}
	reader := csv.NewReader(bytes.NewReader(out))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c := compared(t, Options{All: true}, a, b)
	unit, seen := "", 0
	for _, record := range records {
		if record[0] == "" && len(record) > 2 && record[2] == "CI" {
			unit = record[1]
		}
		variant, isRow := strings.CutPrefix(record[0], "AckStorm/variant=")
		if !isRow {
			continue
		}
		variant = strings.ReplaceAll(strings.TrimSuffix(variant, "-2"), "_", " ")
		for _, v := range c.Variants {
			for _, m := range v.Metrics {
				if v.Name != variant || BenchUnit(m.Name) != unit {
					continue
				}
				seen++
				for i, column := range []int{1, 3} {
					got, err := strconv.ParseFloat(record[column], 64)
					if err != nil || got != *m.Cells[i].Median {
						t.Errorf("%s, %s: benchstat has %s, this package %v", variant, m.Name, record[column], *m.Cells[i].Median)
					}
				}
				if p := m.Cells[1].P; p != nil {
					if text := "p=" + strconv.FormatFloat(*p, 'f', 3, 64); !strings.Contains(record[6], text) {
						t.Errorf("%s, %s: benchstat says %q, this package %s", variant, m.Name, record[6], text)
					}
				}
			}
		}
	}
	want := 0
	for _, v := range c.Variants {
		for _, m := range v.Metrics {
			if m.Cells[0].N > 0 {
				want++
			}
		}
	}
	if seen != want || seen < 20 {
		t.Errorf("benchstat compares %d numbers, this package %d\n%s%s", seen, want, out, stderr.String())
	}
}

// Two settings given to be compared are one table of benchstat with a delta:
// what they differ in is a note, and all else stays configuration. Live p50 of
// 10 … 15 and half of it, in hundreds of µs: 1250 and 625, −50 %.
func TestBenchstatOfTwoSettings(t *testing.T) {
	b := later(each(measured(t, fast...), func(r *results.Run) { r.Seed += 50 }))
	b.Profile.Hash, b.Profile.Seed = "bbbb0000", 8
	for i := range b.Variants {
		b.Variants[i].Hash += "n50"
	}
	text := bench(t, side("n10", measured(t, slow...)), side("n50", b))
	for _, want := range []string{"\n# profile-hash: aaaa0000\n", "\n# profile-hash: bbbb0000\n", "\n# seed: 7\n", "\n# seed: 8\n", "\nprofile: ack-storm\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
	path := filepath.Join(t.TempDir(), "sides.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-col", "side", "-filter", ".unit:live-p50-us", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := string(out)
	if strings.Count(got, "vs base") != 1 || strings.Count(got, "live-p50-us") != 2 || strings.Count(got, "-50.00% (p=0.002 n=6)") != 2 {
		t.Errorf("not one table with a delta for each of two variants:\n%s", got)
	}
}

// A name that ends in a number keeps it where GOMAXPROCS isn't known.
func TestBenchNameThatEndsInANumber(t *testing.T) {
	r := measured(t, 10)
	r.Environment.GOMAXPROCS, r.Variants[0].Name = 0, "every-10"
	for i := range r.Runs {
		if r.Runs[i].Variant == "each" {
			r.Runs[i].Variant = "every-10"
		}
	}
	var b strings.Builder
	if err := compared(t, Options{SingleSided: true}, side("a", r)).RenderBench(&b); err != nil || !strings.Contains(b.String(), "/variant=every-10-1 1 ") {
		t.Errorf("%v\n%s", err, &b)
	}
}
