package compare

import (
	"fmt"
	"strings"

	"ackmark/results"
)

// legend explains the columns.
func (c *Comparison) legend() string {
	few, cpu := false, false
	for _, v := range c.Variants {
		for _, m := range v.Metrics {
			cpu = cpu || strings.HasSuffix(m.Name, "_us_per_delivery")
			for i, cell := range m.Cells {
				few = few || i > 0 && m.Class == results.Timing && cell.RatioLow != nil && (cell.N < 6 || m.Cells[0].N < 6)
			}
		}
	}
	out := fmt.Sprintf("A, B: median of the runs, ± the wider half of its %.0f %% interval, of a count ± its range. change: of the medians, with a bootstrap interval. p: Mann-Whitney U test, adjusted (Holm) for the timings shown; at %g or less it is no chance.",
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
		count := map[Outcome]int{}
		for _, v := range c.Variants {
			for _, m := range v.Metrics {
				count[m.Cells[i].Outcome]++
			}
		}
		var parts []string
		for _, o := range []Outcome{Worse, Better, Changed} {
			if n := count[o]; n > 0 {
				what := fmt.Sprint(n)
				if len(parts) == 0 {
					what = plural(n, "metric")
				}
				parts = append(parts, what+" "+string(o))
			}
		}
		undecided := count[TooFew] + count[NotJudged] + count[NotComparable]
		switch {
		case len(parts) == 0 && undecided > 0:
			parts = append(parts, "nothing can be concluded of "+plural(undecided, "metric"))
		case len(parts) == 0:
			parts = append(parts, "no difference seen")
		case undecided > 0:
			parts = append(parts, fmt.Sprintf("%d not concluded", undecided))
		}
		sides = append(sides, fmt.Sprintf("%s against A: %s", letter(i), strings.Join(parts, ", ")))
	}
	return strings.Join(sides, "; ")
}
