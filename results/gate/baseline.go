package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ackmark/results"
)

// SchemaBaseline names the format of the baseline file.
const SchemaBaseline = "ackmark/baseline/v1"

// Baseline is what a measurement is held against: the figures of one valid run,
// dated, with the machine that they come from and the worsenings that were
// accepted on the way. It changes by Update only, never by itself
// (measuring.md, 29).
type Baseline struct {
	Schema      string              `json:"schema"` // SchemaBaseline
	Date        time.Time           `json:"date"`   // of writing
	ToolVersion string              `json:"tool_version"`
	Profile     BaselineProfile     `json:"profile"`
	Environment results.Environment `json:"environment"`
	Variants    []BaselineVariant   `json:"variants"`
	Accepted    []Accepted          `json:"accepted"`   // the oldest first
	Tolerances  map[string]float64  `json:"tolerances"` // timings that are gated, relative: 0.05 allows 5 %; kept by hand or from a calibration
}

// BaselineProfile says what was measured.
type BaselineProfile struct {
	Name    string `json:"name"`
	Hash    string `json:"hash"`
	Seed    uint64 `json:"seed"`
	Repeats int    `json:"repeats"` // of each variant
}

// BaselineVariant holds the figures of one variant.
type BaselineVariant struct {
	Name      string                    `json:"name"`
	Hash      string                    `json:"hash"`
	AckPolicy string                    `json:"ack_policy"`
	Metrics   map[string]BaselineMetric `json:"metrics"` // invariants aside, which need no reference
}

// BaselineMetric is one metric over the repeats.
type BaselineMetric struct {
	Class   results.Class `json:"class"` // under the variant's ack policy
	Unit    string        `json:"unit"`
	Samples []float64     `json:"samples"` // in the order of the repeats
}

// Accepted is one time that a baseline was replaced by a worse one.
type Accepted struct {
	Date   time.Time `json:"date"`
	Reason string    `json:"reason"`
	Worse  []string  `json:"worse"` // a sentence each
}

// NewBaseline makes a baseline of a result. It refuses what may not be
// promised: a result that is not a pass, was interrupted, had an embedded store,
// a target of somebody else or a reduced audit, is a sweep, or comes from a file
// without a seed.
func NewBaseline(r *results.Result, at time.Time) (*Baseline, error) {
	if problem := unfit(r); problem != "" {
		return nil, fmt.Errorf("no baseline is made from this result: %s", problem)
	}
	b := &Baseline{
		Schema: SchemaBaseline, Date: at.UTC().Truncate(time.Second), ToolVersion: r.ToolVersion,
		Profile:     BaselineProfile{Name: r.Profile.Name, Hash: r.Profile.Hash, Seed: r.Profile.Seed, Repeats: len(r.RunsOf(r.Variants[0].Name))},
		Environment: r.Environment, Accepted: []Accepted{}, Tolerances: map[string]float64{},
	}
	for _, v := range r.Variants {
		runs := inOrder(r.RunsOf(v.Name))
		if len(runs) != b.Profile.Repeats {
			return nil, fmt.Errorf("no baseline is made from this result: %s has %d repeats, %s has %d", r.Variants[0].Name, b.Profile.Repeats, v.Name, len(runs))
		}
		b.Variants = append(b.Variants, BaselineVariant{Name: v.Name, Hash: v.Hash, AckPolicy: v.AckPolicy, Metrics: figures(runs, v.AckPolicy)})
	}
	if err := b.validate(); err != nil {
		return nil, fmt.Errorf("no baseline is made from this result: %w", err)
	}
	return b, nil
}

// figures takes every metric that each of the runs has a number for.
func figures(runs []*results.Run, ackPolicy string) map[string]BaselineMetric {
	out := map[string]BaselineMetric{}
	for _, m := range results.AllMetrics() {
		if m.Class == results.Invariant || !kept(m.Name) {
			continue
		}
		if s, problem := samples(runs, m.Name); problem == "" {
			out[m.Name] = BaselineMetric{Class: m.ClassUnder(ackPolicy), Unit: m.Unit, Samples: s}
		}
	}
	return out
}

// kept tells whether a baseline keeps the figure: of a histogram, the
// percentiles that are judged.
func kept(metric string) bool {
	_, stat, dotted := strings.Cut(metric, ".")
	return !dotted || slices.Contains([]string{"p50", "p90", "p99", "p999"}, stat)
}

