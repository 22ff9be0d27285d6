package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// rowsDesign is what copies and ids have in common: each member has rows of its
// own for a group's messages, with the group's seqs, which are contiguous; what
// a member has of them is a part. Rows go as they are pulled, or up to a seq
// that was acked.
type rowsDesign struct {
	s *Service
	// part reads a part of a user's rows, and removes it where that is asked for.
	// Where it doesn't reach to the end of what was asked, edge is the last seq
	// that it covers, the first one when the newest were asked for; else 0.
	part func(ctx context.Context, c *conversation, user string, r RowRead) (entries []Entry, edge uint64, err error)
}

func (d *rowsDesign) partial() bool { return true }

// standings reads the rows of all groups with one command. The heads come
// first: what is stored later lies beyond them, and isn't passed over.
func (d *rowsDesign) standings(ctx context.Context, user string, _ []Membership, convs []*conversation) ([]standing, error) {
	if len(convs) == 0 {
		return nil, nil
	}
	at, names := make([]standing, len(convs)), make([]string, len(convs))
	for i, c := range convs {
		at[i].cursor, names[i] = c.room.Head(), c.name
	}
	rows, err := d.s.store.Rows(ctx, user, convs[0].epoch, names)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		at[i] = at[i].with(r)
		at[i].cursor = max(at[i].cursor, d.s.acks.cursor(convs[i], user))
	}
	return at, nil
}

// with is a standing at the head once the rows are known.
func (at standing) with(r Rows) standing {
	if r.First > 0 {
		at.cursor = min(at.cursor, r.First-1)
	}
	at.unread = r.Count
	return at
}

func (d *rowsDesign) cursor(ctx context.Context, c *conversation, user string) (uint64, error) {
	at := standing{cursor: c.room.Head()}
	r, err := d.s.store.RowsOf(ctx, c.name, user)
	return max(at.with(r).cursor, d.s.acks.cursor(c, user)), err
}

func (d *rowsDesign) stored(*conversation, []*Append)           {}
func (d *rowsDesign) dispatched(*conversation, []*Append)       {}
func (d *rowsDesign) tidy(context.Context, *conversation) error { return nil }

// page never reads past the head that this node has dispatched: what is stored
// beyond it is about to be pushed, or comes with the next page.
func (d *rowsDesign) page(ctx context.Context, c *conversation, user string, cursor uint64, r *wire.PageRequest) (*page, error) {
	head := c.room.Head()
	read := RowRead{
		Epoch: c.epoch, After: min(c.asked(r, cursor), head), UpTo: head,
		Newest: r.Newest && !r.All, Limit: d.s.limit(r), All: r.All, Bytes: pageBytes,
		Remove: d.s.cfg.Remove == RemoveOnPull,
	}
	if read.Newest {
		read.After = max(read.After, min(cursor, head))
		if r.Before > 0 {
			read.UpTo = min(head, r.Before-1)
		}
	}
	if r.All {
		read.Limit, read.Bytes = 0, d.s.cfg.MaxResponse
	}
	read.After = min(read.After, read.UpTo)

	var entries []Entry
	var edge uint64
	if read.After < read.UpTo {
		var err error
		if entries, edge, err = d.part(ctx, c, user, read); err != nil {
			return nil, err
		}
		d.s.stats.logReads.Add(1)
	}
	p := &page{frame: wire.Page{
		Ref: r.Ref, Conversation: c.name, Epoch: c.epoch,
		After: read.After, UpTo: read.UpTo, More: edge > 0, Head: max(head, c.room.Head()),
	}}
	for _, e := range entries {
		p.seqs = append(p.seqs, e.Seq)
		p.records = append(p.records, e.Record)
	}
	switch {
	case edge > 0 && read.Newest:
		p.frame.After = edge - 1
	case edge > 0:
		p.frame.UpTo = edge
	}
	if !read.Newest {
		p.frame.More = p.frame.UpTo < p.frame.Head
	}
	d.s.stats.pages.Add(1)
	d.s.stats.paged.Add(uint64(len(p.seqs)))
	return p, nil
}

func (d *rowsDesign) read(ctx context.Context, c *conversation, user string, after uint64, limit int) ([]push.Message, error) {
	d.s.stats.logReads.Add(1)
	entries, _, err := d.part(ctx, c, user, RowRead{
		Epoch: c.epoch, After: after, UpTo: c.room.Head(), Limit: limit, Bytes: pageBytes,
	})
	if err != nil {
		return nil, err
	}
	return c.messages(entries)
}

// acked removes what was acked. What goes as it is pulled isn't there any more.
func (d *rowsDesign) acked(ctx context.Context, c *conversation, moves []Move) error {
	if d.s.cfg.Remove == RemoveOnPull {
		return nil
	}
	return d.s.store.RemoveRows(ctx, c.name, c.epoch, moves)
}

// Ahead implements Sink.
func (s *Service) Ahead(a *Append) (reached map[string]struct{}) {
	reached = make(map[string]struct{})
	if c := s.loaded(a.Conversation, 0); c != nil && c.epoch == a.Epoch {
		c.room.Ahead(&push.Message{Seq: a.Seq, Sender: a.Sender, Record: a.Record}, reached)
	}
	return reached
}
