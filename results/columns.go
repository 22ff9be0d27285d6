package results

// columns are the tables of a run without logins: what acks cost, and what was
// delivered how fast.
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

// ladderColumns are the tables of a run with logins, which ask for more: what a
// login takes, what a message takes in the store, what a delivery costs, and
// what is lost with and without crashes.
func ladderColumns() []Column {
	const login, stored, delivery, memory, safety = "login", "per message", "per delivery", "memory", "safety"
	return []Column{
		{Key: "requests_per_login", Table: login, Head: []string{"requests", "/login"}, name: "requests_per_login", optional: true},
		{Key: "pages_per_login", Table: login, Head: []string{"pages", "/login"}, name: "pages_per_login", optional: true},
		{Key: "ack_requests_per_delivery", Table: login, Head: []string{"ack req.", "/delivery"}, name: "ack_requests_per_delivery", optional: true},
		{Key: "largest_response_kib", Table: login, Head: []string{"largest", "response", "KiB"}, name: "largest_response_bytes", scale: 1024, optional: true},
		{Key: "sync_p50_ms", Table: login, Head: []string{"sync", "p50", "ms"}, name: "sync.p50", scale: 1000, optional: true},
		{Key: "sync_p99_ms", Table: login, Head: []string{"sync", "p99", "ms"}, name: "sync.p99", scale: 1000, optional: true},
		{Key: "page_p50_ms", Table: login, Head: []string{"page", "p50", "ms"}, name: "page.p50", scale: 1000, optional: true},
		{Key: "page_p99_ms", Table: login, Head: []string{"page", "p99", "ms"}, name: "page.p99", scale: 1000, optional: true},
		{Key: "offline_age_p50_s", Table: login, Head: []string{"age", "p50", "s"}, name: "offline_age.p50", scale: 1e6, optional: true},

		{Key: "rows_per_message", Table: stored, Head: []string{"rows"}, name: "rows_per_message", optional: true},
		{Key: "stored_bytes_per_message", Table: stored, Head: []string{"stored", "bytes"}, name: "stored_bytes_per_message", optional: true},
		{Key: "memory_bytes_per_message", Table: stored, Head: []string{"Redis", "memory", "bytes"}, name: "memory_bytes_per_message", optional: true},
		{Key: "dedup_memory_bytes_per_message", Table: stored, Head: []string{"dedup", "memory", "bytes"}, name: "dedup_memory_bytes_per_message", optional: true},
		{Key: "redis_commands_per_send", Table: stored, Head: []string{"Redis", "commands", "/send"}, name: "redis_commands_per_send", optional: true},
		{Key: "redis_round_trips_per_send", Table: stored, Head: []string{"round", "trips", "/send"}, name: "redis_round_trips_per_send", optional: true},
		{Key: "member_lookups_per_send", Table: stored, Head: []string{"member", "lookups", "/send"}, name: "member_lookups_per_send", optional: true},
		{Key: "presence_lookups_per_send", Table: stored, Head: []string{"presence", "lookups", "/send"}, name: "presence_lookups_per_send", optional: true},

		{Key: "redis_commands_per_delivery", Table: delivery, Head: []string{"Redis", "commands"}, name: "redis_commands_per_delivery", optional: true},
		{Key: "redis_round_trips_per_delivery", Table: delivery, Head: []string{"Redis", "round", "trips"}, name: "redis_round_trips_per_delivery", optional: true},
		{Key: "wire_bytes_per_delivery", Table: delivery, Head: []string{"wire", "bytes"}, name: "wire_bytes_per_delivery", optional: true},
		{Key: "server_cpu_us_per_delivery", Table: delivery, Head: []string{"server", "CPU", "µs"}, name: "server_cpu_us_per_delivery", optional: true},
		{Key: "redis_cpu_us_per_delivery", Table: delivery, Head: []string{"Redis", "CPU", "µs"}, name: "redis_cpu_us_per_delivery", optional: true},
		{Key: "live_p50_ms", Table: delivery, Head: []string{"live", "p50", "ms"}, name: "live.p50", scale: 1000, optional: true},
		{Key: "live_p99_ms", Table: delivery, Head: []string{"live", "p99", "ms"}, name: "live.p99", scale: 1000, optional: true},
		{Key: "unacked_window_mean", Table: delivery, Head: []string{"unacked", "window", "mean"}, name: "unacked_window_mean", least: 1, optional: true},

		{Key: "server_rss_mib", Table: memory, Head: []string{"server", "RSS", "MiB"}, name: "server_rss_bytes", scale: 1 << 20, optional: true},
		{Key: "redis_rss_mib", Table: memory, Head: []string{"Redis", "RSS", "MiB"}, name: "redis_rss_bytes", scale: 1 << 20, optional: true},
		{Key: "generator_rss_mib", Table: memory, Head: []string{"generator", "RSS", "MiB"}, name: "generator_rss_bytes", scale: 1 << 20, optional: true},
		{Key: "client_dedup_kib", Table: memory, Head: []string{"a client's", "dedup", "KiB"}, name: "client_dedup_bytes", scale: 1024, optional: true},

		{Key: "deliveries", Table: safety, Head: []string{"deliveries"}, name: "deliveries"},
		{Key: "lost", Table: safety, Head: []string{"lost"}, name: "lost", worst: true},
		{Key: "redelivered", Table: safety, Head: []string{"redeli-", "vered"}, name: "redelivered", worst: true},
		{Key: "shown_twice", Table: safety, Head: []string{"shown", "twice"}, name: "shown_twice", worst: true},
		{Key: "crashes", Table: safety, Head: []string{"crashes"}, name: "crashes", worst: true, seldom: true},
		{Key: "beyond_window", Table: safety, Head: []string{"beyond", "window"}, name: "beyond_window", worst: true, seldom: true},
		{Key: "crashed_crashes", Table: safety, Head: []string{"crashed:", "crashes"}, name: "crashes", crash: true, worst: true, optional: true},
		{Key: "crashed_lost", Table: safety, Head: []string{"crashed:", "lost"}, name: "lost", crash: true, worst: true, optional: true},
		{Key: "crashed_redelivered", Table: safety, Head: []string{"crashed:", "redeli-", "vered"}, name: "redelivered", crash: true, worst: true, optional: true},
		{Key: "crashed_shown_twice", Table: safety, Head: []string{"crashed:", "shown", "twice"}, name: "shown_twice", crash: true, worst: true, optional: true},
	}
}
