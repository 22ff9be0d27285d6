package profiles

import (
	"strconv"
	"strings"
	"time"
)

// Threshold is one checked statement about a result: "lost == 0",
// "live.p99 < 250ms". Which metrics exist is for package results to say.
type Threshold struct {
	Metric string  // lost, live.p99.9, ack_requests_per_delivery
	Op     string  // == != < <= > >=
	Value  float64 // a plain number, or nanoseconds
	Unit   string  // UnitNumber or UnitDuration
}

// The units of a Threshold's value.
const (
	UnitNumber   = ""
	UnitDuration = "ns"
)

// Duration gives the value of a threshold that is a duration.
func (t Threshold) Duration() (d time.Duration, ok bool) {
	return time.Duration(t.Value), t.Unit == UnitDuration
}

// Holds tells whether the statement is true of a measured value, which is
// given in the threshold's unit (nanoseconds where that is a duration). NaN,
// which is no measurement, holds for nothing.
func (t Threshold) Holds(measured float64) bool {
	switch t.Op {
	case "==":
		return measured == t.Value
	case "!=":
		return measured < t.Value || measured > t.Value
	case "<":
		return measured < t.Value
	case "<=":
		return measured <= t.Value
	case ">":
		return measured > t.Value
	case ">=":
		return measured >= t.Value
	}
	return false
}

// String gives the canonical text.
func (t Threshold) String() string {
	v := strconv.FormatFloat(t.Value, 'f', -1, 64)
	if d, ok := t.Duration(); ok {
		v = Duration(d).String()
	}
	return t.Metric + " " + t.Op + " " + v
}

// ParseThreshold reads a statement. The error is a *ValueError.
func ParseThreshold(s string) (Threshold, error) {
	const right = `METRIC OP VALUE, e.g. "lost == 0" or "live.p99 < 250ms"`
	at := strings.IndexAny(s, "=!<>")
	if at < 0 {
		return Threshold{}, valueErrorf(right, "%q compares nothing", s)
	}
	t := Threshold{Metric: strings.TrimSpace(s[:at])}
	rest := s[at:]
	n := len(rest) - len(strings.TrimLeft(rest, "=!<>"))
	t.Op = rest[:n]
	switch t.Op {
	case "==", "!=", "<", "<=", ">", ">=":
	case "=":
		return Threshold{}, valueErrorf("== compares", "%q: unknown comparison =", s)
	default:
		return Threshold{}, valueErrorf("one of ==, !=, <, <=, >, >=", "%q: unknown comparison %s", s, t.Op)
	}
	if !metricName(t.Metric) {
		return Threshold{}, valueErrorf(right, "%q: %q is not the name of a metric", s, t.Metric)
	}
	text := strings.TrimSpace(rest[n:])
	unsigned, negative := strings.CutPrefix(text, "-")
	if v, ok := decimal(unsigned); ok {
		if negative {
			v = 0 - v // never -0, which would print as one
		}
		t.Value = v
		return t, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Threshold{}, valueErrorf("a number or a duration, e.g. 0 or 250ms", "%q: %q is not a value", s, text)
	}
	t.Value, t.Unit = float64(d), UnitDuration
	return t, nil
}

// metricName accepts words of letters, digits and '_' joined by single dots,
// beginning with a letter: live.p99.9.
func metricName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}
