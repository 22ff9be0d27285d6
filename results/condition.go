package results

import (
	"fmt"
	"strings"
	"time"

	"ackmark/profiles"
)

// Condition is one threshold, expectation or invariant: metric, comparison,
// and a limit in the metric's unit.
type Condition struct {
	Metric Metric
	Op     string // ==, !=, <, <=, >, >=
	Limit  float64
	Source CheckSource
	Text   string // as written
}

// Conditions reads the texts of a profile's thresholds or a variant's
// expectations. It refuses metrics that the registry doesn't have and units
// that don't fit the metric, so that a typing error is found before the run.
func Conditions(texts []string, source CheckSource) ([]Condition, error) {
	var out []Condition
	for _, text := range texts {
		c, err := newCondition(text)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", source, text, err)
		}
		c.Source = source
		out = append(out, c)
	}
	return out, nil
}

// DefaultInvariants are the conditions that hold for every variant unless it
// expects otherwise (measuring.md, 26).
func DefaultInvariants() []Condition {
	var out []Condition
	for _, m := range Metrics() {
		if m.Class == Invariant {
			out = append(out, Condition{Metric: m, Op: "==", Source: FromInvariant, Text: m.Name + " == 0"})
		}
	}
	return out
}

func newCondition(text string) (Condition, error) {
	t, err := profiles.ParseThreshold(text)
	if err != nil {
		return Condition{}, err
	}
	m, ok := Lookup(t.Metric)
	if !ok {
		return Condition{}, fmt.Errorf("there is no metric %s; did you mean %s?", t.Metric, strings.Join(Similar(t.Metric, MetricNames()), ", "))
	}
	limit := t.Value
	switch d, isTime := t.Duration(); {
	case isTime && m.Unit == Microseconds:
		limit = float64(d) / float64(time.Microsecond)
	case isTime:
		return Condition{}, fmt.Errorf("%s is no time; write %s, e.g. %s %s 1", m.Name, unitInWords(m.Unit), m.Name, t.Op)
	case m.Unit == Microseconds && limit != 0:
		return Condition{}, fmt.Errorf("the limit has no unit; %s is a time, e.g. %s %s 250ms", m.Name, m.Name, t.Op)
	}
	return Condition{Metric: m, Op: t.Op, Limit: limit, Text: text}, nil
}

func unitInWords(unit string) string {
	switch unit {
	case "/s":
		return "a number per second"
	case "percent":
		return "a number of per cent"
	case "bytes":
		return "a number of bytes"
	case "ratio":
		return "a ratio"
	}
	return "a number"
}

// Met tells whether a value meets the condition.
func (c Condition) Met(v float64) bool {
	switch c.Op {
	case "==":
		return v == c.Limit
	case "!=":
		return v != c.Limit
	case "<":
		return v < c.Limit
	case "<=":
		return v <= c.Limit
	case ">":
		return v > c.Limit
	case ">=":
		return v >= c.Limit
	}
	return false
}

// Replaces tells whether an expectation stands in the place of an invariant or a
// threshold: one that it contradicts ("lost > 0" replaces "lost == 0", "lost < 5"
// doesn't), and any other of its metric when it lets that be whatever it is:
// "lost >= 0" says that messages may be lost, and need not.
func (c Condition) Replaces(d Condition) bool {
	return c.Contradicts(d) || c.Metric.Name == d.Metric.Name && (c.Op == ">=" && c.Limit <= 0 || c.Op == ">" && c.Limit < 0)
}

// Contradicts tells whether no value can meet both conditions.
func (c Condition) Contradicts(d Condition) bool {
	if c.Metric.Name != d.Metric.Name {
		return false
	}
	// Both are made of at most one boundary each, so if any value meets both,
	// then one of these does: a limit, a value between, below or above them.
	lo, hi := min(c.Limit, d.Limit), max(c.Limit, d.Limit)
	for _, v := range []float64{lo, hi, lo + (hi-lo)/2, lo - 1, hi + 1} {
		if c.Met(v) && d.Met(v) {
			return false
		}
	}
	return true
}

// same tells whether both ask for the same thing.
func (c Condition) same(d Condition) bool {
	return c.Metric.Name == d.Metric.Name && c.Op == d.Op && c.Limit == d.Limit
}

// must says in words what the condition asks for: "must be below 250 ms".
func (c Condition) must() string {
	limit := FormatValue(c.Metric.Unit, c.Limit)
	switch c.Op {
	case "==":
		return "must be " + limit
	case "!=":
		return "must not be " + limit
	case "<":
		return "must be below " + limit
	case "<=":
		return "must be at most " + limit
	case ">":
		return "must be above " + limit
	}
	return "must be at least " + limit
}
