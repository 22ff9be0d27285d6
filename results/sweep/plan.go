package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"ackmark/results"
)

// PlanSchema is the format of a plan's file.
const PlanSchema = "ackmark/sweep/v1"

// PlanName is what a plan's file is called in a sweep's directory.
const PlanName = "sweep.json"

// Plan is what a sweep set out to measure. It is written before the first run,
// so that a sweep that ended early can go on with just what is missing.
type Plan struct {
	Schema       string              `json:"schema"`
	ResultSchema string              `json:"result_schema"` // of the files of its runs
	ToolVersion  string              `json:"tool_version"`
	Started      time.Time           `json:"started"`
	File         string              `json:"file"`   // the profile's, for messages
	Source       string              `json:"source"` // its text
	Hash         string              `json:"hash"`   // of all points
	Seed         uint64              `json:"seed"`
	Repeats      int                 `json:"repeats"`
	Sets         []string            `json:"sets"`     // --set and what other flags set
	Variants     []string            `json:"variants"` // --variant
	Vary         []results.Axis      `json:"vary"`
	Skip         bool                `json:"skip_impossible"`
	Order        uint64              `json:"order"` // seed of the order
	Store        string              `json:"store"` // "private", "embedded", or where the given Redis or server is, without secrets
	Choose       string              `json:"choose"`
	SubjectTo    []string            `json:"subject_to"`
	Pareto       []string            `json:"pareto"`
	Environment  results.Environment `json:"environment"` // without Redis' version, which the runs have
	Points       []PlanPoint         `json:"points"`
	Failed       []Failure           `json:"failed,omitempty"` // what was tried and couldn't be measured so far
}

// Failure is a run that ended in an error instead of a result.
type Failure struct {
	Point  string `json:"point"`
	Repeat int    `json:"repeat"`
	Error  string `json:"error"`
}

// PlanPoint is one setting of the plan.
type PlanPoint struct {
	Name    string            `json:"name"`
	Set     map[string]string `json:"set"`
	Seconds float64           `json:"seconds"` // of its phases, without start, seeding and audit
}

// Turn is one run: a point by its index in the plan, and a repeat from 1.
type Turn struct{ Point, Repeat int }

// Turns is the order of measuring: rounds of one repeat of every point, each
// round shuffled. So a machine that slows down over time favours no point
// (measuring.md, 24), and a sweep that ends early has about as many repeats of
// each.
func (p *Plan) Turns() []Turn {
	rng := rand.New(rand.NewPCG(p.Order, 0x04de4))
	out := make([]Turn, 0, len(p.Points)*p.Repeats)
	for repeat := 1; repeat <= p.Repeats; repeat++ {
		for _, point := range rng.Perm(len(p.Points)) {
			out = append(out, Turn{point, repeat})
		}
	}
	return out
}

// overhead is what a run takes beside its phases before there is a measured one:
// start of store and server, users and connections, audit.
const overhead = 3 * time.Second

// Left estimates how long turns take: their phases, and as much more as the runs
// so far took. took are the lengths of those runs, planned those of their phases.
func (p *Plan) Left(turns []Turn, took, planned time.Duration, runs int) time.Duration {
	more := overhead
	if runs > 0 {
		more = (took - planned) / time.Duration(runs)
	}
	var left time.Duration
	for _, t := range turns {
		left += max(0, p.Planned(t)+more)
	}
	return left
}

// Planned is the length of a turn's phases.
func (p *Plan) Planned(t Turn) time.Duration {
	return time.Duration(p.Points[t.Point].Seconds * float64(time.Second))
}

// Encode writes the plan as indented JSON.
func (p *Plan) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a plan: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodePlan reads what Encode wrote, strictly.
func DecodePlan(b []byte) (*Plan, error) {
	if strings.TrimSpace(string(b)) == "" {
		return nil, errors.New("not the plan of a sweep: the file is empty")
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	var p Plan
	switch err := d.Decode(&p); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("not the plan of a sweep: the end is missing")
	case err != nil:
		return nil, fmt.Errorf("not the plan of a sweep: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not the plan of a sweep: something follows it")
	}
	switch {
	case p.Schema != PlanSchema:
		return nil, fmt.Errorf("not the plan of a sweep of this version: schema %q, should be %q", p.Schema, PlanSchema)
	case len(p.Points) == 0 || p.Repeats < 1:
		return nil, errors.New("not the plan of a sweep: it has no points or no repeats")
	}
	return &p, nil
}

// Changed lists what two plans of one sweep differ in, in words: what decides
// what is measured, and on what. What is chosen, and the version of the tool, may
// differ.
func Changed(was, is *Plan) []string {
	var out []string
	add := func(what string, a, b any) {
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			out = append(out, fmt.Sprintf("%s was %s, is %s", what, orNone(x), orNone(y)))
		}
	}
	add("the format of results", was.ResultSchema, is.ResultSchema)
	add("--vary", axesText(was.Vary), axesText(is.Vary))
	add("--set (with --repeats and --seed)", strings.Join(was.Sets, " "), strings.Join(is.Sets, " "))
	add("--variant", strings.Join(was.Variants, ", "), strings.Join(is.Variants, ", "))
	add("--skip-impossible", was.Skip, is.Skip)
	add("--order-seed", was.Order, is.Order)
	add("the store", was.Store, is.Store)
	if len(out) == 0 && was.Source != is.Source {
		what := "the profile's text has changed"
		if was.File != is.File {
			what = fmt.Sprintf("the profile was %s, is %s", orNone(was.File), is.File)
		}
		out = append(out, what)
	}
	if len(out) == 0 && was.Hash != is.Hash {
		out = append(out, "this version of loadgen reads the profile as something else than the one that began")
	}
	for _, d := range results.Differences(was.Environment, is.Environment) {
		add("the machine: "+d.What, d.A, d.B)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func axesText(axes []results.Axis) string {
	var out []string
	for _, a := range axes {
		out = append(out, a.Key+"="+strings.Join(a.Values, ","))
	}
	return strings.Join(out, " ")
}
