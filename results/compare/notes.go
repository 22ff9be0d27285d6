package compare

import (
	"fmt"
	"slices"
	"strings"
)

// notes are what stands below a variant's tables: why something was not judged
// and what to do, then what concerns single rows.
func (c *Comparison) notes(v Variant) []string {
	var out []string
	if v.Sides[0].State != Absent {
		for i, g := range v.Sides {
			if why := g.unjudged(letter(i)); why != "" {
				out = append(out, why)
			}
		}
	}
	return append(out, c.rowNotes(v)...)
}

// unjudged says what kept a side from being judged, and what would be right.
func (g Runs) unjudged(on string) string {
	switch g.State {
	case Spoiled:
		return fmt.Sprintf("not judged: %s has no valid run of it (%s); \"loadgen report\" says more, and only measuring again helps", on, g.Why)
	case Partial:
		return fmt.Sprintf("not judged: invalid runs were left out of %s, %d of %d, and which ones is no chance; measure it again until all are valid", on, g.Invalid, g.Used+g.Invalid)
	case Broken:
		return fmt.Sprintf("not judged: %s broke an invariant (%s), and what it saves by that is no saving; mend it first", on, g.Why)
	case Mixed:
		return fmt.Sprintf("not judged: the results of %s measured different things; give each as a side of its own", on)
	}
	return ""
}

// unjudged are the states that kept a cell from being judged, for a format that
// has a line per cell.
func (v Variant) unjudged(side int, cell Cell) []string {
	var out []string
	for _, i := range []int{0, side} {
		if why := v.Sides[i].Why; cell.Outcome == NotJudged && why != "" {
			out = append(out, letter(i)+": "+why)
		}
	}
	return out
}

// rowNotes joins the rows that have the same note: a histogram that some runs
// lack has it for every figure.
func (c *Comparison) rowNotes(v Variant) []string {
	titles := map[string][]string{}
	var order []string
	for i := range v.Sides {
		for _, m := range v.Metrics {
			title := strings.ReplaceAll(m.Title, " per ", "/")
			for _, note := range m.Cells[i].notes {
				if titles[note] == nil {
					order = append(order, note)
				}
				if !slices.Contains(titles[note], title) { // what the first side lacks is noted for each other
					titles[note] = append(titles[note], title)
				}
			}
		}
	}
	out := make([]string, 0, len(order))
	for _, note := range order {
		out = append(out, strings.Join(titles[note], "; ")+": "+note)
	}
	return out
}
