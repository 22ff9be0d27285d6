package results

import (
	"fmt"
	"strings"
)

// Report is what is shown of a result: one model that RenderText,
// RenderMarkdown and RenderCSV draw.
type Report struct {
	Title   string   // what was measured, on what
	Banners []string // what a reader must know before the figures
	Columns []Column
	Rows    []Row
	Legend  string
	Checks  []AckCheck
	Verdict Verdict
	Notes   []string // warnings of runs, each once
}

// Column is one metric of the tables.
type Column struct {
	Key   string   // name for CSV, ends with the unit
	Table string   // the stacked table it belongs to: "costs" or "delivery"
	Head  []string // lines of the header, the unit in the last
	name  string
	scale float64 // divides the metric's unit to get the column's
	worst bool    // show the worst repeat, not the median
	least int     // the fewest decimals
	crash bool    // of the variants that are the row's with crashes
	// optional: left out of the tables, not of the CSV, where no row has a figure;
	// seldom: where none has one but 0.
	optional, seldom bool
}

// Row is one variant, together with those that are the same with crashes; it
// has a cell per column.
type Row struct {
	Variant string
	Repeats int
	Cells   []Cell
	Status  Status
}

// Cell is one figure in the column's unit, null when not known.
type Cell struct {
	Value    *float64 // median of the repeats, or the worst of them
	Min, Max *float64
	Spread   *float64 // ±%, null with one repeat, around 0, and for the worst
}

// NewReport makes the model of a judged result.
func NewReport(r *Result) Report {
	rep := Report{Columns: columns(), Verdict: r.Verdict}
	if r.hasLogins() {
		rep.Columns = ladderColumns()
	}
	repeats, spread := 0, false
	for _, rung := range r.rungs() {
		row := rung.row(rep.Columns)
		for _, cell := range row.Cells {
			spread = spread || cell.Spread != nil
		}
		rep.Rows = append(rep.Rows, row)
	}
	for _, v := range r.Variants {
		repeats = max(repeats, v.Repeats)
		if check, ok := ackCheck(v.Name, r.RunsOf(v.Name)); ok {
			rep.Checks = append(rep.Checks, check)
		}
	}
	rep.Title = title(r, repeats)
	rep.Banners = banners(r)
	rep.Legend = legend(repeats, spread)
	if len(rep.Rows) < len(r.Variants) {
		rep.Legend += " With crashes: the worst repeat of the rung's variants that crash."
	}
	rep.Notes = append(notes(r), met(r)...)
	rep.tame()
	return rep
}

// tame makes names harmless: a result file may come from anywhere.
func (rep *Report) tame() {
	rep.Title = OneLine(rep.Title)
	for i := range rep.Rows {
		rep.Rows[i].Variant = OneLine(rep.Rows[i].Variant)
	}
	for i := range rep.Checks {
		rep.Checks[i].Variant = OneLine(rep.Checks[i].Variant)
	}
	for i := range rep.Notes {
		rep.Notes[i] = OneLine(rep.Notes[i])
	}
}

func (c Column) cell(s Summary) Cell {
	scaled := func(p *float64) *float64 {
		if p == nil || c.scale == 0 {
			return p
		}
		return Number(*p / c.scale)
	}
	cell := Cell{Value: scaled(s.Median), Min: scaled(s.Min), Max: scaled(s.Max)}
	if c.worst {
		cell.Value = cell.Max
		return cell
	}
	if x, ok := s.SpreadPercent(); ok {
		cell.Spread = Number(x)
	}
	return cell
}

func title(r *Result, repeats int) string {
	if len(r.Runs) == 0 {
		return strings.TrimPrefix(r.Profile.Name+": no runs", ": ")
	}
	seconds := 0.0
	for i := range r.Runs {
		seconds = max(seconds, r.Runs[i].MeasuredSeconds())
	}
	parts := []string{fmt.Sprintf("%s × %s of %s s", Plural(len(r.Variants), "variant"), Plural(repeats, "repeat"), significant(seconds, 3))}
	for _, n := range r.Redis {
		parts = append(parts, strings.TrimSpace("Redis "+n.Version)+" ("+string(n.Kind)+")")
	}
	parts = append(parts, fmt.Sprintf("%s of %s", Plural(r.Environment.Cores, "core"), r.Environment.CPUModel))
	return r.Profile.Name + ": " + strings.Join(parts, ", ")
}

func banners(r *Result) []string {
	var out []string
	if r.Interrupted {
		out = append(out, "INTERRUPTED: these are the figures up to then.")
	}
	for _, n := range r.Redis {
		if n.Kind == Embedded {
			out = append(out, "EMBEDDED STORE: no real Redis took part. Its costs are not Redis' costs, and this result can't be a baseline.")
		}
	}
	for i := range r.Runs {
		if r.Runs[i].Audit.Reduced {
			return append(out, "REDUCED AUDIT: the target gives no counters; lost and pending are what clients saw.")
		}
	}
	return out
}

func legend(repeats int, spread bool) string {
	if repeats < 2 {
		return "One repeat: no spread. CPU is that of the whole process, idle work included."
	}
	text := fmt.Sprintf("Median of %d repeats", repeats)
	if spread {
		text += ", ± half their range (none: less than 0.5 %)"
	}
	return text + "; redelivered, lost and shown twice: the worst repeat. CPU is that of the whole process."
}
