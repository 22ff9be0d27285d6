package gate

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ackmark/results"
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

// passing is a result held against itself.
func passing(t *testing.T) Report {
	r := sample(t, 5)
	return JudgeBaseline(r, baselineOf(t, r), BaselineOptions{})
}

// troubled has every outcome.
func troubled(t *testing.T) Report {
	b, r := baselineOf(t, sample(t, 5)), sample(t, 5)
	b.Accepted = []Accepted{{Date: written, Reason: "a second | command per send pays for order", Worse: []string{"redis_commands_per_send"}}}
	r.Runs[1].Metrics.Set("shown_twice", 3)
	scale(r, "each", "redis_commands_per_send", 2)
	scale(r, "each", "stored_bytes_per_message", 0.9)
	scale(r, "every 10", "server_cpu_us_per_delivery", 1.6)
	scale(r, "each", "server_cpu_us_per_delivery", 1.15)
	r.Environment = machine("7.2.4", 2)
	b.Environment = machine("7.2.3", 2)
	r.Runs[4].Metrics.SetNull("rows_per_message")
	rep := JudgeBaseline(r, b, BaselineOptions{})
	// What one machine can't show beside the rest: figures of two sorts.
	r.Environment = b.Environment
	timed := JudgeBaseline(r, b, BaselineOptions{Metrics: []Gated{{"server_cpu_us_per_delivery", 0.15}}})
	for _, c := range timed.Checks {
		if c.Class == results.Timing && c.Gated && strings.Contains(c.Metric, "server_cpu") {
			rep.Checks = append(rep.Checks, c)
		}
	}
	rep.Checks = append(rep.Checks, Check{Variant: "each", Metric: "live.p999", Unit: results.Microseconds, Class: results.Timing, Outcome: Reported,
		Reference: results.Number(14_200), Candidate: results.Number(18_100), Ratio: results.Number(1.27), Tolerance: results.Number(0.5), Text: "shown, not gated"})
	finish(&rep)
	return rep
}

// odd has names and sentences that no format likes.
func odd(*testing.T) Report {
	name := "<each> & \"10\" | 'a'\x00\x1b[31m\ufffe]]> __init__ `x`\nnew \xff line @all https://example.org"
	rep := Report{Mode: AgainstBuild, Profile: "p.<1>", Candidate: name, Reference: "b&c", Pairs: 12, Discarded: 3, DiscardedCandidate: 2, DiscardedReference: 1,
		Checks: []Check{
			{Variant: name, Metric: "lost", Class: results.Invariant, Gated: true, Outcome: Passed},
			{Variant: name, Metric: "server_cpu_us_per_delivery", Unit: "us", Class: results.Timing, Gated: true, Outcome: Undecided,
				Reference: results.Number(10), Candidate: results.Number(10.6), Ratio: results.Number(1.06), Low: results.Number(0.99), High: results.Number(1.13), Tolerance: results.Number(0.05),
				Text: "it is <6 %> & more\x07"},
			{Variant: strings.Repeat("a very long variant ", 8), Metric: "generator_rss_bytes_per_connection", Unit: "bytes", Class: results.Timing, Gated: true, Outcome: Failed,
				Reference: results.Number(1 << 30), Candidate: results.Number(3 << 30), Ratio: results.Number(3), Low: results.Number(2.9), High: results.Number(3.2), Tolerance: results.Number(0.05), Text: "it is a lot"},
		}}
	finish(&rep)
	return rep
}

func drawText(width int, color, verbose bool) func(io.Writer, Report) error {
	return func(w io.Writer, rep Report) error {
		return RenderText(w, rep, TextOptions{TextOptions: results.TextOptions{Width: width, Color: color}, Verbose: verbose})
	}
}

func TestRenderGolden(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rep   func(*testing.T) Report
		draw  func(io.Writer, Report) error
		width int
	}{
		{"pass-100.txt", passing, drawText(100, false, false), 100},
		{"pass-verbose.txt", passing, drawText(100, false, true), 100},
		{"troubled-100.txt", troubled, drawText(100, false, false), 100},
		{"troubled-80.txt", troubled, drawText(80, false, false), 80},
		{"troubled-color.txt", troubled, drawText(100, true, false), 0},
		{"odd-80.txt", odd, drawText(80, false, false), 80},
		{"nothing.txt", func(*testing.T) Report { r := Report{Profile: "ci"}; finish(&r); return r }, drawText(0, false, false), 100},
		{"pass.md", passing, RenderMarkdown, 0},
		{"troubled.md", troubled, RenderMarkdown, 0},
		{"odd.md", odd, RenderMarkdown, 0},
		{"pass.xml", passing, WriteJUnit, 0},
		{"troubled.xml", troubled, WriteJUnit, 0},
		{"odd.xml", odd, WriteJUnit, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tc.draw(&b, tc.rep(t)); err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name, b.Bytes())
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); tc.width > 0 && n > tc.width {
					t.Errorf("%d columns wide: %s", n, line)
				}
				if tc.width > 0 && strings.HasSuffix(line, " ") {
					t.Errorf("ends in a space: %q", line)
				}
			}
		})
	}
}

func TestChangeText(t *testing.T) {
	for want, change := range map[string]float64{"0 %": 0, "+5 %": 0.05, "−12 %": -0.12, "+0.31 %": 0.0031, "+100 %": 1, "×31": 30, "−100 %": -1} {
		if got := changeText(change); got != want {
			t.Errorf("%g is %q, want %q", change, got, want)
		}
	}
	if got := changeText(off(3, 0)); got != "was 0" {
		t.Errorf("%q", got)
	}
}
