package sweep_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// small is a sweep of points every=1 … every=n with a crash variant each, and as
// many runs of each as runs says. set fills one in.
func small(n int, runs func(point string) int, set func(r *results.Run)) *results.Result {
	r := &results.Result{Sweep: &results.Sweep{Vary: []results.Axis{{Key: "clients.ack.every"}}}, Profile: results.Profile{Name: "small"}}
	for i := range n {
		value := string(rune('1' + i))
		name := "every=" + value
		r.Sweep.Vary[0].Values = append(r.Sweep.Vary[0].Values, value)
		for _, v := range []results.Variant{{Name: name}, {Name: name + " · crash", CrashOf: name}} {
			v.Set = map[string]string{"clients.ack.every": value}
			v.Verdict.Status = results.Pass
			if runs(v.Name) == 0 {
				v.Verdict.Status = results.Invalid
			}
			r.Variants = append(r.Variants, v)
			for repeat := 1; repeat <= runs(v.Name); repeat++ {
				run := results.Run{Variant: v.Name, Repeat: repeat, Metrics: results.Values{}, Histograms: map[string]results.Histogram{}}
				set(&run)
				r.Runs = append(r.Runs, run)
			}
		}
	}
	return r
}

func always(n int) func(string) int { return func(string) int { return n } }

// field is a figure of a point's line in the CSV file.
func field(t *testing.T, tab *sweep.Table, point, key string) string {
	t.Helper()
	var b bytes.Buffer
	if err := tab.RenderCSV(&b); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(records[0], key)
	if at < 0 {
		return "no column " + key
	}
	for _, row := range records[1:] {
		if row[0] == point {
			return row[at]
		}
	}
	return "no point " + point
}

