package engine

import (
	"ackmark/loadgen/ledger"
	"ackmark/profiles"
)

// view shows the ledger what the store holds. Without a store of ours nothing
// is known of it.
func (r *run) view(a *account) ledger.StoreView {
	if r.store == nil {
		return nil
	}
	return func(c int) (ledger.Stored, bool) {
		h, ok := a.held[c]
		if !ok {
			return ledger.Stored{}, false
		}
		name := r.pop.Conversation(c)
		h.Bases = r.damage.bases(name, h.Bases)
		switch {
		case c >= len(r.pop.Groups):
			h.Row = h.inboxRow(&r.profile.Server)
		case r.store.fansOut():
			bodies := r.profile.Server.Group == profiles.GroupIDs
			h.Row = func(user int, seq uint64) ledger.Row {
				// An id without its body brings nothing.
				if a.rows.of[user][name].has(seq) && (!bodies || h.left.has(seq)) {
					return ledger.Waiting
				}
				return ledger.NoRow // acked, pulled or never written: nothing tells them apart
			}
		case r.store.timed():
			h.Row = func(user int, seq uint64) ledger.Row {
				return h.timedRow(r.pop.Users[user], seq, r.profile.Server.Cursor)
			}
		default:
			h.Cursor = func(user int) (uint64, bool) {
				cursor, member := h.cursors[r.pop.Users[user]]
				return cursor, member
			}
		}
		return h.Stored, true
	}
}

// inboxRow is what an inbox holds. Every message that was accepted had a row in
// it, so one that is gone was acked; unless rows go as they are pulled, or who
// is pushed to gets none.
func (h *holding) inboxRow(s *profiles.Server) func(user int, seq uint64) ledger.Row {
	gone := ledger.NoRow
	if s.Remove == profiles.RemoveOnAck && s.StoreFor == profiles.StoreForAll {
		gone = ledger.Acked
	}
	left, head := h.left, h.Head
	return func(_ int, seq uint64) ledger.Row {
		switch {
		case left.has(seq):
			return ledger.Waiting
		case seq > head:
			return ledger.NoRow
		}
		return gone
	}
}

// timedRow judges by a cursor that is a time. What was stored in the same
// millisecond as another message may have been passed over by a page that ended
// between the two (time-after); passed over isn't acked, since nobody had it, and
// once the cursor has gone on nothing tells the two apart. From the cursor's own
// millisecond on everything comes again (time-from).
func (h *holding) timedRow(user string, seq uint64, kind string) ledger.Row {
	cursor, member := h.cursors[user]
	if !member || seq < h.First || seq-h.First >= uint64(len(h.times)) {
		return ledger.NoRow
	}
	i := seq - h.First
	at := h.times[i]
	tie := i > 0 && h.times[i-1] == at || i+1 < uint64(len(h.times)) && h.times[i+1] == at
	switch {
	case at > cursor, at == cursor && kind == profiles.CursorTimeFrom:
		return ledger.Waiting
	case tie && kind != profiles.CursorTimeFrom:
		return ledger.NoRow
	}
	return ledger.Acked
}
