package client

import "time"

// backlog is what waited at login in one conversation, (low, top], while it is
// pulled apart from the live stream, which begins after top. Its messages are
// Placed: they may come after later ones.
type backlog struct {
	ask
	kind    backlogKind
	waiting bool   // in the device's queue
	low     uint64 // the server's cursor
	top     uint64 // its head
	done    uint64 // oldestFirst: everything up to it was taken
	before  uint64 // newestFirst: everything from it on was taken
	n       int    // messages taken

	friends friends // byFriend, byCount

	// ids are the seqs that the last page brought and that no ack is known to
	// have reached the server for; inboxes only.
	ids     []uint64
	carried bool // by the request that is waited for
}

// backlogKind is the order in which a backlog is pulled.
type backlogKind uint8

const (
	newestFirst backlogKind = iota + 1
	oldestFirst             // groups, where the inbox is pulled by sender
	byFriend                // d1
	byCount                 // d2
)

// pullApart makes a conversation live from its head on, and what waits below a
// backlog.
func (d *Device) pullApart(c *conversation, s *Standing, now time.Duration) {
	for len(c.held) > 0 && c.held[0].seq <= s.Head && !d.dead { // what was missing before it is in the backlog
		if h := c.held[0]; !h.own {
			d.showHeld(c, &h)
		}
		c.held = c.held[1:]
	}
	c.seen.Cover(c.seen.Mark(), s.Cursor)
	c.partial, c.top = s.Head > s.Cursor, s.Head
	c.mark = max(c.mark, s.Head)
	d.release(c, now)
	b := &backlog{low: s.Cursor, top: s.Head, done: s.Cursor, before: s.Head + 1}
	switch {
	case c.inbox && d.cfg.Pull.Mode == PullPerFriend:
		b.kind, b.friends.listing = byFriend, true
	case c.inbox && d.cfg.Pull.Mode == PullCountsFirst:
		b.kind, b.friends.listing = byCount, true
	case !c.partial: // nothing waits
		return
	case d.cfg.Pull.Order == Newest:
		b.kind = newestFirst
	default:
		b.kind = oldestFirst
	}
	c.backlog = b
	if b.kind == oldestFirst && d.cfg.Pull.Groups == AllGroups {
		d.groups.waiting = true
		return
	}
	b.waiting = true
	d.queue = append(d.queue, c)
}

// askBacklog sends the next request of a backlog, or the same once more.
func (d *Device) askBacklog(c *conversation, now time.Duration) {
	if d.closing {
		return
	}
	b := c.backlog
	if b.friends.askList() {
		d.askList(b, now)
		return
	}
	r := PullRequest{Ref: d.await(&b.ask, now), Conversation: c.name, Epoch: c.epoch, After: b.low, Limit: d.cfg.Pull.Page}
	switch b.kind {
	case newestFirst:
		r.Newest, r.Before, r.All = true, b.before, c.inbox && d.cfg.Pull.Mode == PullAll
	case oldestFirst:
		r.After = b.done
	default:
		r.Sender, r.After, r.All = b.friends.names[0], max(b.low, b.friends.after), true
	}
	if d.cfg.Pull.Ack == AckNextPage {
		d.carryAck(c, &r, now)
	}
	d.stats.PageRequests++
	d.sess.Pull(&r)
}

// backlogPage takes in a page of a backlog.
func (d *Device) backlogPage(c *conversation, p *Page, now time.Duration) {
	b := c.backlog
	switch {
	case p.Epoch < c.epoch:
		d.askBacklog(c, now)
		return
	case p.Epoch > c.epoch:
		d.fall(c, p.Epoch)
		return
	}
	if b.carried { // the answer: the ack has got through
		b.ids, b.carried = b.ids[:0], false
	}
	b.tries = 0
	n := d.takeApart(c, p, b.top, true, now)
	b.n += n
	d.tallyPage(n, p.Bytes)
	more := b.follow(p)
	d.tellPage(c.name, &b.ask, n, more, p.Truncated, now)
	if d.midSync(now, n, more) {
		return
	}
	if d.cfg.Pull.Ack == AckPage {
		d.ackBacklog(c, now)
	}
	if more {
		d.askBacklog(c, now)
		if c.pull.waiting && d.cfg.Pull.Parallel <= d.pulls { // what is missing live doesn't wait for the backlog
			d.unqueue(c)
			d.begin(c, now)
		}
		return
	}
	d.endBacklog(c, now)
}

