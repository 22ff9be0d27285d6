package compare

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ackmark/results"
)

// Columns of a table. The last is the outcome.
const (
	columnMetric = iota
	columnFirst
	columnFirstSpread
	columnOther
	columnOtherSpread
	columnChange
	columnInterval
	columnP
	columnOutcome
)

// rows are the table of one side against the first; the first row is its
// header.
func (c *Comparison) rows(v Variant, side int) [][]string {
	out := [][]string{{results.OneLine(v.Name), "A", "", letter(side), "", "change", "interval", "p", "outcome"}}
	held := len(v.invariantsHold()) > 0
	for _, m := range v.Metrics {
		if m.Class == results.Invariant && held && !c.explicit || c.lacks(v, m) {
			continue
		}
		a, b := m.Cells[0], m.Cells[side]
		if b.BySeed != nil { // the numbers are those that were compared
			a, b = b.BySeed.cells(b)
		}
		s := scaleOf(m)
		value := func(c Cell) string {
			if c.Median == nil {
				return noValue
			}
			return number(*c.Median * s.factor)
		}
		spread := func(c Cell) string {
			if m.Class == results.Invariant {
				return ""
			}
			return c.spread()
		}
		out = append(out, []string{m.title(), value(a), spread(a), value(b), spread(b), b.change(a), b.interval(), b.pText(), string(b.Outcome)})
	}
	return out
}

// lacks tells whether the metric is one that only some sides have and nobody
// asked for: a line names all of them.
func (c *Comparison) lacks(v Variant, m Metric) bool { return !c.explicit && v.lacking(m) }

// fit joins values and spreads, and drops what is empty and what a narrow
// terminal has no room for: first p, then the interval of each median, then that
// of the change.
func fit(rows [][]string, width int) [][]string {
	var empty []int
	for _, column := range []int{columnChange, columnInterval, columnP} {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" }) {
			empty = append(empty, column)
		}
	}
	narrow := func(drop ...int) [][]string {
		out := make([][]string, len(rows))
		spreads := map[int]int{}
		for _, column := range []int{columnFirstSpread, columnOtherSpread} {
			for _, row := range rows {
				spreads[column] = max(spreads[column], utf8.RuneCountInString(row[column]))
			}
		}
		for j, row := range rows {
			for i, cell := range row {
				switch {
				case slices.Contains(drop, i), slices.Contains(empty, i), i == columnFirstSpread, i == columnOtherSpread:
					continue
				case (i == columnFirst || i == columnOther) && !slices.Contains(drop, i+1) && spreads[i+1] > 0:
					next := row[i+1]
					cell += " " + strings.Repeat(" ", spreads[i+1]-utf8.RuneCountInString(next)) + next
				}
				out[j] = append(out[j], cell)
			}
		}
		return out
	}
	var out [][]string
	for _, drop := range [][]int{nil, {columnP}, {columnP, columnFirstSpread, columnOtherSpread}, {columnP, columnFirstSpread, columnOtherSpread, columnInterval}} {
		out = narrow(drop...)
		if over := tableWidth(out) - width; over <= 0 || len(drop) > 0 && columnWidth(out, 0)-over >= leastName {
			break
		}
	}
	return clip(out, width)
}

// leastName is how far a metric's name is shortened before a column goes.
const leastName = 21

func tableWidth(rows [][]string) int {
	total := -gap
	for i := range rows[0] {
		total += gap + columnWidth(rows, i)
	}
	return total
}

func columnWidth(rows [][]string, i int) int {
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[i]))
	}
	return width
}

// clip shortens the first column, which holds names, as far as needed.
func clip(rows [][]string, width int) [][]string {
	room := max(12, columnWidth(rows, 0)-max(0, tableWidth(rows)-width))
	for j, row := range rows {
		if r := []rune(row[0]); len(r) > room {
			rows[j][0] = string(r[:room-1]) + "…"
		}
	}
	return rows
}
