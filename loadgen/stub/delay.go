package stub

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Delay is a distribution of delays.
type Delay interface {
	// Draw takes one; never below 0.
	Draw(r *rand.Rand) time.Duration
	// String names the distribution with its parameters.
	String() string
}

// Constant is always the same delay.
type Constant time.Duration

// Draw returns the delay.
func (c Constant) Draw(*rand.Rand) time.Duration { return time.Duration(c) }

// String returns "constant D".
func (c Constant) String() string { return "constant " + time.Duration(c).String() }

// Uniform is any delay in [Low, High) with the same probability.
type Uniform struct{ Low, High time.Duration }

// Draw takes one.
func (u Uniform) Draw(r *rand.Rand) time.Duration {
	if u.High <= u.Low {
		return u.Low
	}
	return u.Low + time.Duration(r.Int64N(int64(u.High-u.Low)))
}

// String returns "uniform LOW–HIGH".
func (u Uniform) String() string { return fmt.Sprintf("uniform %v–%v", u.Low, u.High) }

// LogNormal is Median · e^(Sigma·Z) with Z standard normal: a long right tail,
// as servers have.
type LogNormal struct {
	Median time.Duration
	Sigma  float64
}

// Draw takes one.
func (l LogNormal) Draw(r *rand.Rand) time.Duration {
	return time.Duration(float64(l.Median) * math.Exp(l.Sigma*r.NormFloat64()))
}

// String returns "log-normal median M sigma S".
func (l LogNormal) String() string {
	return fmt.Sprintf("log-normal median %v sigma %g", l.Median, l.Sigma)
}

// Bimodal is Fast, or Slow with probability Share, as with a cache.
type Bimodal struct {
	Fast, Slow time.Duration
	Share      float64 // of Slow, 0 to 1
}

// Draw takes one.
func (b Bimodal) Draw(r *rand.Rand) time.Duration {
	if r.Float64() < b.Share {
		return b.Slow
	}
	return b.Fast
}

// String returns "bimodal FAST, P % SLOW".
func (b Bimodal) String() string {
	return fmt.Sprintf("bimodal %v, %g %% %v", b.Fast, 100*b.Share, b.Slow)
}
