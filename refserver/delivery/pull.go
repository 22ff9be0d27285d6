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
	var cursor uint64
	if c.kind == wire.KindGroup {
		if cursor, err = s.store.Cursor(ctx, c.name, user); err != nil {
			return nil, err
		}
	}
	if r.Ack && r.After > 0 {
		ack := &wire.Ack{Conversation: r.Conversation, Epoch: r.Epoch, UpTo: r.After}
		if ack.Epoch == 0 {
			ack.Epoch = c.epoch
		}
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
	// A client that asks for page after page without reading waits here.
	if err := ss.conn.WaitRoom(ctx); err != nil {
		return err
	}
	epoch := r.Epoch
	if epoch == 0 {
		epoch = ms.conv.epoch
	}
	if r.Ack && r.After > 0 {
		ss.ack(&wire.AckView{Conversation: []byte(r.Conversation), Epoch: epoch, UpTo: r.After})
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
	_ = ms.member.Page(b, p.frame.UpTo, p.frame.More, p.gone...) // fails only on a connection that is ending
	return nil
}

// page reads what a request asks for. A user's own messages are left out; the
// page's range covers them.
func (s *Service) page(ctx context.Context, c *conversation, user string, cursor uint64, r *wire.PageRequest) (*page, error) {
	limit := int(r.Limit)
	if limit <= 0 {
		limit = s.cfg.Page
	}
	limit = min(limit, s.cfg.MaxPage)
	after := min(r.After, c.room.Head())
	if r.Epoch != 0 && r.Epoch != c.epoch {
		after = min(after, c.base)
	}
	p := &page{frame: wire.Page{Ref: r.Ref, Conversation: c.name, Epoch: c.epoch}}
	c.mu.Lock()
	first := c.first
	c.mu.Unlock()
	if after+1 < first { // trimmed: acked by everybody, or past the retention limit
		after, p.frame.Truncated = first-1, cursor < first-1
	}
	msgs, upTo, err := s.read(ctx, c, after, limit)
	if err != nil {
		return nil, err
	}
	if c.kind == wire.KindGroup && len(msgs) > 0 && msgs[0].Seq > after+1 { // trimmed since
		after = msgs[0].Seq - 1
		p.frame.Truncated = p.frame.Truncated || cursor < after
	}
	p.frame.After = after
	size := 0
	for i := range msgs {
		m := &msgs[i]
		if size += len(m.Record); size > pageBytes && i > 0 {
			upTo = msgs[i-1].Seq
			break
		}
		if m.Sender != user {
			p.seqs = append(p.seqs, m.Seq)
			p.records = append(p.records, m.Record)
		}
	}
	if c.kind == wire.KindInbox {
		p.gone = absent(p.seqs, after, upTo)
	}
	p.frame.UpTo, p.frame.Head = upTo, max(upTo, c.room.Head())
	p.frame.More = upTo < p.frame.Head
	s.stats.pages.Add(1)
	s.stats.paged.Add(uint64(len(p.seqs)))
	return p, nil
}

// maxGone bounds what one page tells of an inbox's holes; the window opens a
// page later for the others.
const maxGone = 4096

// absent returns the seqs in (after, upTo] that are not among seqs, which are in order.
func absent(seqs []uint64, after, upTo uint64) (gone []uint64) {
	for seq := after + 1; seq <= upTo && len(gone) < maxGone; seq++ {
		if len(seqs) > 0 && seqs[0] == seq {
			seqs = seqs[1:]
			continue
		}
		gone = append(gone, seq)
	}
	return gone
}

func (p *page) decoded() (*wire.Page, error) {
	return push.DecodedPage(&p.frame, p.seqs, p.records)
}
