package compare

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ackmark/results"
)

// The colours are those of the results' own tables.
const (
	green  = "32"
	red    = "31;1"
	yellow = "33;1"
	dim    = "2"
)

const (
	defaultWidth = 100
	gap          = 2 // spaces between columns
)

// RenderText draws the comparison for a terminal: who is compared, in what
// their conditions differ, then a table per variant and further side.
func (c *Comparison) RenderText(w io.Writer, o results.TextOptions) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	t := &text{o: o}
	t.head(c)
	for _, v := range c.Variants {
		if err := t.variant(c, v); err != nil {
			return err
		}
	}
	t.line("")
	t.para(c.legend(), "")
	if summary := c.summary(); summary != "" {
		t.line("")
		t.para(summary, "  ")
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

// text is a page being written.
type text struct {
	b strings.Builder
	o results.TextOptions
}

func (t *text) line(s string) { t.b.WriteString(s + "\n") }

func (t *text) para(s, indent string) {
	for _, l := range results.Wrap(s, t.o.Width, indent) {
		t.line(l)
	}
}

func (t *text) painted(s, indent, code string) {
	for _, l := range results.Wrap(s, t.o.Width, indent) {
		t.line(t.paint(l, code))
	}
}

func (t *text) paint(s, code string) string {
	if !t.o.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *text) head(c *Comparison) {
	width := 0
	for _, s := range c.Sides {
		width = max(width, utf8.RuneCountInString(s.Label))
	}
	width = min(width, t.o.Width/3) // and what is longer stands on a line of its own
	for _, s := range c.Sides {
		lead := fmt.Sprintf("%s  %s%s  ", s.Letter, s.Label, strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s.Label))))
		if utf8.RuneCountInString(s.Label) > width {
			t.line(strings.TrimRight(lead, " "))
			lead = strings.Repeat(" ", 3+width+2)
		}
		for _, line := range results.Wrap(s.about(), t.o.Width-utf8.RuneCountInString(lead), "") {
			t.line(lead + line)
			lead = strings.Repeat(" ", utf8.RuneCountInString(lead))
		}
	}
	if len(c.Differences) > 0 {
		t.line("")
		for _, side := range c.bySide() {
			t.line(side.title)
			for _, d := range side.lines {
				t.para("  "+d, "    ")
			}
		}
	}
	if len(c.Warnings) > 0 {
		t.line("")
		for _, warning := range c.Warnings {
			t.painted("warning: "+warning, "  ", yellow)
		}
	}
}

// about sums up a side in a line.
func (s SideInfo) about() string {
	parts := []string{orUnknown(s.Profile), results.Plural(s.Runs, "run")}
	if s.Variants != 1 {
		parts[1] += " of " + results.Plural(s.Variants, "variant")
	}
	if s.Results > 1 {
		parts[1] += " in " + results.Plural(s.Results, "result")
	}
	if s.Invalid > 0 {
		parts = append(parts, fmt.Sprintf("%d invalid", s.Invalid))
	} else {
		parts = append(parts, string(s.Status))
	}
	if s.Tool != "" {
		parts = append(parts, "loadgen "+s.Tool)
	}
	if s.Started != "" {
		parts = append(parts, strings.Replace(s.Started[:len("2006-01-02T15:04")], "T", " ", 1))
	}
	return strings.Join(parts, ", ")
}

// told are the differences of one side, a line each.
type told struct {
	title string
	lines []string
}

func (c *Comparison) bySide() []told {
	var out []told
	for i := range c.Sides {
		for _, within := range []bool{true, false} {
			side := told{title: fmt.Sprintf("%s differs from A in", letter(i))}
			if within {
				side.title = fmt.Sprintf("the results of %s differ in", letter(i))
			}
			for _, d := range c.Differences {
				if d.Side == letter(i) && d.Within == within {
					side.lines = append(side.lines, d.String())
				}
			}
			if len(side.lines) > 0 {
				out = append(out, side)
			}
		}
	}
	return out
}

// String writes the difference as a line.
func (d Difference) String() string {
	what := d.What
	if d.Variant != "" {
		what = results.OneLine(d.Variant) + ": " + what
	}
	return fmt.Sprintf("%s: %s → %s", what, d.First, d.Other)
}

func (t *text) variant(c *Comparison, v Variant) error {
	shown := false
	for i := 1; i < len(v.Sides); i++ {
		t.line("")
		if v.Sides[i].State == Absent || v.Sides[0].State == Absent {
			t.line(fmt.Sprintf("%s: %s doesn't have it", results.OneLine(v.Name), letter(i)))
			continue
		}
		shown = true
		rows := c.rows(v, i)
		if len(rows) == 1 {
			t.para(results.OneLine(v.Name)+": "+nothingToShow(v), "  ")
			continue
		}
		if err := results.RenderRows(&t.b, t.colored(fit(rows, t.o.Width)), 1); err != nil {
			return err
		}
	}
	if !shown {
		return nil
	}
	if line := c.folded(v); line != "" {
		t.painted(line, "  ", dim)
	}
	for _, line := range append(c.missing(v), c.notes(v)...) {
		t.painted(line, "  ", yellow)
	}
	return nil
}

func nothingToShow(v Variant) string {
	if len(v.Metrics) == 0 {
		return "no metric is shown"
	}
	return "nothing differs"
}

func (t *text) colored(rows [][]string) [][]string {
	for _, row := range rows[1:] {
		last := len(row) - 1
		row[last] = t.paint(row[last], Outcome(row[last]).color())
	}
	return rows
}

func (o Outcome) color() string {
	switch o {
	case Better:
		return green
	case Worse:
		return red
	case Changed, TooFew, NotJudged, NotComparable, NoData:
		return yellow
	}
	return dim
}

// folded tells of what has no line of its own.
func (c *Comparison) folded(v Variant) string {
	if c.explicit {
		return ""
	}
	var parts []string
	if n := len(v.invariantsHold()); n > 0 {
		parts = append(parts, results.Plural(n, "invariant")+" held")
	}
	if n := len(v.Equal); n > 0 {
		parts = append(parts, results.Plural(n, "count")+" the same within 1 %")
	}
	if v.Identical > 0 {
		parts = append(parts, results.Plural(v.Identical, "further timing")+" equal in every run")
	}
	if v.Quiet > 0 {
		parts = append(parts, results.Plural(v.Quiet, "further timing")+" without a difference")
	}
	if v.Undecided > 0 {
		parts = append(parts, results.Plural(v.Undecided, "further timing")+" undecided")
	}
	if len(v.Totals) > 0 {
		parts = append(parts, "different with what was measured: "+strings.Join(v.Totals, ", "))
	}
	return strings.Join(parts, "; ")
}
