package compare

import (
	"fmt"
	"slices"
	"strings"

	"ackmark/results"
)

// legend explains the columns.
func (c *Comparison) legend() string {
	few, cpu, seeds := false, false, false
	for _, v := range c.Variants {
		for _, m := range v.Metrics {
			cpu = cpu || strings.HasSuffix(m.Name, "_us_per_delivery")
			for i, cell := range m.Cells {
				seeds = seeds || cell.BySeed != nil
				few = few || i > 0 && m.Class == results.Timing && cell.RatioLow != nil && (cell.N < 6 || m.Cells[0].N < 6)
			}
		}
	}
	byseed := ""
	if seeds {
		byseed = " Counts are compared by the runs of the same seed: shown are the medians of the seeds that both sides have; the change is the median of the seeds', or that of the seed that moved most where not all moved alike."
	}
	out := fmt.Sprintf("A, B: median of the runs, ± the wider half of its %.0f %% interval, of a count ± its range. change: of the medians, with a bootstrap interval."+byseed+" p: Mann-Whitney U test, adjusted (Holm) for all timings looked at; up to %g a difference is called one.",
		c.Confidence*100, c.Alpha)
	if cpu {
		out += " CPU: of the whole process, per delivery."
	}
	if few {
		out += " With fewer than 6 runs a median has no interval, and that of the change is too narrow."
	}
	return out
}

// summary says what came out, a line for all.
func (c *Comparison) summary() string {
	if len(c.Sides) < 2 {
		return ""
	}
	var sides []string
	for i := 1; i < len(c.Sides); i++ {
		sides = append(sides, fmt.Sprintf("%s against A: %s", letter(i), strings.Join(c.outcomes(i), ", ")))
	}
	return strings.Join(sides, "; ")
}

// outcomes counts those of one side. What a side lacks is told as well: it is
// no agreement.
func (c *Comparison) outcomes(side int) (parts []string) {
	count, common := map[Outcome]int{}, false
	for _, v := range c.Variants {
		if v.Sides[0].State == Absent || v.Sides[side].State == Absent {
			continue
		}
		common = true
		for _, m := range v.Metrics {
			count[m.Cells[side].Outcome]++
		}
	}
	if !common {
		return []string{"nothing to compare"}
	}
	for _, o := range []Outcome{Worse, Better, Changed} {
		if n := count[o]; n > 0 {
			what := fmt.Sprint(n)
			if len(parts) == 0 {
				what = results.Plural(n, "metric")
			}
			parts = append(parts, what+" "+string(o))
		}
	}
	undecided := count[TooFew] + count[NotJudged] + count[NotComparable]
	switch {
	case len(parts) == 0 && undecided > 0:
		parts = append(parts, "nothing can be concluded of "+results.Plural(undecided, "metric"))
	case undecided > 0:
		parts = append(parts, fmt.Sprintf("%d not concluded", undecided))
	case len(parts) == 0 && count[Same]+count[NoDifference] > 0:
		parts = append(parts, "no difference seen")
	}
	if n := count[NoData]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d without a number on a side", n))
	}
	if len(parts) == 0 {
		parts = append(parts, "no difference seen")
	}
	return parts
}

// missing tells, in a line per side, what it has no number of though another
// has. A histogram that has none at all is named once, not by each figure.
func (c *Comparison) missing(v Variant) (lines []string) {
	for i, s := range v.Sides {
		lacks := map[string]bool{}
		for _, m := range v.Metrics {
			lacks[m.Name] = s.State != Absent && c.lacks(v, m) && m.Cells[i].N == 0
		}
		var titles []string
		for _, m := range v.Metrics {
			title := m.Title
			base, _, _ := strings.Cut(m.Name, ".")
			if lacks[base+".p50"] {
				title = histogramTitle(base)
			}
			if lacks[m.Name] && !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
		}
		if len(titles) > 0 {
			lines = append(lines, letter(i)+" has no number of: "+strings.Join(titles, "; "))
		}
	}
	return lines
}

func histogramTitle(name string) string {
	for _, h := range results.Histograms() {
		if h.Name == name {
			return h.Title
		}
	}
	return name
}
