package selftest

import (
	"context"
	"crypto/rand"
	"fmt"
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
	Notes    []string         `json:"notes"` // attempts that didn't count, and why
	Seconds  float64          `json:"seconds"`
}

// attempts bounds how often a case is measured. What stays off is wrong when
// leastFair of them had nothing to excuse it: a single pause of a millisecond at
// the wrong moment moves p99.9, and shows nowhere else.
const (
	attempts  = 5
	leastFair = 2
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
	for i, c := range cfg.Cases {
		checks, notes, err := cfg.test(ctx, c, fmt.Sprintf("[%d/%d] %s", i+1, len(cfg.Cases), c.Name))
		if err != nil {
			return nil, err
		}
		rep.Checks = append(rep.Checks, checks...)
		rep.Notes = append(rep.Notes, notes...)
	}
	rep.conclude()
	rep.Seconds = time.Since(began).Seconds()
	return rep, nil
}

// test measures one case until its times are right, at most attempts times.
func (cfg *Config) test(ctx context.Context, c Case, who string) (checks []Check, notes []string, err error) {
	fair := 0 // attempts in which nothing excuses what is off
	for n := 1; n <= attempts; n++ {
		t, err := cfg.try(ctx, c, n, who)
		if err != nil {
			return nil, nil, fmt.Errorf("self-test, %s: %w", c.Name, err)
		}
		busy := t.busy()
		if len(busy) == 0 {
			fair++
		}
		checks = c.Judge(t)
		counts, times := off(checks)
		if counts == 0 && times == 0 || counts > 0 {
			break
		}
		text := fmt.Sprintf("%s, attempt %d of %d: %d times off", c.Name, n, attempts, times)
		for _, b := range busy {
			text += "; " + b
		}
		notes = append(notes, text)
		cfg.Progress(text, false)
	}
	for i := range checks {
		checks[i].Case = c.Name
		if checks[i].Timing && checks[i].Status == Wrong && fair < leastFair {
			checks[i].Status = Busy
		}
	}
	counts, times := off(checks)
	cfg.Progress(fmt.Sprintf("%s: %d checks, %d off", who, len(checks), counts+times), true)
	return checks, notes, nil
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
