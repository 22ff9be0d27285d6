package results

import (
	"slices"
	"strings"
)

// Class decides how a metric is compared (measuring.md, 24–26).
type Class string

// The classes.
const (
	Invariant     Class = "invariant" // no tolerance, no statistics
	Deterministic Class = "count"     // determined by profile and seed: 1–2 %
	Timing        Class = "timing"    // depends on the machine
)

// Better is the direction in which a metric improves.
type Better string

// The directions.
const (
	Lower   Better = "lower"
	Higher  Better = "higher"
	Neither Better = "none"
)

// Metric is one row of the registry.
type Metric struct {
	Name   string
	Title  string // short column title, without unit
	Unit   string // "", "/s", "us", "bytes", "percent", "ratio"
	Class  Class
	Better Better
	Help   string

	// byPolicy: of class count where the number of ack requests is determined,
	// that is under the ack policies each and count.
	byPolicy bool
}

// HistogramMetric is one histogram of the registry; its figures are named
// NAME.STATISTIC, as in live.p99.
type HistogramMetric struct {
	Name  string
	Title string
	Help  string
}

// Metrics returns the registry in the order in which a reader looks for things:
// correctness, load, acks, costs, memory, wire, health.
func Metrics() []Metric {
	return []Metric{
		{Name: "lost", Title: "lost", Class: Invariant, Better: Lower, Help: "expected deliveries that neither arrived nor are pending in the store"},
		{Name: "shown_twice", Title: "shown twice", Class: Invariant, Better: Lower, Help: "redeliveries that got past the client's dedup"},
		{Name: "out_of_order", Title: "out of order", Class: Invariant, Better: Lower, Help: "deliveries shown after a later message of the same conversation"},
		{Name: "acked_not_received", Title: "acked, not received", Class: Invariant, Better: Lower, Help: "deliveries covered by a cursor that the client never received"},
		{Name: "seq_mismatch", Title: "seq mismatch", Class: Invariant, Better: Lower, Help: "deliveries that arrived under another seq than the sender was told"},
		{Name: "not_shown", Title: "not shown", Class: Invariant, Better: Lower, Help: "deliveries that arrived at a device which never showed them"},
		{Name: "refused_arrived", Title: "refused, arrived", Class: Invariant, Better: Lower, Help: "deliveries of messages whose sender was told that they weren't stored"},

		{Name: "sends", Title: "sends", Class: Deterministic, Better: Neither, Help: "messages sent in the whole run, resends not among them"},
		{Name: "deliveries", Title: "deliveries", Class: Deterministic, Better: Higher, Help: "messages reaching a recipient for the first time, whole run"},
		{Name: "expected_deliveries", Title: "expected deliveries", Class: Deterministic, Better: Neither, Help: "accepted messages × their recipients, whole run"},
		{Name: "deliveries_per_s", Title: "deliveries/s", Unit: "/s", Class: Timing, Better: Higher, Help: "deliveries per second of the measured phase, by time of arrival"},
		{Name: "offered_per_s", Title: "offered", Unit: "/s", Class: Deterministic, Better: Neither, Help: "messages per second that the schedule holds"},
		{Name: "achieved_percent", Title: "achieved", Unit: "percent", Class: Timing, Better: Higher, Help: "sends that left, of those that the schedule holds"},
		{Name: "late_sends_percent", Title: "late sends", Unit: "percent", Class: Timing, Better: Lower, Help: "sends that left later than the generator's stated tolerance"},
		{Name: "pending", Title: "pending", Class: Timing, Better: Lower, Help: "deliveries still in the store when the drain ended"},
		{Name: "unknown", Title: "unknown", Class: Timing, Better: Lower, Help: "sends whose answer never came, retries included"},
		{Name: "refused", Title: "refused", Class: Timing, Better: Lower, Help: "sends answered with an error"},
		{Name: "redelivered", Title: "redelivered", Class: Timing, Better: Lower, Help: "arrivals of a message that had arrived before"},
		{Name: "retransmitted", Title: "retransmitted", Class: Timing, Better: Lower, Help: "deliveries that the server pushed again"},
		{Name: "crashes", Title: "crashes", Class: Timing, Better: Neither, Help: "clients that were made to crash"},
		{Name: "redelivered_per_crash", Title: "redelivered per crash", Class: Timing, Better: Lower, Help: "redelivered ÷ clients that were made to crash and connections that were reset, whole run"},
		{Name: "crash_dropped", Title: "dropped by crashes", Class: Timing, Better: Neither, Help: "deliveries that a crash destroyed before they were shown, by the injector's own log"},
		{Name: "beyond_window", Title: "beyond the window", Class: Timing, Better: Lower, Help: "deliveries shown though the client's dedup window had forgotten too much to tell whether they were new"},

		{Name: "logins", Title: "logins", Class: Timing, Better: Neither, Help: "logins of users that something waited for, relogins of crashed clients among them"},
		{Name: "requests_per_login", Title: "requests per login", Class: Deterministic, Better: Lower, Help: "requests from the welcome to the end of the sync, acks of what was pulled among them ÷ logins"},
		{Name: "pages_per_login", Title: "pages per login", Class: Deterministic, Better: Lower, Help: "pages taken ÷ logins"},
		{Name: "largest_response_bytes", Title: "largest response", Unit: "bytes", Class: Deterministic, Better: Lower, Help: "the largest answer that a client got while it synced"},
		{Name: "poll_requests", Title: "polls", Class: Timing, Better: Lower, Help: "HTTP requests that asked for what is new, whole run"},

		{Name: "ack_requests_total", Title: "ack requests, whole run", Class: Timing, byPolicy: true, Better: Lower, Help: "frames or HTTP requests that carry acks, in the whole run up to the last flush"},
		{Name: "ack_bytes_total", Title: "ack bytes, whole run", Unit: "bytes", Class: Timing, byPolicy: true, Better: Lower, Help: "bytes of these, framing included, or HTTP header and body"},
		{Name: "ack_requests", Title: "ack requests", Class: Timing, Better: Lower, Help: "frames or HTTP requests that carry acks and were due in the measured phase"},
		{Name: "ack_requests_per_s", Title: "ack requests/s", Unit: "/s", Class: Timing, Better: Lower, Help: "ack requests per second of the measured phase"},
		{Name: "ack_requests_replayed", Title: "replayed", Class: Timing, Better: Neither, Help: "ack requests of the policy replayed over the recorded arrivals"},
		{Name: "ack_requests_replayed_error", Title: "replay error", Unit: "ratio", Class: Timing, Better: Neither, Help: "measured ÷ replayed ack requests − 1"},
		{Name: "ack_requests_predicted_per_s", Title: "predicted", Unit: "/s", Class: Deterministic, Better: Neither, Help: "closed form: deliveries/s ÷ mean batch"},
		{Name: "ack_requests_predicted_error", Title: "closed-form error", Unit: "ratio", Class: Timing, Better: Neither, Help: "measured ÷ predicted ack requests − 1"},
		{Name: "acks_reduction", Title: "reduction", Unit: "ratio", Class: Timing, Better: Higher, Help: "deliveries ÷ ack requests"},
		{Name: "ack_requests_per_delivery", Title: "ack requests per delivery", Class: Timing, Better: Lower, Help: "ack requests ÷ deliveries"},
		{Name: "unacked_window_mean", Title: "unacked window", Class: Timing, Better: Lower, Help: "mean deliveries received but not yet acked per recipient: what a crash makes the server deliver again"},
		{Name: "unacked_window_max", Title: "unacked window, max", Class: Timing, Better: Lower, Help: "greatest unacked window of one recipient"},
		{Name: "ack_bytes_per_delivery", Title: "ack bytes per delivery", Unit: "bytes", Class: Timing, Better: Lower, Help: "bytes of ack requests, framing included, or HTTP header and body ÷ deliveries"},
		{Name: "ack_bytes_per_s", Title: "ack bytes/s per client", Unit: "bytes", Class: Timing, Better: Lower, Help: "the same bytes per second and client online"},
		{Name: "client_wakeups_per_s", Title: "wake-ups/s per client", Unit: "/s", Class: Timing, Better: Lower, Help: "how often a phone would wake, per client online: a read that brought something (over HTTP each answer, but to acks), or an ack timer that fired"},
		{Name: "ack_wakeups_per_s", Title: "wake-ups/s for acks", Unit: "/s", Class: Timing, Better: Lower, Help: "of these, the ones for an ack alone: interval and idle timers"},

		{Name: "redis_commands_per_delivery", Title: "Redis commands per delivery", Class: Timing, Better: Lower, Help: "commands that the server issued ÷ deliveries"},
		{Name: "cursor_commands_per_delivery", Title: "cursor commands per delivery", Class: Timing, Better: Lower, Help: "of these, the ones that move cursors"},
		{Name: "redis_commands_per_send", Title: "Redis commands per send", Class: Deterministic, Better: Lower, Help: "commands that store a send ÷ sends"},
		{Name: "redis_round_trips_per_delivery", Title: "Redis round trips per delivery", Class: Timing, Better: Lower, Help: "round trips from the server to Redis ÷ deliveries"},
		{Name: "redis_round_trips_per_send", Title: "Redis round trips per send", Class: Timing, Better: Lower, Help: "round trips that store a send ÷ sends; below 1 where sends share one"},
		{Name: "member_lookups_per_send", Title: "member lookups per send", Class: Deterministic, Better: Lower, Help: "reads of a group's member list ÷ sends"},
		{Name: "presence_lookups_per_send", Title: "presence lookups per send", Class: Deterministic, Better: Lower, Help: "reads of who is online ÷ sends"},
		{Name: "rows_per_message", Title: "rows per message", Class: Deterministic, Better: Lower, Help: "entries and members that Redis holds for a stored message, before anybody pulls"},
		{Name: "stored_bytes_per_message", Title: "stored bytes per message", Unit: "bytes", Class: Deterministic, Better: Lower, Help: "bytes of these rows, without what Redis needs around them"},
		{Name: "memory_bytes_per_message", Title: "Redis memory per message", Unit: "bytes", Class: Deterministic, Better: Lower, Help: "memory of their keys by Redis' own account"},
		{Name: "used_memory_bytes_per_message", Title: "Redis used_memory per message", Unit: "bytes", Class: Timing, Better: Lower, Help: "what all of Redis' used_memory grew by while they were stored ÷ messages"},
		{Name: "dedup_memory_bytes_per_message", Title: "dedup memory per message", Unit: "bytes", Class: Deterministic, Better: Lower, Help: "memory of what idempotent sends remember ÷ messages"},
		{Name: "client_dedup_bytes", Title: "client dedup", Unit: "bytes", Class: Timing, Better: Lower, Help: "what a client has persisted to know messages again, mean over clients at the end of the run"},
		{Name: "log_reads", Title: "log reads", Class: Timing, Better: Lower, Help: "reads of a group's log or of an inbox"},
		{Name: "trimmed", Title: "trimmed", Class: Timing, Better: Neither, Help: "messages trimmed from logs"},
		{Name: "pull_now", Title: "pull now", Class: Timing, Better: Lower, Help: "times that a slow client was told to pull"},
		{Name: "server_cpu_us_per_delivery", Title: "server CPU", Unit: "us", Class: Timing, Better: Lower, Help: "CPU of the server process per delivery"},
		{Name: "server_allocations_per_delivery", Title: "server allocations", Class: Timing, Better: Lower, Help: "heap objects that the server allocated per delivery"},
		{Name: "server_allocated_bytes_per_delivery", Title: "server allocated", Unit: "bytes", Class: Timing, Better: Lower, Help: "heap memory that the server allocated per delivery"},
		{Name: "redis_cpu_us_per_delivery", Title: "Redis CPU", Unit: "us", Class: Timing, Better: Lower, Help: "CPU of the Redis process per delivery"},
		{Name: "system_cpu_us_per_delivery", Title: "system CPU", Unit: "us", Class: Timing, Better: Lower, Help: "CPU of server and Redis per delivery; null where one of them isn't known"},
		{Name: "generator_cpu_us_per_delivery", Title: "generator CPU", Unit: "us", Class: Timing, Better: Lower, Help: "CPU of the load generator per delivery"},
		{Name: "pacer_cpu_percent", Title: "pacer CPU", Unit: "percent", Class: Timing, Better: Lower, Help: "CPU of the thread that precise pacing keeps for the schedule, of one core; writing the sends included"},
		{Name: "server_rss_bytes", Title: "server RSS", Unit: "bytes", Class: Timing, Better: Lower, Help: "greatest resident memory of the server"},
		{Name: "redis_rss_bytes", Title: "Redis RSS", Unit: "bytes", Class: Timing, Better: Lower, Help: "greatest resident memory of Redis"},
		{Name: "generator_rss_bytes", Title: "generator RSS", Unit: "bytes", Class: Timing, Better: Lower, Help: "greatest resident memory of the load generator"},
		{Name: "server_rss_bytes_per_connection", Title: "server RSS per connection", Unit: "bytes", Class: Timing, Better: Lower, Help: "what the server's resident memory grew by while the devices connected ÷ connections; with 1,000 or more"},
		{Name: "generator_rss_bytes_per_connection", Title: "generator RSS per connection", Unit: "bytes", Class: Timing, Better: Lower, Help: "the same of the load generator"},

		{Name: "wire_bytes_per_delivery", Title: "wire bytes per delivery", Unit: "bytes", Class: Timing, byPolicy: true, Better: Lower, Help: "bytes both ways between clients and server ÷ deliveries"},
		{Name: "wire_bytes_in", Title: "wire bytes in", Unit: "bytes", Class: Timing, Better: Lower, Help: "bytes that clients received"},
		{Name: "wire_bytes_out", Title: "wire bytes out", Unit: "bytes", Class: Timing, Better: Lower, Help: "bytes that clients sent"},
		{Name: "writes_per_delivery", Title: "writes per delivery", Class: Timing, Better: Lower, Help: "socket writes of the server ÷ deliveries; below 1 where messages are joined"},
	}
}

