package gate

import (
	"slices"
	"strings"
)

// TimingsMode says what becomes of timings.
type TimingsMode string

// The modes.
const (
	GateTimings   TimingsMode = "gate"   // held, and refused where the machine differs
	ReportTimings TimingsMode = "report" // shown; the exit code doesn't depend on them
)

// BaselineOptions says how a result is held against a baseline.
type BaselineOptions struct {
	Timings TimingsMode // "" is GateTimings
	Metrics []Gated     // timings to hold, over those of the baseline's tolerances; a tolerance of 0 is the one from there. Empty and not nil: none
	Counts  float64     // relative tolerance of counts; 0 means 1 %
	Memory  float64     // of counts of Redis' memory; 0 means 2 %
	Ignore  []string    // metrics to leave out; a histogram's name stands for its figures
	Doubts  []string    // in what the result contradicts itself, see JudgeAgain: any makes it invalid
}

// The tolerances of counts are those of measuring.md (25): profile and seed
// determine them, what is left is the edge of the measured phase and, for memory,
// how the allocator rounds.
const (
	defaultCounts = 0.01
	defaultMemory = 0.02
)

// DefaultTimings are held where neither baseline nor options name any. Figures
// of another hour are held more widely than pairs measured side by side: that a
// machine drifts within a day is seen in any A/A series.
func DefaultTimings() []Gated {
	return []Gated{
		{"server_cpu_us_per_delivery", 0.15},
		{"redis_cpu_us_per_delivery", 0.25},
		{"live.p99", 0.50},
		{"sync.p99", 0.50},
	}
}

// timings returns the tolerances of the timings that are held, by metric.
func timings(b *Baseline, asked []Gated) map[string]float64 {
	out := map[string]float64{}
	if asked != nil && len(asked) == 0 {
		return out
	}
	for name, tolerance := range b.Tolerances {
		out[canonical(name)] = tolerance
	}
	if len(out) == 0 && len(asked) == 0 {
		for _, g := range DefaultTimings() {
			out[g.Metric] = g.Tolerance
		}
	}
	for _, g := range asked {
		name := canonical(g.Metric)
		if _, have := out[name]; g.Tolerance > 0 || !have {
			out[name] = g.Tolerance
		}
		if out[name] == 0 {
			out[name] = usual(name)
		}
	}
	return out
}

// usual is the default tolerance of a timing.
func usual(metric string) float64 {
	for _, g := range DefaultTimings() {
		if g.Metric == metric {
			return g.Tolerance
		}
	}
	return 0.15
}

// canonical writes a name as the registry does.
func canonical(metric string) string {
	if base, ok := strings.CutSuffix(metric, ".p99.9"); ok {
		return base + ".p999"
	}
	return metric
}

func (o BaselineOptions) ignores(metric string) bool {
	base, _, _ := strings.Cut(metric, ".")
	return slices.ContainsFunc(o.Ignore, func(name string) bool { return canonical(name) == metric || name == base })
}

func (o BaselineOptions) counts(metric string) float64 {
	switch {
	case isMemory(metric) && o.Memory > 0:
		return o.Memory
	case isMemory(metric):
		return defaultMemory
	case o.Counts > 0:
		return o.Counts
	}
	return defaultCounts
}
