package compare

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

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
	if got.Outcome != Same || !near(got.Median, 3.5) || !near(got.Ratio, 1) || !near(got.BySeed.First, 1.5) || !near(got.BySeed.Median, 1.5) || !strings.Contains(strings.Join(got.Warnings, "\n"), "B is compared by the 2 seeds that it shares with A") {
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

// Each seed is held against itself, so that no median of several hides one. The
// count of repeat n is 10 n, times what is given here.
func TestCountsAreHeldSeedBySeed(t *testing.T) {
	const metric = "redis_commands_per_send"
	for _, tc := range []struct {
		name  string
		times []float64 // of B, per repeat
		want  Outcome
		ratio float64
		moved int
		says  string
	}{
		{"none moved", []float64{1, 1.009, 0.991}, Same, 1, 0, ""},
		{"one of three", []float64{1, 1, 100}, Worse, 100, 1, "more in 1 of 3 seeds on B; the change is that of the seed that moved most, 102: 30 to 3,000"},
		{"the medians are the same", []float64{1.5, 1, 0.5}, Changed, 0.5, 2, "more in 1, less in 1 of 3 seeds on B; the change is that of the seed that moved most, 102: 30 to 15"},
		{"two of three, less", []float64{0.9, 1, 0.8}, Better, 0.8, 2, "less in 2 of 3 seeds on B; the change is that of the seed that moved most, 102: 30 to 24"},
		{"all alike", []float64{2, 4, 3}, Worse, 3, 3, "more in 3 of 3 seeds; the change is the median of theirs"},
		{"all, both ways", []float64{2, 0.4, 1.1}, Changed, 0.4, 3, "more in 2, less in 1 of 3 seeds on B; the change is that of the seed that moved most, 101: 20 to 8"},
	} {
		a := numbered(t, 3, func(n int) float64 { return float64(10 * n) })
		b := later(numbered(t, 3, func(n int) float64 { return float64(10*n) * tc.times[n-1] }))
		got := cell(t, compared(t, Options{Metrics: []string{metric}}, side("a", a), side("b", b)), "each", metric)
		if got.Outcome != tc.want || !near(got.Ratio, tc.ratio) || got.BySeed.Seeds != 3 || got.BySeed.Moved != tc.moved {
			t.Errorf("%s: %s, %+v, %+v", tc.name, got.Outcome, *got.Ratio, got.BySeed)
		}
		if says := strings.Join(got.Warnings, "\n"); !strings.Contains(says, tc.says) {
			t.Errorf("%s: %s", tc.name, says)
		}
	}
	// Without a direction that is better, what moved has changed.
	b := later(each(numbered(t, 3, func(int) float64 { return 1 }), func(r *results.Run) {
		if r.Repeat == 2 {
			r.Metrics.Set("sends", 900)
		}
	}))
	if got := outcomeOf(t, Options{}, "sends", side("a", numbered(t, 3, func(int) float64 { return 1 })), side("b", b)); got != Changed {
		t.Error(got)
	}
}

// From nothing to something is no ratio, and the farthest that a count can move.
func TestCountsThatWereNothing(t *testing.T) {
	const metric = "redis_commands_per_send"
	for _, tc := range []struct {
		a, b   []float64
		want   Outcome
		change string
	}{
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, Same, "0 %"},
		{[]float64{0, 0, 0}, []float64{0, 0, 5}, Worse, "was 0"},
		{[]float64{0, 1, 1}, []float64{5, 100, 1}, Worse, "was 0 in a seed"},
		{[]float64{2, 2, 2}, []float64{2, 2, 0}, Better, "−100 %"},
	} {
		of := func(x []float64) *results.Result { return numbered(t, 3, func(n int) float64 { return x[n-1] }) }
		c := compared(t, Options{Metrics: []string{metric}}, side("a", of(tc.a)), side("b", later(of(tc.b))))
		got := cell(t, c, "each", metric)
		if text := got.change(c.Variants[0].Metrics[0].Cells[0]); got.Outcome != tc.want || text != tc.change {
			t.Errorf("%v, %v: %s, %s", tc.a, tc.b, got.Outcome, text)
		}
	}
}

// Several runs of a seed on a side stand for it by their median, and are to agree:
// repeats 1 and 2 of two results are 10 and 20, then 10 and 26.
func TestRunsOfOneSeed(t *testing.T) {
	const metric = "redis_commands_per_send"
	of := func(second float64) *results.Result {
		return numbered(t, 2, func(n int) float64 { return []float64{10, second}[n-1] })
	}
	a, once := side("a", of(20)), later(of(20))
	got := cell(t, compared(t, Options{Metrics: []string{metric}}, a, side("b", once, later(later(of(20))))), "each", metric)
	if got.Outcome != Same || got.BySeed.Seeds != 2 || got.N != 4 || len(got.notes) > 0 {
		t.Errorf("they agree: %+v", got)
	}
	// 20 and 26 are 23, which is 15 % more than 20.
	c := compared(t, Options{}, a, side("b", once, later(later(of(26)))))
	got = cell(t, c, "each", metric)
	want := "the runs of one seed differ on B, in 1 of 2 seeds, most in seed 101: 20 to 26"
	if got.Outcome != Worse || !near(got.Ratio, 1.15) || len(got.notes) != 2 || got.notes[0] != want {
		t.Errorf("%s %v %q", got.Outcome, *got.Ratio, got.notes)
	}
	// 19 and 21 have the median 20: the same, and shown for what is noted.
	c = compared(t, Options{}, a, side("b", later(of(19)), later(later(of(21)))))
	if got := cell(t, c, "each", metric); got == nil || got.Outcome != Same || len(got.notes) != 1 {
		t.Errorf("%+v", got)
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

// However the counts of a few seeds lie: the same exactly where every seed is
// within 1 %, better or worse only where none moved the other way.
func TestCountsBySeedProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "seeds")
		draw := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 100, 100.5, 102, 150, 1e6}), n, n)
		x, y := draw.Draw(rt, "a"), draw.Draw(rt, "b")
		of := func(counts []float64) *results.Result {
			return numbered(t, n, func(repeat int) float64 { return counts[repeat-1] })
		}
		up, down := 0, 0
		for i := range x {
			if d := y[i] - x[i]; d > x[i]/100 {
				up++
			} else if -d > x[i]/100 {
				down++
			}
		}
		want := Same
		switch {
		case up > 0 && down > 0:
			want = Changed
		case up > 0:
			want = Worse
		case down > 0:
			want = Better
		}
		c, err := New([]Side{side("a", of(x)), side("b", later(of(y)))}, Options{Metrics: []string{"redis_commands_per_send"}, Variants: []string{"each"}})
		if err != nil {
			rt.Fatal(err)
		}
		got := c.Variants[0].Metrics[0].Cells[1]
		if got.Outcome != want || got.BySeed.Moved != up+down {
			rt.Fatalf("%v, %v: %s, %d moved; want %s, %d", x, y, got.Outcome, got.BySeed.Moved, want, up+down)
		}
	})
}
