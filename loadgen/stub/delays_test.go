package stub

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// printed are the percentiles that the generator prints.
var printed = []float64{50, 90, 99, 99.9, 100}

// tolerance is what loopback and two schedulers may add, as a share.
const tolerance = 0.01

// attempts bounds how often a distribution is measured. A bias shows in every
// attempt, but the machine is shared: a pause of a millisecond between the stub's
// write and the device's read is neither's fault and moves the maximum.
const attempts = 5

// TestPercentilesAgree: each percentile that the devices observed, from the
// departure of a send to the arrival of its delivery, lies within 1 % of the
// same percentile of the delays that the stub caused. Attempts in which the
// stub's own thread was later than that, p99, don't count: the machine had no
// core to spare, for the devices neither, and can't tell 1 % at that moment.
func TestPercentilesAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds per distribution")
	}
	l := load{users: 20, groups: 40, members: 4, messages: 1000, every: 2 * time.Millisecond}
	for _, d := range []Delay{
		Constant(80 * time.Millisecond),
		Uniform{40 * time.Millisecond, 90 * time.Millisecond},
		LogNormal{60 * time.Millisecond, 0.25},
		Bimodal{40 * time.Millisecond, 90 * time.Millisecond, 0.2},
	} {
		t.Run(d.String(), func(t *testing.T) {
			fair := 0
			attempts := attempts
			if raceDetector {
				attempts = 1
			}
			for i := range attempts {
				r := run(t, Config{Seed: uint64(i) + 1, Delay: d}, l)
				rep, truth := r.ledger.Audit(nil), r.stub.Truth()
				if rep.Lost+int(rep.Redelivered+rep.ShownTwice+rep.OutOfOrder) > 0 || rep.Arrived != r.expected {
					t.Fatalf("nothing was injected, and the audit says %+v", rep)
				}
				if truth.Delays.Count() != r.expected || r.latency.Count() != int64(r.expected) {
					t.Fatalf("%d delays caused, %d observed of %d deliveries", truth.Delays.Count(), r.latency.Count(), r.expected)
				}
				text, ok := compare(r, &truth)
				t.Logf("%slateness p99 %v", text, truth.LatenessP99)
				if ok {
					return
				}
				if float64(truth.LatenessP99) < tolerance*float64(truth.Delays.Percentile(50)) {
					fair++
				}
			}
			if fair < 3 {
				t.Skipf("starved in all but %d of %d attempts: this machine can't tell %g %% now", fair, attempts, 100*tolerance)
			}
			t.Errorf("no attempt of %d had every percentile within %g %%", attempts, 100*tolerance)
		})
	}
}

// compare sets the generator's histogram, in microseconds, beside the truth.
func compare(r *rig, truth *Truth) (text string, ok bool) {
	ok = true
	for _, p := range printed {
		got, want := float64(*r.latency.Percentile(p)), float64(truth.Delays.Percentile(p).Nanoseconds())/1e3
		off := got/want - 1
		ok = ok && math.Abs(off) <= tolerance
		text += fmt.Sprintf("p%g %.0f/%.0f µs %+.2f %%  ", p, got, want, 100*off)
	}
	return text, ok
}

// TestDistributions: each distribution has the quantiles of its formula.
func TestDistributions(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		d             Delay
		p10, p50, p90 time.Duration
	}{
		{Constant(20 * ms), 20 * ms, 20 * ms, 20 * ms},
		{Uniform{10 * ms, 30 * ms}, 12 * ms, 20 * ms, 28 * ms},
		// median · e^(σ·z), z(0.9) = −z(0.1) = 1.2816
		{LogNormal{20 * ms, 0.3}, 13616 * time.Microsecond, 20 * ms, 29377 * time.Microsecond},
		{Bimodal{10 * ms, 30 * ms, 0.3}, 10 * ms, 10 * ms, 30 * ms},
		{Uniform{10 * ms, 10 * ms}, 10 * ms, 10 * ms, 10 * ms},
	} {
		t.Run(tt.d.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var drawn []time.Duration
			for range 40000 {
				drawn = append(drawn, tt.d.Draw(rng))
			}
			d := sorted(drawn)
			// the standard error of these quantiles is below 0.4 %
			for p, want := range map[float64]time.Duration{10: tt.p10, 50: tt.p50, 90: tt.p90} {
				if got := d.Percentile(p); math.Abs(float64(got)/float64(want)-1) > 0.015 {
					t.Errorf("p%g is %v, want %v", p, got, want)
				}
			}
		})
	}
}

// TestDelaysAreNeverShorter: what was caused is at least what was drawn.
func TestDelaysAreNeverShorter(t *testing.T) {
	const least = 10 * time.Millisecond
	r := run(t, Config{Seed: 3, Delay: Uniform{least, 2 * least}}, load{users: 6, groups: 6, members: 3, messages: 100, every: 2 * time.Millisecond})
	truth := r.stub.Truth()
	if got := truth.Delays.Percentile(0); got < least || truth.Delays.Count() != r.expected {
		t.Errorf("the shortest of %d delays is %v, want %d and %v or more", truth.Delays.Count(), got, r.expected, least)
	}
}

func TestPercentileByHand(t *testing.T) {
	d := sorted([]time.Duration{4, 1, 3, 2})
	// rank = max(1, ⌊p/100·4 + ½⌋): 1, 2, 4, 4
	for p, want := range map[float64]time.Duration{0: 1, 50: 2, 90: 4, 100: 4} {
		if got := d.Percentile(p); got != want {
			t.Errorf("p%g = %d, want %d", p, got, want)
		}
	}
	if got := (Delays{}).Percentile(50); got != 0 {
		t.Errorf("p50 of nothing = %v, want 0", got)
	}
}
