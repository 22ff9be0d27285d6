package server

import "ackmark/refserver/delivery"

// modelRung is one rung of the ladder: how the server keeps messages, and what
// the clients of that rung do.
type modelRung struct {
	name     string
	group    delivery.Group
	cursor   delivery.Cursor
	storeFor delivery.StoreFor
	remove   delivery.Remove

	direct bool     // only direct messages, else groups as well
	pulls  []string // how an inbox, or a group, is pulled: oldest, newest, all, sender, sync
	acks   []string // how what was pulled is acked: each, ids, page, next-page; none where messages go on pull
	every  int      // acks wait for so many messages, 0: for none
	onOpen bool     // groups begin closed and are opened one by one
}

var (
	anyPull = []string{"oldest", "newest", "all", "sender", "sync"}                               //nolint:gochecknoglobals // constant
	anyAck  = []string{"each", "ids", "page", "page", "next-page"}                                //nolint:gochecknoglobals // constant
	paged   = []string{"oldest", "newest"}                                                        //nolint:gochecknoglobals // constant
	inPages = []string{"oldest", "oldest", "newest", "sync", "sync"}                              //nolint:gochecknoglobals // constant
	cursorG = modelRung{group: delivery.GroupCursor, pulls: anyPull}                              //nolint:gochecknoglobals // constant
	offline = delivery.StoreForOffline                                                            //nolint:gochecknoglobals // constant
	onPulls = modelRung{group: delivery.GroupCopies, remove: delivery.RemoveOnPull, direct: true} //nolint:gochecknoglobals // constant
)

func (g modelRung) with(change func(*modelRung)) modelRung {
	change(&g)
	return g
}

// modelRungs are d1–d7 and g1–g8 as design.md has them, g4t both ways, and the
// combinations of settings between them.
func modelRungs() []modelRung {
	return []modelRung{
		onPulls.with(func(g *modelRung) { g.name, g.pulls, g.storeFor = "d1 d2", []string{"sender"}, offline }),
		onPulls.with(func(g *modelRung) { g.name, g.pulls, g.storeFor = "d3", []string{"all"}, offline }),
		onPulls.with(func(g *modelRung) { g.name, g.pulls, g.storeFor = "d4", paged, offline }),
		onPulls.with(func(g *modelRung) { g.name, g.pulls = "d1-d4 for all", anyPull }),
		{name: "d5", direct: true, pulls: paged, acks: []string{"each", "ids"}},
		{name: "d6", direct: true, pulls: paged, acks: []string{"page"}},
		{name: "d7", direct: true, pulls: paged, acks: []string{"next-page"}},
		{name: "d5-d7 for offline", group: delivery.GroupCopies, storeFor: offline, direct: true, pulls: anyPull, acks: anyAck},
		{name: "g1", group: delivery.GroupCopies, storeFor: offline, remove: delivery.RemoveOnPull, pulls: anyPull},
		{name: "g1 roaming", group: delivery.GroupCopies, remove: delivery.RemoveOnPull, pulls: anyPull},
		{name: "copies acked", group: delivery.GroupCopies, pulls: anyPull, acks: anyAck},
		{name: "copies for offline acked", group: delivery.GroupCopies, storeFor: offline, pulls: anyPull, acks: anyAck},
		{name: "g2", group: delivery.GroupIDs, storeFor: offline, remove: delivery.RemoveOnPull, pulls: anyPull},
		{name: "g2 roaming", group: delivery.GroupIDs, remove: delivery.RemoveOnPull, pulls: anyPull},
		{name: "g3", group: delivery.GroupIDs, pulls: anyPull, acks: anyAck},
		{name: "g3 for offline", group: delivery.GroupIDs, storeFor: offline, pulls: anyPull, acks: anyAck},
		cursorG.with(func(g *modelRung) { g.name, g.acks = "g4", anyAck }),
		cursorG.with(func(g *modelRung) { g.name, g.acks, g.cursor = "g4t after", anyAck, delivery.CursorTimeAfter }),
		cursorG.with(func(g *modelRung) { g.name, g.acks, g.cursor = "g4t from", anyAck, delivery.CursorTimeFrom }),
		cursorG.with(func(g *modelRung) { g.name, g.acks, g.every = "g5-g7", []string{"page"}, 3 }),
		cursorG.with(func(g *modelRung) { g.name, g.pulls, g.acks, g.onOpen = "g8", inPages, []string{"next-page"}, true }),
	}
}

// filled replaces what is left out by the server's defaults.
func (g modelRung) filled() modelRung {
	d := DefaultConfig()
	if g.group == "" {
		g.group = d.Group
	}
	if g.cursor == "" {
		g.cursor = d.Cursor
	}
	if g.storeFor == "" {
		g.storeFor = d.StoreFor
	}
	if g.remove == "" {
		g.remove = d.Remove
	}
	return g
}

func (g modelRung) onPull() bool { return g.remove == delivery.RemoveOnPull }

// rows says whether each member has rows of its own in a conversation.
func (g modelRung) rows(conversation string) bool {
	return conversation[0] == 'u' || g.group != delivery.GroupCursor
}

func (g modelRung) times() bool { return g.cursor != delivery.CursorSeq }
