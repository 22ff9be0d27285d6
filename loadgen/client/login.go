package client

import (
	"fmt"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

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
	d.logins++
	d.sync.Login = d.logins
	d.armed = NoCrash
	if p := d.cfg.Crash.Point; p != NoCrash && d.cfg.Crash.Decide(d.id.Index, d.logins) {
		d.armed = p
	}
	for i := range w.Conversations {
		d.login(&w.Conversations[i], now)
	}
	d.openGroups(w.Conversations, now)
	d.cfg.Observer.OnConnection(d.id.Index, true, now, nil)
	select {
	case <-d.ready:
	default:
		close(d.ready)
	}
	d.resend(now)
	d.pump(now)
}

// login brings one conversation in line with what the server says of it at login.
func (d *Device) login(s *Standing, now time.Duration) {
	c := d.stood(s)
	d.unacked -= c.unacked
	c.unacked = 0
	c.acked = s.Cursor
	from := s.Cursor
	if d.cfg.Resume == FromWatermark {
		from = max(from, c.mark)
	}
	d.catchUp(c, s, from, now)
}

// stood returns the conversation that the server tells of, in the epoch that it
// tells.
func (d *Device) stood(s *Standing) *conversation {
	c := d.byName[s.Conversation]
	switch {
	case c == nil:
		c = d.discover(s.Conversation, s.Epoch, s.Cursor)
	case c.fresh:
		c.fresh, c.epoch, c.mark = false, s.Epoch, s.Cursor
	case c.falling || c.epoch != s.Epoch:
		from := c.epoch
		if c.falling {
			from = c.formerEpoch
		}
		back := s.Base
		if s.Epoch > from+1 { // an epoch in between may have begun further back
			back = min(back, s.Cursor)
		}
		c.beginEpoch(s.Epoch)
		c.falling = false
		c.mark = min(c.mark, back)
		c.pull.after = min(c.pull.after, c.mark)
		c.seen.BeginEpoch(min(c.seen.Mark(), back))
	}
	c.closed = s.CountOnly
	return c
}

// catchUp gets what the server has of a conversation after from.
func (d *Device) catchUp(c *conversation, s *Standing, from uint64, now time.Duration) {
	if d.cfg.Pull.apart() && !c.closed {
		d.pullApart(c, s, now)
		d.settle(c)
		return
	}
	d.reach(c, s.Cursor, now) // a cursor beyond the watermark: own sends whose answer was lost
	d.settle(c)
	switch {
	case c.closed || s.Head <= from && c.high <= c.mark:
	case d.cfg.Pull.Groups == AllGroups && !c.inbox:
		d.groups.waiting = true
	default:
		d.pullFrom(c, from)
	}
}
