package client

import (
	"errors"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

var (
	errDead  = errors.New("the device has crashed") // in the middle of a page
	errNoSeq = errors.New("a message without a seq")
)

// takeable says why a message of a page isn't taken.
func (d *Device) takeable(m *Delivery) error {
	switch {
	case d.dead:
		return errDead
	case m.Seq == 0:
		return errNoSeq
	}
	return nil
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
	if d.dropPages(now, *p) {
		return
	}
	switch b := c.backlog; {
	case b != nil && b.answers(p.Ref) && !b.friends.askList():
		d.backlogPage(c, p, now)
	case c.pull.active && c.pull.answers(p.Ref):
		d.pulledPage(c, p, now)
	case p.Epoch != c.epoch || c.falling:
		// late, and of an epoch that is over, or from nobody knows where in a new one
	case len(p.Sender) > 0 || c.partial && p.UpTo <= c.mark:
		d.tallyPage(d.takeApart(c, p, c.mark, false, now), p.Bytes)
	default: // late, after it was asked for once more
		d.tallyPage(d.takePage(c, p, now), p.Bytes)
	}
	if due, ok := c.batch.Deadline(); ok {
		d.arm(due)
	}
}

// tallyPage counts an answer with messages in it.
func (d *Device) tallyPage(messages, bytes int) {
	d.sync.Messages += messages
	d.sync.Pages++
	d.answered(bytes)
}

// pulledPage takes in the page that was asked for.
func (d *Device) pulledPage(c *conversation, p *Page, now time.Duration) {
	if p.Epoch < c.epoch { // read before the epoch changed: what it says no longer holds
		d.request(c, now, false, 0)
		return
	}
	if p.Epoch > c.epoch {
		d.fall(c, p.Epoch)
	}
	if c.falling {
		if !c.pull.fell { // asked for before the fall, from elsewhere than the watermark
			d.request(c, now, false, 0)
			return
		}
		// the page begins after min(watermark, base), or where the log now begins
		c.falling, c.mark = false, p.After
		c.seen.BeginEpoch(p.After)
		d.settle(c)
		d.forgetHeldUpTo(c, p.After)
	}
	d.expire(c, now)
	if p.After > c.mark {
		// The log begins later than what was asked for. What was before is acked
		// by everybody, this user's own sends included, or gone for good.
		d.reach(c, p.After, now)
	}
	n := d.takePage(c, p, now)
	if d.dead {
		return
	}
	d.tallyPage(n, p.Bytes)
	d.tellPage(c.name, &c.pull.ask, n, p.More, p.Truncated, now)
	c.pull.tries = 0
	d.afterPage(c, p, n, now)
}

func (d *Device) tellPage(conversation string, a *ask, n int, more, truncated bool, now time.Duration) {
	d.cfg.Observer.OnPage(d.id.Index, PageTaken{
		Conversation: conversation, Messages: n, Asked: a.asked, At: now, More: more, Truncated: truncated,
	})
}

// takePage shows what is new in a page, in order, and returns how many
// messages it had.
func (d *Device) takePage(c *conversation, p *Page, now time.Duration) int {
	n := 0
	joins := p.After <= c.mark // else there is a gap before the page
	err := p.Messages(func(m *Delivery) error {
		if err := d.takeable(m); err != nil {
			return err
		}
		m.Epoch = p.Epoch
		n++
		d.arrival(c, m, now, Paged, false)
		switch {
		case !joins && m.Seq > c.mark+1:
			d.hold(c, m, now, Paged)
			return nil
		case m.Seq > c.mark+1 || len(c.held) > 0: // it may be held itself
			d.reach(c, m.Seq-1, now)
		}
		if m.Seq <= c.mark { // also when it was held and has just been released
			d.repeat(c, m, now, Paged)
		} else {
			d.next(c, m, now, Paged)
		}
		d.unackedOne(c, m.Seq)
		if d.cfg.Pull.Ack == AckEachMessage {
			d.ack(c, ackpolicy.Flush{Cause: ackpolicy.ByPage, N: 1, Oldest: now}, 0, now)
		}
		return nil
	})
	if d.badPage(c, err, now) {
		return n
	}
	if joins {
		d.reach(c, p.UpTo, now)
	}
	return n
}

// badPage tells of a page whose messages couldn't be read to the end.
func (d *Device) badPage(c *conversation, err error, now time.Duration) bool {
	if err == nil {
		return false
	}
	if !d.dead {
		d.cfg.Observer.OnFault(d.id.Index, now, Fault{Code: "bad_page", Message: err.Error(), Conversation: c.name})
	}
	return true
}

// afterPage acks the page and asks for the next, or ends the pull.
func (d *Device) afterPage(c *conversation, p *Page, n int, now time.Duration) {
	brought := n > 0 || p.UpTo > c.acked
	if d.midSync(now, n, p.More) {
		return
	}
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
