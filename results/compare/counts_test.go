package compare

import (
	"strings"
	"testing"

	"ackmark/results"
)

// numbered gives the runs of each variant a count per repeat.
func numbered(t *testing.T, repeats int, count func(repeat int) float64) *results.Result {
	return each(measured(t, slow[:repeats]...), func(r *results.Run) { r.Metrics.Set("redis_commands_per_send", count(r.Repeat)) })
}

// The count of repeat n is n on both sides: the medians of 2 and of 6 repeats
// are 1.5 and 3.5, but the repeats that both have are the same.
func TestCountsOfTheSeedsThatBothHave(t *testing.T) {
	const metric = "redis_commands_per_send"
	same := func(n int) float64 { return float64(n) }
	a, b := side("a", numbered(t, 2, same)), side("b", numbered(t, 6, same))
	got := cell(t, compared(t, Options{Metrics: []string{metric}}, a, b), "each", metric)
	if got.Outcome != Same || !near(got.Median, 3.5) || !near(got.Ratio, 1) || !strings.Contains(strings.Join(got.Warnings, "\n"), "seeds both sides have: 2 and 2") {
		t.Errorf("%+v", got)
	}
	// Half as much in each of the shared repeats: 0.75 against 1.5, though the
	// median of all six is larger.
	b = side("b", numbered(t, 6, func(n int) float64 {
		if n <= 2 {
			return float64(n) / 2
		}
		return 10
	}))
	if got := cell(t, compared(t, Options{Metrics: []string{metric}}, a, b), "each", metric); got.Outcome != Better || !near(got.Ratio, 0.5) {
		t.Errorf("%+v", got)
	}
	// A run that is left out takes its pair with it.
	left := numbered(t, 6, same)
	for i := range left.Runs[:2] {
		left.Runs[i].Verdict.Status = results.Invalid
	}
	if got := outcomeOf(t, Options{}, metric, side("a", numbered(t, 6, same)), side("b", left)); got != Same {
		t.Errorf("one run is invalid: %s", got)
	}
}

// Other seeds give other counts: 1 … 6 and 3 … 8 overlap, 1 … 6 and 7 … 12
// don't.
func TestCountsOfOtherSeeds(t *testing.T) {
	for shift, want := range map[int]Outcome{2: NoDifference, 6: Worse} {
		b := numbered(t, 6, func(n int) float64 { return float64(n + shift) })
		each(b, func(r *results.Run) { r.Seed += 1000 })
		if got := outcomeOf(t, Options{}, "redis_commands_per_send", side("a", numbered(t, 6, func(n int) float64 { return float64(n) })), side("b", b)); got != want {
			t.Errorf("shifted by %d: %s, want %s", shift, got, want)
		}
	}
}

// How often it was measured makes no other measurement of it.
func TestRepeatsAreNoDifference(t *testing.T) {
	b := measured(t, slow...)
	b.Profile.Sets = []string{"repeats=6"}
	if c := compared(t, Options{}, side("a", measured(t, 10, 11)), side("b", b)); len(c.Differences) > 0 {
		t.Error(lines(c))
	}
}
