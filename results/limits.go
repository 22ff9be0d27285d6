package results

// Limits are the figures behind the rules of a verdict. DefaultLimits are the
// ones of every command; tests narrow them.
type Limits struct {
	// LagShare: schedule lag, a GC pause or the wait for a core is large when
	// it is more than this share of the percentile that it is held against.
	LagShare float64
	// LagFloorUs: below this many µs it is the timer's grain, and not large;
	// where it still is more than the share, the run carries a warning.
	LagFloorUs float64
	// LagSamples is how many sends must lie beyond a percentile for it to say
	// something of the run and not of one wake-up. With fewer, LagFewFloorUs
	// stands for LagFloorUs: one late wake-up is a warning, a generator that
	// stood still is not.
	LagSamples    float64
	LagFewFloorUs float64
	// AchievedPercent is the least share of the offered load that must have left.
	AchievedPercent float64
	// CPUShare is the greatest share of its cores that the generator may use.
	CPUShare float64
	// ReplayError is the greatest difference between measured and replayed ack requests.
	ReplayError float64
	// ClosedFormError is the same for the closed form, in runs that measure for
	// ClosedFormSeconds or longer. Beyond it the run carries a warning: the
	// closed form presumes arrivals that faults and stalls don't give.
	ClosedFormError   float64
	ClosedFormSeconds float64
	// Agreement is the least share of the repeats that must be on the same side
	// of a limit; with less, the outcome is inconclusive.
	Agreement float64
}

// DefaultLimits returns the limits of measuring.md (14, 19).
func DefaultLimits() Limits {
	return Limits{
		LagShare: 0.5, LagFloorUs: 2000, LagSamples: 5, LagFewFloorUs: 20_000,
		AchievedPercent: 99, CPUShare: 0.95,
		ReplayError: 0.01, ClosedFormError: 0.05, ClosedFormSeconds: 60,
		Agreement: 0.75,
	}
}
