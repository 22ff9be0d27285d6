package client

import (
	"slices"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// groupSync is the pulling of all groups in the same pages.
type groupSync struct {
	ask
	waiting bool
	active  bool
	last    bool            // the request at hand is only the ack of the page before
	acks    bool            // it acks
	took    []*conversation // groups of which pages came, in that order
}

// reached is up to where a group is taken without a hole.
func (c *conversation) reached() uint64 {
	if c.backlog != nil {
		return c.backlog.done
	}
	return c.mark
}

// askGroups asks for the next page of all groups. The groups in ack are acked by
// the request.
func (d *Device) askGroups(now time.Duration, ack []*conversation) {
	if d.closing {
		return
	}
	g := &d.groups
	g.acks = g.acks || len(ack) > 0
	r := SyncRequest{Ref: d.await(&g.ask, now), Limit: d.cfg.Pull.Page, Ack: g.acks}
	if g.last {
		r.Limit = 1
	}
	n := 0
	for _, c := range g.took {
		if c.falling || c.closed {
			continue
		}
		r.After = append(r.After, Position{Conversation: c.name, Epoch: c.epoch, Cursor: c.reached()})
		if slices.Contains(ack, c) {
			n += max(c.unacked-c.batch.Len(), 0)
		}
	}
	d.stats.PageRequests++
	d.sess.Sync(&r)
	if len(ack) == 0 { // or asked for once more
		return
	}
	d.stats.CarriedAcks++
	d.tellAck(AckSent{N: n, Oldest: now, At: now, Cause: ackpolicy.ByPage, Carried: true})
	for _, c := range ack {
		d.coverAck(c, c.reached(), true)
	}
}

// OnSyncPages takes in pages of several groups.
func (l link) OnSyncPages(now time.Duration, p *SyncPages) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing || !d.up || d.dropPages(now, p.Pages...) {
		return
	}
	g := &d.groups
	mine := g.active && g.answers(p.Ref)
	n, progress := 0, false
	for i := range p.Pages {
		c := d.byName[string(p.Pages[i].Conversation)]
		if c == nil {
			continue // joined since login: live from its head on
		}
		n += d.groupPage(c, &p.Pages[i], now)
		if !slices.Contains(g.took, c) {
			g.took = append(g.took, c)
		}
		// The next request names it further on, so another page comes then, also
		// where this one brought only what had come another way.
		progress = progress || p.Pages[i].UpTo > p.Pages[i].After && c.reached() >= p.Pages[i].UpTo && !c.falling
	}
	if d.dead {
		return
	}
	d.tallyPage(n, p.Bytes)
	if !mine {
		return
	}
	more := p.More && progress && !g.last
	d.tellPage("", &g.ask, n, more, false, now)
	if d.midSync(now, n, more) {
		return
	}
	g.tries, g.acks = 0, false
	d.afterGroups(more, now)
}

// groupPage takes in the page of one group, as one that was asked for.
func (d *Device) groupPage(c *conversation, p *Page, now time.Duration) int {
	switch {
	case p.Epoch < c.epoch:
		return 0
	case p.Epoch > c.epoch:
		d.fall(c, p.Epoch)
	}
	if c.falling { // how far it fell back is for a page of its own to say
		d.pullFrom(c, c.mark)
		return 0
	}
	if b := c.backlog; b != nil {
		n := d.takeApart(c, p, b.top, true, now)
		b.done = max(b.done, min(p.UpTo, b.top))
		if b.done == b.top {
			c.backlog = nil
			c.partial, c.ids = false, nil
			c.seen.Cover(b.low, b.top)
			d.settle(c)
		}
		return n
	}
	d.expire(c, now)
	if p.After > c.mark {
		d.reach(c, p.After, now)
	}
	return d.takePage(c, p, now)
}

// afterGroups acks a page and asks for the next, or ends.
func (d *Device) afterGroups(more bool, now time.Duration) {
	g := &d.groups
	var unacked, closed []*conversation
	for _, c := range g.took {
		switch {
		case c.falling || c.reached() <= c.acked:
		case c.closed: // a sync is about open groups
			closed = append(closed, c)
		default:
			unacked = append(unacked, c)
		}
	}
	if d.cfg.Pull.Ack == AckPage || d.cfg.Pull.Ack == AckNextPage {
		d.ackGroups(closed, now)
	}
	switch d.cfg.Pull.Ack {
	case AckPage:
		d.ackGroups(unacked, now)
	case AckNextPage:
		if more || len(unacked) > 1 && !g.last { // one last request acks them all
			g.last = !more
			d.askGroups(now, unacked)
			return
		}
		d.ackGroups(unacked, now)
	}
	if more {
		d.askGroups(now, nil)
		return
	}
	d.endGroups(now)
}

func (d *Device) ackGroups(groups []*conversation, now time.Duration) {
	for _, c := range groups {
		if c.backlog != nil {
			d.ackBacklog(c, now)
		} else {
			d.ackPage(c, max(c.unacked-c.batch.Len(), 0), now, now)
		}
	}
}

func (d *Device) endGroups(now time.Duration) {
	took := d.groups.took
	d.groups = groupSync{}
	d.pulls--
	for _, c := range took {
		if c.high > c.mark && c.pull.idle() {
			d.pullFrom(c, c.mark)
		}
	}
	d.pump(now)
}

func (d *Device) groupsTimeout(now time.Duration) {
	if d.groups.active && d.groups.late(now) && d.up {
		d.askGroups(now, nil)
	}
}

// groupsFault ends the sync of groups that the server refuses, or lets it wait.
func (d *Device) groupsFault(f *Fault, now time.Duration) {
	if !d.retry(&d.groups.ask, f, now) {
		d.endGroups(now)
	}
}
