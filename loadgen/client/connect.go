package client

import (
	"context"
	"errors"
	"time"
)

// run connects, serves, and connects again.
func (d *Device) run(life context.Context) {
	defer close(d.done)
	for attempt := 0; ; attempt++ {
		began := d.cfg.Clock()
		ctx, cancel := context.WithTimeout(life, d.cfg.Connect.Timeout)
		sess, err := d.cfg.Driver.Connect(ctx, d.id, d.hello(began), link{d})
		cancel()
		if err == nil {
			if !d.attach(sess) {
				return
			}
			err = sess.Serve()
		}
		if d.wasUp() {
			attempt = 0
		}
		pause, again := d.detach(err, attempt)
		if !again {
			return
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-life.Done():
			wait.Stop()
			return
		}
	}
}

func (d *Device) wasUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up
}

func (d *Device) hello(now time.Duration) Hello {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := Hello{Window: d.cfg.Window}
	if d.cfg.Resume == FromWatermark {
		for _, c := range d.all {
			epoch := c.epoch
			if c.falling {
				epoch = c.formerEpoch // mark is a seq of that one
			}
			h.Resume = append(h.Resume, Position{Conversation: c.name, Epoch: epoch, Cursor: c.mark})
		}
	}
	d.sync, d.synced = Sync{Began: now}, false
	return h
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
		r, w := d.sess.Bytes()
		d.stats.BytesRead += r
		d.stats.BytesWritten += w
	}
	d.sess, d.up, d.cause = nil, false, err
	var f *Fault
	if errors.As(err, &f) && !f.Retryable {
		d.fatal = err
	}
	if d.closing {
		return 0, false
	}
	d.pulls, d.queue = 0, d.queue[:0]
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
