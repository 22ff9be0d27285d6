package server

// families are the server's own metrics, beside those of Go and the process.
var families = []family{ //nolint:gochecknoglobals // a constant table
	{name: "sends_total", help: "Sends answered, by how.", label: "result", values: func(s *snapshot) map[string]uint64 {
		d := &s.delivery
		return map[string]uint64{"stored": d.SendsStored, "duplicate": d.SendsDuplicate, "refused": d.SendsRefused, "failed": d.SendsFailed}
	}},
	{name: "deliveries_total", help: "Deliveries on their way to a client: pushed and retransmitted are queued frames, paged are messages in pages.", label: "how",
		values: func(s *snapshot) map[string]uint64 {
			return map[string]uint64{"pushed": s.push.Pushed, "paged": s.delivery.Paged, "retransmitted": s.push.Retransmitted}
		}},
	{name: "pushes_missed_total", help: "Direct messages that were to be pushed only, missed their receiver and were stored under a second seq.",
		values: one(func(s *snapshot) uint64 { return s.delivery.PushesMissed })},
	{name: "ack_requests_total", help: "Frames and HTTP requests that carried acks.", values: one(func(s *snapshot) uint64 { return s.delivery.AckRequests })},
	{name: "acks_ignored_total", help: "Acks of another epoch, or not past the cursor.", values: one(func(s *snapshot) uint64 { return s.delivery.AcksIgnored })},
	{name: "cursors_moved_total", help: "Cursors written to the store.", values: one(func(s *snapshot) uint64 { return s.delivery.CursorsMoved })},
	{name: "pull_now_total", help: "Times that a slow client was told to pull.", values: one(func(s *snapshot) uint64 { return s.push.PullNow })},
	{name: "syncs_total", help: "Pulls of all groups at once.", values: one(func(s *snapshot) uint64 { return s.delivery.Syncs })},
	{name: "pages_total", help: "Pages answered, those of syncs included.", values: one(func(s *snapshot) uint64 { return s.delivery.Pages })},
	{name: "log_reads_total", help: "Reads of a log in the store.", values: one(func(s *snapshot) uint64 { return s.delivery.LogReads })},
	{name: "log_trimmed_total", help: "Messages removed from group logs.", values: one(func(s *snapshot) uint64 { return s.delivery.Trimmed })},
	{name: "log_truncated_total", help: "Of the trimmed: not acked by everybody yet, gone by the retention limit.", values: one(func(s *snapshot) uint64 { return s.delivery.Truncated })},
	{name: "epoch", help: "The store's epoch.", gauge: true, values: one(func(s *snapshot) uint64 { return s.epoch })},
	{name: "epoch_changes_total", help: "Epochs begun while the server ran.", values: one(func(s *snapshot) uint64 { return s.store.EpochChanges })},

	{name: "redis_commands_total", help: "Commands issued to Redis, by what for; a script is one.", label: "name", values: func(s *snapshot) map[string]uint64 { return s.store.Commands }},
	{name: "redis_round_trips_total", help: "Times that the store waited for Redis; a pipeline is one.", values: one(func(s *snapshot) uint64 { return s.store.RoundTrips })},
	{name: "redis_trips_total", help: "The same by what for, as redis_commands_total; what shares a pipeline counts with the first.", label: "name", values: func(s *snapshot) map[string]uint64 { return s.store.Trips }},
	{name: "redis_retries_total", help: "Commands issued again.", values: one(func(s *snapshot) uint64 { return s.store.Retries })},
	{name: "redis_send_batches_total", help: "Round trips that carried sends.", values: one(func(s *snapshot) uint64 { return s.store.Batches })},

	{name: "member_lookups_total", help: "Lists of members read for sends to groups.", values: one(func(s *snapshot) uint64 { return s.store.MemberLookups })},
	{name: "presence_lookups_total", help: "Presence of members read for sends to groups.", values: one(func(s *snapshot) uint64 { return s.store.PresenceLookups })},
	{name: "rows_written_total", help: "Copies and ids written for members of groups.", values: one(func(s *snapshot) uint64 { return s.store.RowsWritten })},
	{name: "bodies_freed_total", help: "Bodies of group messages removed with their last id.", values: one(func(s *snapshot) uint64 { return s.store.BodiesFreed })},
	{name: "sends_recovered_total", help: "Messages that a killed server had left half-way and that were finished later.", values: one(func(s *snapshot) uint64 { return s.store.Recovered })},

	{name: "connections", help: "WebSocket connections open.", gauge: true, values: one(func(s *snapshot) uint64 { return s.push.Connections })},
	{name: "frames_read_total", help: "WebSocket messages read.", values: one(func(s *snapshot) uint64 { return s.gateway.FramesRead })},
	{name: "bytes_read_total", help: "Bytes read from WebSocket connections.", values: one(func(s *snapshot) uint64 { return s.gateway.BytesRead })},
	{name: "frames_written_total", help: "WebSocket messages written.", values: one(func(s *snapshot) uint64 { return s.push.Frames })},
	{name: "writes_total", help: "Write calls to WebSocket connections; messages that wait share one.", values: one(func(s *snapshot) uint64 { return s.push.Writes })},
	{name: "bytes_written_total", help: "Bytes written to WebSocket connections.", values: one(func(s *snapshot) uint64 { return s.push.BytesWritten })},
	{name: "handshakes_total", help: "WebSocket handshakes, by result.", label: "result", values: func(s *snapshot) map[string]uint64 {
		return map[string]uint64{"done": s.gateway.Upgrades, "refused": s.gateway.UpgradesRefused}
	}},
	{name: "connections_ended_total", help: "Connections that the server ended, by cause: what they sent, silence, or not reading.", label: "cause",
		values: func(s *snapshot) map[string]uint64 {
			return map[string]uint64{"bad_frame": s.gateway.BadFrames, "idle": s.gateway.IdleClosed, "slow": s.push.SlowClosed}
		}},

	{name: "http_requests_total", help: "HTTP requests answered, handshakes included: refused is 4xx, failed 5xx.", label: "result",
		values: func(s *snapshot) map[string]uint64 {
			g := &s.gateway
			return map[string]uint64{"ok": g.Requests - min(g.Requests, g.Refused+g.Failed), "refused": g.Refused, "failed": g.Failed}
		}},
	{name: "http_in_flight", help: "HTTP requests being served.", gauge: true, values: one(func(s *snapshot) uint64 { return s.gateway.InFlight })},
	{name: "panics_total", help: "Panics recovered.", values: one(func(s *snapshot) uint64 { return s.gateway.Panics })},
}
