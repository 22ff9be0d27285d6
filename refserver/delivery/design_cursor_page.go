package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// page reads a part of the log that all members share.
func (d *cursorDesign) page(ctx context.Context, c *conversation, user string, cursor uint64, r *wire.PageRequest) (*page, error) {
	head := c.room.Head()
	asked := min(c.asked(r, cursor), head)
	after, err := d.begin(ctx, c, asked)
	if err != nil {
		return nil, err
	}
	p := &page{frame: wire.Page{Ref: r.Ref, Conversation: c.name, Epoch: c.epoch}}
	c.mu.Lock()
	first := c.first
	c.mu.Unlock()
	if after+1 < first { // trimmed: acked by everybody, or past the retention limit
		after, p.frame.Truncated = first-1, cursor < first-1
	}
	switch {
	case r.All:
		err = d.all(ctx, c, p, user, after)
	case r.Newest:
		if r.Before > 0 {
			head = min(head, r.Before-1)
		}
		err = d.newest(ctx, c, p, user, min(max(after, cursor), head), head, d.s.limit(r))
	default:
		err = d.oldest(ctx, c, p, user, after, max(asked, after), d.s.limit(r))
	}
	if err != nil {
		return nil, err
	}
	if p.frame.After > after && len(p.seqs) > 0 && !r.Newest { // trimmed since
		p.frame.Truncated = p.frame.Truncated || cursor < p.frame.After
	}
	d.s.stats.pages.Add(1)
	d.s.stats.paged.Add(uint64(len(p.seqs)))
	return p, nil
}

// oldest fills a page with the messages right after a seq. Those up to had come
// before: they count neither as messages nor as bytes of the page, which would
// be the same for ever where they alone fill one.
func (d *cursorDesign) oldest(ctx context.Context, c *conversation, p *page, user string, after, had uint64, limit int) error {
	msgs, upTo, err := d.s.read(ctx, c, after, int(had-after)+limit)
	if err != nil {
		return err
	}
	p.frame.After = from(msgs, after)
	size := 0
	for i := range msgs {
		if msgs[i].Seq > had {
			n := len(msgs[i].Record)
			if size > 0 && size+n > pageBytes {
				upTo = msgs[i-1].Seq
				break
			}
			size += n
		}
		p.add(&msgs[i], user)
	}
	p.ends(upTo, max(upTo, c.room.Head()))
	return nil
}

// newest fills a page with the last messages of (after, upTo].
func (d *cursorDesign) newest(ctx context.Context, c *conversation, p *page, user string, after, upTo uint64, limit int) error {
	start := after
	if upTo-after > uint64(limit) {
		start = upTo - uint64(limit)
	}
	msgs, _, err := d.s.read(ctx, c, start, int(upTo-start))
	if err != nil {
		return err
	}
	for len(msgs) > 0 && msgs[len(msgs)-1].Seq > upTo { // older ones were trimmed, the read went on past the part
		msgs = msgs[:len(msgs)-1]
	}
	size := 0
	for i := len(msgs) - 1; i >= 0; i-- {
		if size += len(msgs[i].Record); size > pageBytes && i < len(msgs)-1 {
			start, msgs = msgs[i].Seq, msgs[i+1:]
			break
		}
	}
	for i := range msgs {
		p.add(&msgs[i], user)
	}
	p.ends(upTo, max(upTo, c.room.Head()))
	p.frame.After, p.frame.More = start, start > after
	return nil
}

// all fills a page with everything after a seq.
func (d *cursorDesign) all(ctx context.Context, c *conversation, p *page, user string, after uint64) error {
	p.frame.After = after
	size, upTo, head := 0, after, c.room.Head()
	for first := true; upTo < head; first = false {
		msgs, to, err := d.s.read(ctx, c, upTo, chunkMessages)
		if err != nil {
			return err
		}
		if first {
			p.frame.After = from(msgs, after)
		}
		for i := range msgs {
			if size += len(msgs[i].Record); size > d.s.cfg.MaxResponse {
				return TooLargeForOne(c.name, d.s.cfg.MaxResponse)
			}
			p.add(&msgs[i], user)
		}
		upTo = to
	}
	p.ends(upTo, max(upTo, c.room.Head()))
	return nil
}

// from is where a page begins that was to begin after a seq: later when what
// follows was trimmed meanwhile.
func from(msgs []push.Message, after uint64) uint64 {
	if len(msgs) > 0 && msgs[0].Seq > after+1 {
		return msgs[0].Seq - 1
	}
	return after
}

// add takes a message into a page, unless its reader sent it.
func (p *page) add(m *push.Message, reader string) {
	if m.Sender != reader {
		p.seqs = append(p.seqs, m.Seq)
		p.records = append(p.records, m.Record)
	}
}

// ends says where a page ends.
func (p *page) ends(upTo, head uint64) {
	p.frame.UpTo, p.frame.Head, p.frame.More = upTo, head, upTo < head
}

// TooLargeForOne is the fault of a pull of everything.
func TooLargeForOne(conversation string, most int) *wire.Fault {
	f := wire.Faultf(wire.CodeTooLarge, "everything is more than %d bytes; pull in pages", most)
	f.Conversation = conversation
	return f
}
