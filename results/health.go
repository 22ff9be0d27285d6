package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// judgeRun holds one run against the rules: is the measurement to be trusted
// (measuring.md, 19 and 27), and do the invariants hold (26).
func judgeRun(run *Run, conditions []Condition, rules Rules) Verdict {
	j := &runJudge{run: run, limits: rules.Limits}
	j.missing(conditions, rules.Required)
	j.reconcile()
	j.replay()
	j.lag(conditions)
	j.late()
	j.starved()
	j.achieved()
	for _, c := range conditions {
		if x, ok := run.Value(c.Metric.Name); ok && c.guarantee() && !c.Met(x) {
			j.add(Reason{Kind: ReasonInvariant, Metric: c.Metric.Name, Value: Number(x), Limit: Number(c.Limit),
				Text: fmt.Sprintf("%s is %s, %s%s", c.Metric.Name, FormatValue(c.Metric.Unit, x), c.must(), explained(c.Metric.Name))})
		}
	}
	return verdictOf(j.reasons)
}

type runJudge struct {
	run     *Run
	limits  Limits
	reasons []Reason
}

func (j *runJudge) add(r Reason) {
	r.Variant, r.Repeat = j.run.Variant, j.run.Repeat
	j.reasons = append(j.reasons, r)
}

// warn is idempotent, since a result may be judged again.
func (j *runJudge) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(j.run.Warnings, text) {
		j.run.Warnings = append(j.run.Warnings, text)
	}
}

func (j *runJudge) missing(conditions []Condition, required []string) {
	names := slices.Clone(required)
	for _, c := range conditions {
		if ofStore(c.Metric.Name) && c.Source == FromInvariant && j.run.Audit.Reduced {
			continue
		}
		if !slices.Contains(names, c.Metric.Name) {
			names = append(names, c.Metric.Name)
		}
	}
	for _, name := range names {
		base, stat, dotted := strings.Cut(name, ".")
		h, have := j.run.Histograms[base]
		if dotted && stat == "count" && have && h.Count == 0 {
			j.add(Reason{Kind: ReasonMissing, Metric: name, Text: spoken(name) + " has no value: nothing was recorded"})
			continue
		}
		if _, ok := j.run.Value(name); ok {
			continue
		}
		said := spoken(name)
		text := said + " is missing"
		switch {
		case dotted && have && h.Count == 0:
			text = said + " has no value: nothing was recorded"
		case dotted && have:
			text = fmt.Sprintf("%s has no value: it lies among the %d values above the histogram's range", said, h.Overflow)
		case j.run.has(name):
			text = said + " has no value"
		}
		j.add(Reason{Kind: ReasonMissing, Metric: name, Text: text})
	}
}

// reconcile compares what was counted twice: by generator and server or Redis,
// and by audit and metrics.
func (j *runJudge) reconcile() {
	for _, c := range j.run.Health.Reconciliations {
		if c.OK() {
			continue
		}
		text := fmt.Sprintf("%s: the generator counted %s, %s %s", c.What, FormatValue("", c.Ours), c.Other, FormatValue("", c.Theirs))
		if c.Tolerance > 0 {
			text += fmt.Sprintf(" (tolerance %s)", percent(c.Tolerance*100))
		}
		j.add(Reason{Kind: ReasonReconcile, Value: Number(c.Ours), Limit: Number(c.Theirs), Text: text})
	}
	counts := j.run.Audit.counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if x, ok := j.run.Metrics.Get(name); ok && x != float64(counts[name]) {
			j.add(Reason{Kind: ReasonReconcile, Metric: name, Value: Number(x), Limit: Number(float64(counts[name])),
				Text: fmt.Sprintf("%s: the metric says %s, the audit %d", name, FormatValue("", x), counts[name])})
		}
	}
	// A send without an answer may arrive and isn't expected to.
	a := j.run.Audit
	found := a.Deliveries + a.Pending + a.Lost
	if found < a.Expected || (found > a.Expected && a.Unknown == 0 && !a.Reduced) {
		j.add(Reason{Kind: ReasonReconcile, Metric: "expected_deliveries", Value: Number(float64(found)), Limit: Number(float64(a.Expected)),
			Text: fmt.Sprintf("delivered, pending and lost add up to %d, expected are %d", found, a.Expected)})
	}
}

