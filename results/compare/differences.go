package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ackmark/results"
)

// Concern says which numbers a difference of conditions explains.
type Concern string

// The concerns.
const (
	ConcernsNothing Concern = ""                // what is compared may be just this: another build
	ConcernsCounts  Concern = "counts"          // and timings with them: something else was measured
	ConcernsTimings Concern = "timings"         // another machine
	ConcernsRedis   Concern = "timings, memory" // another store
)

const (
	concernsTimings = "timings"
	concernsMemory  = "memory"
)

// Difference is one condition in which a side differs from the first, or in
// which the results of one side differ among themselves.
type Difference struct {
	Side     string  `json:"side"`    // letter
	Variant  string  `json:"variant"` // "" when it concerns all
	What     string  `json:"what"`
	First    string  `json:"first"` // on the first side, or of the side's own first result
	Other    string  `json:"other"`
	Concerns Concern `json:"concerns"`
	Within   bool    `json:"within"` // the side's own results differ
}

// apart tells whether conditions of a side differ from the first's in what
// concerns timings or memory.
func (c *Comparison) apart(side int, concern string) bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool {
		return (d.Side == letter(side) || d.Side == letter(0)) && strings.Contains(string(d.Concerns), concern)
	})
}

// otherwise tells whether something else was measured on a side: another
// profile, setting or seed.
func (c *Comparison) otherwise(side int, variant string) bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool {
		return d.Side == letter(side) && d.Concerns == ConcernsCounts && (d.Variant == "" || d.Variant == variant)
	})
}

func (c *Comparison) differ(d Difference) {
	d.What, d.First, d.Other = results.OneLine(d.What), results.OneLine(d.First), results.OneLine(d.Other)
	if !slices.Contains(c.Differences, d) {
		c.Differences = append(c.Differences, d)
	}
}

// compareConditions finds in what the sides differ apart from the numbers.
func (c *Comparison) compareConditions() {
	first := c.sides[0].Results[0]
	for i, s := range c.sides {
		for _, r := range s.Results {
			for _, d := range append(conditions(s.Results[0], r), c.parted(i, r)...) {
				d.Side, d.Within = letter(i), true
				c.differ(d)
			}
		}
		if i == 0 {
			continue
		}
		for _, d := range conditions(first, s.Results[0]) {
			d.Side = letter(i)
			c.differ(d)
		}
		for _, d := range builds(c.Sides[0], c.Sides[i]) {
			d.Side = letter(i)
			c.differ(d)
		}
		c.compareProfiles(i)
	}
}

// conditions are those that make another machine or another store of it.
func conditions(a, b *results.Result) []Difference {
	var out []Difference
	for _, d := range results.Differences(a.Environment, b.Environment) {
		concerns := ConcernsTimings
		if d.What == "Redis" {
			concerns = ConcernsRedis
		}
		out = append(out, Difference{What: d.What, First: orUnknown(d.A), Other: orUnknown(d.B), Concerns: concerns})
	}
	add := func(what string, x, y string, concerns Concern) {
		if x != y {
			out = append(out, Difference{What: what, First: x, Other: y, Concerns: concerns})
		}
	}
	add("store", storeOf(a), storeOf(b), ConcernsRedis)
	for _, nodes := range []struct {
		what string
		a, b []results.Node
	}{{"servers", a.Servers, b.Servers}, {"Redis", a.Redis, b.Redis}, {"generators", a.Generators, b.Generators}} {
		add("number of "+nodes.what, fmt.Sprint(len(nodes.a)), fmt.Sprint(len(nodes.b)), ConcernsTimings)
		add(nodes.what+" pinned to", pinned(nodes.a), pinned(nodes.b), ConcernsTimings)
	}
	return out
}

func storeOf(r *results.Result) string {
	if isEmbedded(r) {
		return "embedded"
	}
	return "Redis"
}

func pinned(nodes []results.Node) string {
	var out []string
	for _, n := range nodes {
		if len(n.PinnedCores) > 0 {
			out = append(out, fmt.Sprint(n.PinnedCores))
		}
	}
	if len(out) == 0 {
		return "no cores"
	}
	return strings.Join(out, " ")
}

// builds are usually what is compared, so they explain away nothing.
func builds(a, b SideInfo) []Difference {
	var out []Difference
	if a.Tool != b.Tool {
		out = append(out, Difference{What: "loadgen", First: orUnknown(a.Tool), Other: orUnknown(b.Tool)})
	}
	if a.Server != b.Server {
		out = append(out, Difference{What: "server", First: orUnknown(a.Server), Other: orUnknown(b.Server)})
	}
	return out
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

func short(hash string) string {
	if hash == "" {
		return "unknown"
	}
	return hash[:min(len(hash), 12)]
}

func orUnknown(s string) string { return or(s, "unknown") }
func orNone(s string) string    { return or(s, "none") }
func orDefault(s string) string { return or(s, "not set") }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
