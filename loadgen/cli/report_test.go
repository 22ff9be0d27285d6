package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ackmark/results"
)

const oldResult = "../../results/testdata/result-v1.json"

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		out  []string
		err  []string
	}{
		{"text", []string{oldResult}, 0, []string{"ack-storm: 2 variants", "verdict: pass"}, nil},
		{"markdown", []string{oldResult, "--format", "markdown"}, 0, []string{"| each |"}, nil},
		{"csv", []string{oldResult, "--format", "csv"}, 0, []string{"variant,"}, nil},
		{"json, newest", []string{oldResult, "--format", "json"}, 0, []string{`"schema": "ackmark/result/v2"`}, nil},
		{"json, older", []string{"../../results/testdata/result-v2.json", "--format", "json", "--schema", "v1"}, 0,
			[]string{`"schema": "ackmark/result/v1"`}, []string{"v1 can't hold the grid of the sweep"}},
		{"a sweep", []string{"../../results/testdata/result-v2.json"}, 0, []string{"ack-storm: 2 variants", "every=10 · every 10"}, []string{"sweep --resume DIR"}},
		{"none", nil, 2, nil, []string{"one argument"}},
		{"directory without one", []string{"testdata"}, 2, nil, []string{"testdata/result.json", "no such file"}},
		{"format before schema", []string{oldResult, "--format", "pdf", "--schema", "v1"}, 2, nil, []string{"text, markdown, csv, json"}},
		{"no such file", []string{"nowhere"}, 2, nil, []string{"nowhere", "no such file"}},
		{"not a result", []string{"report_test.go"}, 2, nil, []string{"report_test.go", "not a result"}},
		{"unknown format", []string{oldResult, "--format", "pdf"}, 2, nil, []string{`"pdf"`, "text, markdown, csv, json"}},
		{"unknown schema", []string{oldResult, "--format", "json", "--schema", "v7"}, 2, nil, []string{`"v7"`, "v1, v2"}},
		{"schema of a table", []string{oldResult, "--schema", "v1"}, 2, nil, []string{"--format json"}},
		{"into a directory", []string{oldResult, "--out", "testdata"}, 2, nil, []string{"--out testdata is a directory"}},
		{"over itself", []string{oldResult, "--format", "json", "--out", oldResult}, 2, nil, []string{"is what is read"}},
		{"unwritable", []string{oldResult, "--out", "no/such/place"}, 5, nil, []string{"no/such/place", "doesn't exist"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := loadgen(append([]string{"report"}, tt.args...)...)
			if got.code != tt.code {
				t.Errorf("exit code %d, want %d: %s", got.code, tt.code, got.err)
			}
			for _, want := range tt.out {
				if !strings.Contains(got.out, want) {
					t.Errorf("stdout lacks %q:\n%.600s", want, got.out)
				}
			}
			for _, want := range tt.err {
				if !strings.Contains(got.err, want) {
					t.Errorf("stderr lacks %q: %s", want, got.err)
				}
			}
		})
	}
}

// Text that goes to a pipe is as wide as $COLUMNS says, as far as tables allow.
func TestColumns(t *testing.T) {
	const sentence = "One repeat: no spread. CPU is that of the whole process, idle work included."
	for columns, whole := range map[string]bool{"": true, "60": false, "100": true, "3": true, "wide": true} {
		t.Setenv("COLUMNS", columns)
		if got := loadgen("report", oldResult); strings.Contains(got.out, sentence) != whole {
			t.Errorf("COLUMNS=%s: a sentence of 76 in one line: %t, want %t", columns, !whole, whole)
		}
	}
	t.Setenv("COLUMNS", "60")
	for line := range strings.Lines(loadgen("report", "../../results/testdata/result-v2.json").out) {
		if prose := !strings.Contains(strings.TrimSpace(line), "  ") && !strings.Contains(line, "─"); prose && utf8.RuneCountInString(line) > 61 {
			t.Errorf("wider than 60: %s", line)
		}
	}
}

func TestReportToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "again.json")
	if got := loadgen("report", oldResult, "--format", "json", "--schema", "v1", "--out", path); got.code != 0 || got.out != "" {
		t.Fatalf("exit code %d, stdout %q, stderr %s", got.code, got.out, got.err)
	}
	r, err := results.Read(path)
	if err != nil || r.Schema != results.SchemaV1 {
		t.Fatalf("%v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReportOfADirectory(t *testing.T) {
	b, err := os.ReadFile(oldResult)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, results.FileName), b, 0o644); err != nil {
		t.Fatal(err)
	}
	got, want := loadgen("report", dir, "--format", "json"), loadgen("report", oldResult, "--format", "json")
	if got != want || got.code != 0 {
		t.Fatalf("exit code %d, stderr %s", got.code, got.err)
	}
	if r, err := results.Decode([]byte(got.out)); err != nil || r.Schema != results.SchemaCurrent || len(r.Runs) != 2 {
		t.Errorf("what is printed isn't a result: %v", err)
	}
}

// A result that failed is shown like any other: report is no gate.
func TestReportOfAFailure(t *testing.T) {
	r, err := results.Read(oldResult)
	if err != nil {
		t.Fatal(err)
	}
	strict, err := results.Conditions([]string{"live.p99 < 20ms"}, results.FromThreshold) // it is 29.5 ms and 18.9 ms
	if err != nil {
		t.Fatal(err)
	}
	results.Judge(r, results.Rules{Limits: results.DefaultLimits(), Thresholds: strict, Repeats: 1, Variants: []results.VariantRule{
		{Name: "each", AckPolicy: "each"}, {Name: "10 or 500ms", AckPolicy: "count-or-interval"}}})
	path := filepath.Join(t.TempDir(), "failed.json")
	if err := results.Write(path, r); err != nil {
		t.Fatal(err)
	}
	if got := loadgen("report", path); r.ExitCode != results.ExitFail || got.code != 0 || !strings.Contains(got.out, "verdict: fail") {
		t.Errorf("the result has exit code %d, its report %d:\n%s", r.ExitCode, got.code, got.out)
	}
}
