package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ackmark/results"
)

// TextOptions says where a report is shown, and whether every check is.
type TextOptions struct {
	results.TextOptions
	Verbose bool // show what passed and what is only reported, a line each
}

// RenderText draws the report for a terminal: what is worst first, what passed
// folded to a line per variant unless asked for.
func RenderText(w io.Writer, rep Report, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	var b strings.Builder
	para := func(text, indent string) {
		for _, line := range wrap(text, o.Width, indent) {
			fmt.Fprintln(&b, line)
		}
	}
	para(rep.title(), "  ")
	if len(rep.Differences) > 0 {
		para("another machine: "+differencesText(rep.Differences), "  ")
	}
	if rep.Pairs > 0 || rep.Discarded > 0 {
		para(rep.pairsText(), "  ")
	}
	if rows := shownRows(rep, o.Verbose); len(rows) > 1 {
		fmt.Fprintln(&b)
		rows = fit(rows, o.Width)
		if o.Color {
			for _, row := range rows[1:] {
				last := len(row) - 1
				row[last] = paint(row[last], color(Outcome(row[last])))
			}
		}
		if err := results.RenderRows(&b, rows, 2); err != nil {
			return err
		}
	}
	if rep.ofPairs(o.Verbose) {
		fmt.Fprintln(&b)
		para("Of timings, change is the mean of the pairs' own ratios (geometric); the medians beside it are of each side alone, and needn't give it.", "")
	}
	if lines := rep.folded(o.Verbose); len(lines) > 0 {
		fmt.Fprintln(&b)
		for _, line := range lines {
			para(line, "  ")
		}
	}
	for i, note := range rep.Notes {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		para("note: "+note, "  ")
	}
	fmt.Fprintln(&b)
	rep.verdictText(&b, o, para)
	_, err := io.WriteString(w, b.String())
	return err
}

// shownReasons is how many reasons are written out unless all are asked for.
const shownReasons = 12

func (rep Report) verdictText(w io.Writer, o TextOptions, para func(text, indent string)) {
	status := rep.Verdict.Status
	word := string(status)
	if o.Color {
		word = paint(word, statusColor(status))
	}
	fmt.Fprintf(w, "verdict: %s (%s)\n", word, meaning(status))
	for i, r := range rep.Verdict.Reasons {
		if i == shownReasons && !o.Verbose {
			para(fmt.Sprintf("  and %d more; --verbose shows them", len(rep.Verdict.Reasons)-i), "    ")
			break
		}
		para("  "+results.OneLine(r.String()), "    ")
	}
}

// ofPairs tells whether a line shows the ratio of a timing in pairs.
func (rep Report) ofPairs(verbose bool) bool {
	return rep.Mode == AgainstBuild && slices.ContainsFunc(rep.Checks, func(c Check) bool {
		return c.Class == results.Timing && c.Ratio != nil && (verbose || c.shown())
	})
}

func (rep Report) title() string {
	text := fmt.Sprintf("gate %s: %s against %s", rep.Profile, rep.Candidate, rep.Reference)
	return results.OneLine(text)
}

func (rep Report) pairsText() string {
	text := results.Plural(rep.Pairs, "pair") + " measured"
	if rep.Discarded > 0 {
		text += fmt.Sprintf(", %d more discarded, since one side was invalid: the candidate alone in %d, the reference alone in %d",
			rep.Discarded, rep.DiscardedCandidate, rep.DiscardedReference)
	}
	return text
}

// meaning says in a few words what the gate's verdict means.
func meaning(s results.Status) string {
	switch s {
	case results.Pass:
		return "nothing that is gated became worse"
	case results.Fail:
		return "something that is gated doesn't hold"
	case results.Inconclusive:
		return "the measurement doesn't decide; measure more"
	}
	return "the comparison can't be trusted"
}

// shownRows makes the table: a header, then the checks, worst first.
func shownRows(rep Report, verbose bool) [][]string {
	rows := [][]string{{"variant", "metric", "reference", "now", "change", "interval", "allowed", "outcome"}}
	for _, c := range worstFirst(rep.Checks) {
		if verbose || c.shown() {
			rows = append(rows, c.row())
		}
	}
	return rows
}

// shown tells whether a check has a line of its own: whatever did not pass, the
// timings that were decided, and of what is reported those that would be held.
func (c Check) shown() bool {
	switch c.Outcome {
	case Passed:
		return c.Class == results.Timing && c.Ratio != nil
	case Reported:
		return c.Tolerance != nil
	}
	return true
}

func (c Check) row() []string {
	value := func(p *float64) string {
		if p == nil {
			return "–"
		}
		return results.FormatValue(c.Unit, *p)
	}
	return []string{c.where(), results.OneLine(spoken(c.Metric)), value(c.Reference), value(c.Candidate), c.change(), c.interval(), c.allowed(), string(c.Outcome)}
}

func (c Check) where() string {
	if c.Variant == "" {
		return "(all)"
	}
	return results.OneLine(c.Variant)
}

func (c Check) change() string {
	switch {
	case c.Ratio != nil:
		return changeText(*c.Ratio - 1)
	case c.Reference != nil && c.Candidate != nil:
		return changeText(off(*c.Candidate, *c.Reference))
	}
	return "–"
}

func (c Check) interval() string {
	if c.Low == nil || c.High == nil {
		return ""
	}
	return changeText(*c.Low-1) + " … " + changeText(*c.High-1)
}

func (c Check) allowed() string {
	if c.Tolerance == nil {
		return ""
	}
	return percent(*c.Tolerance)
}

// folded counts what has no line of its own, a line per variant.
func (rep Report) folded(verbose bool) []string {
	if verbose {
		return nil
	}
	var names []string
	passed, reported := map[string]int{}, map[string]int{}
	for _, c := range rep.Checks {
		name := c.where()
		if passed[name]+reported[name] == 0 && !c.shown() {
			names = append(names, name)
		}
		switch {
		case c.shown():
		case c.Outcome == Passed:
			passed[name]++
		default:
			reported[name]++
		}
	}
	var out []string
	for _, name := range names {
		text := fmt.Sprintf("%s: %d passed", name, passed[name])
		if n := reported[name]; n > 0 {
			text += fmt.Sprintf(", %d more reported", n)
		}
		out = append(out, text)
	}
	return out
}
