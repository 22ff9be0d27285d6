package delivery

import (
	"context"

	"ackmark/refserver/push"
)

// cursorDesign is the ladder's g4–g8: a message is stored once, in a log that
// all members share, and each has a cursor in it.
//
// With a time as the cursor (g4t) the store keeps, per member, the time of the
// message that was acked last instead of its seq, and finds a seq for it when the
// cursor is read. Seqs are what passes here, so what differs is where a page
// begins, and that times never go back (design_cursor_time.go).
type cursorDesign struct{ s *Service }

func (d *cursorDesign) partial() bool { return false }

func (d *cursorDesign) standings(_ context.Context, user string, groups []Membership, convs []*conversation) ([]standing, error) {
	at := make([]standing, len(convs))
	for i, c := range convs {
		cursor, head := d.s.cursorOf(c, user, groups[i].Cursor), c.room.Head()
		at[i] = standing{cursor: cursor, unread: head - min(cursor, head)}
	}
	return at, nil
}

func (d *cursorDesign) cursor(ctx context.Context, c *conversation, user string) (uint64, error) {
	cursor, err := d.s.store.Cursor(ctx, c.name, user)
	return max(cursor, d.s.acks.cursor(c, user)), err
}

func (d *cursorDesign) stored(c *conversation, batch []*Append) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range batch {
		if a.Err == nil && !a.Duplicate {
			c.tail.add(a.Seq, a.Sender, d.inOrder(c, a), d.s.cfg.TailMessages)
		}
	}
	c.trimDirty = true
}

// dispatched fills the gaps of senders that the store couldn't fill.
func (d *cursorDesign) dispatched(c *conversation, batch []*Append) {
	for _, a := range batch {
		if a.Err == nil && !a.Duplicate && !a.OwnGap {
			d.fillOwnGap(c, a)
		}
	}
}

// fillOwnGap moves the sender's cursor onto its own message when the store
// couldn't because an ack that stood right before it was still on its way.
// Otherwise a member who only writes from here on would block trimming.
func (d *cursorDesign) fillOwnGap(c *conversation, a *Append) {
	if m := d.s.member(a.Sender, c.name); m != nil {
		if cursor, _, _ := m.Status(); cursor >= a.Seq {
			d.s.acks.add(c, a.Sender, cursor, nil)
		}
		return
	}
	if d.s.acks.cursor(c, a.Sender) == a.Seq-1 {
		d.s.acks.add(c, a.Sender, a.Seq, nil)
	}
}

func (d *cursorDesign) read(ctx context.Context, c *conversation, _ string, after uint64, limit int) ([]push.Message, error) {
	msgs, _, err := d.s.read(ctx, c, after, limit)
	return msgs, err
}

func (d *cursorDesign) acked(ctx context.Context, c *conversation, moves []Move) error {
	if err := d.s.store.Move(ctx, c.name, c.epoch, moves); err != nil {
		return err
	}
	d.s.stats.cursorsMoved.Add(uint64(len(moves)))
	c.mu.Lock()
	c.trimDirty = true
	c.mu.Unlock()
	return nil
}

// tidy trims the log, once something has moved.
func (d *cursorDesign) tidy(ctx context.Context, c *conversation) error {
	c.mu.Lock()
	dirty := c.trimDirty
	c.trimDirty = false
	c.mu.Unlock()
	if !dirty {
		return nil
	}
	done, err := d.s.store.Trim(ctx, c.name, c.epoch, d.s.cfg.Retention)
	c.mu.Lock()
	if err != nil {
		c.trimDirty = true
	} else {
		c.first = max(c.first, done.First)
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	d.s.stats.trimmed.Add(done.Removed)
	if done.Truncated > 0 {
		d.s.stats.truncated.Add(done.Truncated)
		d.s.log.Warn("the retention limit removed messages that members have not acked",
			"conversation", c.name, "messages", done.Truncated, "retention", d.s.cfg.Retention)
	}
	return nil
}
