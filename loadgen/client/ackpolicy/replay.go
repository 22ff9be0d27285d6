package ackpolicy

import "time"

// Replay is the exact check of a run: the policy carried out over the arrivals
// that one client recorded in one conversation. It says how many ack requests
// fall into the window [from, to), in constant memory, so that it can run along
// with the measurement. It is not safe for concurrent use.
type Replay struct {
	batch    Batch
	from, to time.Duration
	acks     uint64
	acked    uint64
}

// NewReplay returns a replay that counts in the window [from, to).
func NewReplay(p *Policy, from, to time.Duration) Replay {
	return Replay{batch: NewBatch(p), from: from, to: to}
}

// Arrive takes in the next delivery; times come in order.
func (r *Replay) Arrive(at time.Duration) {
	r.expire(at)
	if f, ok := r.batch.Add(at); ok {
		r.count(at, f)
	}
}

// Close ends the arrivals: deadlines up to at are met first, then what is left
// is flushed at that moment.
func (r *Replay) Close(at time.Duration) {
	r.expire(at)
	if f, ok := r.batch.Flush(ByClose); ok {
		r.count(at, f)
	}
}

// Expire meets deadlines up to at. Whoever learns that something else emptied
// the batch calls it before Drop if the batch may have been empty by then.
func (r *Replay) Expire(at time.Duration) { r.expire(at) }

// Drop empties the batch without an ack request of the policy: a pull has acked
// it, or the connection that it was to be acked on is gone.
func (r *Replay) Drop() { r.batch.Flush(ByPage) }

// Acks is the number of ack requests in the window so far.
func (r *Replay) Acks() uint64 { return r.acks }

// Acked is the number of deliveries that those ack requests cover.
func (r *Replay) Acked() uint64 { return r.acked }

// expire counts a passed deadline at the moment when it was due, not when the
// next arrival shows that it has passed.
func (r *Replay) expire(now time.Duration) {
	due, ok := r.batch.Deadline()
	if !ok || due > now {
		return
	}
	if f, ok := r.batch.Expire(due); ok {
		r.count(due, f)
	}
}

func (r *Replay) count(at time.Duration, f Flush) {
	if at >= r.from && at < r.to {
		r.acks++
		r.acked += uint64(f.N)
	}
}
