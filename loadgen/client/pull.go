package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// pull is the state of pulling one conversation: pages in order, one request
// at a time, until a page says that nothing follows.
type pull struct {
	ask
	waiting bool // in the device's queue
	active  bool
	after   uint64
	fell    bool   // asked while falling
	began   uint64 // watermark when the pull began
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
	if d.closing {
		return
	}
	for d.up && d.pulls < d.cfg.Pull.Parallel && len(d.queue) > 0 {
		c := d.queue[0]
		d.queue = append(d.queue[:0], d.queue[1:]...)
		if b := c.backlog; b != nil && b.waiting {
			d.pulls++
			b.waiting = false
			d.askBacklog(c, now)
			continue
		}
		d.begin(c, now)
	}
	if d.up && d.pulls < d.cfg.Pull.Parallel && d.groups.waiting {
		d.pulls++
		d.groups = groupSync{active: true}
		d.askGroups(now, nil)
	}
	if d.up && !d.synced && d.pulls == 0 && len(d.queue) == 0 && len(d.openings) == 0 {
		d.synced = true
		d.sync.At = now
		d.cfg.Observer.OnSync(d.id.Index, d.sync)
	}
}

// begin begins to pull a conversation from its watermark, or where it is to be
// pulled from.
func (d *Device) begin(c *conversation, now time.Duration) {
	c.pull.waiting, c.pull.active, c.pull.began = false, true, c.mark
	d.pulls++
	if !c.falling { // pages may take long; what was received before needs its ack now
		if f, ok := c.batch.Flush(ackpolicy.ByPage); ok {
			d.ack(c, f, f.N, now)
		}
	}
	d.request(c, now, false, 0)
}

// request asks for the next page. With ack it also acks the page before, of n
// messages (next page is the ack). What came live meanwhile may lie beyond that
// page and stays in its batch.
func (d *Device) request(c *conversation, now time.Duration, ack bool, n int) {
	p := &c.pull
	r := PullRequest{
		Ref: d.await(&p.ask, now), Conversation: c.name, Epoch: c.epoch, After: p.after, Limit: d.cfg.Pull.Page,
		All: c.inbox && d.cfg.Pull.Mode == PullAll,
	}
	if p.fell = c.falling; p.fell {
		p.after = c.mark
		r.Epoch, r.After = c.formerEpoch, c.mark // the page then begins after min(mark, base)
	}
	r.Ack = ack && !c.falling && !c.partial && p.after <= c.mark
	d.sess.Pull(&r)
	d.stats.PageRequests++
	if r.Ack {
		d.stats.CarriedAcks++
		d.acked(c, ackpolicy.Flush{Cause: ackpolicy.ByPage, N: n, Oldest: now}, 0, now, p.after, true)
	}
}

// pullTimeout asks again for a page that didn't come, or that was refused for
// the moment.
func (d *Device) pullTimeout(c *conversation, now time.Duration) {
	if c.pull.late(now) && c.pull.active && d.up {
		d.request(c, now, false, 0)
	}
}

// pullFault ends a pull, or lets it wait for another try.
func (d *Device) pullFault(c *conversation, f *Fault, now time.Duration) {
	if d.retry(&c.pull.ask, f, now) {
		return
	}
	c.pull = pull{}
	d.pulls--
	d.pump(now)
}
