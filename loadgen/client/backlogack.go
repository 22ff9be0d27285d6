package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// ackApart acks a message of a backlog, or keeps in mind that it isn't acked.
func (d *Device) ackApart(c *conversation, seq uint64, now time.Duration) {
	each := ackpolicy.Flush{Cause: ackpolicy.ByPage, N: 1, Oldest: now}
	switch ack := d.cfg.Pull.Ack; {
	case ack == AckNothing:
	case ack == AckEachMessage && c.inbox:
		d.ackIDs(c, []uint64{seq}, each, 0, now)
	case ack == AckEachMessage && c.backlog.kind == oldestFirst:
		d.ackUpTo(c, seq, each, 0, now)
	case c.inbox:
		c.backlog.ids = append(c.backlog.ids, seq)
	}
}

// ackBacklog acks what the last page brought with a request of its own. A group
// that is pulled newest first has to wait: its ack is cumulative.
func (d *Device) ackBacklog(c *conversation, now time.Duration) {
	b := c.backlog
	f := ackpolicy.Flush{Cause: ackpolicy.ByPage, Oldest: now}
	switch {
	case c.inbox && len(b.ids) > 0:
		ids := b.ids
		b.ids = ids[:0]
		d.ackIDs(c, ids, f, 0, now)
	case b.kind == oldestFirst && b.done > c.acked:
		f.N = c.unacked
		d.ackUpTo(c, b.done, f, 0, now)
	}
}

// carryAck lets a page's request ack the page before.
func (d *Device) carryAck(c *conversation, r *PullRequest, now time.Duration) {
	b := c.backlog
	f := ackpolicy.Flush{Cause: ackpolicy.ByPage, Oldest: now}
	switch {
	case c.inbox && len(b.ids) > 0:
		r.IDs = b.ids
		if !b.carried { // else it is asked for once more
			b.carried = true
			d.stats.CarriedAcks++
			d.ackedIDs(c, b.ids, f, 0, now, true)
		}
	case b.kind == oldestFirst && b.done > c.acked:
		r.Ack = true
		d.stats.CarriedAcks++
		f.N = c.unacked
		d.acked(c, f, 0, now, b.done, true)
	}
}
