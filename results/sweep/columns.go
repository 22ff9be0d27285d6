package sweep

import (
	"math"
	"slices"
	"strings"

	"ackmark/results"
	"ackmark/results/stats"
)

// column is a column of the tables with where its figures come from.
type column struct {
	results.Column
	metric results.Metric // of simple columns
	cell   func(*Row) results.Cell
	seldom bool // left out where every row has 0
	plain  bool // left out where every row has the same
}

// of makes a column of a metric in a unit of its own: scale divides.
func of(table, key, name string, scale float64, head ...string) column {
	m, _ := results.Lookup(name)
	return column{
		Column: results.Column{Key: key, Table: table, Head: head}, metric: m,
		cell: func(r *Row) results.Cell { return metricCell(r, m, scale) },
	}
}

// worst makes a column that shows the worst repeat of any side. The side with the
// worse median need not be the one that has it.
func worst(table, key, name string, head ...string) column {
	m, _ := results.Lookup(name)
	return column{Column: results.Column{Key: key, Table: table, Head: head}, metric: m, cell: func(r *Row) results.Cell {
		var worst results.Cell
		for _, s := range r.sides {
			of := samples(m, s.runs)
			if len(of) < len(s.runs) {
				continue // what is missing may be worse
			}
			if c := cellOf(of, 1); worst.Max == nil || c.Max != nil && *c.Max > *worst.Max {
				worst = c
			}
		}
		worst.Value, worst.Spread = worst.Max, nil
		return worst
	}}
}

func seldom(c column) column { c.seldom = true; return c }

// plainly marks what a sweep is seldom about.
func plainly(c column) column { c.plain = true; return c }

func metricCell(r *Row, m results.Metric, scale float64) results.Cell {
	i := r.worseSide(m)
	if i < 0 {
		return results.Cell{}
	}
	return cellOf(samples(m, r.sides[i].runs), scale)
}

func cellOf(of []float64, scale float64) results.Cell {
	if len(of) == 0 {
		return results.Cell{}
	}
	s := results.Summary{N: len(of), Median: results.Number(stats.Median(of) / scale),
		Min: results.Number(slices.Min(of) / scale), Max: results.Number(slices.Max(of) / scale)}
	cell := results.Cell{Value: s.Median, Min: s.Min, Max: s.Max}
	if x, ok := s.SpreadPercent(); ok {
		cell.Spread = results.Number(x)
	}
	return cell
}

// ofRuns makes a column of something that isn't a metric, of the point without
// crashes. farthest shows the repeat that is farthest from 0.
func ofRuns(table, key string, farthest bool, value func(*results.Run) (float64, bool), head ...string) column {
	return column{Column: results.Column{Key: key, Table: table, Head: head}, cell: func(r *Row) results.Cell {
		var of []float64
		for _, run := range r.sides[0].runs {
			if v, ok := value(run); ok {
				of = append(of, v)
			}
		}
		cell := cellOf(of, 1)
		cell.Spread = nil // of a per cent another per cent only confuses
		if farthest && cell.Value != nil {
			if cell.Value = cell.Max; math.Abs(*cell.Min) > math.Abs(*cell.Max) {
				cell.Value = cell.Min
			}
		}
		return cell
	}}
}

func percentOf(p func(*results.Run) *float64) func(*results.Run) (float64, bool) {
	return func(r *results.Run) (float64, bool) {
		if v := p(r); v != nil {
			return math.Round(*v*10_000) / 100, true // what is less is rounding
		}
		return 0, false
	}
}

func causeShare(cause string) func(*results.Run) (float64, bool) {
	return func(r *results.Run) (float64, bool) {
		total := int64(0)
		for _, n := range r.Acks.FlushCauses {
			total += n
		}
		if total == 0 {
			return 0, false
		}
		return float64(r.Acks.FlushCauses[cause]) / float64(total) * 100, true
	}
}

// chance is what 95 % of runs stay within of the closed form, relative.
func chance(r *results.Run) *float64 {
	if r.Acks.PredictedChance == nil {
		return nil
	}
	return results.Number(results.Within95 * *r.Acks.PredictedChance)
}

