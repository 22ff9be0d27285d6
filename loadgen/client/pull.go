package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// pull is the state of pulling one conversation: pages in order, one request
// at a time, until a page says that nothing follows.
type pull struct {
	waiting bool // in the device's queue
	active  bool
	ref     uint64 // of the request; 0 = it waits to be sent again
	after   uint64
	fell    bool // asked while falling
	asked   time.Duration
	due     time.Duration // timeout, or when to try again
	tries   int           // attempts at this page that failed
	began   uint64        // watermark when the pull began
}

func (p *pull) idle() bool { return !p.waiting && !p.active }

// gap looks after a message at seq that is behind a gap. A gap that own sends
// may account for gets a moment for their answers, any other is pulled at once.
func (d *Device) gap(c *conversation, seq uint64, now time.Duration) {
	if !c.pull.idle() {
		return // the pull covers it, or looks again when it ends
	}
	if c.missing(seq) <= uint64(c.unsure) {
		if c.gapDue == 0 {
			c.gapDue = now + d.cfg.GapWait
			d.arm(c.gapDue)
		}
		return
	}
	d.pullFrom(c, c.mark)
	d.pump(now)
}

func (d *Device) gapTimeout(c *conversation, now time.Duration) {
	if c.gapDue == 0 || c.gapDue > now {
		return
	}
	c.gapDue = 0
	if c.high > c.mark && c.pull.idle() && d.up {
		d.pullFrom(c, c.mark)
		d.pump(now)
	}
}

// pullFrom queues a conversation to be pulled; one that is being pulled
// already goes on, and looks again at its end.
func (d *Device) pullFrom(c *conversation, after uint64) {
	c.gapDue = 0
	if !c.pull.idle() {
		return
	}
	c.pull = pull{waiting: true, after: after}
	d.queue = append(d.queue, c)
}

// pump begins pulls as far as they may run in parallel, and notices the end of
// a sync.
func (d *Device) pump(now time.Duration) {
	for d.up && d.pulls < d.cfg.Pull.Parallel && len(d.queue) > 0 {
		c := d.queue[0]
		d.queue = append(d.queue[:0], d.queue[1:]...)
		c.pull.waiting, c.pull.active, c.pull.began = false, true, c.mark
		d.pulls++
		if !c.falling { // pages may take long; what was received before needs its ack now
			if f, ok := c.batch.Flush(ackpolicy.ByPage); ok {
				d.ack(c, f, f.N, now)
			}
		}
		d.request(c, now, false, 0)
	}
	if d.up && !d.synced && d.pulls == 0 && len(d.queue) == 0 {
		d.synced = true
		d.sync.At = now
		d.cfg.Observer.OnSync(d.id.Index, d.sync)
	}
}

// request asks for the next page. With ack it also acks the page before, of n
// messages (next page is the ack). What came live meanwhile may lie beyond that
// page and stays in its batch.
func (d *Device) request(c *conversation, now time.Duration, ack bool, n int) {
	p := &c.pull
	d.ref++
	p.ref, p.asked, p.due = d.ref, now, now+d.cfg.Pull.Timeout
	r := PullRequest{Ref: d.ref, Conversation: c.name, Epoch: c.epoch, After: p.after, Limit: d.cfg.Pull.Page}
	if p.fell = c.falling; p.fell {
		p.after = c.mark
		r.Epoch, r.After = c.formerEpoch, c.mark // the page then begins after min(mark, base)
	}
	r.Ack = ack && !c.falling && p.after <= c.mark
	d.sess.Pull(&r)
	d.stats.PageRequests++
	if r.Ack {
		d.stats.CarriedAcks++
		d.acked(c, ackpolicy.Flush{Cause: ackpolicy.ByPage, N: n, Oldest: now}, 0, now, p.after, true)
	}
	d.arm(p.due)
}

