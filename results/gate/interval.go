package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"ackmark/results"
	"ackmark/results/stats"
)

// alpha is the error that all timings of one gate share.
const alpha = 0.05

// minSamples is the least number of repeats of each side that an interval of
// their medians is made from. Of fewer, resampling only gives the extremes.
const minSamples = 5

// TooFew says that with so many repeats no timing can be told from chance, and what
// would help; "" where they suffice, or none is held. It is known before anything is
// measured.
func TooFew(b *Baseline, o BaselineOptions, repeats int) string {
	if o.Timings == ReportTimings || len(timings(b, o.Metrics)) == 0 || min(repeats, b.Profile.Repeats) >= minSamples {
		return ""
	}
	return fmt.Sprintf("timings can't be decided: %s here and %d in the baseline are too few to tell a change from chance, %d of each are needed; "+
		"leave timings to --timings report, or write a baseline of %d repeats and gate as many (--repeats %d), or measure both builds side by side with --against",
		results.Plural(repeats, "repeat"), b.Profile.Repeats, minSamples, minSamples, minSamples)
}

// FewForTimings tells whether a baseline of so many repeats can't hold timings, which
// takes the other number.
func FewForTimings(repeats int) (few bool, needed int) { return repeats < minSamples, minSamples }

// repeats is the least number of repeats that a variant of the result has.
func (j *judge) repeats() int {
	n := math.MaxInt
	for _, v := range j.r.Variants {
		n = min(n, len(j.r.RunsOf(v.Name)))
	}
	return n
}

// interval decides a timing by the bootstrap interval of the ratio of medians.
// The error is shared out evenly over the timings that are held (Bonferroni): a
// gate with more of them may not cry wolf more often.
func (j *judge) interval(c *Check, m results.Metric, candidate, reference []float64, sentence string) {
	if nothing(candidate) && nothing(reference) {
		c.Outcome = Passed
		return
	}
	confidence := 1 - alpha/float64(j.heldCount())
	rng := rand.New(rand.NewPCG(j.b.Profile.Seed, uint64(len(j.rep.Checks))))
	low, high, ok := stats.BootstrapRatio(reference, candidate, confidence, rng)
	if !ok {
		c.Outcome, c.Text = Undecided, sentence+"; no interval can be given for the ratio of figures that may be 0; leave it out, or measure both builds side by side with --against"
		return
	}
	c.Low, c.High = results.Number(low), results.Number(high)
	c.Outcome = side(low-1, high-1, *c.Tolerance, m.Better)
	if c.Outcome != Passed {
		c.Text = fmt.Sprintf("%s; with %s confidence between %s and %s", sentence, percent(confidence), changeText(low-1), changeText(high-1))
	}
	if c.Outcome == Undecided {
		c.Text += ", which decides nothing; measure both builds side by side with --against"
	}
}

func nothing(samples []float64) bool {
	return !slices.ContainsFunc(samples, func(x float64) bool { return x != 0 })
}

// side says where the interval of a relative change lies: past the tolerance in
// the worse direction, inside of it, or across.
func side(low, high, tolerance float64, better results.Better) Outcome {
	up, down := tolerance, -tolerance // of a metric without direction, both
	switch better {
	case results.Lower:
		down = math.Inf(-1)
	case results.Higher:
		up = math.Inf(1)
	}
	switch {
	case low > up || high < down:
		return Failed
	case high <= up && low >= down:
		return Passed
	}
	return Undecided
}

// heldCount counts the timings that are held over all variants.
func (j *judge) heldCount() int {
	n := 0
	for _, v := range j.b.Variants {
		for name := range v.Metrics {
			if _, ok := j.held[name]; ok && !j.o.ignores(name) {
				n++
			}
		}
	}
	return max(n, 1)
}
