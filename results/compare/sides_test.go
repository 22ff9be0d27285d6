package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ackmark/results"
)

// later is a measurement of its own, an hour after the fixture's.
func later(r *results.Result) *results.Result {
	r.Started = r.Started.Add(time.Hour)
	return r
}

// A copy of a result makes no further samples, and what both sides hold can't
// differ.
func TestTheSameResultTwice(t *testing.T) {
	v1 := measured(t, slow...)
	v1.Schema = results.SchemaV1
	c := compared(t, Options{}, side("a", measured(t, slow...), v1, later(measured(t, slow...))), side("b", measured(t, slow...)))
	if c.Sides[0].Results != 2 || cell(t, c, "each", cpu).N != 6 || c.Variants[0].Sides[0].Used != 12 {
		t.Errorf("%+v", c.Sides[0])
	}
	want := "A holds 1 result more than once; each is counted once\nA and B both hold the same result: what they share can't differ"
	if got := strings.Join(c.Warnings, "\n"); got != want {
		t.Errorf("%s", got)
	}
	if c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", later(measured(t, slow...)))); len(c.Warnings) > 0 {
		t.Errorf("measured at another time: %q", c.Warnings)
	}
}

// Results of other profiles under one name are no samples of one thing.
func TestMixedSide(t *testing.T) {
	for mixed, numbers := range [][]float64{slow, fast} {
		other := later(measured(t, numbers...))
		other.Profile.Name, other.Profile.Hash, other.Variants[0].Hash = "ci", "bbbb0000", "other"
		sides := []Side{side("a", measured(t, slow...)), side("b", measured(t, fast...))}
		sides[mixed].Results = append(sides[mixed].Results, other)
		c := compared(t, Options{}, sides...)
		on := letter(mixed)
		if b := cell(t, c, "each", cpu); b.Outcome != NotJudged || c.Variants[0].Sides[mixed].State != Mixed {
			t.Errorf("%s: %+v, %+v", on, b, c.Variants[0].Sides[mixed])
		}
		if b := cell(t, c, "every 10", cpu); b.Outcome != Better {
			t.Errorf("%s, the variant that is the same: %+v", on, b)
		}
		if got := lines(c); !strings.Contains(got, on+" profile: ack-storm → ci [counts] true") || !strings.Contains(got, "hash of the setting: e1 → other [counts] true") {
			t.Error(got)
		}
		if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got, on+", each: its results measured different things") || strings.Contains(got, "measured something else than A") {
			t.Error(got)
		}
	}
	seed := later(each(measured(t, fast...), func(r *results.Run) { r.Seed += 1000 }))
	seed.Profile.Seed = 9
	if got := outcomeOf(t, Options{}, cpu, side("a", measured(t, slow...)), side("b", measured(t, fast...), seed)); got != Better {
		t.Errorf("another seed is another sample: %s", got)
	}
}

func TestSeveralBuilds(t *testing.T) {
	newer := later(measured(t, fast...))
	newer.ToolVersion = "0.3.0"
	c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", measured(t, fast...), newer))
	if got := strings.Join(c.Warnings, "\n"); got != "the results of B are of several builds: what is compared is their mixture" {
		t.Error(got)
	}
	if got := lines(c); !strings.Contains(got, "B loadgen: 0.2.0 → 0.3.0 [] true") {
		t.Error(got)
	}
}

// A side that lacks the variant takes nothing from the others.
func TestVariantThatOneSideLacks(t *testing.T) {
	lacks := later(measured(t, fast...))
	lacks.Variants, lacks.Runs = lacks.Variants[:1], onlyEach(lacks.Runs)
	lacks.Variants[0].Name = "other"
	each(lacks, func(r *results.Run) { r.Variant = "other" })
	c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", measured(t, fast...)), side("c", lacks))
	var b bytes.Buffer
	if err := c.RenderText(&b, results.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{"server CPU, µs   12.5 ±20%   6.25 ±20%", "each: C doesn't have it", "6 counts the same", "7 invariants held", "C against A: nothing to compare"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(out, "no number of") || strings.Contains(out, "without a number") {
		t.Error("what isn't there has no numbers to lack")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestSideWithoutRuns(t *testing.T) {
	for name, empty := range map[string]func(*results.Result){
		"no runs":     func(r *results.Result) { r.Runs = nil },
		"no variants": func(r *results.Result) { r.Runs, r.Variants = nil, nil },
	} {
		for at := range 2 {
			r := measured(t, slow...)
			empty(r)
			sides := []Side{side("x", r), side("x", r)}
			sides[1-at] = side("full", measured(t, fast...))
			c := compared(t, Options{}, sides...)
			if got := strings.Join(c.Warnings, "\n"); c.ExitCode != results.ExitInvalid || !strings.Contains(got, letter(at)+" holds no run") {
				t.Errorf("%s: exit %d, %s", name, c.ExitCode, got)
			}
			if got := c.summary(); got != "B against A: nothing to compare" {
				t.Errorf("%s: %s", name, got)
			}
			var b bytes.Buffer
			if err := c.RenderText(&b, results.TextOptions{}); err != nil || strings.Contains(b.String(), "held") {
				t.Errorf("%s: %v\n%s", name, err, &b)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	b := later(measured(t, fast...))
	b.Interrupted = true
	c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", b))
	if got := strings.Join(c.Warnings, "\n"); got != "B was interrupted: what it holds is what was measured until then" {
		t.Error(got)
	}
}

// A number that only one side has is no agreement.
func TestMissingIsSummedUp(t *testing.T) {
	b := later(each(measured(t, slow...), func(r *results.Run) { r.Metrics.SetNull(cpu) }))
	c := compared(t, Options{}, side("a", measured(t, slow...)), side("b", b))
	if got := c.summary(); got != "B against A: no difference seen, 2 without a number on a side" {
		t.Error(got)
	}
	if got := c.missing(c.Variants[0]); strings.Join(got, "\n") != "B has no number of: server CPU" {
		t.Error(got)
	}
	each(b, func(r *results.Run) { delete(r.Histograms, "live") })
	c = compared(t, Options{}, side("a", measured(t, slow...)), side("b", b))
	if got := c.missing(c.Variants[0]); strings.Join(got, "\n") != "B has no number of: server CPU; live" {
		t.Errorf("a histogram is named once: %q", got)
	}
}

// The rule behind a reason of health is cut off, figures are not.
func TestWhyInvalid(t *testing.T) {
	for text, want := range map[results.Reason]string{
		{Kind: results.ReasonHealth, Text: "schedule lag p99 is 9 ms: at most half"}:   "schedule lag p99 is 9 ms",
		{Kind: results.ReasonReplay, Text: "ack requests: 309 measured, 264 replayed"}: "ack requests: 309 measured, 264 replayed",
	} {
		r := later(measured(t, fast...))
		for i := range r.Runs {
			r.Runs[i].Verdict = results.Verdict{Status: results.Invalid, Reasons: []results.Reason{text}}
		}
		r.Runs[3].Verdict = results.Verdict{Status: results.Pass}
		c := compared(t, Options{Variants: []string{"each"}}, side("a", measured(t, slow...)), side("b", r))
		if got := c.Variants[0].Sides[1].Why; got != "all of its 6 runs are invalid: "+want {
			t.Error(got)
		}
	}
}
