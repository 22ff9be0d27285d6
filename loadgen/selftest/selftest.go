package selftest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"ackmark/results"
)

// Config says how to test.
type Config struct {
	ToolVersion string
	// Executable is started as the stub, with StubArgs first; empty means this
	// executable and {"stub"}.
	Executable string
	StubArgs   []string
	// Cases are what is tested; nil means Cases().
	Cases []Case
	// Progress is told what goes on: a line, and whether it is the end of a
	// case. May be nil.
	Progress func(text string, ended bool)
}

// Case is one behaviour of the stub.
type Case struct {
	Name    string
	Stub    []string      // flags of the stub
	Rate    int           // messages per second
	Measure time.Duration // after a second of warm-up
	Drain   time.Duration
	Judge   func(*Trial) []Check
}

// Status is the outcome of one check.
type Status string

// The outcomes.
const (
	OK    Status = "ok"
	Wrong Status = "wrong"
	Busy  Status = "busy" // off, and the machine was too busy to tell why
)

// Check is one thing that the generator reported.
type Check struct {
	Case     string   `json:"case"`
	What     string   `json:"what"`
	Unit     string   `json:"unit"` // as in results: "us" or ""
	Expected float64  `json:"expected"`
	Found    *float64 `json:"found"` // null: nothing was reported
	Status   Status   `json:"status"`
	// Timing checks may be measured again; counts may not.
	Timing bool `json:"timing"`
}

// Report is the outcome of a self-test.
type Report struct {
	Verdict  results.Status   `json:"verdict"` // pass, fail, or invalid: too busy to tell
	ExitCode results.ExitCode `json:"exit_code"`
	Checks   []Check          `json:"checks"`
	Notes    []string         `json:"notes"` // for each case that was measured again: the last attempt that was off, and why
	Seconds  float64          `json:"seconds"`
}

// attempts bounds how often a case is measured. What is off in leastFair of them
// that had nothing to excuse it is wrong, without further attempts: a single
// pause of a millisecond at the wrong moment moves p99.9, and shows nowhere else.
//
// Short and often beats long and seldom: a virtual machine is paused by its host
// for milliseconds a few times a second (a bare nanosleep of 2 ms was seen to
// wake 1 to 2 ms late at p99, 4 to 16 ms at p99.9, with nothing else running), so
// hardly any phase of 4 s is free of it and many of 2 s are.
const (
	attempts  = 15
	leastFair = 4
)

// Run tests. An error lies in the infrastructure, or is the context's.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	began := time.Now()
	if cfg.Cases == nil {
		cfg.Cases = Cases()
	}
	if cfg.Executable == "" && len(cfg.StubArgs) == 0 {
		cfg.StubArgs = []string{"stub"}
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string, bool) {}
	}
	rep := &Report{Checks: []Check{}, Notes: []string{}}
	series := make([]*attempted, len(cfg.Cases))
	for i, c := range cfg.Cases {
		series[i] = &attempted{Case: c, who: fmt.Sprintf("[%d/%d] %s", i+1, len(cfg.Cases), c.Name)}
	}
	// What is off is measured again when all others have been: a machine is busy
	// for some time, then it isn't.
	for open := series; len(open) > 0; {
		var again []*attempted
		for _, a := range open {
			ended, err := cfg.attempt(ctx, a)
			if err != nil {
				return nil, fmt.Errorf("self-test, %s: %w", a.Name, err)
			}
			if !ended {
				again = append(again, a)
			}
		}
		open = again
	}
	for _, a := range series {
		rep.Checks = append(rep.Checks, a.checks...)
		if a.note != "" {
			rep.Notes = append(rep.Notes, a.note)
		}
	}
	rep.conclude()
	rep.Seconds = time.Since(began).Seconds()
	return rep, nil
}

// attempted is a case and what its attempts showed.
type attempted struct {
	Case
	who    string
	n      int     // attempts so far
	fair   int     // those of them in which nothing excuses what is off
	checks []Check // of the last one
	note   string  // the last one that was off, and why
}

// attempt measures a case once. It has ended when its times are right or wrong,
// when a count is wrong, and after the last attempt.
func (cfg *Config) attempt(ctx context.Context, a *attempted) (ended bool, err error) {
	a.n++
	t, err := cfg.try(ctx, a.Case, a.n, a.who)
	if err != nil {
		return false, err
	}
	a.checks = a.Judge(t)
	for i := range a.checks {
		a.checks[i].Case = a.Name
	}
	counts, times := off(a.checks)
	if counts == 0 && times > 0 {
		busy := t.busy()
		if len(busy) == 0 {
			a.fair++
		}
		a.note = fmt.Sprintf("%s: times were off in attempt %d", a.Name, a.n)
		if len(busy) > 0 {
			a.note += ": " + strings.Join(busy, "; ")
		}
		if a.fair < leastFair && a.n < attempts {
			cfg.Progress(fmt.Sprintf("%s: %d times off; again later", a.who, times), true)
			return false, nil
		}
	}
	for i := range a.checks {
		if c := &a.checks[i]; c.Timing && c.Status == Wrong && a.fair < leastFair {
			c.Status = Busy
		}
	}
	cfg.Progress(fmt.Sprintf("%s: %d checks, %d off", a.who, len(a.checks), counts+times), true)
	return true, nil
}

// off counts what isn't as expected.
func off(checks []Check) (counts, times int) {
	for _, c := range checks {
		switch {
		case c.Status == OK:
		case c.Timing:
			times++
		default:
			counts++
		}
	}
	return counts, times
}

// conclude gives the verdict: what is wrong outranks what can't be told.
func (r *Report) conclude() {
	r.Verdict = results.Pass
	if len(r.Checks) == 0 {
		r.Verdict = results.Invalid
	}
	for _, c := range r.Checks {
		switch {
		case c.Status == Wrong:
			r.Verdict = results.Fail
		case c.Status == Busy && r.Verdict == results.Pass:
			r.Verdict = results.Invalid
		}
	}
	r.ExitCode = r.Verdict.Exit()
}

// secret is good for one stub.
func secret() string { return rand.Text() }
