package sweep

import (
	"math"
	"strings"
	"testing"

	"ackmark/results"
)

// By hand: of 24 independent figures one is farther than z(1 − 0.025/24) = 3.078
// standard errors in 5 % of grids, 1.57 times the 1.96 of a single one.
func TestFarthestByChance(t *testing.T) {
	if f := farthestByChance(24); math.Abs(f-1.57) > 0.005 {
		t.Errorf("%v", f)
	}
	if f := farthestByChance(1); math.Abs(f-1) > 1e-4 {
		t.Errorf("of one: %v", f)
	}
}

func TestAcksNotes(t *testing.T) {
	check := func(off, chance, seconds float64) results.AckCheck {
		return results.AckCheck{ReplayError: results.Number(0), FormError: &off, Chance: &chance, Seconds: seconds}
	}
	all := func(n int, c results.AckCheck) (out []results.AckCheck) {
		for range n {
			out = append(out, c)
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		checks []results.AckCheck
		want   string
	}{
		{"all near", all(24, check(0.01, 0.02, 6)), "24 settings, at most 1 % off; 0 of 24 shorter ones farther than 95 % of runs by chance"},
		{"one of many is a little farther", append(all(23, check(0, 0.02, 6)), check(-0.03, 0.02, 6)), "1 of 24 shorter ones farther than 95 % of runs by chance, at most 1.5 times as far: as many of so many are"},
		{"one is much farther", append(all(23, check(0, 0.02, 6)), check(0.034, 0.02, 6)), "at most 1.7 times as far: more than chance explains"},
		{"the only one is farther", all(1, check(0.022, 0.02, 6)), "1 of 1 shorter ones farther than 95 % of runs by chance, at most 1.1 times as far: more than chance explains"},
		{"long runs have a limit", all(2, check(0.06, 0.001, 60)), "2 settings, at most 6 % off; 2 of 2 that measured for 60 s or more outside 5 %"},
	} {
		if text := strings.Join(acksNotes(tt.checks, 1), "\n"); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s\nwant %s", tt.name, text, tt.want)
		}
	}
}
