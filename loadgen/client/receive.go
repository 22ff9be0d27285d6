package client

import (
	"fmt"
	"slices"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// link is the Handler that a device gives to its driver.
type link struct{ d *Device }

var _ Handler = link{}

// OnWelcome takes over what the server says of each conversation, resends what
// has no answer, and pulls what waits. Deliveries may already follow: they and
// the pages meet at the watermark (skycoin/skywire#2630).
func (l link) OnWelcome(now time.Duration, w *Welcome) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing || d.up {
		return
	}
	if n := d.cfg.Ack.Every; d.cfg.Ack.Kind == ackpolicy.Count && w.Window > 0 && n > w.Window {
		// a batch that can't fill would wait for ever (rabbitmq-perf-test#614)
		d.fatal = fmt.Errorf("acks every %d deliveries, but the server lets only %d be unacked; lower ack.every or raise the window", n, w.Window)
		d.sess.Abort()
		return
	}
	d.up, d.cause = true, nil
	for i := range w.Conversations {
		d.stand(&w.Conversations[i], now)
	}
	d.cfg.Observer.OnConnection(d.id.Index, true, now, nil)
	select {
	case <-d.ready:
	default:
		close(d.ready)
	}
	d.resend(now)
	d.pump(now)
}

// stand brings one conversation in line with what the server says of it.
func (d *Device) stand(s *Standing, now time.Duration) {
	c := d.byName[s.Conversation]
	switch {
	case c == nil:
		c = d.discover(s.Conversation, s.Epoch, s.Cursor)
	case c.falling || c.epoch != s.Epoch:
		c.beginEpoch(s.Epoch)
		c.falling = false
		c.mark = min(c.mark, s.Base)
	}
	d.unacked -= c.unacked
	c.unacked = 0
	c.acked = s.Cursor
	d.reach(c, s.Cursor, now) // a cursor beyond the watermark: own sends whose answer was lost
	from := c.mark
	if d.cfg.Resume == FromCursor {
		from = s.Cursor
	}
	if !s.CountOnly && (s.Head > from || c.high > c.mark) {
		d.pullFrom(c, from)
	}
}

func (d *Device) discover(name string, epoch, mark uint64) *conversation {
	c := &conversation{name: name, epoch: epoch, mark: mark, batch: ackpolicy.NewBatch(&d.cfg.Ack)}
	d.byName[name] = c
	d.all = append(d.all, c)
	return c
}

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
	if m.Seq == c.mark+1 && m.Epoch == c.epoch && !c.falling && c.recent.old == nil && d.taker != nil {
		d.take(c, m, now)
		return
	}
	d.arrival(c, m, now, Pushed)
	if m.Epoch > c.epoch {
		d.fall(c, m.Epoch)
	}
	switch {
	case m.Epoch < c.epoch: // on its way when the epoch ended; if it survived, a page has it
		d.stats.Redelivered++
	case c.falling:
		d.hold(c, m, now, Pushed)
	case m.Seq <= c.mark:
		d.stats.Redelivered++
		d.expire(c, now)
		d.received(c, now)
	case m.Seq == c.mark+1:
		d.expire(c, now)
		c.mark++
		d.show(c, m.Seq, m.Sender, m.ClientMsgID, len(m.Body), now, Pushed)
		d.received(c, now)
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

// take takes in what comes next, of a conversation that has known one epoch
// only: almost all deliveries of a run.
func (d *Device) take(c *conversation, m *Delivery, now time.Duration) {
	d.expire(c, now)
	c.mark++
	d.stats.Deliveries++
	c.recent.add(identityOf(d.hash, m.Sender, m.ClientMsgID), d.cfg.Recent)
	d.unackedOne(c)
	d.taker.OnTaken(d.id.Index, Arrival{
		Conversation: c.name, Epoch: m.Epoch, Seq: m.Seq, Sender: m.Sender, ClientMsgID: m.ClientMsgID,
		Bytes: len(m.Body), At: now, Path: Pushed,
	})
	d.batched(c, now)
	if len(c.held) > 0 {
		d.release(c, now)
	}
}

func (d *Device) arrival(c *conversation, m *Delivery, now time.Duration, path Path) {
	d.stats.Deliveries++
	d.cfg.Observer.OnArrival(d.id.Index, Arrival{
		Conversation: c.name, Epoch: m.Epoch, Seq: m.Seq, Sender: m.Sender, ClientMsgID: m.ClientMsgID,
		Bytes: len(m.Body), At: now, Path: path,
	})
}

// show hands a message on to whoever reads it, unless a former epoch did.
func (d *Device) show(c *conversation, seq uint64, sender, id []byte, bytes int, at time.Duration, path Path) {
	who := identityOf(d.hash, sender, id)
	if c.recent.old != nil && c.recent.has(who) {
		d.stats.Redelivered++
		return
	}
	c.recent.add(who, d.cfg.Recent)
	d.cfg.Observer.OnShown(d.id.Index, Arrival{
		Conversation: c.name, Epoch: c.epoch, Seq: seq, Sender: sender, ClientMsgID: id,
		Bytes: bytes, At: at, Path: path,
	})
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
		c.mark++
		d.release(c, now)
		return
	}
	c.high = max(c.high, seq)
	if i, known := c.find(seq); !known && len(c.held) < d.cfg.Hold {
		c.held = slices.Insert(c.held, i, held{seq: seq, own: true})
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
	for n < len(c.held) && c.held[n].seq <= c.mark+1 {
		h := &c.held[n]
		n++
		if h.seq <= c.mark {
			continue
		}
		if !h.own {
			d.expire(c, now)
		}
		c.mark++
		if !h.own {
			d.show(c, h.seq, h.sender, h.id, h.bytes, h.at, h.path)
			d.received(c, now)
		}
	}
	c.held = slices.Delete(c.held, 0, n)
	if len(c.held) == 0 {
		c.held = nil
	}
	if c.high <= c.mark {
		c.gapDue = 0
	}
}

// reach moves the watermark to seq: what isn't held up to there isn't missing.
func (d *Device) reach(c *conversation, seq uint64, now time.Duration) {
	for len(c.held) > 0 && c.held[0].seq <= seq {
		c.mark = max(c.mark, c.held[0].seq-1)
		d.release(c, now)
	}
	c.mark = max(c.mark, seq)
	d.release(c, now)
}

// fall notes that an epoch began which the device learned of in passing.
func (d *Device) fall(c *conversation, epoch uint64) {
	if !c.falling {
		c.falling, c.formerEpoch = true, c.epoch
	}
	c.beginEpoch(epoch)
}

// OnPullNow pulls: the server has stopped pushing until a page reaches the head.
func (l link) OnPullNow(now time.Duration, p *PullNow) {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.byName[string(p.Conversation)]
	if d.closing || !d.up || c == nil || p.Epoch < c.epoch {
		return
	}
	if p.Epoch > c.epoch {
		d.fall(c, p.Epoch)
	}
	c.high = max(c.high, p.Head)
	d.pullFrom(c, c.mark)
	d.pump(now)
}
