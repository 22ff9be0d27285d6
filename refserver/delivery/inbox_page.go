package delivery

import (
	"context"

	"ackmark/refserver/wire"
)

// inboxPage reads what a request asks for of an inbox, and removes exactly that
// where messages go as they are pulled.
//
// It never reads past the head that this node has dispatched: what is stored
// beyond is about to be pushed, or comes with the next page.
func (s *Service) inboxPage(ctx context.Context, c *conversation, r *wire.PageRequest) (*page, error) {
	head := c.room.Head()
	read := InboxRead{
		Epoch: c.epoch, After: min(r.After, head), UpTo: head,
		Sender: r.Sender, Newest: r.Newest && !r.All, Limit: s.limit(r),
		All: r.All, Bytes: pageBytes, Remove: s.cfg.Remove == RemoveOnPull,
	}
	switch {
	case r.Epoch != 0 && r.Epoch != c.epoch:
		read.After = min(read.After, c.base)
	case read.Newest && r.Before > 0:
		read.UpTo = min(head, r.Before-1)
	}
	if r.All {
		read.Bytes = s.cfg.MaxResponse
	}
	read.After = min(max(read.After, c.oldest()-1), read.UpTo) // nothing is stored below

	var part InboxPart
	if read.After < read.UpTo || read.Sender != "" { // per friend, the store is asked per friend: that is what this design costs
		var err error
		if part, err = s.store.ReadInbox(ctx, c.name, read); err != nil {
			return nil, err
		}
		s.stats.logReads.Add(1)
		c.storedFrom(part.First, head)
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
	case part.More && read.Newest:
		p.frame.After = p.seqs[0] - 1
	case part.More:
		p.frame.UpTo = p.seqs[len(p.seqs)-1]
	}
	if r.Sender == "" && !read.Newest {
		p.frame.More = p.frame.UpTo < p.frame.Head
		p.gone = absent(p.seqs, p.frame.After, p.frame.UpTo)
	}
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
