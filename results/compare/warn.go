package compare

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// warn writes what a reader has to know before the numbers.
func (c *Comparison) warn(o Options) {
	warnf := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	for i, s := range c.Sides {
		switch s.Runs {
		case 0:
			warnf("%s holds no run", s.Letter)
		case s.Invalid:
			what := "none of its " + results.Plural(s.Runs, "run") + " can be trusted"
			if s.Runs == 1 {
				what = "its only run can't be trusted"
			}
			warnf("%s is invalid: %s; nothing is concluded from it", s.Letter, or(c.sides[i].asAWhole(), what))
		}
		if slices.ContainsFunc(c.sides[i].Results, func(r *results.Result) bool { return r.Interrupted }) {
			warnf("%s was interrupted: what it holds is what was measured until then", s.Letter)
		}
		if strings.Contains(s.Tool, ", ") || strings.Contains(s.Server, ", ") {
			warnf("the results of %s are of several builds: what is compared is their mixture", s.Letter)
		}
		if s.Embedded {
			warnf("%s was measured with the embedded store, not Redis: its costs are not those of a deployment", s.Letter)
		}
		if i > 0 {
			c.warnApart(i, o, warnf)
		}
	}
	for _, v := range c.Variants {
		for i, g := range v.Sides {
			if g.State != Usable && g.State != Absent && c.Sides[i].Runs != c.Sides[i].Invalid {
				warnf("%s, %s: %s", c.Sides[i].Letter, results.OneLine(v.Name), g.Why)
			}
		}
	}
	if few := c.tooFew(); few != "" {
		warnf("%s", few)
	}
}

// warnApart says which numbers of a side aren't those of the same conditions.
func (c *Comparison) warnApart(i int, o Options, warnf func(string, ...any)) {
	on := c.Sides[i].Letter
	var machine, profile []string
	within, apart := false, false
	for _, d := range c.Differences {
		if d.Side != letter(i) && d.Side != letter(0) {
			continue
		}
		switch {
		case strings.Contains(string(d.Concerns), concernsTimings):
			machine = append(machine, d.What)
			within = within || d.Within
		case d.Concerns == ConcernsCounts && d.Side == letter(i) && !d.Within:
			apart = true
			if what := strings.SplitN(d.What, ", ", 2)[0]; !strings.HasPrefix(what, "hash of") { // that tells nobody anything twice
				profile = append(profile, what)
			}
		}
	}
	if len(machine) > 0 {
		what := on + " was measured under other conditions than A (" + listed(machine) + ")"
		if within {
			what = "the results of " + on + " or A were not measured under the same conditions (" + listed(machine) + ")"
		}
		if o.Anyway {
			warnf("%s; timings are compared all the same, as was asked for", what)
		} else {
			warnf("%s: timings aren't comparable, so nothing is concluded from them", what)
		}
	}
	if apart {
		what := ""
		if len(profile) > 0 {
			what = " (" + listed(profile) + ")"
		}
		warnf("%s measured something else than A%s: its counts differ for that reason too", on, what)
	}
}

// listed names each thing once.
func listed(things []string) string {
	var out []string
	for _, t := range things {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) > 5 {
		out = append(out[:4], fmt.Sprintf("%d more", len(out)-4))
	}
	return strings.Join(out, ", ")
}

// tooFew says how many runs would tell something, when that is why nothing is
// told.
func (c *Comparison) tooFew() string {
	most, least := family{}, 1<<30
	for _, v := range c.Variants {
		for _, m := range v.Metrics {
			for _, cell := range m.Cells {
				if cell.Outcome == TooFew {
					least = min(least, cell.N, m.Cells[0].N)
					if cell.family.weight() > most.weight() {
						most = cell.family
					}
				}
			}
		}
	}
	if most.timings == 0 {
		return ""
	}
	return fmt.Sprintf("too few runs: with %s on a side no difference, however large, can be told from chance among %s; %d a side can, or fewer timings at once (--metric, --variant)",
		results.Plural(least, "run"), results.Plural(most.timings, "timing"), runsNeeded(most.weight(), c.Alpha))
}

// invariantsHold lists the invariants that are shown, if all of them are 0 on
// every side that has the variant, in every run.
func (v Variant) invariantsHold() (held []string) {
	for _, m := range v.Metrics {
		if m.Class != results.Invariant {
			continue
		}
		for i, cell := range m.Cells {
			if v.Sides[i].State != Absent && (cell.Median == nil || *cell.Median != 0 || *cell.Low < 0 || cell.N < len(v.Sides[i].runs)) {
				return nil
			}
		}
		held = append(held, m.Title)
	}
	return held
}
