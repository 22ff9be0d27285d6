package ackpolicy

import (
	"math"
	"time"
)

// Arrivals is how deliveries are spaced at one receiver.
type Arrivals uint8

// The spacings for which there is a closed form.
const (
	Poisson Arrivals = iota + 1 // independent exponential gaps
	Uniform                     // all gaps equal: a fixed sender that doesn't receive
)

// Prediction is the closed form of one policy at one receiver, and how far a
// run of a given length may miss it by chance alone.
type Prediction struct {
	MeanBatch float64 // deliveries per ack request
	AckRate   float64 // ack requests per second of this receiver: rate ÷ MeanBatch

	// RateError is the relative standard error of the ack requests counted in
	// the run against AckRate × duration, that is, against the offered rate.
	RateError float64
	// BatchError is the relative standard error of the mean batch measured in
	// the run (deliveries ÷ ack requests) against MeanBatch.
	BatchError float64
}

// MeanBatch is the expected number of deliveries per ack request at a receiver
// that gets rate deliveries per second (measuring rule 14):
//
//	each               1
//	count              N
//	interval           1 + rT                             Poisson
//	count-or-interval  E[min(N, 1 + K)], K ~ Poisson(rT)   Poisson
//	                   min(N, 1 + ⌊RT⌋)                     uniform
//
// A batch is one renewal: it opens with a delivery, which arms the timer, and
// takes in what arrives within T, up to N in all. NaN where no closed form
// exists: policy none, an idle flush, a rate that is not above 0.
func MeanBatch(p Policy, rate float64, a Arrivals) float64 {
	m, ok := renewalOf(p, rate, a)
	if !ok {
		return math.NaN()
	}
	return m.batch
}

// Predict evaluates the closed form with its expected error for a receiver
// that gets rate deliveries per second during the given time. Everything is
// NaN where MeanBatch is.
//
// The errors are those of one receiver. They hold for a whole group as well:
// its members receive the same messages at the same moments, so that 499
// deliveries of one message are one sample, not 499.
//
// Acks of one receiver are a stationary renewal process whose cycle is C (the
// wait for a batch's first delivery, then its filling). Their number in a time
// D has the mean D/μ and, with σ² and κ the variance and third central moment
// of C, the variance
//
//	σ²D/μ³ + 1/6 + σ⁴/2μ⁴ − κ/3μ³
//
// (Cox, Renewal Theory, 1962, §4.5). The error of the mean batch is that of a
// ratio of rewards: per cycle 1 − B/b, of variance Var(B)/b², over D/μ cycles;
// the cycle cut off at either end of the window adds the same 1/6.
func Predict(p Policy, rate float64, a Arrivals, d time.Duration) Prediction {
	m, ok := renewalOf(p, rate, a)
	if !ok || d <= 0 {
		nan := math.NaN()
		return Prediction{nan, nan, nan, nan}
	}
	cycles := d.Seconds() / m.mean
	cv2 := m.variance / (m.mean * m.mean)
	skew := m.third / (m.mean * m.mean * m.mean)
	counted := cv2*cycles + 1.0/6 + cv2*cv2/2 - skew/3
	ratio := m.batchVar/(m.batch*m.batch)*cycles + 1.0/6
	return Prediction{
		MeanBatch:  m.batch,
		AckRate:    1 / m.mean,
		RateError:  math.Sqrt(math.Max(counted, 0)) / cycles,
		BatchError: math.Sqrt(ratio) / cycles,
	}
}

// renewal holds the moments of one cycle (seconds) and of its batch.
type renewal struct {
	mean, variance, third float64 // of the cycle: mean and central moments
	batch, batchVar       float64
}

func renewalOf(p Policy, rate float64, a Arrivals) (renewal, bool) {
	if p.Check() != nil || p.Kind == None || p.Idle > 0 || !(rate > 0) || math.IsInf(rate, 1) {
		return renewal{}, false
	}
	n, t := p.limit(), p.interval().Seconds()
	switch a {
	case Uniform:
		b := float64(n)
		if t > 0 {
			b = 1 + math.Floor(rate*t)
			if n > 0 {
				b = math.Min(float64(n), b)
			}
		}
		return renewal{mean: b / rate, batch: b}, true
	case Poisson:
		return poissonRenewal(n, rate, t), true
	}
	return renewal{}, false
}

// poissonRenewal gives the moments for Poisson arrivals; n = 0 means no limit
// by count, t = 0 none by time. The cycle is X + M: X ~ Exp(rate) is the wait
// for the first delivery, M the filling, independent of it.
func poissonRenewal(n int, rate, t float64) renewal {
	r1, r2, r3 := 1/rate, 1/(rate*rate), 1/(rate*rate*rate)
	if t == 0 { // the sum of n exponentials
		f := float64(n)
		return renewal{mean: f * r1, variance: f * r2, third: 2 * f * r3, batch: f}
	}
	m := rate * t
	if n == 0 || float64(n-1) > m+40*math.Sqrt(m)+100 { // the count is never reached
		return renewal{mean: t + r1, variance: r2, third: 2 * r3, batch: 1 + m, batchVar: m}
	}
	f := minMoments(n-1, m)
	m1, m2, m3 := f.fill1*r1, f.fill2*r2, f.fill3*r3
	return renewal{
		mean:     r1 + m1,
		variance: r2 + m2 - m1*m1,
		third:    2*r3 + m3 - 3*m1*m2 + 2*m1*m1*m1,
		batch:    1 + f.more1,
		batchVar: math.Max(f.more2-f.more1*f.more1, 0),
	}
}

// minimum holds raw moments, in units of 1/rate, of what follows the first
// delivery of a batch: more = min(n, K) deliveries, and fill = min(S, T), where
// S is the sum of n exponential gaps.
type minimum struct {
	more1, more2        float64
	fill1, fill2, fill3 float64
}

// minMoments sums exactly, with K ~ Poisson(m) and Q(j) = P(K ≥ j):
//
//	E min(n,K)  = Σ_{j=1..n} Q(j)           E min(n,K)² = Σ_{j=1..n} (2j−1) Q(j)
//	E min(S,T)ᵖ = p/rᵖ · Σ_{k=0..n−1} (k+1)…(k+p−1) Q(k+p)
//
// The last is ∫ p xᵖ⁻¹ P(S > x) dx over [0, T] with P(S > x) the Erlang sum.
// Single probabilities come from their logarithms, so that none of them
// overflows or is lost for a large m.
func minMoments(n int, m float64) minimum {
	logm := math.Log(m)
	var cum float64 // P(K < j)
	next := 0
	tail := func(j int) float64 { // j never goes back
		for ; next < j; next++ {
			lg, _ := math.Lgamma(float64(next) + 1)
			cum += math.Exp(float64(next)*logm - m - lg)
		}
		return math.Max(1-cum, 0)
	}
	q1, q2, q3 := tail(1), tail(2), tail(3)
	var s minimum
	for k := range n {
		f := float64(k)
		s.more1 += q1
		s.more2 += (2*f + 1) * q1
		s.fill1 += q1
		s.fill2 += 2 * (f + 1) * q2
		s.fill3 += 3 * (f + 1) * (f + 2) * q3
		q1, q2, q3 = q2, q3, tail(k+4)
	}
	return s
}
