package client

import (
	"slices"
	"time"

	"ackmark/loadgen/client/dedup"
)

// link is the Handler that a device gives to its driver.
type link struct{ d *Device }

var _ Handler = link{}

// OnDelivery takes in a pushed message.
func (l link) OnDelivery(now time.Duration, m *Delivery) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing || !d.up || m.Seq == 0 { // nothing comes before the welcome
		return
	}
	c := d.last
	if c == nil || c.name != string(m.Conversation) {
		if c = d.byName[string(m.Conversation)]; c == nil { // joined while connected: who joins starts at the head
			c = d.discover(string(m.Conversation), m.Epoch, m.Seq-1)
		}
		d.last = c
	}
	if m.Seq == c.mark+1 && m.Epoch == c.epoch && c.quick {
		d.take(c, m, now)
		return
	}
	d.push(c, m, now)
}

// take takes in what comes next, where nothing else has to be thought of:
// almost all deliveries of a run.
func (d *Device) take(c *conversation, m *Delivery, now time.Duration) {
	d.expire(c, now)
	c.mark++
	d.stats.Deliveries++
	c.unacked++
	d.unacked++
	if v := c.seen.Take(m.Seq, m.Sender, m.ClientMsgID); v != dedup.Fresh {
		d.taken(c, m, v, now)
	} else {
		d.taker.OnTaken(d.id.Index, Arrival{
			Conversation: c.name, Epoch: m.Epoch, Seq: m.Seq, Sender: m.Sender, ClientMsgID: m.ClientMsgID,
			Bytes: len(m.Body), At: now, Path: Pushed,
		})
	}
	d.batched(c, now)
}

// taken is what take tells of a message that is known, or may be.
func (d *Device) taken(c *conversation, m *Delivery, v dedup.Verdict, now time.Duration) {
	a := Arrival{
		Conversation: c.name, Epoch: m.Epoch, Seq: m.Seq, Sender: m.Sender, ClientMsgID: m.ClientMsgID,
		Bytes: len(m.Body), At: now, Path: Pushed,
	}
	d.taker.OnArrival(d.id.Index, a)
	if d.judge(v) {
		d.taker.OnShown(d.id.Index, a)
	} else {
		d.stats.Redelivered++
	}
	d.taker.OnReceived(d.id.Index, a.Conversation, a.At)
}

// push is take for whatever may be pushed.
func (d *Device) push(c *conversation, m *Delivery, now time.Duration) {
	d.expire(c, now)
	if d.dead {
		return
	}
	d.arrival(c, m, now, Pushed, false)
	if m.Epoch > c.epoch {
		d.fall(c, m.Epoch)
	}
	switch {
	case m.Epoch < c.epoch: // on its way when the epoch ended; if it survived, a page has it
		d.stats.Redelivered++
	case c.falling:
		d.hold(c, m, now, Pushed)
	case m.Seq <= c.mark:
		d.repeat(c, m, now, Pushed)
		d.received(c, m.Seq, now)
	case m.Seq == c.mark+1:
		d.next(c, m, now, Pushed)
		d.received(c, m.Seq, now)
		if len(c.held) > 0 {
			d.release(c, now)
		}
	default:
		d.hold(c, m, now, Pushed)
		d.gap(c, m.Seq, now)
	}
	if c.falling {
		d.pullFrom(c, c.mark)
		d.pump(now)
	}
}

// next shows what comes right after the watermark.
func (d *Device) next(c *conversation, m *Delivery, now time.Duration, path Path) {
	c.mark++
	if !d.show(c, m.Seq, m.Sender, m.ClientMsgID, len(m.Body), now, path, false) {
		d.stats.Redelivered++
	}
}

// repeat takes in what comes once more. Whether it is shown once more is for
// dedup to say.
func (d *Device) repeat(c *conversation, m *Delivery, now time.Duration, path Path) {
	d.stats.Redelivered++
	backlog := c.partial && m.Seq <= c.top
	d.show(c, m.Seq, m.Sender, m.ClientMsgID, len(m.Body), now, path, backlog)
}

func (d *Device) arrival(c *conversation, m *Delivery, now time.Duration, path Path, placed bool) {
	if d.dead {
		return
	}
	d.stats.Deliveries++
	d.cfg.Observer.OnArrival(d.id.Index, Arrival{
		Conversation: c.name, Epoch: m.Epoch, Seq: m.Seq, Sender: m.Sender, ClientMsgID: m.ClientMsgID,
		Bytes: len(m.Body), At: now, Path: path, Placed: placed,
	})
}