func texts(t *testing.T, tab *sweep.Table) (text, markdown string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := tab.RenderText(&a, results.TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if err := tab.RenderMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

// What is asked for and has no column of its own is in the unit that its name
// says: 52.16 µs of CPU, and 4061 µs as 4.061 ms.
func TestAskedForUnits(t *testing.T) {
	r := small(1, always(1), func(r *results.Run) {
		r.Metrics.Set("generator_cpu_us_per_delivery", 52.16)
		r.Metrics.Set("server_rss_bytes", 2048)
		p99 := results.Count(4061)
		r.Histograms["send"] = results.Histogram{Unit: results.Microseconds, Count: 7, Min: p99, P50: p99, P90: p99, P99: p99, P999: p99, Max: p99}
	})
	tab := table(t, r, ask(t, "send.p99", "generator_cpu_us_per_delivery < 1ms,send.p999 < 1s,send.count > 1,server_rss_bytes < 4096", ""))
	for key, want := range map[string]string{
		"generator_cpu_us_per_delivery": "52.16", "send_p99_ms": "4.061", "send_p99_ms_max": "4.061", "send_p999_ms": "4.061",
		"send.count": "7", "server_rss_bytes": "2048", "send.p99": "no column send.p99",
	} {
		if got := field(t, tab, "every=1", key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	d := tab.Document()
	if v := d.Points[0].Figures["send_p99_ms"]; v == nil || *v != 4.061 {
		t.Errorf("figures %v", d.Points[0].Figures)
	}
	if rec := d.Recommendation; rec.Value == nil || *rec.Value != 4061 || rec.Unit != "us" {
		t.Errorf("recommended with %v %q, want 4061 us", rec.Value, rec.Unit)
	}
}

// Redelivered 5, 5, 99 without crashes and 10, 11, 12 with: the worst is 99, though
// the side with crashes has the worse median.
func TestWorstRepeatOfAnySide(t *testing.T) {
	seen := map[string][]float64{"every=1": {5, 5, 99}, "every=1 · crash": {10, 11, 12}}
	r := small(1, always(3), func(r *results.Run) {
		for _, name := range []string{"redelivered", "beyond_window"} {
			r.Metrics.Set(name, seen[r.Variant][r.Repeat-1])
		}
	})
	tab := table(t, r, sweep.Question{})
	for _, name := range []string{"redelivered", "beyond_window"} {
		for suffix, want := range map[string]string{"": "99", "_min": "5", "_max": "99"} {
			if got := field(t, tab, "every=1", name+suffix); got != want {
				t.Errorf("%s is %s, want %s", name+suffix, got, want)
			}
		}
	}
	if text, _ := texts(t, tab); !strings.Contains(text, " 99 ") || strings.Contains(text, " 12 ") {
		t.Errorf("the table\n%s", text)
	}
}

// How sure a choice is counts the repeats of the points that were measured; those
// that weren't are named.
func TestHowSureOfUnmeasured(t *testing.T) {
	cpu := func(r *results.Run) { r.Metrics.Set("system_cpu_us_per_delivery", float64(10+r.Repeat)) }
	but := func(name string, n, rest int) func(string) int {
		return func(point string) int {
			if point == name {
				return n
			}
			return rest
		}
	}
	for _, tt := range []struct {
		name   string
		points int
		runs   func(string) int
		want   []string
		not    string
	}{
		{"all are measured", 2, always(3), []string{"of 1000 resamples of the 3 repeats"}, "could not be judged"},
		{"one has crash runs only", 3, but("every=2", 0, 3), []string{"of 1000 resamples of the 3 repeats, among the points that could be judged; ", "1 of 3 points could not be judged (incomplete: every=2), and might be better; resuming the sweep measures what is missing"}, "one repeat only"},
		{"a crash variant has no run", 3, but("every=2 · crash", 0, 3), []string{"of the 3 repeats", "1 of 3 points could not be judged (incomplete: every=2), and might be better; resuming"}, "one repeat only"},
		{"one has one repeat", 2, but("every=2", 1, 3), []string{"how sure: not known, of every=2 there is one repeat only so far; more would tell"}, "--repeats"},
		{"all have one repeat", 2, always(1), []string{"how sure: not known, a point has one repeat only; --repeats 3 or more would tell"}, "could not be judged"},
		{"only one is measured", 6, func(p string) int {
			if strings.HasPrefix(p, "every=1") {
				return 3
			}
			return 0
		}, []string{"no choice: of 6 points only every=1 could be judged", "5 of 6 points could not be judged (not measured: every=2; every=3; every=4 and 2 more), and might be better; resuming"}, "one repeat only"},
	} {
		text := strings.Join(table(t, small(tt.points, tt.runs, cpu), ask(t, "cpu", "", "")).Advice(), "\n")
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, text)
			}
		}
		if strings.Contains(text, tt.not) {
			t.Errorf("%s: it says %q\n%s", tt.name, tt.not, text)
		}
	}
	// Where nothing is to be chosen, or can be, it is said as well.
	some := small(2, but("every=2", 0, 3), cpu)
	if text, _ := texts(t, table(t, some, sweep.Question{})); !strings.Contains(text, "note: 1 of 2 points could not be judged (incomplete: every=2); resuming") {
		t.Errorf("without a question\n%s", text)
	}
	if text := strings.Join(table(t, some, ask(t, "requests", "", "")).Advice(), "\n"); !strings.Contains(text, "1 of 2 points could not be judged (incomplete: every=2), and might be eligible; resuming") {
		t.Errorf("nothing eligible\n%s", text)
	}
}

// A point that passed without a figure of the risk can't be on the front; that is
// said, in both texts.
func TestFrontLeavesOut(t *testing.T) {
	cpu := map[string]float64{"every=1": 1, "every=2": 2, "every=3": 3}
	r := small(3, always(1), func(r *results.Run) {
		if c, plain := cpu[r.Variant]; plain {
			r.Metrics.Set("system_cpu_us_per_delivery", c)
		} else if r.Variant != "every=1 · crash" {
			r.Metrics.Set("redelivered_per_crash", 1)
		}
	})
	tab := table(t, r, ask(t, "cpu", "", ""))
	for i, want := range []bool{false, true, false} { // 2 costs less than 3 at the same risk
		if tab.Rows[i].Front != want {
			t.Errorf("%s: front %v", tab.Rows[i].Name, tab.Rows[i].Front)
		}
	}
	const want = "Left out of it, for want of one of these figures: 1 point that passed."
	text, markdown := texts(t, tab)
	if !strings.Contains(strings.Join(strings.Fields(text), " "), want) || !strings.Contains(markdown, want) {
		t.Errorf("no %q in\n%s\n%s", want, text, markdown)
	}
	r.Variants[0].Verdict.Status = results.Fail // what failed isn't considered anyway
	if text, _ := texts(t, table(t, r, ask(t, "cpu", "", ""))); strings.Contains(text, "Left out of it") {
		t.Errorf("a point that failed is counted\n%s", text)
	}
}

// A command is printed in one line however long it is: broken within quotes, it
// would be another one.
func TestCommandsUnbroken(t *testing.T) {
	r := small(1, always(1), func(r *results.Run) { r.Metrics.Set("system_cpu_us_per_delivery", 1) })
	long := "[{kind: crash-clients, at: 1s, share: 10%}, {kind: crash-clients, at: 2s, share: 20%}, {kind: crash-clients, at: 3s, share: 30%}]"
	r.Variants[0].Set["faults"], r.Variants[1].Set["faults"] = long, long
	text, _ := texts(t, table(t, r, ask(t, "cpu", "", "")))
	if want := "\n  for loadgen run: --set clients.ack.every=1 --set 'faults=" + long + "'\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}
