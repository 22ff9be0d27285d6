package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// bare is the last run of seqs of an inbox that left no row.
type bare struct{ from, to uint64 }

// oldest is the oldest seq that an inbox may still hold: one past the head
// when it holds none. Seqs that are gone never come back, so whatever this node
// learns only raises it.
func (c *conversation) oldest() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

// storedFrom notes the oldest seq that the store has named, 0 when it had none
// up to head.
func (c *conversation) storedFrom(first, head uint64) {
	if first == 0 {
		first = head + 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raiseLocked(first)
}

// leftNone notes a seq that left no row.
func (c *conversation) leftNone(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq != c.bare.to+1 || c.bare.from == 0 {
		c.bare.from = seq
	}
	c.bare.to = seq
	c.raiseLocked(c.first)
}

func (c *conversation) raiseLocked(first uint64) {
	c.first = max(c.first, first)
	if c.bare.from <= c.first && c.first <= c.bare.to {
		c.first = c.bare.to + 1
	}
}

// ack notes a cumulative ack of a member that is online, and returns what it
// moves in the store. Of an inbox that is what the client has named and no
// more; and there it says something even when the member's cursor stands
// beyond it, as long as the store may hold messages up to there: a client that
// is live from the head on pulls and acks what lies below.
func (c *conversation) ack(m *push.Member, upTo uint64) (cursor uint64, moved bool) {
	cursor, moved = m.Ack(upTo)
	if c.kind == wire.KindInbox {
		cursor = min(upTo, c.room.Head())
		moved = moved || c.oldest() <= cursor
	}
	return cursor, moved
}

// senderCounts counts the user's inbox by sender.
func (s *Service) senderCounts(ctx context.Context, user string, r *wire.CountsRequest) (*wire.Counts, error) {
	if !s.cfg.SenderIndex {
		return nil, noSenderIndex("counts by sender")
	}
	c, err := s.open(ctx, wire.Inbox(user))
	if err != nil {
		return nil, err
	}
	senders, err := s.store.SenderCounts(ctx, c.name)
	if err != nil {
		return nil, err
	}
	if !s.current(c) { // the store has noticed it just now
		return nil, restarted()
	}
	cursor, head := s.cursorOf(c, user, 0), c.room.Head()
	counts := &wire.Counts{Ref: r.Ref, Epoch: c.epoch, Counts: make([]*wire.Count, len(senders))}
	for i, n := range senders {
		counts.Counts[i] = &wire.Count{Conversation: c.name, Sender: n.Sender, Unread: n.Messages, Cursor: cursor, Head: head}
	}
	return counts, nil
}

func noSenderIndex(what string) error {
	return wire.Faultf(wire.CodeUnsupported, "%s need an index of inboxes by sender; start the server with --sender-index", what)
}
