package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"ackmark/results"
	"ackmark/results/stats"
)

// SchemaCalibration names the format of the calibration file.
const SchemaCalibration = "ackmark/calibration/v1"

// Calibration is what a machine's own spread allows a gate of pairs to hold: how
// far two runs of one build differ, and the tolerances that follow from it
// (measuring.md, 29). It is of one machine and profile.
type Calibration struct {
	Schema      string              `json:"schema"` // SchemaCalibration
	Date        time.Time           `json:"date"`
	Profile     string              `json:"profile"` // its name
	Build       string              `json:"build"`   // in words; both sides
	Environment results.Environment `json:"environment"`
	Pairs       int                 `json:"pairs"`     // of each variant, at least
	Discarded   int                 `json:"discarded"` // pairs that were measured again since one side was invalid
	Looks       []int               `json:"looks"`     // of the gate that the tolerances are for
	Alpha       float64             `json:"alpha"`
	Metrics     []Calibrated        `json:"metrics"`
	Tolerances  map[string]float64  `json:"tolerances"` // what gate --tolerances holds: the widest over the variants
	Notes       []string            `json:"notes"`
}

// Calibrated is one timing of one variant. Numbers that are not known are null.
type Calibrated struct {
	Variant   string   `json:"variant"`
	Metric    string   `json:"metric"`
	Pairs     int      `json:"pairs"`
	Ratio     *float64 `json:"ratio"`       // geometric mean of the pairs' ratios; 1 but for chance
	Spread    *float64 `json:"spread"`      // standard deviation of their logarithms about 0: 0.08 is about 8 %
	Tolerance *float64 `json:"tolerance"`   // relative, a whole per cent
	Finds     *float64 `json:"finds"`       // worsening that a gate of that tolerance finds in 80 %; relative
	PairsFor5 *int     `json:"pairs_for_5"` // that a tolerance of 5 % would need; null beyond maxPairs
	Held      bool     `json:"held"`        // proposed to be held, not only reported
	Text      string   `json:"text"`        // why it isn't
}

const (
	leastPairs   = 8    // of a calibration: the spread from fewer is little more than a guess
	maxPairs     = 1000 // nobody measures more
	passShare    = 0.95 // of A/A gates that shall pass
	findShare    = 0.80 // of gates that shall find what Finds says
	widest       = 0.20 // a tolerance beyond this holds nothing that matters
	biasedBelow  = 0.01 // p-value, after Holm's correction, of a ratio that isn't 1
	fivePercent  = 0.05
	wholePercent = 0.01
)

// holdable are the timings that a calibration may propose to hold. What the
// generator itself costs, and what follows from how writes were joined, are
// shown beside them.
func holdable() []string {
	return []string{"server_cpu_us_per_delivery", "redis_cpu_us_per_delivery", "server_allocated_bytes_per_delivery", "live.p50", "live.p99", "sync.p50", "sync.p99"}
}

// Gathered tells whether each variant has k usable pairs, or so many were
// discarded that it won't. Calibrations call it in place of Look.
func (p *Pairs) Gathered(k int) (done bool) {
	return len(p.variants) > 0 && p.count() >= k || slices.ContainsFunc(p.variants, func(v *paired) bool {
		return len(v.invariants) > 0 || len(v.broken) >= 2 || v.discards.all() > max(p.o.maxDiscarded(), k/2)
	})
}

// Calibrate finds the spread in pairs of runs of one and the same build, and
// proposes tolerances for gates with the options of p. What p.o.Metrics holds
// makes no difference. It is an error when there are fewer than 8 pairs of a
// variant, or what was measured can't be trusted. The caller adds profile, build
// and environment.
//
// A gate passes when its one-sided test at the level a refuses "past the
// tolerance". With n pairs of spread s and a true ratio of 1 it does so in a
// share q of gates when
//
//	log(1 + tolerance) ≥ s/√n · (t(1−a, n−1) + z(q))
//
// with quantiles of Student's and the normal distribution: the sample size of a
// one-sided test of non-inferiority (Julious, Sample sizes for clinical trials
// with normal data, 2004), n being the cap. For a gate to pass in 95 %, all m of its timings
// must: each then has q = 1 − 0.05/m (Bonferroni). That the sign-flip test does as
// well as Student's on measured pairs is what TestCalibratedGates holds.
func Calibrate(p *Pairs, at time.Time) (*Calibration, error) {
	c := &Calibration{Schema: SchemaCalibration, Date: at.UTC().Truncate(time.Second), Pairs: p.count(), Looks: slices.Clone(p.o.Looks),
		Alpha: p.o.Alpha, Metrics: []Calibrated{}, Tolerances: map[string]float64{}, Notes: []string{}}
	if len(p.variants) == 0 {
		return nil, errors.New("nothing was measured to calibrate by")
	}
	for _, v := range p.variants {
		c.Discarded += v.discards.all()
		for _, check := range v.health(p.o) {
			if check.Outcome != Passed {
				return nil, fmt.Errorf("%s: %s; the spread of such runs says nothing", v.name, check.Text)
			}
		}
		if n := len(v.pairs); n < leastPairs {
			return nil, fmt.Errorf("%s has %s; a spread needs %d or more", v.name, results.Plural(n, "usable pair"), leastPairs)
		}
	}
	c.spreads(p)
	c.propose(p.o)
	c.note(p)
	return c, nil
}

