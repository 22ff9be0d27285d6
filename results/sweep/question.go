package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ackmark/profiles"
	"ackmark/results"
)

// Alias is a short name of a metric, for people.
type Alias struct{ Name, Metric string }

// Aliases lists the short names, in the order of help texts.
func Aliases() []Alias {
	return []Alias{
		{"cpu", "system_cpu_us_per_delivery"},
		{"server_cpu", "server_cpu_us_per_delivery"},
		{"redis_cpu", "redis_cpu_us_per_delivery"},
		{"commands", "redis_commands_per_delivery"},
		{"acks", "ack_requests_per_delivery"},
		{"ack_bytes", "ack_bytes_per_delivery"},
		{"wakeups", "client_wakeups_per_s"},
		{"wire", "wire_bytes_per_delivery"},
		{"requests", "requests_per_login"},
	}
}

// Metric finds a metric by its name or alias.
func Metric(name string) (results.Metric, error) {
	if m, ok := results.Lookup(unalias(name)); ok {
		return m, nil
	}
	if name == "" {
		return results.Metric{}, errors.New("no metric is named; it should be one, e.g. cpu")
	}
	var names []string
	for _, a := range Aliases() {
		names = append(names, a.Name)
	}
	near := results.Similar(name, append(names, results.MetricNames()...))
	return results.Metric{}, fmt.Errorf("there is no metric %s; did you mean %s?", results.OneLine(name), strings.Join(near, ", "))
}

func unalias(name string) string {
	all := Aliases()
	if i := slices.IndexFunc(all, func(a Alias) bool { return a.Name == name }); i >= 0 {
		return all[i].Metric
	}
	return name
}

// Question is what is asked of a sweep.
type Question struct {
	Objective   results.Metric // without a name: no point is to be chosen
	Constraints []results.Condition
	// Cost and Risk span the Pareto front; without names NewTable picks what the
	// result has.
	Cost, Risk results.Metric
	Seed       uint64 // of the resamples behind "how sure"
}

// Source of the constraints, as messages name it.
const fromSubjectTo results.CheckSource = "subject to"

// NewQuestion reads the profile's texts or the flags': choose is a metric or an
// alias, or "" for none; subjectTo are statements about metrics or aliases; pareto
// is empty, or cost and risk.
func NewQuestion(choose string, subjectTo, pareto []string) (Question, error) {
	var q Question
	var err error
	if choose != "" {
		if q.Objective, err = Metric(choose); err != nil {
			return Question{}, fmt.Errorf("choose: %w", err)
		}
		if q.Objective.Better == results.Neither {
			return Question{}, fmt.Errorf("choose: of %s neither more nor less is better; choose by a cost, e.g. cpu", q.Objective.Name)
		}
	}
	for _, text := range subjectTo {
		t, err := profiles.ParseThreshold(text)
		if err != nil {
			return Question{}, fmt.Errorf("subject to: %w", err)
		}
		t.Metric = unalias(t.Metric)
		c, err := results.Conditions([]string{t.String()}, fromSubjectTo)
		if err != nil {
			return Question{}, err
		}
		q.Constraints = append(q.Constraints, c...)
	}
	for i, text := range pareto {
		m, err := Metric(text)
		switch {
		case err != nil:
			return Question{}, fmt.Errorf("pareto: %w", err)
		case m.Better == results.Neither:
			return Question{}, fmt.Errorf("pareto: of %s neither more nor less is better", m.Name)
		case i == 0:
			q.Cost = m
		default:
			q.Risk = m
		}
	}
	if len(pareto) > 0 && (len(pareto) != 2 || q.Cost.Name == q.Risk.Name) {
		return Question{}, fmt.Errorf("pareto: %s; it takes a cost and a risk, e.g. cpu,redelivered_per_crash", strings.Join(pareto, ", "))
	}
	return q, nil
}

// pareto picks cost and risk where nobody said.
func (q *Question) pareto(rows []*Row) {
	if q.Cost.Name != "" {
		return
	}
	pick := func(names ...string) results.Metric {
		for _, name := range names {
			m, known := results.Lookup(name)
			has := func(r *Row) bool { _, ok := r.Value(m); return ok }
			if known && slices.ContainsFunc(rows, has) {
				return m
			}
		}
		return results.Metric{}
	}
	q.Cost = pick("system_cpu_us_per_delivery", "server_cpu_us_per_delivery", "ack_requests_per_delivery")
	q.Risk = pick("redelivered_per_crash", "unacked_window_mean", "largest_response_bytes", "live.p99")
	if pages := pick("requests_per_login"); pages.Name != "" && pick("live.p99").Name == "" {
		q.Cost, q.Risk = pages, pick("largest_response_bytes")
	}
	if q.Cost.Name == "" || q.Risk.Name == "" {
		q.Cost, q.Risk = results.Metric{}, results.Metric{}
	}
}
