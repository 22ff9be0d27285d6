package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// received takes a delivery that stands at or below the watermark into the ack
// batch. A redelivered one counts like any other: the server sent it again
// because it knows of no ack (apache/pulsar#7683).
func (d *Device) received(c *conversation, at time.Duration) {
	d.unackedOne(c)
	d.cfg.Observer.OnReceived(d.id.Index, c.name, at)
	d.batched(c, at)
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

func (d *Device) unackedOne(c *conversation) {
	c.unacked++
	d.unacked++
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
// gap. Of what it acks, so many came out of the batch. It is not called while the conversation is falling: what the watermark
// means in the present epoch isn't known then.
func (d *Device) ack(c *conversation, f ackpolicy.Flush, batch int, now time.Duration) {
	d.sess.Ack(c.name, c.epoch, c.mark)
	d.stats.AckRequests++
	d.acked(c, f, batch, now, c.mark, false)
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
	d.cfg.Observer.OnAckSent(d.id.Index, AckSent{
		Conversation: c.name, Epoch: c.epoch, UpTo: upTo, N: f.N, Batch: batch, Oldest: f.Oldest, At: now, Queued: d.cfg.Clock(),
		Cause: f.Cause, Carried: carried, Unacked: d.unacked,
	})
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

// disconnected forgets what only a connection gives sense to.
func (c *conversation) disconnected() {
	c.batch.Flush(ackpolicy.ByClose)
	c.acked, c.gapDue = 0, 0
	c.pull = pull{}
}