// spreads fills in what was measured.
func (c *Calibration) spreads(p *Pairs) {
	names := holdable()
	for _, name := range reportedTimings() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var ps []float64
	var at []int // of c.Metrics
	for _, v := range p.variants {
		for _, name := range names {
			m, _ := results.Lookup(name)
			if m.ClassUnder(v.ackPolicy) != results.Timing || !v.has(name) {
				continue
			}
			row := Calibrated{Variant: v.name, Metric: name, Pairs: len(v.pairs)}
			logs, _, _, problem := v.ratios(m)
			if problem != "" {
				row.Text = problem
				c.Metrics = append(c.Metrics, row)
				continue
			}
			mean, _ := stats.MeanStdDev(logs)
			row.Ratio, row.Spread = results.Number(math.Exp(mean)), results.Number(aboutZero(logs))
			flip := stats.NewSignFlip(logs, p.rng(len(c.Metrics)))
			ps, at = append(ps, 2*min(flip.Greater(0), flip.Less(0), 0.5)), append(at, len(c.Metrics))
			c.Metrics = append(c.Metrics, row)
		}
	}
	for i, adjusted := range stats.Holm(ps) {
		if row := c.Metrics[at[i]]; adjusted <= biasedBelow {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s of one build against itself is %s, which isn't chance: the two sides aren't measured alike",
				row.Variant, spoken(row.Metric), changeText(*row.Ratio-1)))
		}
	}
}

// has tells whether any run has the metric: one that no run has isn't measured
// by this profile.
func (v *paired) has(metric string) bool {
	return slices.ContainsFunc(v.pairs, func(pr pair) bool {
		_, a := pr.candidate.Value(metric)
		_, b := pr.reference.Value(metric)
		return a || b
	})
}

// aboutZero is the standard deviation about 0, which is where the logarithms of
// one build's ratios are but for chance.
func aboutZero(logs []float64) float64 {
	sum := 0.0
	for _, x := range logs {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(logs)))
}

// propose derives the tolerances from the spreads.
func (c *Calibration) propose(o PairOptions) {
	m := 0
	for _, row := range c.Metrics {
		if row.Spread != nil && slices.Contains(holdable(), row.Metric) {
			m++
		}
	}
	plan := planner{level: o.level(), cap: o.cap(), timings: max(m, 1)}
	tooWide := map[string]bool{} // a gate has one tolerance for all variants
	for i := range c.Metrics {
		row := &c.Metrics[i]
		if row.Spread == nil {
			tooWide[row.Metric] = true
			continue
		}
		t := plan.tolerance(*row.Spread)
		row.Tolerance, row.Finds = results.Number(t), results.Number(plan.finds(*row.Spread, t))
		if n := plan.pairs(*row.Spread, fivePercent); n > 0 {
			row.PairsFor5 = &n
		}
		if t > widest {
			tooWide[row.Metric] = true
		}
	}
	for i := range c.Metrics {
		row := &c.Metrics[i]
		switch {
		case row.Text != "":
		case !slices.Contains(holdable(), row.Metric):
			row.Text = "shown only"
		case tooWide[row.Metric] && *row.Tolerance > widest:
			row.Text = fmt.Sprintf("too noisy to hold with at most %s", results.Plural(o.cap(), "pair"))
		case tooWide[row.Metric]:
			row.Text = "too noisy, or not known, in another variant"
		default:
			row.Held = true
			c.Tolerances[row.Metric] = max(c.Tolerances[row.Metric], *row.Tolerance)
		}
	}
}

// planner knows a gate and says what a spread allows it.
type planner struct {
	level   float64 // of one look
	cap     int     // pairs
	timings int     // that share the error, over all variants
}

func student(p float64, n int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(p)
}

// margin is log(1 + tolerance) that n pairs decide as a pass.
func (l planner) margin(spread float64, n int) float64 {
	return spread / math.Sqrt(float64(n)) * (student(1-l.level, n) + distuv.UnitNormal.Quantile(1-(1-passShare)/float64(l.timings)))
}

// tolerance is the least that decides an A/A gate, a whole per cent, rounded up.
func (l planner) tolerance(spread float64) float64 {
	percents := math.Ceil(math.Expm1(l.margin(spread, l.cap))/wholePercent - 1e-9)
	return max(1, percents) * wholePercent
}

// finds is the true worsening that is found in 80 % of gates, at the level that
// Holm gives to the first of the timings.
func (l planner) finds(spread, tolerance float64) float64 {
	away := spread / math.Sqrt(float64(l.cap)) * (student(1-l.level/float64(l.timings), l.cap) + distuv.UnitNormal.Quantile(findShare))
	return math.Expm1(math.Log1p(tolerance) + away)
}

// pairs is how many decide a tolerance; 0 where more than maxPairs would.
func (l planner) pairs(spread, tolerance float64) int {
	for n := 2; n <= maxPairs; n++ {
		if l.margin(spread, n) <= math.Log1p(tolerance) {
			return n
		}
	}
	return 0
}

// note adds what a reader should know of the figures.
func (c *Calibration) note(p *Pairs) {
	chi := distuv.ChiSquared{K: float64(c.Pairs)}
	n := float64(c.Pairs)
	c.Notes = append(c.Notes, fmt.Sprintf("a spread from %s is itself known within −%s and +%s", results.Plural(c.Pairs, "pair"),
		percent(1-math.Sqrt(n/chi.Quantile(0.975))), percent(math.Sqrt(n/chi.Quantile(0.025))-1)))
	for _, check := range p.counts() {
		if check.Text != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: a count that should be the same in both runs isn't: %s", check.Variant, check.Text))
		}
	}
}
