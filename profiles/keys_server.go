package profiles

// serverKeys are the settings of the reference server and of a private Redis.
func serverKeys() []Key {
	return []Key{
		{Name: "server.group", Type: TypeChoice, Default: GroupCursor, Values: []string{GroupCursor, GroupCopies, GroupIDs}, Workload: true,
			Help: "how group messages are stored; cursor: body once, a last_ack per member; copies: a full copy per member; ids: body once, an id per member"},
		{Name: "server.cursor", Type: TypeChoice, Default: CursorSeq, Values: []string{CursorSeq, CursorTimeAfter, CursorTimeFrom}, Workload: true, Later: true,
			Help: "what a cursor holds: a seq, or the time of the acked message in ms; goes on after that time (ties are lost) or from it (ties come again)"},
		{Name: "server.store_for", Type: TypeChoice, Default: StoreForAll, Values: []string{StoreForAll, StoreForOffline}, Workload: true,
			Help: "for whom a message is stored; offline: who is connected gets it pushed and never stored"},
		{Name: "server.remove", Type: TypeChoice, Default: RemoveOnAck, Values: []string{RemoveOnAck, RemoveOnPull}, Workload: true,
			Help: "when a stored message is done with; on-pull: as soon as a page with it was read"},
		{Name: "server.sender_index", Type: TypeChoice, Default: Off, Values: []string{On, Off}, Workload: true, Later: true,
			Help: "index (receiver, sender) of inboxes, which pulls and counts per friend need"},
		{Name: "server.dedup", Type: TypeChoice, Default: On, Values: []string{On, Off}, Workload: true, Later: true,
			Help: "idempotent sends; off: each attempt to send is stored as a message of its own"},
		{Name: "server.ack_flush", Type: TypeDuration, Default: "0s", Min: "1ms", Max: "1m", Zero: true, Workload: true,
			Help: "write-behind of acks: cursors are written this often, 0s at once; a crash redelivers, never loses"},
		{Name: "server.ack_join", Type: TypeDuration, Default: "5ms", Min: "1us", Max: "1s", Workload: true,
			Help: "acks that arrive within this time share Redis commands"},
		{Name: "server.retransmit", Type: TypeDuration, Default: "15s", Min: "100ms", Max: "1h", Workload: true,
			Help: "a delivery that stays unacked this long is sent again"},
		{Name: "server.retention", Type: TypeInteger, Unit: "messages", Default: "0", Min: "0", Max: "1000000000", Workload: true,
			Help: "most messages a group's log keeps for members who don't ack; 0 keeps all"},
		{Name: "server.dedup_for", Type: TypeDuration, Default: "10m", Min: "1s", Max: "24h", Workload: true,
			Help: "how long the server knows a client_msg_id again; with dedup on"},

		{Name: "redis.fsync", Type: TypeChoice, Default: FsyncEverysec, Values: []string{FsyncOff, FsyncEverysec, FsyncAlways}, Workload: true,
			Help: "append-only file of a private Redis; off: nothing survives a restart of Redis"},
	}
}
