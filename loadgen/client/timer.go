package client

import "time"

// arm makes sure that the timer fires no later than at. It may fire for a
// deadline that is no longer one: that finds nothing due and arms for the next.
// Deliveries pay for no timer that way as long as one is running.
func (d *Device) arm(at time.Duration) {
	if d.closing || d.timerAt != 0 && d.timerAt <= at {
		return
	}
	d.timerAt = max(at, 1)
	wait := at - d.cfg.Clock()
	if d.timer == nil {
		d.timed.Add(1)
		d.timer = time.AfterFunc(wait, d.onTimer)
		return
	}
	if !d.timer.Reset(wait) { // not pending: it has fired, and that call counts for itself
		d.timed.Add(1)
	}
}

func (d *Device) stopTimer() {
	if d.timer != nil && d.timer.Stop() {
		d.timed.Done()
	}
}

func (d *Device) onTimer() {
	defer d.timed.Done()
	d.mu.Lock()
	if d.closing {
		d.mu.Unlock()
		return
	}
	now := d.cfg.Clock()
	d.timerAt = 0
	before := d.stats.AckRequests
	for _, c := range d.all {
		d.expire(c, now)
	}
	if d.stats.AckRequests > before {
		d.stats.Wakeups++
		d.stats.AckWakeups++
	}
	for _, c := range d.all {
		d.gapTimeout(c, now)
		d.pullTimeout(c, now)
		d.backlogTimeout(c, now)
	}
	d.groupsTimeout(now)
	d.openTimeouts(now)
	d.sendTimeouts(now)
	d.armNext()
	sess := d.sess
	d.mu.Unlock()
	if sess != nil {
		sess.Flush()
	}
}

// armNext arms for the earliest of all deadlines.
func (d *Device) armNext() {
	var next time.Duration
	consider := func(at time.Duration) {
		if at > 0 && (next == 0 || at < next) {
			next = at
		}
	}
	for _, c := range d.all {
		if at, ok := c.batch.Deadline(); ok && d.up && !c.falling {
			consider(max(at, 1))
		}
		consider(c.gapDue)
		consider(c.pull.due)
		if c.backlog != nil {
			consider(c.backlog.due)
		}
	}
	consider(d.groups.due)
	for _, o := range d.openings {
		consider(o.due)
	}
	for _, s := range d.sends {
		consider(s.due)
	}
	if next > 0 {
		d.arm(next)
	}
}