// unfit says why a result may not become a baseline; "" means that it may.
func unfit(r *results.Result) string {
	switch {
	case r.Interrupted:
		return "the measurement was interrupted"
	case r.Schema == results.SchemaV1:
		return "its file is of version 1, which doesn't keep the seed; measure again"
	case r.Sweep != nil:
		return "it is a sweep; measure the profile itself"
	case len(r.Variants) == 0 || len(r.Runs) == 0:
		return "nothing was measured"
	case slices.ContainsFunc(r.Redis, isEmbedded) || slices.ContainsFunc(r.Servers, isEmbedded):
		return "its store was embedded; measure with a real Redis"
	case slices.ContainsFunc(r.Servers, isGiven):
		return "its server was a target that this measurement didn't start; measure a server of its own"
	case slices.ContainsFunc(r.Runs, func(run results.Run) bool { return run.Audit.Reduced }):
		return "its audit is reduced to what clients saw"
	case r.Verdict.Status != results.Pass:
		return "it is " + described(r.Verdict)
	}
	for _, v := range r.Variants {
		if v.Verdict.Status != results.Pass {
			return "variant " + v.Name + " is " + described(v.Verdict)
		}
	}
	for _, run := range r.Runs {
		switch {
		case run.Verdict.Status != results.Pass:
			return fmt.Sprintf("%s, repeat %d, is %s", run.Variant, run.Repeat, described(run.Verdict))
		case !slices.ContainsFunc(r.Variants, func(v results.Variant) bool { return v.Name == run.Variant }):
			return fmt.Sprintf("it has a run of %s, which isn't among its variants", run.Variant)
		}
	}
	return ""
}

func isEmbedded(n results.Node) bool { return n.Kind == results.Embedded }
func isGiven(n results.Node) bool    { return n.Kind == results.Given }

// described writes a verdict with its first reason.
func described(v results.Verdict) string {
	status := string(v.Status)
	if status == "" {
		status = "not judged"
	}
	if len(v.Reasons) == 0 {
		return status
	}
	if n := len(v.Reasons) - 1; n > 0 {
		return fmt.Sprintf("%s: %s (and %d more)", status, v.Reasons[0], n)
	}
	return status + ": " + v.Reasons[0].String()
}

// variant returns the variant of that name, nil without one.
func (b *Baseline) variant(name string) *BaselineVariant {
	for i := range b.Variants {
		if b.Variants[i].Name == name {
			return &b.Variants[i]
		}
	}
	return nil
}

// UpdateOptions says what a new baseline may do to the old one.
type UpdateOptions struct {
	AcceptWorse string      // the reason why it may promise less; "": it may not
	Timings     TimingsMode // ReportTimings: nobody holds timings, so none can be worse; "" is GateTimings
}

// Update makes the baseline that replaces old by a result, and says in which
// points it promises less: a gated metric that is worse than its tolerance
// allows, timings only where the machine is the same; another profile or seed;
// what is no longer measured. Without a reason for that, which the file then
// keeps with the history of such reasons, it is an error, and worse still says
// what it is about. A first baseline, with old nil, needs none.
func Update(old *Baseline, r *results.Result, at time.Time, o UpdateOptions) (b *Baseline, worse []string, err error) {
	if b, err = NewBaseline(r, at); err != nil || old == nil {
		return b, nil, err
	}
	switch {
	case old.Schema != SchemaBaseline:
		return nil, nil, fmt.Errorf("the baseline's schema is %q, this version writes %q", old.Schema, SchemaBaseline)
	case old.Profile.Name != r.Profile.Name:
		return nil, nil, fmt.Errorf("the baseline is of profile %s, this result of %s; give it a file of its own", old.Profile.Name, r.Profile.Name)
	case b.Date.Before(old.Date):
		return nil, nil, fmt.Errorf("the baseline is of %s, which is after %s", day(old.Date), day(b.Date))
	}
	worse = worseThan(old, b, o.Timings)
	b.Accepted = append(b.Accepted, old.Accepted...)
	for name, tolerance := range old.Tolerances {
		b.Tolerances[name] = tolerance
	}
	reason := strings.TrimSpace(o.AcceptWorse)
	switch {
	case len(worse) == 0:
		return b, nil, nil
	case reason == "":
		return nil, worse, errors.Join(ErrWorse, errors.New(strings.Join(worse, "\n")))
	}
	b.Accepted = append(b.Accepted, Accepted{Date: b.Date, Reason: reason, Worse: worse})
	return b, worse, nil
}

// ErrWorse says that a baseline was to be replaced by a worse one, and nobody
// gave a reason.
var ErrWorse = errors.New("the new baseline promises less than the old one; say why with --accept-worse REASON")

func day(t time.Time) string { return t.Format(time.DateOnly) }
