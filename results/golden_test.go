package results

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", path, got)
	}
}

// troubled breaks a storm in every way that a verdict knows.
func troubled(t *testing.T) (*Result, Rules) {
	r, rules := storm(t)
	r.Redis[0].Kind = Embedded
	loseThree(&r.Runs[0])
	r.Runs[5].Histograms["schedule_lag"] = figures(70, 410, 71_300)
	r.Runs[6].Histograms["live"] = figures(3900, 410_000, 500_000)
	for _, i := range []int{3, 7} {
		r.Runs[i].Metrics.SetNull("server_cpu_us_per_delivery")
	}
	r.Runs[7].Histograms["schedule_lag"] = figures(1900, 1950, 1990) // below the floor, above half of send.p50
	return r, rules
}

func loseThree(run *Run) {
	run.Audit.Lost, run.Audit.Deliveries = 3, run.Audit.Deliveries-3
	run.SetAuditMetrics()
}

func TestRenderGolden(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result func(*testing.T) (*Result, Rules)
		draw   func(*bytes.Buffer, Report) error
		width  int
	}{
		{"storm-100.txt", func(t *testing.T) (*Result, Rules) { return storm(t) }, text(100, false), 100},
		{"storm-80.txt", func(t *testing.T) (*Result, Rules) { return storm(t) }, text(80, false), 80},
		{"storm.md", func(t *testing.T) (*Result, Rules) { return storm(t) }, func(b *bytes.Buffer, r Report) error { return RenderMarkdown(b, r) }, 0},
		{"storm.csv", func(t *testing.T) (*Result, Rules) { return storm(t) }, func(b *bytes.Buffer, r Report) error { return RenderCSV(b, r) }, 0},
		{"troubled-100.txt", troubled, text(100, false), 100},
		{"troubled-color.txt", troubled, text(100, true), 0},
		{"troubled.md", troubled, func(b *bytes.Buffer, r Report) error { return RenderMarkdown(b, r) }, 0},
		{"one-repeat.txt", oneRepeat, text(100, false), 100},
		{"nothing.txt", func(*testing.T) (*Result, Rules) { return minimal(), Rules{} }, text(100, false), 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, rules := tc.result(t)
			Judge(r, rules)
			var b bytes.Buffer
			if err := tc.draw(&b, NewReport(r)); err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name, b.Bytes())
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if tc.width > 0 && runes(line) > tc.width {
					t.Errorf("%d columns wide: %s", runes(line), line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("ends in a space: %q", line)
				}
			}
		})
	}
}

func text(width int, color bool) func(*bytes.Buffer, Report) error {
	return func(b *bytes.Buffer, r Report) error {
		return RenderText(b, r, TextOptions{Width: width, Color: color})
	}
}

// oneRepeat measures 60 s once: there is no spread, and the closed form is judged.
func oneRepeat(t *testing.T) (*Result, Rules) {
	r, rules := storm(t)
	r.Runs, rules.Repeats = r.Runs[:4], 1
	for i := range r.Runs {
		r.Runs[i].Phases = []Phase{{"measure", 0, 60_000}}
	}
	r.Runs[1].Acks.PredictedError = Number(-0.072)
	return r, rules
}

func TestSubMillisecondIsNotZero(t *testing.T) {
	r, rules := storm(t)
	for i := range r.Runs {
		r.Runs[i].Histograms["live"] = figures(int64(20+i%4), 412, 960)
	}
	Judge(r, rules)
	rep := NewReport(r)
	for i, c := range rep.Columns {
		if c.Key == "live_p50_ms" {
			if got := strings.TrimSpace(rep.columnTexts(i)[0]); got != "0.020" {
				t.Errorf("20 µs is shown as %q ms", got)
			}
		}
	}
}

func TestUseColor(t *testing.T) {
	for _, tc := range []struct {
		terminal bool
		noColor  string
		want     bool
	}{{true, "", true}, {true, "1", false}, {true, "0", false}, {false, "", false}, {false, "1", false}} {
		if got := UseColor(tc.terminal, tc.noColor); got != tc.want {
			t.Errorf("UseColor(%t, %q) = %t", tc.terminal, tc.noColor, got)
		}
	}
}

func TestCellTexts(t *testing.T) {
	cell := func(v, spread float64) Cell { return Cell{Value: Number(v), Spread: Number(spread)} }
	for name, tc := range map[string]struct {
		column Column
		cells  []Cell
		want   []string
	}{
		"points align":              {Column{}, []Cell{cell(12.34, 1), cell(0.42, 12)}, []string{"12.34  ±1%", " 0.42 ±12%"}},
		"null":                      {Column{}, []Cell{{}, cell(5, 0)}, []string{"–", "5"}},
		"small spread takes none":   {Column{}, []Cell{cell(999, 0.2), cell(9980, 0)}, []string{"  999", "9,980"}},
		"less than the last digit":  {Column{}, []Cell{cell(0.000004, 0), cell(12, 0)}, []string{"<0.0001", "12.0000"}},
		"whole numbers stay whole":  {Column{}, []Cell{cell(0, 0), cell(3, 0)}, []string{"0", "3"}},
		"nothing but null":          {Column{}, []Cell{{}, {}}, []string{"–", "–"}},
		"a real 0 is 0":             {Column{least: 1}, []Cell{cell(0, 0), cell(4.5, 0)}, []string{"0.00", "4.50"}},
		"thousands have their sign": {Column{}, []Cell{cell(1234567, 0), cell(1, 0)}, []string{"1,234,567", "        1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.column.texts(tc.cells); strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
