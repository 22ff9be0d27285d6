package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

// drawn is the comparison in every format that has a place for a note.
func drawn(t *testing.T, c *Comparison) map[string]string {
	t.Helper()
	var text, markdown, table bytes.Buffer
	doc, err := c.Encode()
	for _, err := range []error{err, c.RenderText(&text, results.TextOptions{Width: 200}), c.RenderMarkdown(&markdown), c.RenderCSV(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !json.Valid(doc) {
		t.Error("no JSON")
	}
	checkLines(t, text.String(), 200)
	return map[string]string{"text": text.String(), "Markdown": markdown.String(), "CSV": table.String(), "JSON": string(doc)}
}

// without takes a figure from the runs of the first n repeats.
func without(r *results.Result, n int, take func(*results.Run)) *results.Result {
	return each(r, func(run *results.Run) {
		if run.Repeat <= n {
			take(run)
		}
	})
}

// Runs without a figure aren't missing by chance: of 8 runs, 3 have no p99.9, and
// the other 5 are twice as fast, which the test alone would call better (2 of
// C(13, 5) = 1,287 orders).
func TestFigureThatSomeRunsLack(t *testing.T) {
	eight := func(by float64) []float64 {
		return []float64{10 * by, 11 * by, 12 * by, 13 * by, 14 * by, 15 * by, 16 * by, 17 * by}
	}
	p999 := func(run *results.Run) {
		h := run.Histograms["live"]
		h.P999 = nil
		run.Histograms["live"] = h
	}
	for metric, tc := range map[string]struct {
		take func(*results.Run)
		all  Outcome // where no run lacks it
	}{
		"live.p999":               {p999, Better},
		"live.max":                {func(run *results.Run) { h := run.Histograms["live"]; h.Max = nil; run.Histograms["live"] = h }, Better},
		"redis_commands_per_send": {func(run *results.Run) { run.Metrics.SetNull("redis_commands_per_send") }, Same},
		"lost":                    {func(run *results.Run) { delete(run.Metrics, "lost") }, Same},
		"deliveries_per_s":        {func(run *results.Run) { run.Metrics.Set("deliveries_per_s", math.NaN()) }, Same},
	} {
		old, complete := measured(t, eight(1)...), measured(t, eight(0.5)...)
		if got := outcomeOf(t, Options{}, metric, side("a", old), side("b", complete)); got != tc.all {
			t.Errorf("%s, which no run lacks: %s", metric, got)
		}
		lacks := without(measured(t, eight(0.5)...), 3, tc.take)
		if got := outcomeOf(t, Options{}, metric, side("a", lacks), side("b", old)); got != NotJudged {
			t.Errorf("%s, which the first side lacks: %s", metric, got)
		}
		c := compared(t, Options{}, side("a", old), side("b", lacks))
		b := cell(t, c, "each", metric)
		if b == nil || b.Outcome != NotJudged || b.N != 5 || b.P != nil || b.Median == nil {
			t.Errorf("%s: %+v", metric, b)
			continue
		}
		for format, text := range drawn(t, c) {
			if !strings.Contains(text, "B has it in 5 of 8 runs") || !strings.Contains(text, "not judged") {
				t.Errorf("%s: nothing is said of it in %s\n%s", metric, format, text)
			}
		}
		if metric == "lost" && len(c.Variants[0].invariantsHold()) > 0 {
			t.Error("invariants hold that some runs don't have")
		}
		// What every run lacks is no data, as ever.
		if got := outcomeOf(t, Options{}, metric, side("a", old), side("b", without(measured(t, eight(0.5)...), 8, tc.take))); got != NoData {
			t.Errorf("%s, which every run lacks: %s", metric, got)
		}
	}
}

// A run that lost messages did, whatever the others lack; but what the first side
// did can't be told from half of its runs.
func TestBrokenInvariantThatSomeRunsLack(t *testing.T) {
	lose := func(r *results.Result) *results.Result {
		r = without(r, 3, func(run *results.Run) { delete(run.Metrics, "lost") })
		r.Runs[10].Metrics.Set("lost", 3)
		return r
	}
	if got := outcomeOf(t, Options{}, "lost", side("a", measured(t, slow...)), side("b", lose(measured(t, slow...)))); got != Worse {
		t.Error(got)
	}
	first := without(measured(t, slow...), 3, func(run *results.Run) { delete(run.Metrics, "lost") })
	if got := outcomeOf(t, Options{}, "lost", side("a", first), side("b", lose(measured(t, slow...)))); got != NotJudged {
		t.Error(got)
	}
}

// Nothing can be lost less than not at all, nor sent less often than never.
func TestImpossibleNumbers(t *testing.T) {
	for metric, says := range map[string]string{
		"lost":                    "lost: −5 on B is impossible",
		"redis_commands_per_send": "Redis commands/send: −5 on B is impossible",
		"ack_requests_total":      "−5 on B is impossible",
	} {
		for _, all := range []bool{true, false} {
			b := each(measured(t, slow...), func(run *results.Run) {
				if all || run.Repeat == 2 {
					run.Metrics.Set(metric, -5)
				}
			})
			c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", b))
			if got := cell(t, c, "each", metric); got == nil || got.Outcome != NotJudged {
				t.Errorf("%s: %+v", metric, got)
			}
			for format, text := range drawn(t, c) {
				if says = strings.TrimPrefix(says, metric+": "); format == "text" && !strings.Contains(text, says) {
					t.Errorf("%s: %s lacks %q\n%s", metric, format, says, text)
				}
				if !strings.Contains(text, "5 on B is impossible") {
					t.Errorf("%s: nothing is said of it in %s", metric, format)
				}
			}
			if got := outcomeOf(t, Options{}, metric, side("a", b), side("b", measured(t, slow...))); got != NotJudged {
				t.Errorf("%s of the first side: %s", metric, got)
			}
		}
	}
}

// A result that is invalid as a whole is as little worth as its runs would be,
// and says why: interrupted, or with a variant of too few repeats.
func TestInvalidAsAWhole(t *testing.T) {
	stopped := results.Verdict{Status: results.Invalid, Reasons: []results.Reason{{Kind: results.ReasonIncomplete, Text: "interrupted after 12 of 20 runs"}}}
	for at := range 2 {
		b := later(measured(t, fast...))
		b.Verdict = stopped
		sides := []Side{side("x", b), side("x", b)}
		sides[1-at] = side("full", measured(t, slow...))
		c := compared(t, Options{}, sides...)
		for _, metric := range []string{cpu, "live.p99"} {
			if got := cell(t, c, "each", metric); got.Outcome != NotJudged {
				t.Errorf("%s: %+v", metric, got)
			}
		}
		on, v := letter(at), c.Variants[0].Sides[at]
		if c.ExitCode != results.ExitInvalid || c.Sides[at].Invalid != 12 || v.State != Spoiled || v.Why != "the result is invalid though none of its runs is: interrupted after 12 of 20 runs" {
			t.Errorf("exit %d, %+v, %+v", c.ExitCode, c.Sides[at], v)
		}
		if got := strings.Join(c.Warnings, "\n"); got != on+" is invalid: the result is invalid though none of its runs is: interrupted after 12 of 20 runs; nothing is concluded from it" {
			t.Error(got)
		}
		var out bytes.Buffer
		if err := c.RenderBench(&out); err != nil || !strings.Contains(out.String(), "# left out: 12 invalid runs\n") {
			t.Errorf("%v\n%s", err, &out)
		}
	}
	// One of two results, and one of two variants: the others are worth what they were.
	b := later(measured(t, fast...))
	b.Verdict = stopped
	c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", measured(t, fast...), b))
	if v := c.Variants[0].Sides[1]; v.State != Partial || v.Used != 6 || v.Invalid != 6 {
		t.Errorf("%+v", v)
	}
	b = later(measured(t, fast...))
	b.Verdict.Status, b.Variants[0].Verdict = results.Invalid, stopped
	c = compared(t, Options{}, side("a", measured(t, slow...)), side("b", b))
	if x, y := cell(t, c, "each", cpu), cell(t, c, "every 10", cpu); x.Outcome != NotJudged || y.Outcome != Better || c.ExitCode != 0 {
		t.Errorf("each %s, every 10 %s, exit %d", x.Outcome, y.Outcome, c.ExitCode)
	}
}

// Below the table it says what kept a side from being judged, and what to do.
func TestWhyNotJudged(t *testing.T) {
	busy := results.Verdict{Status: results.Invalid, Reasons: []results.Reason{{Kind: results.ReasonHealth, Text: "schedule lag p99 is 9 ms: at most half"}}}
	loses := results.Verdict{Status: results.Fail, Reasons: []results.Reason{{Kind: results.ReasonInvariant, Text: "3 deliveries were lost"}}}
	spoil := func(n int, v results.Verdict) Side {
		r := later(measured(t, fast...))
		for i := range r.Runs {
			if r.Runs[i].Repeat <= n {
				r.Runs[i].Verdict = v
			}
		}
		return side("b", r)
	}
	mixed := later(measured(t, fast...))
	mixed.Variants[0].Hash = "other"
	for want, b := range map[string]Side{
		"not judged: invalid runs were left out of B, 2 of 6, and which ones is no chance; measure it again until all are valid":                                       spoil(2, busy),
		"not judged: B has no valid run of it (all of its 6 runs are invalid: schedule lag p99 is 9 ms); \"loadgen report\" says more, and only measuring again helps": spoil(6, busy),
		"not judged: B broke an invariant (3 deliveries were lost), and what it saves by that is no saving; mend it first":                                             spoil(1, loses),
		"not judged: the results of B measured different things; give each as a side of its own":                                                                       side("b", measured(t, slow...), mixed),
	} {
		c := compared(t, Options{}, side("a", measured(t, slow...)), b)
		if got := c.notes(c.Variants[0]); !slices.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		all := drawn(t, c)
		if text := all["text"]; strings.Index(text, "not judged: ") < strings.Index(text, "outcome") {
			t.Error("it doesn't stand after the table")
		}
		if why := c.Variants[0].Sides[1].Why; !strings.Contains(all["Markdown"], "not judged: ") || !strings.Contains(all["CSV"], "B: "+why) || !strings.Contains(all["JSON"], why) {
			t.Errorf("not every format says %q\n%s", why, all["CSV"])
		}
	}
	if got := compared(t, Options{}, side("a", measured(t, slow...)), side("b", measured(t, fast...))); len(got.notes(got.Variants[0])) > 0 {
		t.Errorf("all is judged: %q", got.notes(got.Variants[0]))
	}
}

// A number without any sense has no hundreds of digits.
func TestGreatNumbers(t *testing.T) {
	b := each(measured(t, slow...), func(run *results.Run) {
		run.Metrics.Set("redis_commands_per_send", 1e308)
		run.Metrics.Set(cpu, 1e300)
	})
	a := each(measured(t, slow...), func(run *results.Run) { run.Metrics.Set("redis_commands_per_send", 1e-10) })
	c := compared(t, Options{}, side("a", a), side("b", b))
	text := drawn(t, c)["text"]
	if !strings.Contains(text, "1.00e+308        ×>999  ") || strings.Contains(text, "was 0") || strings.Contains(text, "00000000000") {
		t.Error(text)
	}
	for ratio, want := range map[float64]string{31: "×31", 999.4: "×999", 999.6: "×>999", math.MaxFloat64: "×>999"} {
		if got := change(ratio); got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
	if got := (Cell{RatioLow: results.Number(2), RatioHigh: results.Number(1e9)}).interval(); got != "×2 … ×>999" {
		t.Error(got)
	}
}

// Timings that are one number everywhere are equal; without a difference are
// those that differ from run to run.
func TestEqualIsNotUndecided(t *testing.T) {
	c := compared(t, Options{}, side("a", measured(t, 10)), side("b", measured(t, 10)))
	// Not watched, and the same in the only run of each side: the rate of
	// deliveries, the greatest latency and what the audit counts.
	if v := c.Variants[0]; v.Quiet != 0 || v.Undecided != 0 || v.Identical != 8 {
		t.Errorf("%d quiet, %d undecided, %d identical", v.Quiet, v.Undecided, v.Identical)
	}
	c = compared(t, Options{}, side("a", measured(t, 10)), side("b", measured(t, 11)))
	if got := c.folded(c.Variants[0]); !strings.HasSuffix(got, "7 further timings equal in every run; 1 further timing undecided") {
		t.Error(got)
	}
}

// A row of few seeds names how many, in every format, beside the numbers that
// were compared: 1 and 2 of two repeats, not 1 … 6.
func TestSharedSeedsAreShown(t *testing.T) {
	a, b := side("a", numbered(t, 2, func(n int) float64 { return float64(n) })), side("b", numbered(t, 6, func(n int) float64 { return float64(2 * n) }))
	c := compared(t, Options{Variants: []string{"each"}, Metrics: []string{"redis_commands_per_send"}}, a, b)
	all := drawn(t, c)
	for format, want := range map[string]string{
		"text":     "Redis commands/send  1.50 ±33%  3 ±33%  +100 %  worse",
		"Markdown": "| Redis commands/send | 1.50 ±33% | 3 ±33% | +100 % | worse |",
		"JSON":     `"seeds": 2,`,
	} {
		if !strings.Contains(strings.ReplaceAll(all[format], "**", ""), want) {
			t.Errorf("%s lacks %q:\n%s", format, want, all[format])
		}
	}
	if !strings.Contains(all["text"], "Redis commands/send: B is compared by the 2 seeds that it shares with A") || !strings.Contains(all["text"], "Counts are compared by the runs of the same seed") {
		t.Error(all["text"])
	}
	records, err := csv.NewReader(strings.NewReader(all["CSV"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i, name := range records[0] {
		got[name] = records[2][i]
	}
	for name, want := range map[string]string{"median": "7", "ratio": "2", "seeds": "2", "seeds_moved": "2", "seeds_first": "1.5", "seeds_median": "3", "outcome": "worse", "note": "B is compared by the 2 seeds that it shares with A"} {
		if got[name] != want {
			t.Errorf("CSV: %s is %q, want %q", name, got[name], want)
		}
	}
}

// The hash of a setting is told once, with the differences.
func TestHashOnce(t *testing.T) {
	b := later(measured(t, fast...))
	b.Variants[0].Hash = "other"
	if got := compared(t, Options{}, side("a", measured(t, slow...)), side("b", b)).Warnings; len(got) != 1 || got[0] != "B measured something else than A: its counts differ for that reason too" {
		t.Errorf("%q", got)
	}
	b.Variants[0].Set = map[string]string{"clients.ack.policy": "interval"}
	text := drawn(t, compared(t, Options{}, side("a", measured(t, slow...)), side("b", b)))["text"]
	if strings.Count(text, "hash of the setting") != 1 || !strings.Contains(text, "something else than A (clients.ack.policy): ") {
		t.Error(text)
	}
}
