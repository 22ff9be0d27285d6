package sweep_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
	"ackmark/results/sweep"
)

// judgedAs is a sweep of a point per word, every=1 …, with a crash variant each
// and one run: CPU 10, 20, … µs, risk 1, 2, … Words are what the crash variant is.
func judgedAs(words ...string) *results.Result {
	of := map[string]int{}
	r := small(len(words), always(1), func(r *results.Run) {
		i := float64(of["all"]/2 + 1)
		of["all"]++
		r.Metrics.Set("system_cpu_us_per_delivery", 10*i)
		r.Metrics.Set("redelivered_per_crash", 1/i)
	})
	health := results.Reason{Kind: results.ReasonHealth, Text: "late"}
	short := results.Reason{Kind: results.ReasonMissing, Text: "1 of 2 repeats were measured"}
	figure := results.Reason{Kind: results.ReasonMissing, Metric: "lost", Text: "no figure"}
	drop := func(name string) {
		r.Runs = slices.DeleteFunc(r.Runs, func(run results.Run) bool { return run.Variant == name })
	}
	for i, word := range words {
		plain, crash := &r.Variants[2*i], &r.Variants[2*i+1]
		invalid := func(reasons ...results.Reason) results.Verdict {
			return results.Verdict{Status: results.Invalid, Reasons: reasons}
		}
		switch word {
		case "fail":
			crash.Verdict.Status = results.Fail
		case "busy":
			crash.Verdict = invalid(health)
		case "figure": // which is not for want of runs
			crash.Verdict = invalid(figure, short)
		case "busy and short":
			crash.Verdict = invalid(health, short)
		case "short":
			crash.Verdict = invalid(short)
		case "short, misses": // as results judges too few runs, of which one misses a threshold
			crash.Verdict = invalid(short, results.Reason{Kind: results.ReasonThreshold}, results.Reason{Kind: results.ReasonDisagree})
		case "one side":
			crash.Verdict = invalid(short, figure)
			drop(crash.Name)
		case "busy, one side":
			plain.Verdict, crash.Verdict = invalid(health), invalid(short)
			drop(crash.Name)
		case "fails, one side":
			plain.Verdict, crash.Verdict = results.Verdict{Status: results.Fail}, invalid(short)
			drop(crash.Name)
		case "lost, one side":
			plain.Verdict = results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant}}}
			crash.Verdict = invalid(short)
			drop(crash.Name)
		case "none":
			plain.Verdict, crash.Verdict = invalid(short, figure), invalid(short, figure)
			drop(plain.Name)
			drop(crash.Name)
		}
	}
	return r
}

// A point that nobody measured isn't invalid, nor is one whose runs are all well
// and too few. What raises doubt stays invalid, and what is lost is lost.
func TestVerdictOfMissing(t *testing.T) {
	for word, want := range map[string]results.Status{
		"pass": results.Pass, "fail": results.Fail, "busy": results.Invalid, "figure": results.Invalid, "busy and short": results.Invalid,
		"busy, one side": results.Invalid, "lost, one side": results.Fail, "fails, one side": sweep.Incomplete,
		"short": sweep.Incomplete, "short, misses": sweep.Incomplete, "one side": sweep.Incomplete, "none": sweep.NotMeasured,
	} {
		tab := table(t, judgedAs("pass", word), ask(t, "cpu", "", ""))
		if got := tab.Rows[1].Status; got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
		if got := field(t, tab, "every=2", "verdict"); got != string(want) {
			t.Errorf("%s: CSV has %s, want %s", word, got, want)
		}
		text, markdown := texts(t, tab)
		if n := strings.Count(text, "  "+string(want)+"\n"); n == 0 || !strings.Contains(markdown, "| "+string(want)+" |") {
			t.Errorf("%s: no %s in\n%s\n%s", word, want, text, markdown)
		}
	}
	d := table(t, judgedAs("pass", "none"), ask(t, "cpu", "", "")).Document()
	if got := d.Points[1].Excluded; !slices.Contains(got, "it was not measured") {
		t.Errorf("excluded: %q", got)
	}
}

