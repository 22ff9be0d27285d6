package selftest

import (
	"context"
	"math"
	"testing"

	"ackmark/results"
)

// Try measures a case once, for tests of the whole.
func Try(ctx context.Context, c Case) (*Trial, error) {
	cfg := Config{StubArgs: []string{"stub"}, Progress: func(string, bool) {}}
	return cfg.try(ctx, c, 1, c.Name)
}

// TestVerdict: what is wrong outranks what can't be told, and nothing tested is
// no pass.
func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   []Check
		want results.Status
		code results.ExitCode
	}{
		{"all well", []Check{{Status: OK}, {Status: OK}}, results.Pass, 0},
		{"one wrong", []Check{{Status: OK}, {Status: Wrong}, {Status: Busy}}, results.Fail, 1},
		{"one can't be told", []Check{{Status: OK}, {Status: Busy}}, results.Invalid, 3},
		{"nothing tested", nil, results.Invalid, 3},
	} {
		r := Report{Checks: tt.of}
		if r.conclude(); r.Verdict != tt.want || r.ExitCode != tt.code {
			t.Errorf("%s: %s with %d, want %s with %d", tt.name, r.Verdict, r.ExitCode, tt.want, tt.code)
		}
	}
}

func TestTolerances(t *testing.T) {
	for _, tt := range []struct {
		expected, found, within float64
		want                    Status
	}{
		{80_000, 80_800, 800, OK}, {80_000, 79_200, 800, OK}, {80_000, 80_801, 800, Wrong}, {80_000, math.NaN(), 800, Wrong},
	} {
		if c := near("x", tt.expected, tt.found, tt.within); c.Status != tt.want || !c.Timing {
			t.Errorf("%v for %v: %+v, want %s", tt.found, tt.expected, c, tt.want)
		}
	}
	if c := equal("x", 3, 2); c.Status != Wrong || c.Timing {
		t.Errorf("2 for 3: %+v", c)
	}
}
