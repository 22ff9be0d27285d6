package results

import (
	"regexp"
	"slices"
	"testing"
)

// required lists the names that the engine and the profiles use.
var required = []string{
	"sends", "deliveries", "deliveries_per_s", "expected_deliveries", "ack_requests", "ack_requests_per_s", "ack_requests_replayed",
	"ack_requests_replayed_error", "ack_requests_predicted_per_s", "ack_requests_predicted_error", "acks_reduction", "ack_requests_per_delivery",
	"redis_commands_per_delivery", "cursor_commands_per_delivery", "redis_commands_per_send", "server_cpu_us_per_delivery", "redis_cpu_us_per_delivery",
	"generator_cpu_us_per_delivery", "pacer_cpu_percent", "server_rss_bytes", "redis_rss_bytes", "generator_rss_bytes", "server_rss_bytes_per_connection", "generator_rss_bytes_per_connection", "wire_bytes_per_delivery", "wire_bytes_in", "wire_bytes_out",
	"writes_per_delivery", "unacked_window_mean", "unacked_window_max", "redelivered", "lost", "shown_twice", "out_of_order", "pending", "unknown", "refused",
	"retransmitted", "pull_now", "log_reads", "trimmed", "late_sends_percent", "offered_per_s", "achieved_percent",
	"send.p50", "send_service.p90", "live.p99", "live_service.p999", "fanout_first.max", "fanout_median.min", "fanout_last.mean", "ack_delay.p99",
	"schedule_lag.p99", "page.count", "sync.p99",
	"requests_per_login", "pages_per_login", "largest_response_bytes", "redis_round_trips_per_send", "redis_round_trips_per_delivery",
	"rows_per_message", "stored_bytes_per_message", "memory_bytes_per_message", "member_lookups_per_send", "presence_lookups_per_send",
	"ack_requests_total", "ack_bytes_total", "logins", "crashes", "crash_dropped", "beyond_window", "poll_requests", "offline_age.p50",
}

func TestRegistry(t *testing.T) {
	for _, name := range required {
		if _, ok := Lookup(name); !ok {
			t.Errorf("%s is not in the registry", name)
		}
	}
	seen := map[string]bool{}
	word := regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9]+)?$`)
	for _, m := range AllMetrics() {
		if seen[m.Name] || !word.MatchString(m.Name) {
			t.Errorf("%q is there twice, or is no name", m.Name)
		}
		seen[m.Name] = true
		if m.Help == "" || m.Title == "" || !slices.Contains([]Class{Invariant, Deterministic, Timing}, m.Class) ||
			!slices.Contains([]Better{Lower, Higher, Neither}, m.Better) || !slices.Contains([]string{"", "/s", Microseconds, "bytes", "percent", "ratio"}, m.Unit) {
			t.Errorf("%s is incomplete: %+v", m.Name, m)
		}
		if got, ok := Lookup(m.Name); !ok || got != m {
			t.Errorf("Lookup(%q) = %+v", m.Name, got)
		}
	}
	for _, name := range []string{"", "live", "live.", "live.p98", ".p99", "lost.p99"} {
		if _, ok := Lookup(name); ok {
			t.Errorf("%q is a metric", name)
		}
	}
	for _, c := range slices.Concat(columns(), ladderColumns()) {
		if _, ok := Lookup(c.name); !ok {
			t.Errorf("column %s shows %q, which is no metric", c.Key, c.name)
		}
	}
}

func TestClassUnder(t *testing.T) {
	for _, tc := range []struct {
		metric, policy string
		want           Class
	}{
		{"ack_requests_total", "each", Deterministic}, {"ack_bytes_total", "count", Deterministic}, {"ack_requests_total", "interval", Timing},
		{"ack_requests_total", "count-or-interval", Timing}, {"ack_requests", "count", Timing}, {"ack_requests_per_delivery", "each", Timing}, {"redis_commands_per_send", "interval", Deterministic},
		{"lost", "interval", Invariant}, {"writes_per_delivery", "each", Timing}, {"live.p99", "each", Timing}, {"redelivered", "each", Timing},
	} {
		m, _ := Lookup(tc.metric)
		if got := m.ClassUnder(tc.policy); got != tc.want {
			t.Errorf("%s under %s is %s, want %s", tc.metric, tc.policy, got, tc.want)
		}
	}
}

func TestFormatValue(t *testing.T) {
	for _, tc := range []struct {
		unit string
		v    float64
		want string
	}{
		{Microseconds, 0, "0 µs"}, {Microseconds, 412, "412 µs"}, {Microseconds, 250_000, "250 ms"}, {Microseconds, 1234, "1.23 ms"}, {Microseconds, 1_234_567, "1,235 ms"},
		{"bytes", 512, "512 bytes"}, {"bytes", 64 << 20, "64 MiB"}, {"percent", 98.5, "98.5 %"}, {"/s", 908.925, "908.9/s"},
		{"", 3, "3"}, {"", 149_700, "149,700"}, {"", -0.00001, "−0.00001"}, {"ratio", 0.0123456, "0.01235"},
	} {
		if got := FormatValue(tc.unit, tc.v); got != tc.want {
			t.Errorf("%g %s: %q, want %q", tc.v, tc.unit, got, tc.want)
		}
	}
}

func TestHlogName(t *testing.T) {
	for _, tc := range []struct {
		place   int
		variant string
		repeat  int
		want    string
	}{
		{2, "every 10", 1, "02-every-10-r1.hlog"}, {4, "10 or 500ms", 2, "04-10-or-500ms-r2.hlog"}, {12, "../É|x", 3, "12-x-r3.hlog"}, {1, "…", 1, "01-variant-r1.hlog"},
	} {
		if got := HlogName(tc.place, tc.variant, tc.repeat); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.variant, got, tc.want)
		}
	}
}