// columns are the tables of a sweep. Of each, what no row has is left out.
func columns() []column {
	const acks, causes, battery, cost, delivery, login, stored, safety = "acks", "flush causes", "battery", "cost", "delivery", "login", "per message", "safety"
	out := []column{
		of(acks, "ack_requests_per_s", "ack_requests_per_s", 1, "ack req.", "measured", "/s"),
		of(acks, "ack_requests_predicted_per_s", "ack_requests_predicted_per_s", 1, "ack req.", "predicted", "/s"),
		ofRuns(acks, "ack_predicted_error_percent", false, percentOf(func(r *results.Run) *float64 { return r.Acks.PredictedError }), "off by", "%"),
		ofRuns(acks, "ack_predicted_chance_percent", false, percentOf(chance), "chance", "(95 %)", "± %"),
		ofRuns(acks, "ack_replay_error_percent", true, percentOf(func(r *results.Run) *float64 { return r.Acks.ReplayedError }), "replay", "off by", "%"),
		of(acks, "acks_reduction", "acks_reduction", 1, "reduc-", "tion", "×"),
	}
	for _, cause := range []string{"count", "interval", "idle", "page", "close"} {
		out = append(out, seldom(ofRuns(causes, "flush_"+cause+"_percent", false, causeShare(cause), cause, "%")))
	}
	return append(out,
		of(battery, "ack_bytes_per_delivery", "ack_bytes_per_delivery", 1, "ack", "bytes", "/delivery"),
		of(battery, "ack_bytes_per_s", "ack_bytes_per_s", 1, "ack", "bytes/s", "/client"),
		of(battery, "client_wakeups_per_s", "client_wakeups_per_s", 1, "wake-", "ups/s", "/client"),
		of(battery, "ack_wakeups_per_s", "ack_wakeups_per_s", 1, "for an", "ack", "alone"),

		of(cost, "system_cpu_us_per_delivery", "system_cpu_us_per_delivery", 1, "both", "CPU µs", "/delivery"),
		of(cost, "server_cpu_us_per_delivery", "server_cpu_us_per_delivery", 1, "server", "CPU µs", "/delivery"),
		of(cost, "redis_cpu_us_per_delivery", "redis_cpu_us_per_delivery", 1, "Redis", "CPU µs", "/delivery"),
		of(cost, "redis_commands_per_delivery", "redis_commands_per_delivery", 1, "Redis", "commands", "/delivery"),
		of(cost, "deliveries_per_s", "deliveries_per_s", 1, "deliveries", "/s"),

		of(delivery, "live_p50_ms", "live.p50", 1000, "live", "p50", "ms"),
		of(delivery, "live_p99_ms", "live.p99", 1000, "live", "p99", "ms"),
		of(delivery, "ack_delay_p50_ms", "ack_delay.p50", 1000, "ack", "delay", "p50 ms"),
		of(delivery, "ack_delay_p99_ms", "ack_delay.p99", 1000, "ack", "delay", "p99 ms"),
		of(delivery, "unacked_window_mean", "unacked_window_mean", 1, "unacked", "window", "mean"),

		of(login, "requests_per_login", "requests_per_login", 1, "requests", "/login"),
		of(login, "pages_per_login", "pages_per_login", 1, "pages", "/login"),
		of(login, "page_p50_ms", "page.p50", 1000, "page", "p50", "ms"),
		of(login, "sync_p50_ms", "sync.p50", 1000, "sync", "p50", "ms"),
		of(login, "sync_p99_ms", "sync.p99", 1000, "sync", "p99", "ms"),
		of(login, "largest_response_kib", "largest_response_bytes", 1024, "largest", "response", "KiB"),
		plainly(of(login, "client_dedup_kib", "client_dedup_bytes", 1024, "a client's", "dedup", "KiB")),

		plainly(of(stored, "redis_commands_per_send", "redis_commands_per_send", 1, "Redis", "commands", "/send")),
		plainly(of(stored, "stored_bytes_per_message", "stored_bytes_per_message", 1, "stored", "bytes")),
		plainly(of(stored, "memory_bytes_per_message", "memory_bytes_per_message", 1, "Redis", "memory", "bytes")),

		of(safety, "redelivered_per_crash", "redelivered_per_crash", 1, "redeli-", "vered", "/crash"),
		worst(safety, "redelivered", "redelivered", "redeli-", "vered"),
		seldom(worst(safety, "beyond_window", "beyond_window", "beyond", "window")),
		worst(safety, "lost", "lost", "lost"),
		worst(safety, "shown_twice", "shown_twice", "shown", "twice"),
	)
}

// all adds what the question is about and no column shows, so that who reads the
// table can answer it, too.
func (t *Table) all() []column {
	out := columns()
	asked := []results.Metric{t.Question.Objective, t.Question.Cost, t.Question.Risk}
	for _, c := range t.Question.Constraints {
		asked = append(asked, c.Metric)
	}
	for _, m := range asked {
		if m.Name == "" || slices.ContainsFunc(out, func(c column) bool { return c.metric.Name == m.Name }) {
			continue
		}
		out = append(out, askedFor(m))
	}
	return out
}

// askedFor is the column of any metric. Its key says the unit, as the keys of the
// other columns do: a histogram's figure is in ms, send.p99 as send_p99_ms; of all
// else the name says it.
func askedFor(m results.Metric) column {
	key, unit, scale := m.Name, m.Unit, 1.0
	switch {
	case m.Unit == results.Microseconds && strings.Contains(m.Name, "."):
		key, unit, scale = strings.ReplaceAll(m.Name, ".", "_")+"_ms", "ms", 1000
	case m.Unit == results.Microseconds:
		unit = "µs"
	}
	return of("asked for", key, m.Name, scale, m.Title, unit)
}

// shown are the columns that say something.
func (t *Table) shown() []column {
	return slices.DeleteFunc(t.all(), func(c column) bool {
		says, first := false, ""
		for i, r := range t.Rows {
			v := c.cell(r).Value
			text := ""
			if v != nil {
				text = results.FormatValue("", *v)
			}
			if i == 0 {
				first = text
			}
			says = says || v != nil && (*v != 0 || !c.seldom) && (!c.plain || text != first)
		}
		return !says
	})
}
