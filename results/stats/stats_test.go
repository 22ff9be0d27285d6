package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestSignFlipByHand(t *testing.T) {
	for _, tt := range []struct {
		name          string
		diffs         []float64
		theta         float64
		greater, less float64
	}{
		// 3 pairs, 8 patterns; the sum 6 is reached by +++ alone, everything is ≤ 6.
		{"all above", []float64{1, 2, 3}, 0, 1. / 8, 1},
		// sum 4: +++ (6) and −++ (4) reach it; 7 of 8 are at most 4.
		{"one below", []float64{-1, 2, 3}, 0, 2. / 8, 7. / 8},
		// from theta 2: −1, 0, 1; sum 0: +++, +−+… the patterns of (∓1, 0, ±1) with
		// sums −2, 0, 0, 2, each twice: 6 of 8 on either side.
		{"around theta", []float64{1, 2, 3}, 2, 6. / 8, 6. / 8},
		{"one pair", []float64{5}, 0, 1. / 2, 1},
		{"none", nil, 0, 1, 1},
	} {
		s := NewSignFlip(tt.diffs, rng())
		if g, l := s.Greater(tt.theta), s.Less(tt.theta); g != tt.greater || l != tt.less {
			t.Errorf("%s: greater %v, less %v; want %v, %v", tt.name, g, l, tt.greater, tt.less)
		}
	}
}

// With more pairs than are counted out, the sampled patterns give the p-value of
// a normal sum: all differences are ±1, so the sum of 18 is binomial.
func TestSignFlipSampled(t *testing.T) {
	diffs := slices.Repeat([]float64{1}, 18)
	for i := range 4 {
		diffs[i] = -1 // sum 10: P(at least 14 of 18 plus) = 4048/262144
	}
	s := NewSignFlip(diffs, rng())
	if got, want := s.Greater(0), 4048./262144; !near(got, want, 0.004) {
		t.Errorf("p is %v, want %v", got, want)
	}
}

// From 17 pairs on patterns are drawn, a coin for each pair however many there
// are: with 70 the last six count too.
func TestSignFlipDrawsEveryPair(t *testing.T) {
	diffs := make([]float64, 70)
	for i := range diffs[64:] {
		diffs[64+i] = 1 // the others are 0: the p-value is that of six pairs, 1/64
	}
	if got := NewSignFlip(diffs, rng()).Greater(0); !near(got, 1./64, 0.004) {
		t.Errorf("p is %v, want %v", got, 1./64)
	}
}

func TestNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Just(0.5)), 1, 200).Draw(t, "x")
		k := rapid.IntRange(0, len(x)-1).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(x))
		if got := nth(x, k); got != sorted[k] {
			t.Fatalf("%v at place %d, want %v", got, k, sorted[k])
		}
		if slices.Sort(x); !slices.Equal(x, sorted) {
			t.Fatal("other numbers are in it now")
		}
	})
}

// The interval is what the two tests leave: its ends are refused by neither, and
// what lies past them is.
func TestSignFlipIntervalInvertsTheTests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 6, 16).Draw(t, "diffs")
		alpha := rapid.SampledFrom([]float64{0.02, 0.05, 0.1}).Draw(t, "alpha")
		s := NewSignFlip(d, nil)
		low, high := s.Interval(alpha)
		if s.Greater(low+1e-9) <= alpha || s.Less(high-1e-9) <= alpha {
			t.Fatalf("%v to %v leaves out what isn't refused", low, high)
		}
		if s.Greater(low-1e-9) > alpha || s.Less(high+1e-9) > alpha {
			t.Fatalf("%v to %v holds what is refused", low, high)
		}
	})
}