// OnPage takes in a page.
func (l link) OnPage(now time.Duration, p *Page) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.byName[string(p.Conversation)]
	if d.closing || !d.up || c == nil {
		return
	}
	mine := c.pull.active && c.pull.ref == p.Ref
	if p.Epoch < c.epoch { // read before the epoch changed: what it says no longer holds
		if mine {
			d.request(c, now, false, 0)
		}
		return
	}
	if p.Epoch > c.epoch {
		d.fall(c, p.Epoch)
	}
	if c.falling && !mine {
		return // it may begin anywhere; the one that was asked for tells
	}
	if c.falling {
		if !c.pull.fell { // asked for before the fall, from elsewhere than the watermark
			d.request(c, now, false, 0)
			return
		}
		// the page begins after min(watermark, base), or where the log now begins
		c.falling, c.mark = false, p.After
		d.forgetHeldUpTo(c, p.After)
	}
	d.expire(c, now)
	if mine && p.After > c.mark {
		// The log begins later than what was asked for. What was before is acked
		// by everybody, this user's own sends included, or gone for good.
		d.reach(c, p.After, now)
	}
	n := d.takePage(c, p, now)
	d.sync.Messages += n
	d.sync.Pages++
	if mine {
		d.cfg.Observer.OnPage(d.id.Index, PageTaken{
			Conversation: c.name, Messages: n, Asked: c.pull.asked, At: now, More: p.More, Truncated: p.Truncated,
		})
		c.pull.tries = 0
		d.afterPage(c, p, n, now)
	}
	if due, ok := c.batch.Deadline(); ok {
		d.arm(due)
	}
}

// takePage shows what is new in a page, in order, and returns how many
// messages it had.
func (d *Device) takePage(c *conversation, p *Page, now time.Duration) int {
	n := 0
	joins := p.After <= c.mark // else there is a gap before the page
	err := p.Messages(func(m *Delivery) error {
		m.Epoch = p.Epoch
		n++
		d.arrival(c, m, now, Paged)
		switch {
		case !joins && m.Seq > c.mark+1:
			d.hold(c, m, now, Paged)
			return nil
		case m.Seq > c.mark+1 || len(c.held) > 0: // it may be held itself
			d.reach(c, m.Seq-1, now)
		}
		if m.Seq <= c.mark { // also when it was held and has just been released
			d.stats.Redelivered++
		} else {
			c.mark = m.Seq
			d.show(c, m.Seq, m.Sender, m.ClientMsgID, len(m.Body), now, Paged)
		}
		d.unackedOne(c)
		if d.cfg.Pull.Ack == AckEachMessage {
			d.ack(c, ackpolicy.Flush{Cause: ackpolicy.ByPage, N: 1, Oldest: now}, 0, now)
		}
		return nil
	})
	if err != nil {
		d.cfg.Observer.OnFault(d.id.Index, now, Fault{Code: "bad_page", Message: err.Error(), Conversation: c.name})
		return n
	}
	if joins {
		d.reach(c, p.UpTo, now)
	}
	return n
}

// afterPage acks the page and asks for the next, or ends the pull.
func (d *Device) afterPage(c *conversation, p *Page, n int, now time.Duration) {
	brought := n > 0 || p.UpTo > c.acked
	if d.cfg.Pull.Ack == AckPage && brought {
		d.ackPage(c, n, now, now)
	}
	if p.More && p.UpTo > c.pull.after {
		c.pull.after = p.UpTo
		d.request(c, now, d.cfg.Pull.Ack == AckNextPage && brought, n)
		return
	}
	if d.cfg.Pull.Ack == AckNextPage && brought {
		d.ackPage(c, n, now, now)
	}
	progress := c.mark > c.pull.began
	c.pull = pull{}
	d.pulls--
	switch {
	case c.high <= c.mark:
		c.gapDue = 0
	case progress: // something arrived behind a new gap meanwhile
		d.pullFrom(c, c.mark)
	default:
		c.high = c.mark // the server knows of nothing there
	}
	d.pump(now)
}

// forgetHeldUpTo drops what a page that is about to be taken covers anyway.
func (d *Device) forgetHeldUpTo(c *conversation, seq uint64) {
	i, found := c.find(seq)
	if found {
		i++
	}
	c.held = append(c.held[:0:0], c.held[i:]...)
}

// pullTimeout asks again for a page that didn't come, or that was refused for
// the moment.
func (d *Device) pullTimeout(c *conversation, now time.Duration) {
	p := &c.pull
	if p.due == 0 || p.due > now {
		return
	}
	p.due = 0
	if p.active && d.up {
		p.tries++
		d.request(c, now, false, 0)
	}
}

// pullFault ends a pull, or lets it wait for another try.
func (d *Device) pullFault(c *conversation, f *Fault, now time.Duration) {
	p := &c.pull
	p.ref = 0
	if f.Retryable {
		p.due = now + d.backoff(d.cfg.Send.Backoff, d.cfg.Connect.Max, p.tries)
		d.arm(p.due)
		return
	}
	c.pull = pull{}
	d.pulls--
	d.pump(now)
}
