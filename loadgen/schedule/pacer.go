package schedule

import (
	"math"
	"math/rand/v2"
	"time"

	"ackmark/profiles"
)

// A Pacer gives the arrival times of one flow, in ascending order, without an
// end.
type Pacer interface {
	// Next is the next arrival, counted from the run's start.
	Next() time.Duration
}

// PacerFunc makes a Pacer of a function.
type PacerFunc func() time.Duration

// Next calls the function.
func (f PacerFunc) Next() time.Duration { return f() }

var _ Pacer = PacerFunc(nil)

// Uniform paces evenly:
//
//	At(k) = (k + ½) / rate        k = 0, 1, 2 …
//
// The half keeps an arrival off the ends of a phase, so that a phase of length
// D holds rate × D arrivals exactly. Each time is computed from k, so rounding
// to a nanosecond doesn't add up.
func Uniform(rate profiles.Rate) Pacer { return Burst(rate, 1) }

// Burst paces in bursts of b arrivals at once, every b/rate, so that the mean
// rate is kept:
//
//	At(k) = (⌊k/b⌋ + ½) × b / rate        k = 0, 1, 2 …
func Burst(rate profiles.Rate, b int) Pacer {
	gap := float64(b) * float64(time.Second) / rate.PerSecond()
	k := 0
	return PacerFunc(func() time.Duration {
		at := (float64(k/b) + 0.5) * gap
		k++
		return clamp(at)
	})
}

// Poisson paces as a Poisson process: the gaps are independent and exponential,
//
//	At(k) = At(k-1) + E/rate        E ~ Exp(1), At(-1) = 0
//
// so the number of arrivals in any time t is Poisson with mean rate × t, and
// its variance is its mean (index of dispersion 1).
func Poisson(rate profiles.Rate, r *rand.Rand) Pacer {
	gap := float64(time.Second) / rate.PerSecond()
	at := 0.0
	return PacerFunc(func() time.Duration {
		at += r.ExpFloat64() * gap
		return clamp(at)
	})
}

// clamp rounds to nanoseconds; a rate so low that the time doesn't fit is
// never.
func clamp(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}

// pacerOf picks the pacer that a flow asks for.
func pacerOf(f *profiles.Flow, r *rand.Rand) Pacer {
	switch f.Arrivals {
	case profiles.ArrivalsUniform:
		return Uniform(f.Rate)
	case profiles.ArrivalsBurst:
		return Burst(f.Rate, f.Burst)
	default:
		return Poisson(f.Rate, r)
	}
}