// A choice says how many points it leaves out unjudged. One among one is none,
// and has no mark.
func TestUnjudged(t *testing.T) {
	const five = "5 of 6 points could not be judged (invalid: every=1; every=2; every=4 and 1 more; not measured: every=6), and might be better; resuming the sweep measures what is missing"
	for _, tt := range []struct {
		name     string
		words    []string
		want     []string
		not      []string
		judged   int
		noChoice bool
		marked   string // "1": recommended
	}{
		{"all are judged", []string{"pass", "pass", "fail"},
			[]string{"recommended: every=1", "◆ recommended."}, []string{"could not be judged", "so the mark", "not known whether"}, 3, false, "1"},
		{"one isn't", []string{"pass", "pass", "busy"},
			[]string{"recommended: every=1", "next best: every=2", "1 of 3 points could not be judged (invalid: every=3), and might be better",
				"Left out of it, since it is not known whether they pass: 1 point."}, []string{"no choice", "resuming", "so the mark"}, 2, false, "1"},
		{"one passed, one failed", []string{"pass", "fail", "busy"},
			[]string{"recommended: every=1", "the only eligible point, of 3", "1 of 3 points could not be judged", "one point alone, so the mark says nothing."},
			[]string{"no choice"}, 2, false, "1"},
		{"what fails in one side is judged", []string{"pass", "fails, one side", "busy"},
			[]string{"recommended: every=1", "1 of 3 points could not be judged (invalid: every=3)"}, []string{"no choice"}, 2, false, "1"},
		{"one alone", []string{"busy", "busy", "pass", "busy", "busy", "none"},
			[]string{"no choice: of 6 points only every=3 could be judged", "system_cpu_us_per_delivery is 30 µs", "how sure: not at all, there was nothing to choose from",
				five, "among the points that passed: one point alone, so the mark says nothing.", "--set clients.ack.every=3"},
			[]string{"recommended", "◆", "next best", "no other point", "without the constraints", "eligible"}, 1, true, "0"},
	} {
		tab := table(t, judgedAs(tt.words...), ask(t, "cpu", "redelivered_per_crash < 99", ""))
		text, markdown := texts(t, tab)
		d := tab.Document()
		b, err := json.Marshal(d.Recommendation)
		if err != nil {
			t.Fatal(err)
		}
		text, asJSON := strings.Join(strings.Fields(text), " "), string(b)
		for _, want := range tt.want {
			if !strings.Contains(text, want) || !strings.Contains(markdown, want) {
				t.Errorf("%s: no %q in\n%s\n%s", tt.name, want, text, markdown)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(text, not) || strings.Contains(markdown, not) {
				t.Errorf("%s: %q in\n%s\n%s", tt.name, not, text, markdown)
			}
		}
		rec := d.Recommendation
		if rec.NoChoice != tt.noChoice || rec.Judged != tt.judged || len(rec.Unjudged) != len(tt.words)-tt.judged || rec.Point == nil {
			t.Errorf("%s: JSON %s", tt.name, asJSON)
		}
		if tt.noChoice && (!strings.Contains(asJSON, five) || !strings.Contains(asJSON, `"no_choice":true,"judged":1,"unjudged":["every=1","every=2","every=4","every=5","every=6"]`)) {
			t.Errorf("%s: JSON %s", tt.name, asJSON)
		}
		if got := field(t, tab, tab.Choice.Point.Name, "recommended"); got != tt.marked {
			t.Errorf("%s: CSV has recommended %s, want %s", tt.name, got, tt.marked)
		}
	}
}

// How large a sweep is, is said in points and settings wherever it is said.
func TestSize(t *testing.T) {
	text, markdown := texts(t, table(t, judgedAs("pass", "pass", "pass"), sweep.Question{}))
	const want = "small: 3 points, with crash variants 6 settings, × "
	if !strings.Contains(text, want) || !strings.Contains(markdown, want) {
		t.Errorf("no %q in\n%.200s\n%.200s", want, text, markdown)
	}
	for _, tt := range []struct {
		points, settings int
		want             string
	}{{1, 1, "1 point"}, {24, 24, "24 points"}, {24, 48, "24 points, with crash variants 48 settings,"}} {
		if got := sweep.Size(tt.points, tt.settings); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.points, tt.settings, got, tt.want)
		}
	}
}
