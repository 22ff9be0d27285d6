package sweep

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"ackmark/results"
)

// Marks behind a point's name in the tables.
const (
	frontMark  = " *"
	chosenMark = " ◆"
)

// Report is the table in the model of all reports: RenderText of results draws
// it within the width of a terminal, cut into tables above each other.
func (t *Table) Report() results.Report {
	rep := results.NewReport(t.result)
	rep.Title = t.title(rep.Title)
	shown := t.shown()
	rep.Columns, rep.Rows = nil, nil
	for _, c := range shown {
		rep.Columns = append(rep.Columns, c.Column)
	}
	repeats := 0
	for _, r := range t.Rows {
		row := results.Row{Variant: t.marked(r), Repeats: r.repeats(), Status: r.Status}
		for _, c := range shown {
			row.Cells = append(row.Cells, c.cell(r))
		}
		repeats = max(repeats, row.Repeats)
		rep.Rows = append(rep.Rows, row)
	}
	rep.Legend = t.legend(repeats)
	checks := rep.Checks
	rep.Checks = nil
	for _, c := range checks {
		if !c.ReplayOK() {
			rep.Checks = append(rep.Checks, c)
		}
	}
	if n := len(rep.Notes); n > mostNotes {
		rep.Notes = append(rep.Notes[:mostNotes:mostNotes], fmt.Sprintf("%d more; result.json has them all, with the runs that they are of", n-mostNotes))
	}
	rep.Notes = append(acksNotes(checks, repeats), rep.Notes...)
	if text := t.openText(""); text != "" && t.Choice == nil { // else the advice says it
		rep.Notes = append([]string{text}, rep.Notes...)
	}
	return rep
}

// title speaks of points and settings, as all else of a sweep does, where reports
// of a profile speak of variants.
func (t *Table) title(of string) string {
	n := len(t.result.Variants)
	return strings.Replace(of, ": "+results.Plural(n, "variant")+" × ", ": "+Size(len(t.Rows), n)+" × ", 1)
}

// mostNotes bounds what runs have to say; a grid has many.
const mostNotes = 5

func (t *Table) marked(r *Row) string {
	name := r.Name
	if r.Front {
		name += frontMark
	}
	if t.recommended(r) {
		name += chosenMark
	}
	return name
}

func (t *Table) legend(repeats int) string {
	var parts []string
	if q := t.Question; q.Cost.Name != "" {
		alone := ""
		if t.held == 1 && len(t.Rows) > 1 {
			alone = ": one point alone, so the mark says nothing"
		}
		parts = append(parts, fmt.Sprintf("* on the Pareto front of %s against %s, among the points that passed%s.", q.Cost.Name, q.Risk.Name, alone))
		if n := len(t.unjudged()); n > 0 && t.held > 0 {
			parts = append(parts, fmt.Sprintf("Left out of it, since it is not known whether they pass: %s.", results.Plural(n, "point")))
		}
		if t.offside > 0 {
			parts = append(parts, fmt.Sprintf("Left out of it, for want of one of these figures: %s that passed.", results.Plural(t.offside, "point")))
		}
	}
	if slices.ContainsFunc(t.Rows, t.recommended) {
		parts = append(parts, "◆ recommended.")
	}
	if repeats < 2 {
		parts = append(parts, "One repeat: no spread.")
	} else {
		parts = append(parts, fmt.Sprintf("Median of %d repeats, ± half their range; redelivered, lost and shown twice: the worst repeat.", repeats))
	}
	crashes := false
	for _, r := range t.Rows {
		crashes = crashes || len(r.sides) > 1
	}
	if crashes {
		parts = append(parts, "Redelivered, lost and shown twice are the worst of the point and its crash variants, all else is without crashes.")
	}
	return strings.Join(parts, " ")
}

// acksNotes sum up both checks of ack requests over all settings, each by its
// farthest repeat.
func acksNotes(checks []results.AckCheck, repeats int) []string {
	replayed, replay, formed, beyond, long, outside := 0, 0.0, 0, 0, 0, 0
	form, farthest := 0.0, 0.0
	limits := results.DefaultLimits()
	for _, c := range checks {
		if c.ReplayError != nil {
			replayed++
			replay = max(replay, math.Abs(*c.ReplayError))
		}
		if c.FormError == nil {
			continue
		}
		formed++
		off := math.Abs(*c.FormError)
		form = max(form, off)
		switch {
		case c.Seconds >= limits.ClosedFormSeconds:
			long++
			if off > limits.ClosedFormError {
				outside++
			}
		case c.Chance != nil && off > 0:
			farthest = max(farthest, off / *c.Chance)
			if off > *c.Chance {
				beyond++
			}
		}
	}
	var out []string
	if replayed > 0 {
		out = append(out, fmt.Sprintf("acks against the policy replayed over the recorded arrivals: %d settings, at most %s off (limit %s)",
			replayed, percent(replay), percent(limits.ReplayError)))
	}
	if formed > 0 {
		text := fmt.Sprintf("acks against the closed form: %d settings, at most %s off", formed, percent(form))
		if long > 0 {
			text += fmt.Sprintf("; %d of %d that measured for %.0f s or more outside %s", outside, long, limits.ClosedFormSeconds, percent(limits.ClosedFormError))
		}
		if short := formed - long; short > 0 {
			text += fmt.Sprintf("; %d of %d shorter ones farther than 95 %% of runs by chance", beyond, short)
			if beyond > 0 {
				of := "as many of so many are"
				if farthest > farthestByChance(short*repeats) {
					of = "more than chance explains"
				}
				text += fmt.Sprintf(", at most %.2g times as far: %s", farthest, of)
			}
		}
		out = append(out, text)
	}
	return out
}

// farthestByChance is how many times as far as 95 % of runs the farthest of n is
// off by chance alone in all but 5 % of grids (Bonferroni, normal errors).
func farthestByChance(n int) float64 {
	z := distuv.UnitNormal.Quantile
	return z(1-0.025/float64(n)) / results.Within95
}

func percent(share float64) string { return results.FormatValue("percent", share*100) }

// RenderText draws the table, then what is recommended.
func (t *Table) RenderText(w io.Writer, o results.TextOptions) error {
	if o.Width <= 0 || o.Width > widest {
		o.Width = widest
	}
	if err := results.RenderText(w, t.Report(), o); err != nil {
		return err
	}
	if t.Choice == nil {
		return nil
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range t.Advice() {
		space := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if forPasting(line) {
			b.WriteString(line + "\n")
			continue
		}
		for i, l := range results.Wrap(strings.TrimLeft(line, " "), o.Width-len(space)-2, "") {
			if i > 0 {
				l = "  " + l
			}
			b.WriteString(space + l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widest is how wide the tables are where there is room for more: what pages and
// logs show without a scroll bar.
const widest = 100

// RenderMarkdown draws the same in GitHub's Markdown.
func (t *Table) RenderMarkdown(w io.Writer) error {
	rep := t.Report()
	for i, r := range t.Rows {
		rep.Rows[i].Variant = strings.ReplaceAll(t.marked(r), " *", " ☆") // an asterisk is markup there
	}
	rep.Legend = strings.Replace(rep.Legend, "* on the", "☆ on the", 1)
	if err := results.RenderMarkdown(w, rep); err != nil {
		return err
	}
	if t.Choice == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n```\n")
	for _, line := range t.Advice() {
		b.WriteString(line + "\n")
	}
	b.WriteString("```\n")
	_, err := io.WriteString(w, b.String())
	return err
}
