package client

import (
	"context"
	"errors"
	"time"
)

// run connects, serves, and connects again.
func (d *Device) run(values context.Context) {
	defer close(d.done)
	for attempt := 0; ; attempt++ {
		sess, err := d.dial(values)
		if err == nil {
			if !d.attach(sess) {
				return
			}
			err = sess.Serve()
		}
		if d.wasUp() {
			attempt = 0
		}
		if !d.again(values, err, attempt) {
			return
		}
	}
}

// again takes in why a connection ended, or wasn't made, and waits until the
// next may be tried; false when there is none to try.
func (d *Device) again(values context.Context, err error, attempt int) bool {
	pause, again := d.detach(err, attempt)
	if !again {
		return false
	}
	ctx, over := d.until(values, pause)
	<-ctx.Done()
	return !over()
}

// until returns a context for what a device waits for while it has no
// connection; over says that the wait has ended, and whether the device has. An
// idle device has none: with all that contexts keep, one that lived as long as
// the device would take half a KiB.
func (d *Device) until(values context.Context, limit time.Duration) (ctx context.Context, over func() bool) {
	ctx, cancel := context.WithTimeout(values, limit)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hurry = cancel
	if d.ended {
		cancel()
	}
	return ctx, func() bool {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hurry = nil
		return d.ended
	}
}

// dial connects in a goroutine of its own: resolving and the handshake need a
// stack of 16 KiB, which the one that then waits for years in a read would keep.
func (d *Device) dial(values context.Context) (sess Session, err error) {
	err = apart(func() error {
		hello := d.hello(d.cfg.Clock())
		ctx, over := d.until(values, d.cfg.Connect.Timeout)
		defer over()
		sess, err = d.cfg.Driver.Connect(ctx, d.id, hello, link{d})
		return err
	})
	return sess, err
}

func (d *Device) wasUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up
}

func (d *Device) hello(now time.Duration) Hello {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := Hello{Window: d.cfg.Window, Live: d.cfg.Pull.apart(), Closed: d.cfg.Pull.Groups == OnDemand}
	if d.cfg.Resume == FromWatermark {
		for _, c := range d.all {
			if at, known := c.holds(); known {
				h.Resume = append(h.Resume, at)
			}
		}
	}
	d.sync, d.synced = Sync{Began: now}, false
	return h
}

// holds returns the position that a conversation can be resumed from. It counts
// as an ack.
func (c *conversation) holds() (at Position, known bool) {
	at = Position{Conversation: c.name, Epoch: c.epoch, Cursor: c.mark}
	if c.falling {
		at.Epoch = c.formerEpoch // mark is a seq of that one
	}
	if c.partial { // what is below mark may be missing
		at.Cursor = c.seen.Mark()
	}
	return at, !c.fresh
}

// attach makes sess the device's connection; false if the device ended meanwhile.
func (d *Device) attach(sess Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		sess.Abort()
		return false
	}
	d.sess = sess
	return true
}

// detach takes in that a connection ended, or wasn't made. What was received
// but not acked is the server's to deliver again, or hello's to name.
func (d *Device) detach(err error, attempt int) (wait time.Duration, again bool) {
	now := d.cfg.Clock()
	d.mu.Lock()
	defer d.mu.Unlock()
	welcomed := d.up
	if d.sess != nil {
		d.stats.carried(d.sess)
	}
	d.sess, d.up, d.cause = nil, false, err
	var f *Fault
	if errors.As(err, &f) && !f.Retryable {
		d.fatal = err
	}
	if d.closing {
		if d.dead { // nobody has to close it
			d.giveUpSends(now)
		}
		return 0, false
	}
	d.pulls, d.queue, d.openings, d.groups = 0, d.queue[:0], nil, groupSync{}
	for _, c := range d.all {
		c.disconnected()
	}
	d.cfg.Observer.OnConnection(d.id.Index, false, now, err)
	if d.fatal != nil {
		d.closing = true
		d.stopTimer()
		d.giveUpSends(now)
		return 0, false
	}
	if welcomed {
		d.stats.Reconnects++
	}
	return d.backoff(d.cfg.Connect.Backoff, d.cfg.Connect.Max, attempt), true
}

// backoff returns a wait between half and the whole of first·2ⁿ, at most most.
func (d *Device) backoff(first, most time.Duration, n int) time.Duration {
	wait := min(first<<min(n, 20), most)
	return wait/2 + time.Duration(d.rng.Int64N(int64(wait/2)+1))
}
