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
	d.What, d.First, d.Other = oneLine(d.What), oneLine(d.First), oneLine(d.Other)
	if !slices.Contains(c.Differences, d) {
		c.Differences = append(c.Differences, d)
	}
}

// compareConditions finds in what the sides differ apart from the numbers.
func (c *Comparison) compareConditions() {
	first := c.sides[0].Results[0]
	for i, s := range c.sides {
		for _, r := range s.Results {
			for _, d := range conditions(s.Results[0], r) {
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

// compareProfiles finds what another profile, setting or seed a side was
// measured with.
func (c *Comparison) compareProfiles(side int) {
	a, b := c.sides[0], c.sides[side]
	add := func(variant, what, x, y string, concerns Concern) {
		if x != y {
			c.differ(Difference{Side: letter(side), Variant: variant, What: what, First: x, Other: y, Concerns: concerns})
		}
	}
	add("", "profile", c.Sides[0].Profile, c.Sides[side].Profile, ConcernsCounts)
	pa, pb := a.Results[0].Profile, b.Results[0].Profile
	add("", "--set", orNone(strings.Join(pa.Sets, ", ")), orNone(strings.Join(pb.Sets, ", ")), ConcernsCounts)
	settled := false
	for _, v := range c.Variants {
		x, y := v.Sides[0], v.Sides[side]
		if x.State == Absent || y.State == Absent {
			continue
		}
		if c.nameOn(b, v.Name) != v.Name {
			add(v.Name, "variant", v.Name, c.nameOn(b, v.Name), ConcernsNothing)
		}
		for _, key := range slices.Sorted(maps.Keys(merged(x.set, y.set))) {
			if x.hash != "" && y.hash != "" { // files of v1 don't say
				add(v.Name, key, orDefault(x.set[key]), orDefault(y.set[key]), ConcernsCounts)
			}
		}
		if settled = x.hash != "" && y.hash != ""; settled {
			add(v.Name, "hash of the setting", short(x.hash), short(y.hash), ConcernsCounts)
		}
	}
	if !settled {
		add("", "hash of the profile", short(pa.Hash), short(pb.Hash), ConcernsCounts)
	}
	if pa.Hash != pb.Hash {
		for _, line := range changedLines(pa.Source, pb.Source) {
			add("", "profile, "+line[0], line[1], line[2], ConcernsCounts)
		}
	}
	c.compareSeeds(side)
	c.compareVariants(side)
}

// compareSeeds looks at the runs, since files of v1 don't name the seed that
// theirs were derived from.
func (c *Comparison) compareSeeds(side int) {
	for _, v := range c.Variants {
		seeds := map[int]uint64{}
		for _, run := range v.Sides[0].runs {
			seeds[run.Repeat] = run.Seed
		}
		for _, run := range v.Sides[side].runs {
			if s, ok := seeds[run.Repeat]; ok && s != run.Seed {
				x, y := c.sides[0].Results[0].Profile.Seed, c.sides[side].Results[0].Profile.Seed
				what := "seed"
				if x == y || x == 0 || y == 0 {
					what, x, y = fmt.Sprintf("seed of repeat %d", run.Repeat), s, run.Seed
				}
				c.differ(Difference{Side: letter(side), What: what, First: fmt.Sprint(x), Other: fmt.Sprint(y), Concerns: ConcernsCounts})
				return
			}
		}
	}
}

// compareVariants finds the variants that only one of the two sides has.
func (c *Comparison) compareVariants(side int) {
	a, b := variantNames(c.sides[0]), variantNames(c.sides[side])
	if len(a) == 1 && len(b) == 1 {
		return
	}
	less := func(from, without []string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(s string) bool { return slices.Contains(without, s) })
	}
	if onlyA, onlyB := less(a, b), less(b, a); len(onlyA)+len(onlyB) > 0 {
		c.differ(Difference{Side: letter(side), What: "variants only here", First: orNone(strings.Join(onlyA, "; ")), Other: orNone(strings.Join(onlyB, "; "))})
	}
}

// maxLines is how many changed lines of a profile are listed.
const maxLines = 8

// changedLines pairs the lines of two profiles that only one has, by the key
// they begin with: key, first, other. Items of lists are variants, thresholds
// and faults, which no key tells apart.
func changedLines(a, b string) [][3]string {
	split := func(text, other string) (keys []string, values map[string]string) {
		values = map[string]string{}
		has := map[string]bool{}
		for line := range strings.Lines(other) {
			has[bare(line)] = true
		}
		for line := range strings.Lines(text) {
			l := bare(line)
			if key, value, ok := strings.Cut(l, ":"); ok && !has[l] && !strings.HasPrefix(l, "-") {
				if _, twice := values[key]; !twice {
					keys = append(keys, key)
				}
				values[key] = strings.TrimSpace(strings.TrimPrefix(values[key]+" "+strings.TrimSpace(value), " "))
			}
		}
		return keys, values
	}
	keysA, valuesA := split(a, b)
	keysB, valuesB := split(b, a)
	var out [][3]string
	for _, key := range append(keysA, keysB...) {
		line := [3]string{key, orNone(valuesA[key]), orNone(valuesB[key])}
		if key != "about" && key != "name" && key != "profile" && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out[:min(len(out), maxLines)]
}

// bare is a line of YAML without comment and indentation.
func bare(line string) string {
	line, _, _ = strings.Cut(line, " #")
	if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
		return ""
	}
	return line
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
