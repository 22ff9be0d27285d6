package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// pageBytes bounds the records in one page, to what a connection's queue holds.
const pageBytes = 256 << 10

// page is one page before it is encoded: the frame without its messages, and
// these as they are stored.
type page struct {
	frame   wire.Page
	seqs    []uint64
	records [][]byte
	gone    []uint64 // inbox: seqs in the range that were acked by id before
}

// Pull answers one page over HTTP.
func (s *Service) Pull(ctx context.Context, user string, r *wire.PageRequest) (*wire.Page, error) {
	c, err := s.openFor(ctx, user, r.Conversation)
	if err != nil {
		return nil, err
	}
	ack, err := s.checkPage(c, r)
	if err != nil {
		return nil, err
	}
	var cursor uint64
	if c.kind == wire.KindGroup {
		if cursor, err = s.design.cursor(ctx, c, user); err != nil {
			return nil, err
		}
	}
	if ack != nil {
		if _, err := s.Ack(ctx, user, ack); err != nil {
			return nil, err
		}
	}
	p, err := s.page(ctx, c, user, s.cursorOf(c, user, cursor), r)
	if err != nil {
		return nil, err
	}
	return p.decoded()
}

func (ss *Session) page(ctx context.Context, r *wire.PageRequest) error {
	ms := ss.membership(r.Conversation)
	if ms.member == nil {
		return wire.Faultf(wire.CodeNotMember, "%q is not a conversation of this user; pages come from its groups and its own inbox", r.Conversation)
	}
	ack, err := ss.s.checkPage(ms.conv, r)
	if err != nil {
		return err
	}
	// A client that asks for page after page without reading waits here.
	if err := ss.conn.WaitRoom(ctx); err != nil {
		return err
	}
	if ack != nil {
		ss.ack(&wire.AckView{Conversation: []byte(r.Conversation), Epoch: ack.Epoch, UpTo: ack.UpTo, IDs: ack.Ids})
	}
	cursor, _, _ := ms.member.Status()
	p, err := ss.s.page(ctx, ms.conv, ss.user, cursor, r)
	if err != nil {
		return err
	}
	b, err := ss.conn.EncodePage(&p.frame, p.seqs, p.records)
	if err != nil {
		return err
	}
	// What follows fails only on a connection that is ending.
	if r.Sender != "" { // covers nothing
		_ = ss.conn.SendControl(b)
		return nil
	}
	newest := r.Newest && !r.All
	_ = ms.member.Page(b, push.Paged{UpTo: p.frame.UpTo, More: p.frame.More, Newest: newest, Gone: p.gone})
	if ss.s.cfg.Remove == RemoveOnPull && !newest { // nothing is left to ack
		_, _ = ms.member.Ack(p.frame.UpTo)
	}
	return nil
}

// page reads what a request asks for.
func (s *Service) page(ctx context.Context, c *conversation, user string, cursor uint64, r *wire.PageRequest) (*page, error) {
	if c.kind == wire.KindInbox {
		return s.inboxPage(ctx, c, r)
	}
	return s.design.page(ctx, c, user, cursor, r)
}

// checkPage refuses requests that mean nothing, and returns the ack that one
// carries, nil when it carries none.
func (s *Service) checkPage(c *conversation, r *wire.PageRequest) (*wire.Ack, error) {
	switch {
	case r.Sender != "" && c.kind == wire.KindGroup:
		return nil, wire.Faultf(wire.CodeBadRequest, "%s: pages by sender come from an inbox; leave sender out", c.name)
	case r.Sender != "" && !s.cfg.SenderIndex:
		return nil, noSenderIndex("pages by sender")
	case r.Before > 0 && !r.Newest:
		return nil, wire.Faultf(wire.CodeBadRequest, "before bounds pages that come newest first; set newest, or use after")
	case r.Ack && len(r.Ids) > 0:
		return nil, wire.Faultf(wire.CodeBadRequest, "a page request acks up to its after, or by ids, not both")
	}
	if r.Sender != "" {
		if err := wire.CheckID("sender", r.Sender); err != nil {
			return nil, err
		}
	}
	ack := &wire.Ack{Conversation: r.Conversation, Epoch: r.Epoch, Ids: r.Ids}
	if ack.Epoch == 0 {
		ack.Epoch = c.epoch
	}
	if r.Ack {
		ack.UpTo = r.After
	}
	if ack.UpTo == 0 && len(ack.Ids) == 0 {
		return nil, nil
	}
	return ack, checkAck(c, ack.Epoch, ack.UpTo, ack.Ids)
}

// limit is the most messages that a page may have.
func (s *Service) limit(r *wire.PageRequest) int {
	limit := int(r.Limit)
	if limit <= 0 {
		limit = s.cfg.Page
	}
	return min(limit, s.cfg.MaxPage)
}

func (p *page) decoded() (*wire.Page, error) {
	return push.DecodedPage(&p.frame, p.seqs, p.records)
}