// replay holds ack requests against the exact check, which is a rule, and the
// closed form, which is a warning.
func (j *runJudge) replay() {
	a := j.run.Acks
	if e := a.ReplayedError; e != nil && a.Replayed != nil && math.Abs(*e) > j.limits.ReplayError {
		j.add(Reason{Kind: ReasonReplay, Metric: "ack_requests_replayed_error", Value: e, Limit: Number(j.limits.ReplayError),
			Text: fmt.Sprintf("ack requests: %d measured, %d replayed over the recorded arrivals, off by %s (limit %s)",
				a.Requests, *a.Replayed, percent(*e*100), percent(j.limits.ReplayError*100))})
	}
	if e := a.PredictedError; e != nil && math.Abs(*e) > j.limits.ClosedFormError && j.run.MeasuredSeconds() >= j.limits.ClosedFormSeconds {
		j.warn("ack requests are off by %s from the closed form (limit %s over %g s or more)",
			percent(*e*100), percent(j.limits.ClosedFormError*100), j.limits.ClosedFormSeconds)
	}
}

// lag holds the generator's own lateness against every percentile that is
// printed, like against like: schedule lag, which makes sends late, against what
// counts from the intended time of sends, and hiccups, which make whatever it
// does late, against deliveries, which wait for it as the meter does.
func (j *runJudge) lag(conditions []Condition) {
	lag, hiccup := j.run.Histograms["schedule_lag"], j.run.Histograms["hiccup"]
	for _, base := range []string{"live", "send"} {
		h, ok := j.run.Histograms[base]
		if !ok {
			continue
		}
		for _, stat := range []string{"p50", "p90", "p99", "p999", "max"} {
			name := base + "." + stat
			asked := slices.ContainsFunc(conditions, func(c Condition) bool { return c.Metric.Name == name })
			if (stat == "p90" || stat == "max") && !asked {
				continue // not printed
			}
			y, ok := h.Statistic(stat)
			if !ok {
				continue
			}
			if x, ok := lag.Statistic(stat); ok {
				j.largeOver(j.lagFloor(stat, lag.Count), "schedule_lag."+stat, "schedule lag "+statTitle(stat), x, name, y)
			}
			// No warning below the floor: the meter's timer has a grain of its
			// own, which deliveries don't wait for.
			floor := j.lagFloor(stat, hiccup.Count)
			if x, ok := hiccup.Statistic(stat); ok && base == "live" && x > floor {
				j.largeOver(floor, "hiccup."+stat, "the generator's hiccup "+statTitle(stat), x, name, y)
			}
		}
	}
}

// late compares hiccups with what a page and a sync took. Counts are what a
// login is measured for, and hold all the same: it is a warning, and where few
// logins give a percentile, one late wake-up is none.
func (j *runJudge) late() {
	hiccup := j.run.Histograms["hiccup"]
	for _, base := range []string{"page", "sync"} {
		for _, stat := range []string{"p50", "p99"} {
			x, ok := hiccup.Statistic(stat)
			y, timed := j.run.Histograms[base].Statistic(stat)
			if ok && timed && x > j.limits.LagFewFloorUs && x > j.limits.LagShare*y {
				j.warn("the generator's hiccup %s is %s against %s for %s.%s: it may be much of that figure",
					statTitle(stat), FormatValue(Microseconds, x), FormatValue(Microseconds, y), base, statTitle(stat))
			}
		}
	}
}

// lagFloor is below what lateness is not large at a percentile: more where only
// a few of the samples lie beyond it.
func (j *runJudge) lagFloor(stat string, samples int64) float64 {
	beyond := map[string]float64{"p50": 0.5, "p90": 0.1, "p99": 0.01, "p999": 0.001}[stat] * float64(samples)
	switch {
	case beyond >= j.limits.LagSamples:
	case stat == "p999" || stat == "max":
		return j.limits.LagRareFloorUs
	default:
		return j.limits.LagFewFloorUs
	}
	return j.limits.LagFloorUs
}