// Histograms returns the registry's histograms.
func Histograms() []HistogramMetric {
	return []HistogramMetric{
		{"send", "send", "send to answer, from the intended time"},
		{"send_service", "send, service", "send to answer, from the time it left"},
		{"live", "live", "send to delivery of pushed messages, from the intended time"},
		{"live_service", "live, service", "send to delivery of pushed messages, from the time it left"},
		{"fanout_first", "first recipient", "intended time to the first recipient of a message"},
		{"fanout_median", "median recipient", "intended time to the median recipient of a message"},
		{"fanout_last", "last recipient", "intended time to the last recipient of a message"},
		{"ack_delay", "ack delay", "delivery to the ack request that covers it"},
		{"schedule_lag", "schedule lag", "intended time to the time it left: the generator's own lateness"},
		{"offline_age", "age when pulled", "intended time to the arrival in a page"},
		{"page", "page", "one offline pull"},
		{"sync", "sync", "login to the last page acked"},
		{"connect", "connect", "dial to welcome"},
		{"hiccup", "hiccup", "a moment at which the generator meant to wake to the moment at which it did"},
	}
}

// Lookup returns the registry's entry for a metric name; NAME.STATISTIC of a
// histogram is a metric of class timing.
func Lookup(name string) (Metric, bool) {
	if base, stat, dotted := strings.Cut(name, "."); dotted {
		return lookupStatistic(base, stat)
	}
	all := Metrics()
	if i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return all[i], true
	}
	return Metric{}, false
}

