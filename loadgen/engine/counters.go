package engine

import (
	"ackmark/loadgen/measure"
	"ackmark/results"
)

// counters takes over what the server and Redis counted from the begin of
// traffic to the audit, through a restart of the server as far as is known.
func (r *run) counters(a *account) {
	m := r.out.Metrics
	r.out.Redis.Commandstats = r.commandstats()
	if a.page == nil {
		return
	}
	begin := r.trafficPage
	r.out.Redis.Issued = rises(begin, a.page, "ackmark_redis_commands_total", "name")
	if n, ok := rise(begin, a.page, "ackmark_redis_round_trips_total"); ok {
		r.out.Redis.RoundTrips = results.Count(int64(n))
	}
	for metric, counter := range map[string]string{
		"log_reads": "ackmark_log_reads_total", "trimmed": "ackmark_log_trimmed_total", "pull_now": "ackmark_pull_now_total",
	} {
		if n, ok := rise(begin, a.page, counter); ok {
			m.Set(metric, n)
		}
	}
	if n, ok := rise(begin, a.page, "ackmark_deliveries_total", "how", "retransmitted"); ok {
		m.Set("retransmitted", n)
	}
	if stored, ok := rise(begin, a.page, "ackmark_sends_total"); ok && stored > 0 && r.msgs.backlog == 0 {
		r.sendCosts(begin, a.page, stored)
	}
}

// sendCosts is what the server issued, between two pages, to store messages.
func (r *run) sendCosts(before, after measure.Metrics, stored float64) {
	m := r.out.Metrics
	if commands := rises(before, after, "ackmark_redis_commands_total", "name"); len(commands) > 0 {
		m.Set("redis_commands_per_send", ofSends(commands)/stored)
	}
	if trips := rises(before, after, "ackmark_redis_trips_total", "name"); len(trips) > 0 {
		m.Set("redis_round_trips_per_send", ofSends(trips)/stored)
	}
	r.lookups(before, after, stored)
}

// lookups is what the server looked up to know whom a message is for: members of
// its group, and who of them is online.
func (r *run) lookups(before, after measure.Metrics, stored float64) {
	for metric, counter := range map[string]string{
		"member_lookups_per_send": "ackmark_member_lookups_total", "presence_lookups_per_send": "ackmark_presence_lookups_total",
	} {
		if n, ok := rise(before, after, counter); ok {
			r.out.Metrics.Set(metric, n/stored)
		}
	}
}

// ofSends sums what was issued to store messages, of counts by what for: the
// message itself, whom it is for, and a row for each of them.
func ofSends(counts map[string]int64) float64 {
	var n int64
	for _, name := range []string{"append", "members", "presence", "row", "finish"} {
		n += counts[name]
	}
	return float64(n)
}

// commandstats is what Redis counted in the measure phase, inner calls of
// scripts included; INFO itself left out.
func (r *run) commandstats() map[string]int64 {
	from, to := &r.marks[0], &r.marks[1]
	if !from.hasRedis || !to.hasRedis {
		return nil
	}
	out := map[string]int64{}
	for name, c := range measure.DiffRedis(from.redis, to.redis).Commands {
		if name != "info" && c.Calls > 0 {
			out[name] = int64(c.Calls)
		}
	}
	return out
}
