package results

// Limits are the figures behind the rules of a verdict. DefaultLimits are the
// ones of every command; tests narrow them.
type Limits struct {
	// LagShare: schedule lag, a hiccup or a GC pause is large when it is more
	// than this share of the percentile that it is held against: what was
	// measured is then more the generator than the system.
	LagShare float64
	// LagFloorUs: below this many µs it is the timer's grain, and not large;
	// where it still is more than the share, the run carries a warning.
	LagFloorUs float64
	// LagSamples is how many samples must lie beyond a percentile for it to say
	// something of the run and not of one wake-up. With fewer, LagFewFloorUs
	// stands for LagFloorUs, and LagRareFloorUs at p99.9 and the maximum: one late
	// wake-up is a warning, a generator that stood still is not. A shared virtual
	// machine that was otherwise idle took a core away for 48 ms once in eight
	// runs of 15 s.
	LagSamples     float64
	LagFewFloorUs  float64
	LagRareFloorUs float64
	// AchievedPercent is the least share of the offered load that must have left.
	AchievedPercent float64
	// CPUShare is the greatest share of its cores that the generator may use.
	CPUShare float64
	// RunQueueMeanUs is the longest mean wait for a core, per slice of time on
	// one, of the generator's threads. See DefaultLimits.
	RunQueueMeanUs float64
	// RunQueuePercent is the greatest share of the time that they wanted a core
	// for which the generator's threads waited for one. Idle machine: 40 % in smoke,
	// 50 to 60 % in ack-storm; four busy processes per core beside it: 85 to 87 %.
	RunQueuePercent float64
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
//
// Those of a starved generator were chosen by ack-storm on 2 cores, where one
// message makes 499 goroutines ready at once, beside server and Redis. On an idle
// machine a ready thread of the generator waited 35 to 213 µs for a core, on
// average; with one busy process per core beside it 470 µs and live.p50 doubled,
// with two or more, or other people's tests, 600 µs to 8 ms. Hiccups were 14 to
// 27 % of live at p99 and 16 to 39 % at p99.9 when idle, up to 70 % when not.
// Which of the two rises depends on how one is starved: a process that is
// stopped or throttled waits for no core, but wakes late.
func DefaultLimits() Limits {
	return Limits{
		LagShare: 0.5, LagFloorUs: 2000, LagSamples: 5, LagFewFloorUs: 20_000, LagRareFloorUs: 60_000,
		AchievedPercent: 99, CPUShare: 0.95, RunQueueMeanUs: 350, RunQueuePercent: 75,
		ReplayError: 0.01, ClosedFormError: 0.05, ClosedFormSeconds: 60,
		Agreement: 0.75,
	}
}