func lookupStatistic(base, stat string) (Metric, bool) {
	if stat == "p99.9" {
		stat = "p999"
	}
	if !slices.Contains(Statistics(), stat) {
		return Metric{}, false
	}
	for _, h := range Histograms() {
		if h.Name != base {
			continue
		}
		m := Metric{
			Name: base + "." + stat, Title: h.Title + " " + statTitle(stat), Unit: Microseconds,
			Class: Timing, Better: Lower, Help: statTitle(stat) + " of: " + h.Help,
		}
		if stat == "count" {
			m.Unit, m.Better = "", Neither
		}
		return m, true
	}
	return Metric{}, false
}

func statTitle(stat string) string {
	if stat == "p999" {
		return "p99.9"
	}
	return stat
}

// ClassUnder returns the class of a metric under an ack policy: the number of
// ack requests in a whole run is determined by profile and seed under each and
// count, and moved by timing under the others (measuring.md, 25). Those of the
// measured phase are timings under every policy: the members of a group that count
// to N reach it together, so one message at an edge of the phase moves hundreds of
// acks into it or out of it.
func (m Metric) ClassUnder(ackPolicy string) Class {
	if m.byPolicy && (ackPolicy == "each" || ackPolicy == "count") {
		return Deterministic
	}
	return m.Class
}

// MetricNames returns every name that a threshold may use, sorted; for
// messages that suggest what was meant.
func MetricNames() []string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	for _, h := range Histograms() {
		for _, s := range Statistics() {
			names = append(names, h.Name+"."+s)
		}
	}
	slices.Sort(names)
	return names
}

// Value returns a metric of the run in the registry's unit; false when it is
// null, missing, or the figure of an empty histogram.
func (r *Run) Value(name string) (float64, bool) {
	if base, stat, dotted := strings.Cut(name, "."); dotted {
		h, ok := r.Histograms[base]
		if !ok {
			return 0, false
		}
		return h.Statistic(stat)
	}
	return r.Metrics.Get(name)
}

// has tells whether the run names the metric, be it null.
func (r *Run) has(name string) bool {
	if base, _, dotted := strings.Cut(name, "."); dotted {
		_, ok := r.Histograms[base]
		return ok
	}
	_, ok := r.Metrics[name]
	return ok
}

// AllMetrics returns the registry with the figures of its histograms.
func AllMetrics() []Metric {
	out := Metrics()
	for _, h := range Histograms() {
		for _, s := range Statistics() {
			m, _ := lookupStatistic(h.Name, s)
			out = append(out, m)
		}
	}
	return out
}
