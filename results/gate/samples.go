package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ackmark/results"
)

func inOrder(runs []*results.Run) []*results.Run {
	out := slices.Clone(runs)
	slices.SortStableFunc(out, func(a, b *results.Run) int { return cmp.Compare(a.Repeat, b.Repeat) })
	return out
}

// samples returns one number per run, or says what is wrong with them: a
// metric that one repeat lacks has none (measuring.md, 27).
func samples(runs []*results.Run, metric string) (out []float64, problem string) {
	if len(runs) == 0 {
		return nil, "no run of it was measured"
	}
	for _, run := range runs {
		x, ok := run.Value(metric)
		switch {
		case !ok:
			return nil, fmt.Sprintf("%s in repeat %d", absence(run, metric), run.Repeat)
		case math.IsNaN(x) || math.IsInf(x, 0):
			return nil, fmt.Sprintf("is no number in repeat %d", run.Repeat)
		}
		if base, _, dotted := strings.Cut(metric, "."); dotted && run.Histograms[base].Count <= 0 {
			return nil, fmt.Sprintf("has no value, nothing was recorded, in repeat %d", run.Repeat)
		}
		out = append(out, x)
	}
	return out, ""
}

// absence says how a metric is absent.
func absence(run *results.Run, metric string) string {
	base, _, dotted := strings.Cut(metric, ".")
	if !dotted {
		if _, named := run.Metrics[metric]; named {
			return "has no value (null)"
		}
		return "is missing"
	}
	h, named := run.Histograms[base]
	switch {
	case !named:
		return "is missing"
	case h.Count == 0:
		return "has no value, nothing was recorded,"
	}
	return "has no value (null)"
}

func median(samples []float64) float64 {
	m, _, _, _ := results.Summarize(samples)
	return m
}

// off returns candidate ÷ reference − 1; infinite where the reference is 0 and
// the candidate isn't.
func off(candidate, reference float64) float64 {
	switch {
	case candidate == reference:
		return 0
	case reference == 0:
		return math.Inf(cmp.Compare(candidate, 0))
	}
	return (candidate - reference) / math.Abs(reference)
}

// beyond tells whether a relative change is more than the tolerance; a last
// digit of a float is not. What is no number isn't within anything.
func beyond(change, tolerance float64) bool { return !(math.Abs(change) <= tolerance+1e-12) }

// worse tells whether a change goes in a metric's worse direction. One that has
// no direction has only to stay what it was.
func worse(change float64, better results.Better) bool {
	switch better {
	case results.Lower:
		return change > 0
	case results.Higher:
		return change < 0
	}
	return change != 0
}

func isMemory(metric string) bool { return strings.Contains(metric, "memory") }

// release returns major.minor of a version, "" of one that can't be read.
// What Redis' allocator needs for a key changes with them.
func release(version string) string {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return ""
	}
	return parts[0] + "." + parts[1]
}
