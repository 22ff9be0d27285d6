package compare

import (
	"math"
	"strings"

	"ackmark/results"
)

// Outcome says in a word what a comparison with the first side gives.
type Outcome string

// The outcomes.
const (
	NoOutcome     Outcome = ""               // the first side itself
	Better        Outcome = "better"         // changed, in the direction that improves
	Worse         Outcome = "worse"          // changed, in the other
	Changed       Outcome = "changed"        // differs, and the metric has no better direction
	Same          Outcome = "same"           // the same in every run, or a count within 1 % in every seed
	NoDifference  Outcome = "no difference"  // seen: it may be too small for so many runs
	TooFew        Outcome = "too few runs"   // no difference, however large, could be told from chance
	NotComparable Outcome = "not comparable" // timings of other machines
	NotJudged     Outcome = "not judged"     // a side is invalid, broke an invariant, or has the number in some runs only
	NoData        Outcome = "no data"        // a side doesn't have the number
)

// counted is the relative difference from which on counts count as changed
// (measuring.md, 25).
const counted = 0.01

// isTotal tells whether the metric says how much was done rather than what each
// of it cost: after something else was measured it is neither better nor worse.
func isTotal(m Metric) bool {
	perUnit := strings.Contains(m.Name, "_per_") && !strings.HasSuffix(m.Name, "_per_s")
	share := m.Unit == results.Microseconds || m.Unit == "percent" || m.Unit == "ratio"
	return m.Class != results.Invariant && !share && !perUnit && m.Name != "largest_response_bytes"
}

// direction words a change of medians.
func direction(a, b float64, better results.Better) Outcome {
	switch {
	case a == b:
		return NoDifference
	case better == results.Neither:
		return Changed
	case (b < a) == (better == results.Lower):
		return Better
	}
	return Worse
}

// exact compares what has no chance in it.
func exact(a, b float64, class results.Class, better results.Better) Outcome {
	switch {
	case a == b:
		return Same
	case class == results.Deterministic && math.Abs(b-a) <= counted*math.Abs(a)+1e-12:
		return Same
	}
	return direction(a, b, better)
}

// concludes tells whether the outcome says that something changed.
func (o Outcome) concludes() bool { return o == Better || o == Worse || o == Changed }
