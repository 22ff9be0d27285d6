package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ackmark/results"
)

// parted finds in what builds and profiles one of a side's results differs from
// its first. Results with other variants beside the compared ones are no other
// measurement of these.
func (c *Comparison) parted(side int, r *results.Result) []Difference {
	var out []Difference
	first := c.sides[side].Results[0]
	add := func(variant, what, x, y string, concerns Concern) {
		if x != y {
			out = append(out, Difference{Variant: variant, What: what, First: orUnknown(x), Other: orUnknown(y), Concerns: concerns})
		}
	}
	add("", "loadgen", first.ToolVersion, r.ToolVersion, ConcernsNothing)
	add("", "server", versions(first.Servers), versions(r.Servers), ConcernsNothing)
	for _, v := range c.Variants {
		name := c.nameOn(c.sides[side], v.Name)
		if v.Sides[side].State == Absent || len(first.RunsOf(name)) == 0 || len(r.RunsOf(name)) == 0 || sameSetting(first, r, name) {
			continue
		}
		add("", "profile", first.Profile.Name, r.Profile.Name, ConcernsCounts)
		add("", "--set", sets(first.Profile), sets(r.Profile), ConcernsCounts)
		add(v.Name, "hash of the setting", settingText(first, name), settingText(r, name), ConcernsCounts)
	}
	return out
}

func settingText(r *results.Result, variant string) string {
	return short(or(hashOf(r, variant), r.Profile.Hash))
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
	pa, pb := a.Results[0].Profile, b.Results[0].Profile
	add("", "profile", results.OneLine(pa.Name), results.OneLine(pb.Name), ConcernsCounts)
	add("", "--set", sets(pa), sets(pb), ConcernsCounts)
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

// sets are the settings given over the profile. How often it was measured is
// none: that is told by the number of runs.
func sets(p results.Profile) string {
	return orNone(strings.Join(slices.DeleteFunc(slices.Clone(p.Sets), func(s string) bool { return strings.HasPrefix(s, "repeats=") }), ", "))
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
