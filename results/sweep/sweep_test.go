package sweep_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ackmark/results"
	"ackmark/results/sweep"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}

func ask(t testing.TB, choose, subject, pareto string) sweep.Question {
	t.Helper()
	list := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, ",")
	}
	q, err := sweep.NewQuestion(choose, list(subject), list(pareto))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func table(t testing.TB, r *results.Result, q sweep.Question) *sweep.Table {
	t.Helper()
	tab, err := sweep.NewTable(r, q)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestMeanBatch(t *testing.T) {
	// measuring.md (14): N = 10, r·T = 9.98 gives 9.20.
	if b := meanBatch(10, 9.98); math.Abs(b-9.20) > 0.01 {
		t.Errorf("mean batch %v, should be 9.20", b)
	}
}

// The recommendation and the front are those that a reader finds in the table.
func TestTableReadByHand(t *testing.T) {
	q := ask(t, "cpu", "redelivered_per_crash <= 2.1,live.p99 < 29.3ms", "")
	tab := table(t, grid(), q)
	var b bytes.Buffer
	if err := tab.RenderCSV(&b); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 21 {
		t.Fatalf("%d lines, want a header and 20 points", len(records))
	}
	col := func(row []string, key string) float64 {
		v, err := strconv.ParseFloat(row[slices.Index(records[0], key)], 64)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return v
	}
	best, least := "", math.Inf(1)
	for _, row := range records[1:] {
		cpu, risk := col(row, "system_cpu_us_per_delivery"), col(row, "redelivered_per_crash")
		if risk <= 2.1 && col(row, "live_p99_ms") < 29.3 && cpu < least {
			best, least = row[0], cpu
		}
		front := 1.0
		for _, other := range records[1:] {
			c, r := col(other, "system_cpu_us_per_delivery"), col(other, "redelivered_per_crash")
			if c <= cpu && r <= risk && (c < cpu || r < risk) {
				front = 0
			}
		}
		if col(row, "pareto") != front {
			t.Errorf("%s: pareto %v, by hand %v", row[0], col(row, "pareto"), front)
		}
	}
	if tab.Choice.Point == nil || tab.Choice.Point.Name != best {
		t.Errorf("recommended %+v, by hand %s", tab.Choice.Point, best)
	}
	if records[1][0] != "every=1 interval=50ms" || records[20][0] != "every=20 interval=5s" || records[4][0] != "every=1 interval=5s" {
		t.Errorf("order %s … %s", records[1][0], records[20][0])
	}
	if f := tab.Choice.Forbidden; f == nil || f.Point.Name != "every=20 interval=5s" {
		t.Errorf("forbidden %+v; the largest batch is the cheapest", f)
	}
}

func TestTexts(t *testing.T) {
	tab := table(t, grid(), ask(t, "cpu", "redelivered_per_crash <= 2.1,live.p99 < 29.3ms", ""))
	for _, width := range []int{80, 100, 200} {
		var b bytes.Buffer
		if err := tab.RenderText(&b, results.TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > min(width, 100) {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if width == 100 {
			golden(t, "table.txt", b.String())
		}
	}
	var md, table bytes.Buffer
	if err := errors.Join(tab.RenderMarkdown(&md), tab.RenderCSV(&table)); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.md", md.String())
	golden(t, "table.csv", table.String())
}

func TestNothingEligible(t *testing.T) {
	tab := table(t, grid(), ask(t, "cpu", "unacked_window_mean < 0,redelivered_per_crash <= 2,requests_per_login < 3", ""))
	if tab.Choice.Point != nil || tab.Choice.Eligible != 0 {
		t.Fatalf("recommended %s", tab.Choice.Point.Name)
	}
	if got := tab.Choice.Excludes(); got != "unacked_window_mean < 0" {
		t.Errorf("excludes most: %s", got)
	}
	text := strings.Join(tab.Advice(), "\n")
	if !strings.Contains(text, "requests_per_login < 3 excludes 20, 20 of them for want of the figure") {
		t.Errorf("a metric that wasn't measured isn't said:\n%s", text)
	}
}

// A metric to choose by that wasn't measured is named.
func TestObjectiveUnmeasured(t *testing.T) {
	text := strings.Join(table(t, grid(), ask(t, "requests", "", "")).Advice(), "\n")
	if !strings.Contains(text, "the objective, requests_per_login, excludes 20, 20 of them for want of the figure") {
		t.Errorf("advice\n%s", text)
	}
}

// One repeat says nothing of chance; repeats that overlap aren't told apart.
func TestHowSure(t *testing.T) {
	r := grid()
	r.Runs = slices.DeleteFunc(r.Runs, func(x results.Run) bool { return x.Repeat > 1 })
	if c := table(t, r, ask(t, "cpu", "", "")).Choice; c.Sure != nil || len(c.Alike) > 0 {
		t.Errorf("one repeat: sure %v, alike %d", c.Sure, len(c.Alike))
	}
	c := table(t, grid(), ask(t, "cpu", "", "")).Choice
	if c.Sure == nil || *c.Sure < 0.3 || *c.Sure > 0.99 {
		t.Errorf("sure %v; N = 20 with 1s and 5s differ by less than the noise", c.Sure)
	}
	if len(c.Alike) == 0 || c.Alike[0].Name != "every=20 interval=1s" {
		t.Errorf("alike %v", c.Alike)
	}
	again := table(t, grid(), ask(t, "cpu", "", "")).Choice
	if *again.Sure != *c.Sure {
		t.Error("the same question has two answers")
	}
}

func TestQuestionProblems(t *testing.T) {
	for _, tt := range []struct {
		choose, subject, pareto, want string
	}{
		{"cpus", "", "", "choose: there is no metric cpus; did you mean "},
		{"sends", "", "", "choose: of sends neither more nor less is better; choose by a cost, e.g. cpu"},
		{"cpu", "live.p99 < 3", "", `subject to "live.p99 < 3": the limit has no unit`},
		{"cpu", "lost", "", `subject to: "lost" compares nothing`},
		{"", "", "cpu,cpu", "pareto: cpu, cpu; it takes a cost and a risk"},
		{"", "", "cpu", "pareto: cpu; it takes a cost and a risk"},
	} {
		var subject, pareto []string
		if tt.subject != "" {
			subject = []string{tt.subject}
		}
		if tt.pareto != "" {
			pareto = strings.Split(tt.pareto, ",")
		}
		if _, err := sweep.NewQuestion(tt.choose, subject, pareto); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	if _, err := sweep.NewTable(&results.Result{}, sweep.Question{}); !errors.Is(err, sweep.ErrNoSweep) {
		t.Errorf("a result that is no sweep: %v", err)
	}
	for _, a := range sweep.Aliases() {
		if m, err := sweep.Metric(a.Name); err != nil || m.Name != a.Metric {
			t.Errorf("alias %s: %v", a.Name, err)
		}
	}
}

// Against brute force, with ties, points that failed, and figures that are missing.
func TestAgainstBruteForce(t *testing.T) {
	q := ask(t, "cpu", "redelivered_per_crash <= 3,deliveries_per_s >= 2", "cpu,redelivered_per_crash")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "points")
		r := &results.Result{Sweep: &results.Sweep{Vary: []results.Axis{{Key: "clients.ack.every"}}}}
		type point struct{ cost, risk, rate float64 }
		var points []point
		for i := range n {
			name := strconv.Itoa(i + 1)
			axis := &r.Sweep.Vary[0]
			axis.Values = append(axis.Values, name)
			draw := func(what string) float64 { // 0 is missing
				if v := rapid.IntRange(0, 6).Draw(rt, what); v > 0 {
					return float64(v)
				}
				return math.NaN()
			}
			p := point{draw("cost"), draw("risk"), draw("rate")}
			status := rapid.SampledFrom([]results.Status{results.Pass, results.Pass, results.Pass, results.Fail, results.Invalid}).Draw(rt, "status")
			v := results.Verdict{Status: results.Pass}
			crash := results.Verdict{Status: status}
			r.Variants = append(r.Variants, results.Variant{Name: name, Set: map[string]string{"clients.ack.every": name}, Verdict: v},
				results.Variant{Name: name + "c", CrashOf: name, Verdict: crash})
			r.Runs = append(r.Runs,
				results.Run{Variant: name, Repeat: 1, Metrics: results.Values{"system_cpu_us_per_delivery": results.Number(p.cost), "deliveries_per_s": results.Number(p.rate)}},
				results.Run{Variant: name + "c", Repeat: 1, Metrics: results.Values{"redelivered_per_crash": results.Number(p.risk), "deliveries_per_s": results.Number(1)}})
			if status != results.Pass {
				p.cost = math.NaN()
			}
			points = append(points, p)
		}
		tab, err := sweep.NewTable(r, q)
		if err != nil {
			rt.Fatal(err)
		}
		best := -1
		for i, p := range points {
			front := p.cost > 0 && p.risk > 0
			for _, o := range points {
				if o.cost <= p.cost && o.risk <= p.risk && (o.cost < p.cost || o.risk < p.risk) {
					front = false
				}
			}
			if tab.Rows[i].Front != front {
				rt.Errorf("point %d: front %v, want %v", i+1, tab.Rows[i].Front, front)
			}
			if p.cost > 0 && p.risk <= 3 && p.rate >= 2 && (best < 0 || p.cost < points[best].cost) {
				best = i
			}
		}
		switch {
		case best < 0 && tab.Choice.Point != nil:
			rt.Errorf("recommended %s, want none", tab.Choice.Point.Name)
		case best >= 0 && (tab.Choice.Point == nil || tab.Choice.Point != tab.Rows[best]):
			rt.Errorf("recommended %+v, want %d", tab.Choice.Point, best+1)
		}
	})
}
