package gate

import (
	"fmt"
	"math"

	"ackmark/results"
	"ackmark/results/stats"
)

// PairOptions says how two builds are held against each other.
type PairOptions struct {
	Metrics []Gated // timings that are held; others are reported
	Counts  float64 // relative tolerance of counts
	Memory  float64 // of counts of Redis' memory
	Looks   []int   // numbers of pairs after which is decided, rising; the last is the cap
	Alpha   float64 // chance of a false alarm over all timings, variants and looks
	Seed    uint64  // of the sign patterns, beyond 16 pairs
}

// DefaultPairOptions rest on 26 A/A pairs of ack-storm "10 or 500ms", 5 s a run,
// on two shared cores (testdata/aa.csv). The logarithm of the ratio of a pair had
// a standard deviation of 0.08 for the server's CPU per delivery and 0.12 for
// Redis', which are held; 0.14 for live.p50 and 0.22 for live.p99, which at the
// cap would need tolerances of 16 and 25 %, and are reported.
//
// What the server allocates, some 25 bytes per delivery, spreads by 0.35 with how
// deliveries are joined. It is held for what CPU doesn't tell: a copy of a body of
// 200 bytes per delivery multiplies it by ten, and its CPU by less than the noise.
//
// Gates drawn from 26 other pairs that were measured when all this but the
// allocations was settled (testdata/aa-later.csv; 1,500 of each kind, sides
// exchanged at random, looks included) ended as:
//
//	                            one variant              three variants
//	the same build              97 % pass, no alarm      91 % pass, no alarm
//	15 % more server CPU        95 % fail                86 % fail, if in one of them
//	exactly at the tolerance    2 % fail, 4 % pass
//
// and the rest as inconclusive. On the first pairs, with looks after 8, 12 and 16
// pairs, it was 87 % of either with one variant and 66 % with three, for 1.5 pairs
// less on average. The looks share alpha evenly, since the first is where a run of
// pairs is worth ending; sharing it in favour of the last gained 1 %. TestErrorRates
// holds all of this. Another machine has other spreads: see Calibrate.
func DefaultPairOptions() PairOptions {
	return PairOptions{
		Metrics: []Gated{{"server_cpu_us_per_delivery", 0.07}, {"redis_cpu_us_per_delivery", 0.12}, {"server_allocated_bytes_per_delivery", 0.90}},
		Counts:  defaultCounts, Memory: defaultMemory, Looks: []int{8, 14, 20}, Alpha: alpha,
	}
}

// CountPairs is the number of pairs after which counts decide, and whatever is
// missing: they are determined, so two more pairs only rule out a mishap.
const CountPairs = 3

// maxDiscarded bounds the pairs of a variant that are measured again since the
// machine was busy, relative to the cap of pairs.
func (o PairOptions) maxDiscarded() int { return max(3, o.cap()/2) }

func (o PairOptions) cap() int { return o.Looks[len(o.Looks)-1] }

// Check finds options that make no sense.
func (o PairOptions) Check() error {
	switch {
	case len(o.Looks) == 0 || o.Looks[0] < 1 || !rising(o.Looks):
		return fmt.Errorf("looks after %v pairs; they should rise from 1 or more", o.Looks)
	case o.cap() > maxPairs:
		return fmt.Errorf("looks after %v pairs; more than %d are never worth their time", o.Looks, maxPairs)
	case !(o.Alpha > 0 && o.Alpha < 0.5):
		return fmt.Errorf("alpha is %g; it should lie between 0 and 0.5", o.Alpha)
	}
	seen := map[string]bool{}
	for _, g := range o.Metrics {
		if err := g.check(); err != nil {
			return err
		}
		if name := canonical(g.Metric); seen[name] {
			return fmt.Errorf("%s is there twice", g.Metric)
		} else {
			seen[name] = true
		}
	}
	// All pairs alike are the rarest pattern, one of 2ⁿ: below this no
	// difference, however large, is ever certain.
	if least := o.leastPairs(); o.cap() < least {
		return fmt.Errorf("looks after %v pairs can't decide %s: with %s, even pairs that all agree are certain from %d on", o.Looks, results.Plural(len(o.Metrics), "timing"), results.Plural(len(o.Looks), "look"), least)
	}
	return nil
}

// check finds what can't be held as a timing.
func (g Gated) check() error {
	switch m, ok := results.Lookup(g.Metric); {
	case !ok:
		return fmt.Errorf("there is no metric %q", g.Metric)
	case m.Class != results.Timing || m.Better == results.Neither:
		return fmt.Errorf("%s isn't a timing with a better direction; counts and invariants are held anyway", g.Metric)
	case !(g.Tolerance > 0 && g.Tolerance < 1):
		return fmt.Errorf("%s has a tolerance of %g; it should lie between 0 and 1: 0.05 allows 5 %%", g.Metric, g.Tolerance)
	}
	return nil
}

func rising(looks []int) bool {
	for i := 1; i < len(looks); i++ {
		if looks[i] <= looks[i-1] {
			return false
		}
	}
	return true
}

// level is the error that one look may spend.
func (o PairOptions) level() float64 { return stats.SpendEvenly(o.Alpha, len(o.Looks))[0] }

// leastPairs is from how many pairs on a timing of one variant can fail.
func (o PairOptions) leastPairs() int {
	if len(o.Metrics) == 0 {
		return 1
	}
	return int(math.Ceil(math.Log2(float64(len(o.Metrics))/o.level()) - 1e-9))
}
