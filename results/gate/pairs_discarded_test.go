package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"ackmark/results"
)

func TestSignTest(t *testing.T) {
	for _, tc := range []struct {
		a, b int
		want float64
	}{
		{0, 0, 1}, {1, 0, 1}, {4, 4, 1},
		{5, 0, 2.0 / 32}, {6, 0, 2.0 / 64}, {8, 0, 2.0 / 256}, {0, 8, 2.0 / 256},
		{7, 1, 2 * 9.0 / 256},   // C(8,7) + C(8,8)
		{9, 1, 2 * 11.0 / 1024}, // C(10,9) + C(10,10)
		{500, 0, 2 * math.Pow(2, -500)},
	} {
		if got := signTest(tc.a, tc.b); math.Abs(got/tc.want-1) > 1e-12 {
			t.Errorf("%d : %d is %g, want %g", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestDiscardsOfOneSide: pairs that are left out since the candidate couldn't be
// measured aren't left out at random.
func TestDiscardsOfOneSide(t *testing.T) {
	for _, tc := range []struct {
		name       string
		bad        func(i int) (candidate, reference bool)
		want       results.Status
		discarded  [3]int // all, for the candidate's sake, for the reference's
		says, note string
	}{
		{"every second of the candidate", func(i int) (bool, bool) { return i%2 == 0, false }, results.Inconclusive, [3]int{8, 8, 0},
			"discarded were 8 pairs for the candidate's sake alone and 0 for the reference's; chance alone does that in 0.78 % of gates, " +
				"so what was left out may be what differs between the builds; the last was left out since candidate: because of health", ""},
		{"every second of the reference", func(i int) (bool, bool) { return false, i%2 == 0 }, results.Inconclusive, [3]int{8, 0, 8},
			"discarded were 0 pairs for the candidate's sake alone and 8 for the reference's", ""},
		{"six", func(i int) (bool, bool) { return i < 6, false }, results.Inconclusive, [3]int{6, 6, 0}, "in 3.1 % of gates", ""},
		{"five, which chance does", func(i int) (bool, bool) { return i < 5, false }, results.Pass, [3]int{5, 5, 0}, "", ""},
		{"in turns", func(i int) (bool, bool) { return i%4 == 0, i%4 == 2 }, results.Pass, [3]int{8, 4, 4}, "", ""},
		{"both", func(i int) (bool, bool) { return i%2 == 0, i%2 == 0 }, results.Pass, [3]int{8, 0, 0}, "", ""},
		{"too many of the candidate", func(int) (bool, bool) { return true, false }, results.Invalid, [3]int{11, 11, 0},
			"11 pairs couldn't be trusted: discarded were 11 pairs for the candidate's sake alone and 0 for the reference's, last since candidate: because of health; this machine is too busy, or too slow for that side", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pairs := even(40)
			for i, pr := range pairs {
				for k, bad := range [2]bool{first(tc.bad(i)), second(tc.bad(i))} {
					if bad {
						pr[k].Verdict = invalid(results.ReasonHealth)
					}
				}
			}
			rep, _ := judgePairs(DefaultPairOptions(), pairs)
			if got := [3]int{rep.Discarded, rep.DiscardedCandidate, rep.DiscardedReference}; rep.Verdict.Status != tc.want || got != tc.discarded {
				t.Errorf("%s, discarded %v; want %s, %v: %+v", rep.Verdict.Status, got, tc.want, tc.discarded, rep.Verdict.Reasons)
			}
			if tc.says != "" && !slices.ContainsFunc(rep.Verdict.Reasons, func(r results.Reason) bool { return strings.Contains(r.Text, tc.says) }) {
				t.Errorf("no reason says %q: %+v", tc.says, rep.Verdict.Reasons)
			}
		})
	}
}

func first(a, _ bool) bool  { return a }
func second(_, b bool) bool { return b }

// TestDiscardsOverVariants: too few of each, and all of one side.
func TestDiscardsOverVariants(t *testing.T) {
	p := NewPairs(DefaultPairOptions())
	for i, pr := range even(12) {
		for _, v := range []string{"a", "b", "c"} {
			candidate := *pr[0]
			if i < 2 {
				candidate.Verdict = invalid(results.ReasonHealth)
			}
			p.Add(v, "count", &candidate, pr[1])
		}
		if p.Look() {
			break
		}
	}
	rep := p.Report()
	if c := find(t, rep, "", "discarded pairs"); rep.Verdict.Status != results.Inconclusive || !strings.Contains(c.Text, "6 pairs for the candidate's sake alone and 0") {
		t.Errorf("%s, %q", rep.Verdict.Status, c.Text)
	}
}

// TestOneContradiction of the candidate is told.
func TestOneContradiction(t *testing.T) {
	pairs := even(20)
	pairs[3][0].Verdict = invalid(results.ReasonReconcile)
	rep, _ := judgePairs(DefaultPairOptions(), pairs)
	want := "every 10: in one pair that was discarded the candidate's counts contradict each other, and the reference's don't: because of reconcile; a second one would fail"
	if rep.Verdict.Status != results.Pass || !slices.Contains(rep.Notes, want) {
		t.Errorf("%s, %q", rep.Verdict.Status, rep.Notes)
	}
}

// TestCountsOfAFewPairs: what a count does in fewer than half of the pairs isn't
// passed over.
func TestCountsOfAFewPairs(t *testing.T) {
	const metric = "redis_commands_per_send"
	for _, tc := range []struct {
		name    string
		factors map[int]float64 // by pair, from 1
		want    results.Status
		text    string
	}{
		{"one", map[int]float64{4: 100}, results.Pass, "redis_commands_per_send is 100, was 1: ×100 in pair 4; more than 1 % in 1 of 8 pairs"},
		{"two, to the worse side", map[int]float64{3: 1.5, 7: 2}, results.Inconclusive,
			"redis_commands_per_send is 2, was 1: +100 % in pair 7; more than 1 % in 2 of 8 pairs, always to the worse side"},
		{"three, to the worse side", map[int]float64{2: 100, 5: 100, 7: 100}, results.Inconclusive,
			"redis_commands_per_send is 100, was 1: ×100 in pair 2; more than 1 % in 3 of 8 pairs, always to the worse side"},
		{"two, to both sides", map[int]float64{3: 1.5, 7: 0.9}, results.Pass, "redis_commands_per_send is 1.5, was 1: +50 % in pair 3; more than 1 % in 2 of 8 pairs"},
		{"two, to the better side", map[int]float64{3: 0.5, 7: 0.5}, results.Pass, "redis_commands_per_send is 0.5, was 1: −50 % in pair 3; more than 1 % in 2 of 8 pairs"},
		{"half of them, to both sides", map[int]float64{2: 2, 4: 0.5, 6: 2, 8: 0.5}, results.Inconclusive,
			"redis_commands_per_send is 2, was 1: +100 % in pair 2; more than 1 % in 4 of 8 pairs, to the worse side in 2"},
		{"all, to both sides", map[int]float64{1: 0.5, 2: 0.5, 3: 1.5, 4: 1.5, 5: 0.5, 6: 1.5, 7: 0.5, 8: 1.5}, results.Inconclusive,
			"redis_commands_per_send is 1.5, was 1: +50 % in pair 3; more than 1 % in 8 of 8 pairs, to the worse side in 4"},
		{"two worse, one better", map[int]float64{1: 1.5, 5: 1.2, 6: 0.1}, results.Inconclusive,
			"redis_commands_per_send is 1.5, was 1: +50 % in pair 1; more than 1 % in 3 of 8 pairs, to the worse side in 2"},
		{"better, but for a minority", map[int]float64{1: 0.5, 2: 0.5, 3: 0.5, 4: 0.5, 5: 0.5, 6: 10, 7: 10, 8: 10}, results.Inconclusive,
			"redis_commands_per_send is 10, was 1: ×10 in pair 6; more than 1 % in 8 of 8 pairs, to the worse side in 3"},
		{"always better", map[int]float64{1: 0.5, 2: 0.5, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5, 7: 0.5, 8: 0.5}, results.Pass,
			"redis_commands_per_send is 0.5, was 1: −50 % in 8 of 8 pairs, which is better"},
		{"within the tolerance", map[int]float64{3: 1.009, 7: 1.009}, results.Pass, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pairs := even(8)
			for i, f := range tc.factors {
				pairs[i-1][0].Metrics.Set(metric, f)
			}
			rep, n := judgePairs(DefaultPairOptions(), pairs)
			if c := find(t, rep, "every 10", metric); rep.Verdict.Status != tc.want || n != 8 || c.Text != tc.text {
				t.Errorf("%s after %d: %q; want %s, %q", rep.Verdict.Status, n, c.Text, tc.want, tc.text)
			}
			if told := slices.Contains(rep.Notes, "every 10: "+tc.text); told != (tc.want == results.Pass && tc.text != "" && !strings.HasSuffix(tc.text, isBetter)) {
				t.Errorf("notes %q", rep.Notes)
			}
		})
	}
}
