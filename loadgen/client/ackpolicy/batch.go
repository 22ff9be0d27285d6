package ackpolicy

import "time"

// Flush is one batch that is to be acked now.
type Flush struct {
	Cause  Cause
	N      int           // deliveries in the batch, redelivered ones included
	Oldest time.Duration // when its first delivery was received
	Due    time.Duration // when the policy wanted it: its deadline, or the delivery that filled it; 0 for other causes
}

// Batch is the unacked deliveries of one conversation at one client, as the
// policy sees them: how many there are and since when. It doesn't know which
// they are; a cumulative ack says that.
//
// Time may stand still between calls but not go back. Whoever owns a batch
// calls Expire before Add with the same time, so that a deadline which passed
// before a delivery was received is honoured even where the timer for it runs
// late. That order is also the Replay's, which is why both count the same.
type Batch struct {
	policy *Policy
	n      int
	first  time.Duration
	last   time.Duration
}

// NewBatch returns an empty batch; the policy is shared, not copied.
func NewBatch(p *Policy) Batch { return Batch{policy: p} }

// Len is the number of deliveries that wait to be acked.
func (b *Batch) Len() int { return b.n }

// Add takes in a delivery received at now, and says whether that fills the batch.
func (b *Batch) Add(now time.Duration) (Flush, bool) {
	if b.policy.Kind == None {
		return Flush{}, false
	}
	if b.n == 0 {
		b.first = now
	}
	b.n++
	b.last = now
	if limit := b.policy.limit(); limit > 0 && b.n >= limit {
		f, ok := b.Flush(ByCount)
		f.Due = now
		return f, ok
	}
	return Flush{}, false
}

// Deadline is when the batch must be flushed if nothing more comes; false when
// no time limit applies to it.
func (b *Batch) Deadline() (time.Duration, bool) {
	at, _, ok := b.deadline()
	return at, ok
}

func (b *Batch) deadline() (at time.Duration, cause Cause, ok bool) {
	if b.n == 0 {
		return 0, 0, false
	}
	if t := b.policy.interval(); t > 0 {
		at, cause, ok = b.first+t, ByInterval, true
	}
	if t := b.policy.Idle; t > 0 && (!ok || b.last+t < at) {
		at, cause, ok = b.last+t, ByIdle, true
	}
	return at, cause, ok
}

// Expire flushes the batch if its deadline is now or has passed.
func (b *Batch) Expire(now time.Duration) (Flush, bool) {
	at, cause, ok := b.deadline()
	if !ok || at > now {
		return Flush{}, false
	}
	f, ok := b.Flush(cause)
	f.Due = at
	return f, ok
}

// Flush empties the batch for a reason outside of the policy; false when there
// is nothing to ack.
func (b *Batch) Flush(cause Cause) (Flush, bool) {
	if b.n == 0 {
		return Flush{}, false
	}
	f := Flush{Cause: cause, N: b.n, Oldest: b.first}
	b.n = 0
	return f, true
}