// follow moves on past a page and says whether there is more to ask for.
func (b *backlog) follow(p *Page) (more bool) {
	switch b.kind {
	case newestFirst:
		more = p.More && p.After < b.before-1 && p.After > b.low
		b.before = p.After + 1
	case oldestFirst:
		more = p.More && p.UpTo > b.done && p.UpTo < b.top
		b.done = max(b.done, p.UpTo)
	default:
		more = b.friends.follow(p)
	}
	return more
}

// takeApart takes in a page of what waited up to top, and says how many messages
// it had. Later ones in it belong to the live stream. asked is false for one
// that came late, when it had been asked for once more.
func (d *Device) takeApart(c *conversation, p *Page, top uint64, asked bool, now time.Duration) int {
	n := 0
	err := p.Messages(func(m *Delivery) error {
		if err := d.takeable(m); err != nil {
			return err
		}
		m.Epoch = p.Epoch
		n++
		if m.Seq > top {
			d.takeLater(c, m, now)
			return nil
		}
		d.arrival(c, m, now, Paged, true)
		if !d.show(c, m.Seq, m.Sender, m.ClientMsgID, len(m.Body), now, Paged, true) {
			d.stats.Redelivered++
		}
		c.unacked++
		d.unacked++
		if asked {
			d.ackApart(c, m.Seq, now)
		}
		return nil
	})
	if d.badPage(c, err, now) {
		return n
	}
	if len(p.Sender) == 0 {
		c.seen.Cover(p.After, min(p.UpTo, top))
	}
	return n
}

// takeLater takes in a message of a page that was stored after login: it is
// pushed as well.
func (d *Device) takeLater(c *conversation, m *Delivery, now time.Duration) {
	d.arrival(c, m, now, Paged, false)
	switch {
	case m.Seq <= c.mark:
		d.repeat(c, m, now, Paged)
	case m.Seq == c.mark+1:
		d.next(c, m, now, Paged)
		d.release(c, now)
	default:
		d.hold(c, m, now, Paged)
		d.gap(c, m.Seq, now)
		return // acked when the gap is filled
	}
	d.unackedOne(c, m.Seq)
}

// endBacklog ends a backlog: all of it has been taken, or all that the device
// asks for.
func (d *Device) endBacklog(c *conversation, now time.Duration) {
	b := c.backlog
	if d.cfg.Pull.Ack == AckNextPage && (c.inbox || b.kind == oldestFirst) {
		d.ackBacklog(c, now)
	}
	whole := b.kind == newestFirst || b.kind == oldestFirst
	c.backlog = nil
	if whole {
		d.complete(c, b, now)
	}
	d.pulls--
	if c.high > c.mark && c.pull.idle() {
		d.pullFrom(c, c.mark)
	}
	d.pump(now)
}

// complete makes cumulative acks possible again: nothing older is missing.
func (d *Device) complete(c *conversation, b *backlog, now time.Duration) {
	c.seen.Cover(b.low, b.top)
	c.partial, c.ids = false, nil
	d.settle(c)
	if !c.inbox && d.cfg.Pull.Ack != AckNothing && c.mark > c.acked {
		d.ackPage(c, c.unacked, now, now)
	}
}

// unqueue takes a conversation out of the queue, where its pull waits.
func (d *Device) unqueue(c *conversation) {
	for i, q := range d.queue {
		if q == c {
			d.queue = append(d.queue[:i], d.queue[i+1:]...)
			return
		}
	}
}

func (d *Device) backlogTimeout(c *conversation, now time.Duration) {
	if c.backlog != nil && c.backlog.late(now) && d.up {
		d.askBacklog(c, now)
	}
}

// backlogFault ends a backlog that the server refuses, or lets it wait.
func (d *Device) backlogFault(c *conversation, f *Fault, now time.Duration) {
	if d.retry(&c.backlog.ask, f, now) {
		return
	}
	c.backlog = nil
	d.pulls--
	d.pump(now)
}
