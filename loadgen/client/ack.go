package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// received takes a delivery that stands at or below the watermark into the ack
// batch. A redelivered one counts like any other: the server sent it again
// because it knows of no ack (apache/pulsar#7683). While a group's backlog isn't
// complete nothing of it can be acked, so nothing waits in its batch either.
func (d *Device) received(c *conversation, seq uint64, at time.Duration) {
	if d.dead {
		return
	}
	d.unackedOne(c, seq)
	if c.partial && !c.inbox {
		return
	}
	d.cfg.Observer.OnReceived(d.id.Index, c.name, at)
	d.batched(c, at)
	if d.armed == ReceiveAndAck && d.cfg.Ack.Kind == ackpolicy.None {
		d.die(at, nil)
	}
}

// batched is received for a delivery that has been counted and told of.
func (d *Device) batched(c *conversation, at time.Duration) {
	f, full := c.batch.Add(at)
	if full {
		d.ack(c, f, f.N, at)
		return
	}
	if c.batch.Len() == 1 || d.cfg.Ack.Idle > 0 {
		if due, ok := c.batch.Deadline(); ok {
			d.arm(due)
		}
	}
}

func (d *Device) unackedOne(c *conversation, seq uint64) {
	c.unacked++
	d.unacked++
	if c.partial && c.inbox && d.cfg.Ack.Kind != ackpolicy.None {
		c.ids = append(c.ids, seq)
	}
}

// expire acks a batch whose time is up.
func (d *Device) expire(c *conversation, now time.Duration) {
	if !d.up || c.falling {
		return
	}
	if f, ok := c.batch.Expire(now); ok {
		d.ack(c, f, f.N, now)
	}
}

// ack sends one ack request for everything up to the watermark, never past a
// gap; while the backlog isn't complete, for the live deliveries one by one. Of
// what it acks, so many came out of the batch. It is not called while the
// conversation is falling: what the watermark means in the present epoch isn't
// known then.
func (d *Device) ack(c *conversation, f ackpolicy.Flush, batch int, now time.Duration) {
	switch {
	case d.dead:
	case d.armed == ReceiveAndAck && f.Cause != ackpolicy.ByPage && f.Cause != ackpolicy.ByClose:
		d.die(now, nil)
	case c.partial:
		if ids := c.ids; len(ids) > 0 {
			c.ids = ids[:0]
			d.ackIDs(c, ids, f, batch, now)
		}
	default:
		d.ackUpTo(c, c.mark, f, batch, now)
	}
}

func (d *Device) ackUpTo(c *conversation, upTo uint64, f ackpolicy.Flush, batch int, now time.Duration) {
	d.sess.Ack(c.name, c.epoch, upTo)
	d.requestedAck(f)
	d.acked(c, f, batch, now, upTo, false)
}

// ackIDs sends one ack request for just these seqs.
func (d *Device) ackIDs(c *conversation, ids []uint64, f ackpolicy.Flush, batch int, now time.Duration) {
	d.sess.AckIDs(c.name, c.epoch, ids)
	d.requestedAck(f)
	d.ackedIDs(c, ids, f, batch, now, false)
}

// requestedAck counts an ack request of its own.
func (d *Device) requestedAck(f ackpolicy.Flush) {
	d.stats.AckRequests++
	if f.Cause == ackpolicy.ByPage {
		d.asked()
	}
}

// ackPage acks what a pull brought, n messages received at the given time, and
// what else is unacked: the ack is cumulative.
func (d *Device) ackPage(c *conversation, n int, received, now time.Duration) {
	f := ackpolicy.Flush{Cause: ackpolicy.ByPage, N: n, Oldest: received}
	b, ok := c.batch.Flush(ackpolicy.ByPage)
	if ok {
		f.N += b.N
		f.Oldest = min(f.Oldest, b.Oldest)
	}
	d.ack(c, f, b.N, now)
}

func (d *Device) acked(c *conversation, f ackpolicy.Flush, batch int, now time.Duration, upTo uint64, carried bool) {
	d.tellAck(AckSent{
		Conversation: c.name, Epoch: c.epoch, UpTo: upTo, N: f.N, Batch: batch, Oldest: f.Oldest, At: now,
		Due: f.Due, Cause: f.Cause, Carried: carried,
	})
	d.coverAck(c, upTo, carried)
}

// ackedIDs notes an ack by ids.
func (d *Device) ackedIDs(c *conversation, ids []uint64, f ackpolicy.Flush, batch int, now time.Duration, carried bool) {
	d.tellAck(AckSent{
		Conversation: c.name, Epoch: c.epoch, IDs: ids, N: len(ids), Batch: batch, Oldest: f.Oldest, At: now,
		Due: f.Due, Cause: f.Cause, Carried: carried,
	})
	n := min(len(ids), c.unacked)
	d.unacked -= n
	c.unacked -= n
}

func (d *Device) tellAck(a AckSent) {
	a.Queued, a.Unacked = d.cfg.Clock(), d.unacked
	if a.Due == 0 {
		a.Due = a.At
	}
	d.cfg.Observer.OnAckSent(d.id.Index, a)
}

// coverAck takes what a cumulative ack covers out of the unacked window.
// Carried by a request, it leaves what waits in the batch alone.
func (d *Device) coverAck(c *conversation, upTo uint64, carried bool) {
	c.acked = max(c.acked, upTo)
	left := 0
	if carried {
		left = min(c.batch.Len(), c.unacked)
	}
	d.unacked -= c.unacked - left
	c.unacked = left
}

// flushAll acks what is left in every conversation, because the device closes.
// Besides the last partial batches that is what pages brought since the last
// ack, and own sends at the end, which no later delivery's ack will cover: a
// member who only writes would block trimming for ever.
func (d *Device) flushAll(now time.Duration) {
	if d.cfg.Ack.Kind == ackpolicy.None {
		return
	}
	for _, c := range d.all {
		f, ok := c.batch.Flush(ackpolicy.ByClose)
		if c.partial {
			d.flushPartial(c, f, now)
			continue
		}
		if c.falling || !ok && c.mark <= c.acked {
			continue
		}
		batch := f.N
		if !ok {
			f = ackpolicy.Flush{Cause: ackpolicy.ByClose, N: c.unacked, Oldest: now}
		}
		d.ack(c, f, batch, now)
	}
}

// flushPartial acks what can be acked of a conversation whose backlog isn't complete.
func (d *Device) flushPartial(c *conversation, f ackpolicy.Flush, now time.Duration) {
	batch := f.N
	if b := c.backlog; b != nil && c.inbox {
		c.ids = append(c.ids, b.ids...)
	}
	if c.falling || len(c.ids) == 0 {
		return
	}
	if batch == 0 {
		f.Oldest = now
	}
	f.Cause = ackpolicy.ByClose
	d.ack(c, f, batch, now)
}
