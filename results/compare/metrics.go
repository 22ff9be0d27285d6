package compare

import (
	"slices"
	"strings"

	"ackmark/results"
)

// Watched are the timings that are shown whether they changed or not: what a
// delivery costs and how late it is, for those who are online and for those who
// log in. They are few, since each makes the others harder to tell from chance.
func Watched() []string {
	return []string{
		"server_cpu_us_per_delivery", "redis_cpu_us_per_delivery",
		"live.p50", "live.p99", "live.p999",
		"sync.p50", "sync.p99",
	}
}

// candidates are the metrics of a variant that may be shown, in the registry's
// order.
func candidates(v *Variant, o Options) []string {
	var out []string
	if len(o.Metrics) > 0 {
		for _, name := range o.Metrics {
			if m, ok := results.Lookup(name); ok && !slices.Contains(out, m.Name) {
				out = append(out, m.Name)
			}
		}
		return out
	}
	for _, m := range results.AllMetrics() {
		if has(v, m.Name) && (o.All || !seldom(m.Name)) {
			out = append(out, m.Name)
		}
	}
	return out
}

// seldom are figures that are compared only when asked for: every further one
// makes the others harder to tell from chance.
func seldom(metric string) bool {
	base, stat, dotted := strings.Cut(metric, ".")
	return dotted && (base == "hiccup" || slices.Contains([]string{"min", "p90", "mean", "count"}, stat))
}

// has tells whether any run of any side names the metric, be it null: one that
// a side has lost must not vanish.
func has(v *Variant, name string) bool {
	for _, s := range v.Sides {
		for _, run := range s.runs {
			if base, _, dotted := strings.Cut(name, "."); dotted {
				if h, ok := run.Histograms[base]; ok && h.Count > 0 {
					return true
				}
			} else if _, ok := run.Metrics[name]; ok {
				return true
			}
		}
	}
	return false
}

// fold leaves the invariants, what is watched and what changed.
func (c *Comparison) fold(v *Variant) {
	kept := []Metric{}
	for _, m := range v.Metrics {
		switch {
		case !slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.N > 0 }): // null everywhere
		case m.changed(v) && isTotal(m) && c.explained(m, v):
			v.Totals = append(v.Totals, m.Title)
		case m.Class == results.Invariant || slices.Contains(Watched(), m.Name) || m.changed(v) || m.doubted():
			kept = append(kept, m)
		case m.Class == results.Deterministic && m.all(Same, v):
			v.Equal = append(v.Equal, m.Name)
		case m.Class == results.Deterministic:
			kept = append(kept, m)
		case slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.Outcome == TooFew || c.Outcome == NotJudged || c.Outcome == NotComparable }):
			v.Undecided++
		case m.all(Same, v):
			v.Identical++
		default:
			v.Quiet++
		}
	}
	v.Metrics = kept
}

// changed tells whether any side differs, or lacks what another has.
func (m Metric) changed(v *Variant) bool {
	return v.lacking(m) || slices.ContainsFunc(m.Cells[1:], func(c Cell) bool { return c.Outcome.concludes() })
}

// doubted tells whether a row has to be shown for what is noted below it.
func (m Metric) doubted() bool {
	return slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.doubted })
}

// lacking tells whether some sides that have the variant have no number where
// others have one.
func (v *Variant) lacking(m Metric) bool {
	with, without := false, false
	for i, c := range m.Cells {
		if v.Sides[i].State != Absent {
			with, without = with || c.N > 0, without || c.N == 0
		}
	}
	return with && without
}

// explained tells whether each side that differs measured something else.
func (c *Comparison) explained(m Metric, v *Variant) bool {
	for i, cell := range m.Cells {
		if cell.Outcome == NoData && v.Sides[i].State != Absent || cell.Outcome.concludes() && !c.otherwise(i, v.Name) {
			return false
		}
	}
	return true
}

// all tells whether the outcome is that of each side that has the variant.
func (m Metric) all(o Outcome, v *Variant) bool {
	for i, c := range m.Cells {
		if i > 0 && v.Sides[i].State != Absent && c.Outcome != o {
			return false
		}
	}
	return true
}

// isMemory tells whether the metric is what Redis' allocator needs, which moves
// with its version.
func isMemory(metric string) bool { return strings.Contains(metric, "memory") }
