package results

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestConditionUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"live.p99 < 250ms": 250_000, "live.p99.9 < 1.5s": 1_500_000, "send.min >= 3us": 3, "live.p50 > 0": 0,
		"achieved_percent >= 99.5": 99.5, "ack_requests_replayed_error < 0.01": 0.01, "lost == 0": 0, "live.count > 10": 10,
	} {
		c, err := newCondition(text)
		if err != nil || c.Limit != want {
			t.Errorf("%s: limit %g, %v; want %g", text, c.Limit, err, want)
		}
	}
}

func TestConditionsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"live.p99 < 250":      "has no unit; live.p99 is a time, e.g. live.p99 < 250ms",
		"lost < 3ms":          "lost is no time",
		"losst == 0":          "there is no metric losst; did you mean lost",
		"live.p98 < 1ms":      "there is no metric live.p98; did you mean live.p9",
		"lively.p99 < 250ms":  "did you mean live.p99",
		"live.p99":            "compares nothing",
		"lost = 0":            "unknown comparison =",
		"deliveries_per_s >x": "not a value",
	} {
		_, err := Conditions([]string{text}, FromThreshold)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

func TestContradicts(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"lost > 0", "lost == 0", true}, {"lost >= 1", "lost == 0", true}, {"lost != 0", "lost == 0", true},
		{"lost >= 0", "lost == 0", false}, {"lost < 5", "lost == 0", false}, {"lost > 0", "shown_twice == 0", false},
		{"live.p99 > 1s", "live.p99 < 250ms", true}, {"live.p99 > 100ms", "live.p99 < 250ms", false},
		{"lost > 3", "lost > 5", false}, {"lost < 3", "lost < 1", false}, {"lost <= 3", "lost >= 3", false}, {"lost < 3", "lost >= 3", true},
		{"lost == 3", "lost == 4", true}, {"lost != 3", "lost != 4", false},
	} {
		a, b := conditions(t, FromExpect, tc.a)[0], conditions(t, FromThreshold, tc.b)[0]
		if a.Contradicts(b) != tc.want || b.Contradicts(a) != tc.want {
			t.Errorf("%s against %s: want %t both ways", tc.a, tc.b, tc.want)
		}
	}
}

func TestReplaces(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"lost > 0", "lost == 0", true}, {"lost < 5", "lost == 0", false}, {"lost >= 1", "lost == 0", true},
		{"lost >= 0", "lost == 0", true}, {"lost > -1", "lost == 0", true}, {"lost >= 0", "lost < 5", true},
		{"lost >= 0", "shown_twice == 0", false}, {"lost <= 0", "lost == 0", false},
	} {
		a, b := conditions(t, FromExpect, tc.a)[0], conditions(t, FromThreshold, tc.b)[0]
		if a.Replaces(b) != tc.want {
			t.Errorf("%s in place of %s: want %t", tc.a, tc.b, tc.want)
		}
	}
}

func TestSummarize(t *testing.T) {
	for name, tc := range map[string]struct {
		in                  []float64
		median, least, most float64
	}{
		"one": {[]float64{3}, 3, 3, 3}, "two": {[]float64{5, 2}, 3.5, 2, 5}, "three": {[]float64{9, 1, 2}, 2, 1, 9}, "four": {[]float64{4, 1, 3, 2}, 2.5, 1, 4},
	} {
		median, least, most, ok := Summarize(tc.in)
		if !ok || median != tc.median || least != tc.least || most != tc.most {
			t.Errorf("%s: %g %g %g %t", name, median, least, most, ok)
		}
	}
	if _, _, _, ok := Summarize(nil); ok {
		t.Error("a median of nothing")
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 9).Draw(t, "samples")
		before := slices.Clone(in)
		median, least, most, _ := Summarize(in)
		if least > median || median > most || !slices.Equal(in, before) {
			t.Fatalf("%g ≤ %g ≤ %g of %v", least, median, most, in)
		}
	})
}

func TestSpreadPercent(t *testing.T) {
	summary := func(n int, least, median, most float64) Summary {
		return Summary{N: n, Min: Number(least), Median: Number(median), Max: Number(most)}
	}
	for name, tc := range map[string]struct {
		s    Summary
		want float64
		ok   bool
	}{
		"half the range":    {summary(2, 90, 100, 110), 10, true},
		"one repeat":        {summary(1, 5, 5, 5), 0, false},
		"no repeat":         {Summary{}, 0, false},
		"all 0":             {summary(2, 0, 0, 0), 0, true},
		"around 0":          {summary(3, 0, 0, 7), 0, false},
		"a negative median": {summary(2, -12, -10, -8), 20, true},
	} {
		if got, ok := tc.s.SpreadPercent(); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %g %t", name, got, ok)
		}
	}
}