func (j *runJudge) large(metric, what string, x float64, name string, y float64) {
	j.largeOver(j.limits.LagFloorUs, metric, what, x, name, y)
}

// largeOver adds a reason when the generator's own delay x is a large part of
// y and more than floor, in µs.
func (j *runJudge) largeOver(floor float64, metric, what string, x float64, name string, y float64) {
	limit := j.limits.LagShare * y
	switch {
	case x <= limit:
	case x <= floor:
		why := "small, but much of that figure"
		if floor > j.limits.LagFloorUs && x > j.limits.LagFloorUs {
			why = "much of that figure, but it rests on a few wake-ups and isn't judged"
		}
		j.warn("%s is %s against %s for %s: %s", what, FormatValue(Microseconds, x), FormatValue(Microseconds, y), spoken(name), why)
	default:
		j.add(Reason{Kind: ReasonHealth, Metric: metric, Value: Number(x), Limit: Number(max(limit, floor)),
			Text: fmt.Sprintf("%s is %s against %s for %s: the generator's own lateness may be at most %s of it", what,
				FormatValue(Microseconds, x), FormatValue(Microseconds, y), spoken(name), percent(j.limits.LagShare*100))})
	}
}

func (j *runJudge) starved() {
	h := j.run.Health
	if h.GeneratorCPUCores != nil && h.GeneratorCores != nil && *h.GeneratorCPUCores > j.limits.CPUShare*(*h.GeneratorCores) {
		j.add(Reason{Kind: ReasonHealth, Value: h.GeneratorCPUCores, Limit: Number(j.limits.CPUShare * *h.GeneratorCores),
			Text: fmt.Sprintf("the generator used %s of its %s cores, limit %s", significant(*h.GeneratorCPUCores, 3),
				significant(*h.GeneratorCores, 3), percent(j.limits.CPUShare*100))})
	}
	live := j.run.Histograms["live"]
	if h.GCPauseMaxUs != nil && live.P999 != nil {
		j.large("", "the generator's longest GC pause", *h.GCPauseMaxUs, "live.p999", float64(*live.P999))
	}
	if h.RunQueuePercent != nil && *h.RunQueuePercent > j.limits.RunQueuePercent {
		j.add(Reason{Kind: ReasonHealth, Value: h.RunQueuePercent, Limit: Number(j.limits.RunQueuePercent),
			Text: fmt.Sprintf("the generator was starved: its threads waited for a core %s of the time that they wanted one, limit %s; close what else runs here and measure again",
				percent(*h.RunQueuePercent), percent(j.limits.RunQueuePercent))})
	}
	if h.RunQueueMeanUs != nil && *h.RunQueueMeanUs > j.limits.RunQueueMeanUs {
		j.add(Reason{Kind: ReasonHealth, Value: h.RunQueueMeanUs, Limit: Number(j.limits.RunQueueMeanUs),
			Text: fmt.Sprintf("the generator was starved: its mean wait for a core is %s, limit %s; something else uses this machine's cores",
				FormatValue(Microseconds, *h.RunQueueMeanUs), FormatValue(Microseconds, j.limits.RunQueueMeanUs))})
	}
}

// achieved adds what the system refused: that load was offered all right.
func (j *runJudge) achieved() {
	got, ok := j.run.Metrics.Get("achieved_percent")
	if !ok {
		return
	}
	share := got
	if a := j.run.Audit; a.Sends > 0 {
		share += 100 * float64(a.Refused) / float64(a.Sends)
	}
	if share < j.limits.AchievedPercent {
		j.add(Reason{Kind: ReasonHealth, Metric: "achieved_percent", Value: Number(got), Limit: Number(j.limits.AchievedPercent),
			Text: fmt.Sprintf("%s of the offered load left, must be at least %s", FormatValue("percent", got), FormatValue("percent", j.limits.AchievedPercent))})
	}
}
