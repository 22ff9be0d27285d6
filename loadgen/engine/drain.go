package engine

import (
	"context"
	"time"
)

// settled is how long nothing at all may have arrived before a drain that lacks
// nothing ends: a second copy follows the first, and to be counted it has to
// arrive before devices leave. On loopback a copy that is on its way takes
// milliseconds; 200 ms let a starved machine be late. What comes later still, a
// retransmission after seconds, belongs to a delivery that wasn't acked, and in a
// drain that lacks nothing there is hardly one.
const settled = 200 * time.Millisecond

// drain waits until nothing is pending and nothing has arrived for the settled
// time, or until the phase is over: its length bounds both. An interrupt
// shortens it.
func (r *run) drain(ctx context.Context) {
	limit := r.profile.Phases.Drain.Std()
	if ctx.Err() != nil {
		limit = min(limit, 2*time.Second)
	}
	t, w := &r.obs.tallies, newWaiter(r.clock)
	until := r.clock.now() + limit
	quiet, seen := r.clock.now(), int64(-1)
	for now := quiet; now < until; now = r.clock.now() {
		if n := t.arrived.Load() + t.again.Load(); n != seen {
			quiet, seen = now, n
		}
		if now-quiet >= settled && r.drained() {
			return
		}
		if w.until(r.base, min(now+5*time.Millisecond, until)) != nil {
			return
		}
	}
}

func (r *run) drained() bool {
	t := &r.obs.tallies
	if t.ended.Load() < t.scheduled.Load() {
		return false
	}
	// The counters are cheap and nearly right; the ledger has the last word.
	return t.arrived.Load() >= t.expected.Load() && r.ledger.Outstanding() == 0
}
