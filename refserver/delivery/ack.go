package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// Ack notes over HTTP what a user has, and returns once it is stored (at once
// with AckFlush set).
func (s *Service) Ack(ctx context.Context, user string, a *wire.Ack) (*wire.AckResult, error) {
	s.stats.ackRequests.Add(1)
	done := make(chan error, 1)
	var result *wire.AckResult
	err := s.ack(ctx, user, a, func(r *wire.AckResult, err error) {
		result = r
		done <- err
	})
	if err != nil {
		return nil, err
	}
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ack checks an ack and hands it to the acker; answer is called exactly once
// when err is nil.
func (s *Service) ack(ctx context.Context, user string, a *wire.Ack, answer func(*wire.AckResult, error)) error {
	c, err := s.openFor(ctx, user, a.Conversation)
	if err != nil {
		return err
	}
	if err := checkAck(c, a.Epoch, a.UpTo, a.Ids); err != nil {
		return err
	}
	result := &wire.AckResult{Ref: a.Ref, Conversation: c.name, Epoch: c.epoch}
	m := s.member(user, c.name)
	if c.kind == wire.KindGroup {
		stored, err := s.design.cursor(ctx, c, user)
		if err != nil {
			return err
		}
		result.Cursor = max(stored, s.acks.cursor(c, user))
	}
	upTo := c.overOwn(user, min(a.UpTo, c.room.Head()))
	if a.Epoch != c.epoch || (len(a.Ids) == 0 && upTo <= result.Cursor) {
		s.stats.acksIgnored.Add(1)
		s.stands(c, user, m, result)
		answer(result, nil)
		return nil
	}
	written := func(err error) {
		if err != nil {
			answer(nil, err)
			return
		}
		s.stands(c, user, m, result)
		answer(result, nil)
	}
	if s.cfg.AckFlush > 0 {
		written = nil
	}
	if len(a.Ids) > 0 {
		if m != nil {
			m.AckIDs(a.Ids)
		}
		s.acks.addIDs(c, a.Ids, written)
	} else {
		result.Cursor = upTo
		if m != nil {
			m.Ack(upTo)
		}
		s.acks.add(c, user, upTo, written)
	}
	if written == nil {
		s.stands(c, user, m, result)
		answer(result, nil)
	}
	return nil
}

// stands fills in the cursor of an inbox as an ack leaves it: ids move it as
// far as they leave no hole, which is known once they are gone.
func (s *Service) stands(c *conversation, user string, m *push.Member, r *wire.AckResult) {
	if c.kind != wire.KindInbox {
		return
	}
	r.Cursor = s.cursorOf(c, user, r.Cursor)
	if m != nil {
		cursor, _, _ := m.Status()
		r.Cursor = max(r.Cursor, cursor)
	}
}

func checkAck(c *conversation, epoch, upTo uint64, ids []uint64) error {
	switch {
	case epoch == 0:
		return wire.Faultf(wire.CodeBadRequest, "an ack needs the epoch that its seqs belong to; deliveries, pages and hello name it")
	case len(ids) > 0 && c.kind == wire.KindGroup:
		return wire.Faultf(wire.CodeUnsupported, "%s is acked cumulatively (one cursor per member); send up_to, not ids", c.name)
	case len(ids) > 0 && upTo > 0:
		return wire.Faultf(wire.CodeBadRequest, "an ack has up_to or ids, not both")
	case len(ids) == 0 && upTo == 0:
		return wire.Faultf(wire.CodeBadRequest, "an ack needs up_to (or, in an inbox, ids); seqs begin at 1")
	case len(ids) > maxAckIDs:
		return wire.Faultf(wire.CodeTooLarge, "an ack names %d ids, at most %d are taken", len(ids), maxAckIDs)
	}
	return nil
}

// maxAckIDs bounds an ack by ids.
const maxAckIDs = 1000

// openFor opens a conversation for one of its readers: an inbox belongs to
// its user alone. Membership of a group is checked where its cursor is read.
func (s *Service) openFor(ctx context.Context, user, name string) (*conversation, error) {
	kind, id, err := wire.ParseConversation(name)
	if err != nil {
		return nil, err
	}
	if kind == wire.KindInbox && id != user {
		return nil, wire.Faultf(wire.CodeNotMember, "%s is the inbox of another user", name)
	}
	return s.open(ctx, name)
}

// member returns the user's membership on its connection here, nil when it is
// not online in the conversation.
func (s *Service) member(user, conversation string) *push.Member {
	c := s.hub.Online(user)
	if c == nil {
		return nil
	}
	if ss, ok := c.Owner().(*Session); ok {
		return ss.lookup(conversation)
	}
	return nil
}
