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
}

// Row is one variant; it has a cell per column.
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

func columns() []Column {
	return []Column{
		{Key: "ack_requests_per_s", Table: "costs", Head: []string{"ack req.", "measured", "/s"}, name: "ack_requests_per_s"},
		{Key: "ack_requests_predicted_per_s", Table: "costs", Head: []string{"ack req.", "predicted", "/s"}, name: "ack_requests_predicted_per_s"},
		{Key: "acks_reduction", Table: "costs", Head: []string{"reduc-", "tion", "×"}, name: "acks_reduction", least: 1},
		{Key: "redis_commands_per_delivery", Table: "costs", Head: []string{"Redis", "commands", "/delivery"}, name: "redis_commands_per_delivery"},
		{Key: "server_cpu_us_per_delivery", Table: "costs", Head: []string{"server", "CPU µs", "/delivery"}, name: "server_cpu_us_per_delivery"},
		{Key: "redis_cpu_us_per_delivery", Table: "costs", Head: []string{"Redis", "CPU µs", "/delivery"}, name: "redis_cpu_us_per_delivery"},
		{Key: "generator_cpu_us_per_delivery", Table: "costs", Head: []string{"generator", "CPU µs", "/delivery"}, name: "generator_cpu_us_per_delivery"},
		{Key: "deliveries_per_s", Table: "delivery", Head: []string{"deliveries", "/s"}, name: "deliveries_per_s"},
		{Key: "live_p50_ms", Table: "delivery", Head: []string{"live", "p50", "ms"}, name: "live.p50", scale: 1000},
		{Key: "live_p99_ms", Table: "delivery", Head: []string{"live", "p99", "ms"}, name: "live.p99", scale: 1000},
		{Key: "live_p999_ms", Table: "delivery", Head: []string{"live", "p99.9", "ms"}, name: "live.p999", scale: 1000},
		{Key: "unacked_window_mean", Table: "delivery", Head: []string{"unacked", "window", "mean"}, name: "unacked_window_mean", least: 1},
		{Key: "redelivered", Table: "delivery", Head: []string{"redeli-", "vered"}, name: "redelivered", worst: true},
		{Key: "lost", Table: "delivery", Head: []string{"lost"}, name: "lost", worst: true},
		{Key: "shown_twice", Table: "delivery", Head: []string{"shown", "twice"}, name: "shown_twice", worst: true},
	}
}

// NewReport makes the model of a judged result.
func NewReport(r *Result) Report {
	rep := Report{Columns: columns(), Verdict: r.Verdict}
	repeats, spread := 0, false
	for _, v := range r.Variants {
		row := Row{Variant: v.Name, Repeats: v.Repeats, Status: v.Verdict.Status}
		for _, c := range rep.Columns {
			cell := c.cell(v.Metrics[c.name])
			spread = spread || cell.Spread != nil
			row.Cells = append(row.Cells, cell)
		}
		rep.Rows = append(rep.Rows, row)
		repeats = max(repeats, v.Repeats)
		if check, ok := ackCheck(v.Name, r.runsOf(v.Name)); ok {
			rep.Checks = append(rep.Checks, check)
		}
	}
	rep.Title = title(r, repeats)
	rep.Banners = banners(r)
	rep.Legend = legend(repeats, spread)
	rep.Notes = notes(r)
	return rep
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
	parts := []string{fmt.Sprintf("%s × %s of %s s", plural(len(r.Variants), "variant"), plural(repeats, "repeat"), significant(seconds, 3))}
	for _, n := range r.Redis {
		parts = append(parts, strings.TrimSpace("Redis "+n.Version)+" ("+string(n.Kind)+")")
	}
	parts = append(parts, fmt.Sprintf("%s of %s", plural(r.Environment.Cores, "core"), r.Environment.CPUModel))
	return r.Profile.Name + ": " + strings.Join(parts, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
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
