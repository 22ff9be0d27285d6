package engine

import (
	"context"
	"time"

	"ackmark/profiles"
)

// settled is how long nothing at all may have arrived before a drain that lacks
// nothing ends: a second copy follows the first, and to be counted it has to
// arrive before devices leave. On loopback a copy that is on its way takes
// milliseconds; 200 ms let a starved machine be late. What comes later still, a
// retransmission after seconds, belongs to a delivery that wasn't acked, and in a
// drain that lacks nothing there is hardly one.
const settled = 200 * time.Millisecond

// calm is how long nothing at all may have arrived before a drain ends that may
// lack something for ever, see forGood.
const calm = time.Second

// drain waits until nothing is pending and nothing has arrived for the settled
// time, or until the phase is over: its length bounds both. Where what lacks may
// never come, nothing having arrived for the calm time is enough. An interrupt
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
		if now-quiet >= settled && r.drained() || now-quiet >= calm && r.forGood() {
			return
		}
		if w.until(r.base, min(now+5*time.Millisecond, until)) != nil {
			return
		}
	}
}

func (r *run) drained() bool {
	t := &r.obs.tallies
	if !r.ended() {
		return false
	}
	// The counters are cheap and nearly right; the ledger has the last word.
	return t.arrived.Load() >= t.expected.Load() && r.ledger.Outstanding() == 0 && r.ledger.Taken() == 0
}

// ended tells whether every send has ended, and every login.
func (r *run) ended() bool {
	t := &r.obs.tallies
	return t.ended.Load() >= t.scheduled.Load() && t.syncing.Load() == 0
}

// forGood tells whether what is still missing may be missing for good: nobody
// opened its conversation, a cursor that is a time passed it over, or it was on
// its way to somebody who crashed, left or lost the connection, in a design that
// had removed it or never stored it.
func (r *run) forGood() bool {
	c, s := r.profile.Clients, r.profile.Server
	closed := c.Pull.Groups == profiles.GroupsOnDemand || c.Pull.Mode == profiles.PullCountsFirst
	passed := s.Cursor == profiles.CursorTimeAfter
	removed := s.Remove == profiles.RemoveOnPull || s.StoreFor == profiles.StoreForOffline
	broken := c.Crash.Between != profiles.CrashOff || c.Session > 0 || len(r.profile.Faults) > 0
	return r.ended() && (closed || passed || removed && broken)
}
