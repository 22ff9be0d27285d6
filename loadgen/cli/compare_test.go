package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ackmark/results"
)

// olderAndNewer copies a result twice, one of them changed, into directories
// "older" and "newer" of a temporary directory.
func olderAndNewer(t *testing.T, change func(*results.Result)) (older, newer string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"older", "newer"} {
		r, err := results.Read(oldResult)
		if err != nil {
			t.Fatal(err)
		}
		if name == "newer" && change != nil {
			change(r)
		}
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := results.Write(filepath.Join(dir, name, results.FileName), r); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "older"), filepath.Join(dir, "newer")
}

func anHourLater(r *results.Result) {
	r.Started, r.Ended = r.Started.Add(time.Hour), r.Ended.Add(time.Hour)
}

func invalidate(r *results.Result) {
	for i := range r.Runs {
		r.Runs[i].Verdict = results.Verdict{Status: results.Invalid, Reasons: []results.Reason{{Kind: results.ReasonHealth, Text: "busy"}}}
	}
}

func TestCompare(t *testing.T) {
	a, b := olderAndNewer(t, func(r *results.Result) {
		for i := range r.Runs {
			r.Runs[i].Metrics.Set("redis_commands_per_send", 2)
			r.Runs[i].Metrics.Set("server_cpu_us_per_delivery", 40)
		}
	})
	_, bad := olderAndNewer(t, invalidate)
	for _, tt := range []struct {
		name string
		args []string
		code int
		out  []string
		err  []string
	}{
		{"directories", []string{a, b}, 0, []string{"A  older", "B  newer", "Redis commands/send", "worse", "too few runs", "2 metrics worse"}, nil},
		{"files", []string{a + "/result.json", oldResult}, 0, []string{"A  older", "B  result-v1"}, nil},
		{"labels", []string{a, b, "--label", "before", "--label", "after"}, 0, []string{"A  before", "B  after"}, nil},
		{"one metric", []string{a, b, "--metric", "live.p99.9", "--variant", "each"}, 0, []string{"live p99.9, ms"}, nil},
		{"three", []string{a, b, a}, 0, []string{"C against A"}, nil},
		{"markdown", []string{a, b, "--format", "markdown"}, 0, []string{"| each | A | B |", "**worse**"}, nil},
		{"md", []string{a, b, "--format", "md"}, 0, []string{"| each | A | B |", "**worse**"}, nil},
		{"plot", []string{a, b, "--plot", "live"}, 0, []string{"each: live", "99.99", "A: older"}, nil},
		{"bench of one", []string{a, "--format", "bench"}, 0, []string{"BenchmarkAckStorm/variant=each-", "live-p99.9-us", "profile: ack-storm"}, nil},
		{"invalid side", []string{a, bad}, 3, []string{"B is invalid: none of its", "not judged"}, nil},
		{"invalid side as CSV", []string{a, bad, "--format", "csv"}, 3, []string{"not judged"}, []string{"warning: B is invalid"}},
		{"none", nil, 2, nil, []string{"two results or more"}},
		{"one", []string{a}, 2, nil, []string{"loadgen report"}},
		{"nowhere", []string{a, "nowhere"}, 2, nil, []string{"nowhere", "no such file"}},
		{"not a result", []string{a, "compare_test.go"}, 2, nil, []string{"compare_test.go", "not a result"}},
		{"directory without any", []string{a, "testdata"}, 2, nil, []string{"testdata holds no result.json"}},
		{"format", []string{a, b, "--format", "pdf"}, 2, nil, []string{"text, markdown, csv, json, bench"}},
		{"json and csv", []string{a, b, "--json", "--format", "csv"}, 2, nil, []string{"--format csv was given as well"}},
		{"labels for some", []string{a, b, "--label", "x"}, 2, nil, []string{"1 --label for 2 sides"}},
		{"the same label", []string{a, b, "--label", "x", "--label", "x"}, 2, nil, []string{`two sides are called "x"`}},
		{"all and some", []string{a, b, "--all", "--metric", "lost"}, 2, nil, []string{"contradict"}},
		{"metric", []string{a, b, "--metric", "live.p98"}, 2, nil, []string{`no metric "live.p98"`}},
		{"variant", []string{a, b, "--variant", "eech"}, 2, nil, []string{`"eech"`, `"each"`}},
		{"histogram", []string{a, b, "--plot", "life"}, 2, nil, []string{`no histogram "life"`, "live"}},
		{"plot as CSV", []string{a, b, "--plot", "live", "--format", "csv"}, 2, nil, []string{"--plot is text"}},
		{"labels that are written the same", []string{a, b, "--label", "x y", "--label", "x\ny"}, 2, nil, []string{`two sides are called "x y"`}},
		{"empty label", []string{a, b, "--label", "x", "--label", "\n"}, 2, nil, []string{"--label is empty"}},
		{"plot of an invalid side", []string{a, bad, "--plot", "live"}, 3, []string{"(invalid)"}, []string{"warning: B is invalid"}},
		{"CSV of few runs", []string{a, b, "--format", "csv"}, 0, []string{"too few runs"}, []string{"warning: too few runs"}},
		{"into a directory", []string{a, b, "--out", "testdata"}, 2, nil, []string{"--out testdata is a directory"}},
		{"over a side", []string{a, b, "--out", b + "/result.json"}, 2, nil, []string{"is what is read"}},
		{"unwritable", []string{a, b, "--out", "no/such/place"}, 5, nil, []string{"no/such/place", "doesn't exist"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := loadgen(append([]string{"compare"}, tt.args...)...)
			if got.code != tt.code {
				t.Errorf("exit code %d, want %d: %s", got.code, tt.code, got.err)
			}
			for _, want := range tt.out {
				if !strings.Contains(got.out, want) {
					t.Errorf("stdout lacks %q:\n%s", want, got.out)
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

// A directory of results is one side, and all its runs are samples of it.
func TestCompareDirectoriesOfResults(t *testing.T) {
	a, _ := olderAndNewer(t, anHourLater)
	b, _ := olderAndNewer(t, anHourLater)
	got := loadgen("compare", filepath.Dir(a), filepath.Dir(b), "--json")
	var doc struct {
		Schema string
		Sides  []struct {
			Label         string
			Results, Runs int
		}
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil || got.code != 0 {
		t.Fatalf("exit %d, %v, %s", got.code, err, got.err)
	}
	if doc.Schema != "ackmark/compare/v1" || len(doc.Sides) != 2 || doc.Sides[0].Results != 2 || doc.Sides[0].Runs != 4 || doc.Sides[0].Label == doc.Sides[1].Label {
		t.Errorf("%+v", doc)
	}
}

// Links are followed, and what several lead to is read once; a copy's runs are
// no further samples.
func TestCompareLinksAndCopies(t *testing.T) {
	a, b := olderAndNewer(t, anHourLater)
	dir := t.TempDir()
	for name, to := range map[string]string{"1": a, "2": b, "latest": b} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	got := loadgen("compare", dir, a)
	for _, want := range []string{"4 runs of 2 variants in 2 results", "A holds 1 result more than once", "A and B both hold the same result"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if got.code != 0 || t.Failed() {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// A sweep keeps its runs beside the result that holds them.
func TestCompareSweepCountsRunsOnce(t *testing.T) {
	a, _ := olderAndNewer(t, nil)
	if err := os.Mkdir(filepath.Join(a, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(a, "runs", "001"), os.DirFS(filepath.Dir(oldResult))); err != nil {
		t.Fatal(err)
	}
	if got := loadgen("compare", a, oldResult); got.code != 0 || !strings.Contains(got.out, "A  older      ack-storm, 2 runs of 2 variants, ") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// The same file twice is the same on both sides, and shows nothing else.
func TestCompareWithItself(t *testing.T) {
	got := loadgen("compare", oldResult, oldResult, "--all", "--format", "csv")
	records, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
	if err != nil || got.code != 0 || len(records) < 50 {
		t.Fatalf("exit %d, %v, %d rows", got.code, err, len(records))
	}
	for _, r := range records[1:] {
		outcome := r[len(r)-1]
		if r[5] == "B" && outcome != "same" && outcome != "too few runs" && outcome != "no data" {
			t.Errorf("%s, %s: %s", r[0], r[1], outcome)
		}
	}
	if !strings.Contains(got.out, "result-v1#1") {
		t.Error("the two sides aren't told apart")
	}
}

func TestCompareToAFile(t *testing.T) {
	a, b := olderAndNewer(t, nil)
	path := filepath.Join(t.TempDir(), "comparison.md")
	if got := loadgen("compare", a, b, "--format", "markdown", "--out", path); got.code != 0 || got.out != "" {
		t.Errorf("exit %d, %q", got.code, got.out)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "| each |") {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestCompareHelp(t *testing.T) {
	o := loadgen("compare", "--help")
	for line := range strings.Lines(o.out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if o.code != 0 || !strings.Contains(o.out, "Exit codes:") {
		t.Errorf("exit %d\n%s", o.code, o.out)
	}
}
