package compare

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

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

// changed is a build that needs less CPU, one more Redis command per send, and
// has lost a metric.
func changed(t *testing.T) *Comparison {
	b := each(measured(t, fast...), func(r *results.Run) {
		r.Metrics.Set("redis_commands_per_send", 2)
		r.Metrics.SetNull("memory_bytes_per_message")
	})
	b.ToolVersion, b.Servers[0].Version = "0.3.0", "0.3.0"
	return compared(t, Options{}, side("old", measured(t, slow...)), side("new", b))
}

// troubled has three sides: one of another machine, seed and store, with a name
// that is too long, and one that is busy.
func troubled(t *testing.T) *Comparison {
	b := each(measured(t, fast...), func(r *results.Run) { r.Seed++ })
	b.Environment, b.Redis[0].Kind = machine(8, "8.2.0"), results.Embedded
	b.Profile.Sets, b.Profile.Seed = []string{"traffic.group.rate=50/s"}, 8
	c := measured(t, 10, 11)
	c.Runs[0].Verdict = results.Verdict{Status: results.Invalid, Reasons: []results.Reason{{Kind: results.ReasonHealth, Text: "the generator's hiccup p99 is 2.57 ms against 4.97 ms for live.p99: at most 50 %"}}}
	c.Verdict.Status = results.Invalid
	return compared(t, Options{}, side("old", measured(t, slow...)), side("nightly/20260102T030405Z-ack-storm-with-a-long-name", b), side("busy\x1b[2J|*", c))
}

func asText(width int, color bool) func(*Comparison, *bytes.Buffer) error {
	return func(c *Comparison, b *bytes.Buffer) error {
		return c.RenderText(b, results.TextOptions{Width: width, Color: color})
	}
}

func TestGolden(t *testing.T) {
	markdown := func(c *Comparison, b *bytes.Buffer) error { return c.RenderMarkdown(b) }
	for _, tc := range []struct {
		name  string
		of    func(*testing.T) *Comparison
		draw  func(*Comparison, *bytes.Buffer) error
		width int
	}{
		{"changed-80.txt", changed, asText(80, false), 80},
		{"changed-100.txt", changed, asText(0, false), 100},
		{"changed-color.txt", changed, asText(100, true), 0},
		{"changed.md", changed, markdown, 0},
		{"changed.csv", changed, func(c *Comparison, b *bytes.Buffer) error { return c.RenderCSV(b) }, 0},
		{"changed.json", changed, func(c *Comparison, b *bytes.Buffer) error {
			out, err := c.Encode()
			b.Write(out)
			return err
		}, 0},
		{"troubled-80.txt", troubled, asText(80, false), 80},
		{"troubled.md", troubled, markdown, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tc.draw(tc.of(t), &b); err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name, b.Bytes())
			checkLines(t, b.String(), tc.width)
		})
	}
}

type failer interface{ Errorf(string, ...any) }

func checkLines(t failer, out string, width int) {
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); width > 0 && n > width {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("ends in a space: %q", line)
		}
		if width > 0 && strings.ContainsAny(line, "\x1b\r") {
			t.Errorf("steers the terminal: %q", line)
		}
	}
}

// Whatever the numbers and the width, nothing is wider than the terminal.
func TestWidths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64Range(0.5, 90_000), 1, 7)
		a, b := measured(t, numbers.Draw(rt, "a")...), measured(t, numbers.Draw(rt, "b")...)
		width := rapid.IntRange(60, 120).Draw(rt, "width")
		o := Options{}
		if rapid.Bool().Draw(rt, "named") {
			o.Metrics = some()
		}
		c, err := New([]Side{side("a", a), side("b", b)}, o)
		if err != nil {
			rt.Fatal(err)
		}
		var out bytes.Buffer
		if err := c.RenderText(&out, results.TextOptions{Width: width}); err != nil {
			rt.Fatal(err)
		}
		checkLines(rt, out.String(), width)
	})
}

func TestCSVIsComplete(t *testing.T) {
	c := compared(t, Options{All: true}, side("old", measured(t, slow...)), side("new", measured(t, fast...)))
	var b bytes.Buffer
	if err := c.RenderCSV(&b); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := 1
	for _, v := range c.Variants {
		n += 2 * len(v.Metrics)
	}
	if len(records) != n {
		t.Errorf("%d rows, want %d", len(records), n)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 24: "24", 24.83: "24.8", 9.9: "9.90", 0.00324: "0.00324", 1234.5: "1,234", 1234567: "1,234,567", -0.5: "−0.500", 366: "366", 21.7: "21.7"} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{1: "0 %", 1.004: "+0.4 %", 0.89: "−11 %", 31: "×31", 2.27: "+127 %", 1.0001: "0 %", 0: "−100 %"} {
		if got := change(v); got != want {
			t.Errorf("ratio %v: %s, want %s", v, got, want)
		}
	}
	n := results.Number
	for want, c := range map[string]Cell{
		"−15 … −7.2 %": {RatioLow: n(0.85), RatioHigh: n(0.928)},
		"0 … +14 %":    {RatioLow: n(1), RatioHigh: n(1.14)},
		"×9.50 … ×12":  {RatioLow: n(9.5), RatioHigh: n(12)},
		"":             {RatioLow: n(9.5)},
	} {
		if got := c.interval(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, p := range map[string]float64{"<0.001": 0.0002, "0.003": 0.003, "0.25": 0.25, "1": 1} {
		if got := (Cell{AdjustedP: n(p)}).pText(); got != want {
			t.Errorf("p %v: %s, want %s", p, got, want)
		}
	}
}
