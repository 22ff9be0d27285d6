package delivery

import (
	"context"
	"slices"

	"ackmark/refserver/wire"
)

// inboxPage reads what a request asks for of an inbox, and removes exactly that
// where messages go as they are pulled. What its user has acked isn't in it, also
// where the store still has it: a page request may carry the very ack.
//
// It never reads past the head that this node has dispatched: what is stored
// beyond is about to be pushed, or comes with the next page.
func (s *Service) inboxPage(ctx context.Context, c *conversation, r *wire.PageRequest) (*page, error) {
	ackedTo, acked := s.acks.inbox(c) // before the read: what is gone by then isn't read
	head, limit := c.room.Head(), s.limit(r)
	read := InboxRead{
		Epoch: c.epoch, After: min(c.asked(r, 0), head), UpTo: head,
		Sender: r.Sender, Newest: r.Newest && !r.All, Limit: limit,
		All: r.All, Bytes: pageBytes, Remove: s.cfg.Remove == RemoveOnPull,
	}
	if read.Newest && r.Before > 0 && (r.Epoch == 0 || r.Epoch == c.epoch) {
		read.UpTo = min(head, r.Before-1)
	}
	if r.All {
		read.Bytes = s.cfg.MaxResponse
	}
	read.After = min(max(read.After, c.oldest()-1, ackedTo), read.UpTo) // nothing is stored below
	if !read.Remove {
		read.Limit += within(acked, read.After, read.UpTo)
	}

	var part InboxPart
	if read.After < read.UpTo || read.Sender != "" { // per friend, the store is asked per friend: that is what this design costs
		var err error
		if part, err = s.store.ReadInbox(ctx, c.name, read); err != nil {
			return nil, err
		}
		s.stats.logReads.Add(1)
		c.storedFrom(part.First, head)
	}
	edge := part.edge(read.Newest)
	part.Entries = slices.DeleteFunc(part.Entries, func(e Entry) bool { _, known := acked[e.Seq]; return known })
	if n := len(part.Entries); n > limit && !read.All && !read.Remove {
		part.More = true
		if read.Newest {
			part.Entries = part.Entries[n-limit:]
		} else {
			part.Entries = part.Entries[:limit]
		}
		edge = part.edge(read.Newest)
	}
	p := &page{frame: wire.Page{
		Ref: r.Ref, Conversation: c.name, Epoch: c.epoch, Sender: r.Sender,
		After: read.After, UpTo: read.UpTo, More: part.More, Head: max(head, c.room.Head()),
	}}
	for _, e := range part.Entries {
		p.seqs = append(p.seqs, e.Seq)
		p.records = append(p.records, e.Record)
	}
	switch {
	case edge > 0 && read.Newest:
		p.frame.After = edge - 1
	case edge > 0:
		p.frame.UpTo = edge
	}
	if r.Sender == "" && !read.Newest {
		p.frame.More = p.frame.UpTo < p.frame.Head
		p.gone = absent(p.seqs, p.frame.After, p.frame.UpTo)
	}
	s.stats.pages.Add(1)
	s.stats.paged.Add(uint64(len(p.seqs)))
	return p, nil
}

// edge is the last seq that a part covers where it holds others beyond, the first
// one when the newest were asked for; else 0.
func (p *InboxPart) edge(newest bool) uint64 {
	switch {
	case !p.More:
		return 0
	case newest:
		return p.Entries[0].Seq
	}
	return p.Entries[len(p.Entries)-1].Seq
}

// within counts the seqs in (after, upTo].
func within(seqs map[uint64]struct{}, after, upTo uint64) (n int) {
	for seq := range seqs {
		if seq > after && seq <= upTo {
			n++
		}
	}
	return n
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