func TestSignFlipInterval(t *testing.T) {
	// 5 pairs at alpha 1/32: only the all-plus pattern may be rarer, so the ends
	// are where the least and greatest difference change sign.
	s := NewSignFlip([]float64{1, 2, 3, 4, 10}, rng())
	low, high := s.Interval(1. / 32)
	if !near(low, 1, 1e-6) || !near(high, 10, 1e-6) {
		t.Errorf("interval %v to %v, want 1 to 10", low, high)
	}
	if low, high := s.Interval(1. / 64); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("5 pairs can't be that sure: %v to %v", low, high)
	}
}

// The interval holds the true mean as often as it says, or more.
func TestSignFlipCoverage(t *testing.T) {
	r := rng()
	const draws, alpha = 400, 0.05
	missed := 0
	for range draws {
		d := make([]float64, 8)
		for i := range d {
			d[i] = 0.3 + r.NormFloat64()
		}
		if low, high := NewSignFlip(d, r).Interval(alpha); low > 0.3 || high < 0.3 {
			missed++
		}
	}
	// 10 % may miss; 3 standard errors of 400 draws are 4.5 %.
	if share := float64(missed) / draws; share > 0.145 || share < 0.03 {
		t.Errorf("missed the mean in %.1f %%, should be about 10 %%", share*100)
	}
}

func TestSignFlipProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 10).Draw(t, "diffs")
		theta := rapid.Float64Range(-1, 1).Draw(t, "theta")
		s := NewSignFlip(d, rng())
		g, l := s.Greater(theta), s.Less(theta)
		if g <= 0 || g > 1 || l <= 0 || l > 1 || g+l < 1-1e-9 {
			t.Fatalf("p-values %v, %v", g, l)
		}
		if more := s.Greater(theta + 0.1); more < g-1e-9 {
			t.Fatalf("a higher theta is harder to believe: %v, then %v", g, more)
		}
		alpha := 0.2
		if low, high := s.Interval(alpha); low > high {
			t.Fatalf("interval %v to %v", low, high)
		}
	})
}

func TestHolm(t *testing.T) {
	// By hand: sorted 0.01, 0.02, 0.03, 0.04 × 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.04,
	// made monotone: 0.04, 0.06, 0.06, 0.06.
	got := Holm([]float64{0.04, 0.01, 0.03, 0.02})
	for i, want := range []float64{0.06, 0.04, 0.06, 0.06} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("adjusted %v", got)
			break
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("above 1: %v", got)
	}
}

func TestSpendEvenly(t *testing.T) {
	if even := SpendEvenly(0.05, 4); !near(even[0], 0.0125, 1e-15) || len(even) != 4 {
		t.Errorf("evenly: %v", even)
	}
}

func TestBootstrapRatio(t *testing.T) {
	r := rng()
	low, high, ok := BootstrapRatio([]float64{10, 10, 10}, []float64{15, 15, 15}, 0.95, r)
	if !ok || low != 1.5 || high != 1.5 {
		t.Errorf("without spread: %v to %v", low, high)
	}
	a, b := make([]float64, 30), make([]float64, 30)
	for i := range a {
		a[i], b[i] = 100+r.NormFloat64(), 120+r.NormFloat64()
	}
	if low, high, _ = BootstrapRatio(a, b, 0.95, r); low > 1.2 || high < 1.2 || high-low > 0.05 {
		t.Errorf("1.2 times as much: %v to %v", low, high)
	}
	for _, bad := range [][]float64{nil, {1}, {1, 0}, {1, -2}} {
		if _, _, ok := BootstrapRatio(a, bad, 0.95, r); ok {
			t.Errorf("%v makes no interval of a ratio", bad)
		}
	}
}

func TestQuantiles(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	if Median(slices.Clone(x)) != 2.5 || Quantile(x, 0.25) != 1.75 || Quantile(x, 1) != 4 || !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Median(nil)) {
		t.Error("quantiles")
	}
	if mean, sd := MeanStdDev([]float64{2, 4, 6}); mean != 4 || sd != 2 {
		t.Errorf("mean %v, sd %v", mean, sd)
	}
}
