package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"ackmark/profiles"
)

func take(p Pacer, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = p.Next()
	}
	return out
}

func TestUniformIsExact(t *testing.T) {
	for _, tc := range []struct {
		rate profiles.Rate
		gap  float64 // ns
	}{{20, 50e6}, {1000, 1e6}, {3, 1e9 / 3}, {profiles.Rate(7.0 / 3600), 3600e9 / 7}, {999_999, 1e9 / 999_999.0}} {
		for k, at := range take(Uniform(tc.rate), 10_000) {
			want := (float64(k) + 0.5) * tc.gap
			// half a nanosecond of rounding, and the resolution of a float at this size
			if math.Abs(float64(at)-want) > 0.5+want*1e-15 {
				t.Fatalf("%s: arrival %d at %d ns, want %.1f", tc.rate, k, at, want)
			}
		}
	}
	at := take(Uniform(20), 1000)
	for k := 1; k < len(at); k++ {
		if at[k]-at[k-1] != 50*time.Millisecond {
			t.Fatalf("gap %d is %v, want 50ms to the nanosecond", k, at[k]-at[k-1])
		}
	}
}

func TestUniformFillsAPhaseExactly(t *testing.T) {
	n := 0
	for p := Uniform(20); p.Next() < 17*time.Second; {
		n++
	}
	if n != 340 {
		t.Errorf("20/s over 17 s: %d arrivals, want 340", n)
	}
}

// Bursts of 10 at 20/s: ten at once every 500 ms, first after half a period.
func TestBurst(t *testing.T) {
	for k, at := range take(Burst(20, 10), 1000) {
		if want := time.Duration(k/10)*500*time.Millisecond + 250*time.Millisecond; at != want {
			t.Fatalf("arrival %d at %v, want %v", k, at, want)
		}
	}
}

// Over n gaps the mean rate of a Poisson process is within 5/sqrt(n) of the
// nominal one (five standard deviations: the n-th arrival is Gamma(n, 1/rate)
// with relative deviation 1/sqrt(n)). The index of dispersion of the counts in
// m intervals is 1, with standard deviation sqrt(2/(m-1)).
func TestPoisson(t *testing.T) {
	const n = 100_000
	for seed := range uint64(5) {
		at := take(Poisson(20, rand.New(rand.NewPCG(seed, 1))), n)
		rate := n / at[n-1].Seconds()
		if math.Abs(rate/20-1) > 5/math.Sqrt(n) {
			t.Errorf("seed %d: mean rate %.3f/s, want 20 within %.1f %%", seed, rate, 500/math.Sqrt(n))
		}
		if d, m := dispersion(at, time.Second); math.Abs(d-1) > 5*math.Sqrt(2/float64(m-1)) {
			t.Errorf("seed %d: index of dispersion %.3f over %d s, want 1", seed, d, m)
		}
		// An exponential gap exceeds its mean with probability 1/e.
		over := 0
		for k := 1; k < n; k++ {
			if at[k]-at[k-1] > 50*time.Millisecond {
				over++
			}
		}
		if p, sd := float64(over)/(n-1), math.Sqrt(math.Exp(-1)*(1-math.Exp(-1))/n); math.Abs(p-math.Exp(-1)) > 5*sd {
			t.Errorf("seed %d: %.4f of the gaps exceed the mean, want 1/e", seed, p)
		}
	}
	if d, _ := dispersion(take(Uniform(20), n), time.Second); d > 1e-9 {
		t.Errorf("uniform: index of dispersion %v, want 0", d)
	}
	// B at once, a burst in every second interval of 250 ms: counts 0 and 10 with
	// mean 5 and variance 25, dispersion 5.
	if d, _ := dispersion(take(Burst(20, 10), n), 250*time.Millisecond); math.Abs(d-5) > 0.01 {
		t.Errorf("burst: index of dispersion %v, want 5", d)
	}
}

// dispersion is variance over mean of the counts in whole intervals.
func dispersion(at []time.Duration, interval time.Duration) (index float64, intervals int) {
	counts := make([]float64, at[len(at)-1]/interval) // the last, partial one is left out
	for _, a := range at {
		if i := int(a / interval); i < len(counts) {
			counts[i]++
		}
	}
	mean, m := 0.0, float64(len(counts))
	for _, c := range counts {
		mean += c / m
	}
	variance := 0.0
	for _, c := range counts {
		variance += (c - mean) * (c - mean) / (m - 1)
	}
	return variance / mean, len(counts)
}

func TestPacersNeverStepBackOrOverflow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, p := range map[string]Pacer{
		"fast poisson": Poisson(1e6, r), "slow poisson": Poisson(1e-9, r), "slow uniform": Uniform(1e-12), "burst": Burst(1e6, 1000),
	} {
		last := time.Duration(0)
		for range 10_000 {
			at := p.Next()
			if at < last {
				t.Fatalf("%s: %v after %v", name, at, last)
			}
			last = at
		}
	}
}
