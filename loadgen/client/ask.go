package client

import "time"

// ask is a request that an answer is waited for.
type ask struct {
	ref   uint64        // 0 = it waits to be sent again
	asked time.Duration // when it was sent
	due   time.Duration // timeout, or when to try again
	tries int           // attempts that failed
}

// await begins to wait for the answer to a request that is about to be sent,
// and returns its ref.
func (d *Device) await(a *ask, now time.Duration) uint64 {
	d.ref++
	a.ref, a.asked, a.due = d.ref, now, now+d.cfg.Pull.Timeout
	d.arm(a.due)
	d.asked()
	return a.ref
}

// answers tells whether an answer with a ref is the one that is waited for.
func (a *ask) answers(ref uint64) bool { return ref != 0 && a.ref == ref }

// late tells whether it is time to ask again, and notes that this is done.
func (a *ask) late(now time.Duration) bool {
	if a.due == 0 || a.due > now {
		return false
	}
	a.due = 0
	a.tries++
	return true
}

// retry lets a request that was refused for the moment wait; false when it was
// refused for good.
func (d *Device) retry(a *ask, f *Fault, now time.Duration) bool {
	a.ref = 0
	if !f.Retryable {
		return false
	}
	a.due = now + d.backoff(d.cfg.Send.Backoff, d.cfg.Connect.Max, a.tries)
	d.arm(a.due)
	return true
}

// asked counts a request of the sync.
func (d *Device) asked() {
	if !d.synced {
		d.sync.Requests++
	}
}

// answered takes in the size of an answer to such a request.
func (d *Device) answered(bytes int) {
	if !d.synced {
		d.sync.LargestResponse = max(d.sync.LargestResponse, bytes)
	}
}