// show hands a message on to whoever reads it, unless dedup knows it: then it
// returns false.
func (d *Device) show(c *conversation, seq uint64, sender, id []byte, bytes int, at time.Duration, path Path, placed bool) bool {
	if d.dead {
		return true
	}
	if !d.judge(c.seen.Take(seq, sender, id)) {
		return false
	}
	d.cfg.Observer.OnShown(d.id.Index, Arrival{
		Conversation: c.name, Epoch: c.epoch, Seq: seq, Sender: sender, ClientMsgID: id,
		Bytes: bytes, At: at, Path: path, Placed: placed,
	})
	return true
}

// judge tells whether a message is shown, and counts those that nobody knows of
// any more whether they were.
func (d *Device) judge(v dedup.Verdict) bool {
	if v == dedup.Beyond {
		d.stats.Forgotten++
	}
	return v.Show()
}

// hold keeps a message that is behind a gap, so that messages are shown in
// order. Over the limit it is left to the pull, which brings it again.
func (d *Device) hold(c *conversation, m *Delivery, now time.Duration, path Path) {
	c.high = max(c.high, m.Seq)
	i, known := c.find(m.Seq)
	switch {
	case known:
		d.stats.Redelivered++
	case len(c.held) >= d.cfg.Hold:
		d.stats.NotHeld++
	default:
		c.held = slices.Insert(c.held, i, held{
			seq: m.Seq, at: now, path: path, bytes: len(m.Body),
			sender: slices.Clone(m.Sender), id: slices.Clone(m.ClientMsgID),
		})
		c.quick = false
	}
}

// own takes in where the device's own message was stored: it isn't delivered
// to its sender, so its seq isn't missing.
func (d *Device) own(c *conversation, epoch, seq uint64, now time.Duration) {
	if epoch > c.epoch {
		d.fall(c, epoch)
	}
	switch {
	case epoch < c.epoch:
		return
	case !c.falling && seq <= c.mark:
		return
	case !c.falling && seq == c.mark+1:
		c.pass(seq)
		d.release(c, now)
		return
	}
	c.high = max(c.high, seq)
	if i, known := c.find(seq); !known && len(c.held) < d.cfg.Hold {
		c.held = slices.Insert(c.held, i, held{seq: seq, own: true})
		c.quick = false
	}
	if c.falling {
		d.pullFrom(c, c.mark)
		d.pump(now)
	} else if c.gapDue == 0 && c.pull.idle() {
		// what lies before it is probably on its way
		c.gapDue = now + d.cfg.GapWait
		d.arm(c.gapDue)
	}
}

// release shows what is no longer behind a gap.
func (d *Device) release(c *conversation, now time.Duration) {
	n := 0
	for n < len(c.held) && c.held[n].seq <= c.mark+1 && !d.dead {
		h := &c.held[n]
		n++
		switch {
		case h.seq <= c.mark:
		case h.own:
			c.pass(h.seq)
		default:
			d.expire(c, now)
			c.mark++
			d.showHeld(c, h)
			d.received(c, h.seq, now)
		}
	}
	c.held = slices.Delete(c.held, 0, n)
	if len(c.held) == 0 {
		c.held = nil
	}
	d.settle(c)
	if c.high <= c.mark {
		c.gapDue = 0
	}
}

func (d *Device) showHeld(c *conversation, h *held) {
	if !d.show(c, h.seq, h.sender, h.id, h.bytes, h.at, h.path, false) {
		d.stats.Redelivered++
	}
}

// reach moves the watermark to seq: what isn't held up to there isn't missing.
func (d *Device) reach(c *conversation, seq uint64, now time.Duration) {
	for len(c.held) > 0 && c.held[0].seq <= seq && !d.dead {
		c.pass(c.held[0].seq - 1)
		d.release(c, now)
	}
	c.pass(seq)
	d.release(c, now)
}

// fall notes that an epoch began which the device learned of in passing. Where
// it can't be told how far back that goes it begins again with a new connection:
// when several epochs have begun, and while a backlog is pulled apart, which has
// other seqs now, if it is still there.
func (d *Device) fall(c *conversation, epoch uint64) {
	if !c.falling {
		c.falling, c.formerEpoch = true, c.epoch
	}
	c.beginEpoch(epoch)
	d.settle(c)
	if c.partial || c.backlog != nil || epoch > c.formerEpoch+1 {
		d.sess.Abort()
	}
}

// OnPullNow pulls: the server has stopped pushing until a page reaches the head.
func (l link) OnPullNow(now time.Duration, p *PullNow) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.byName[string(p.Conversation)]
	if d.closing || !d.up || c == nil || c.closed || p.Epoch < c.epoch {
		return
	}
	if p.Epoch > c.epoch {
		d.fall(c, p.Epoch)
	}
	c.high = max(c.high, p.Head)
	d.pullFrom(c, c.mark)
	d.pump(now)
}
