package engine

import (
	"sync/atomic"
	"time"

	"ackmark/loadgen/measure"
)

// window is the measure phase as the observer sees it: when it is, and where
// its samples go. It begins to exist with the traffic.
type window struct {
	from, to time.Duration // since the run's start
	recorder *measure.Recorder
}

// holds tells whether a time lies in the measure phase.
func (w *window) holds(at time.Duration) bool { return w != nil && at >= w.from && at < w.to }

// unackedArea integrates one device's unacked window over the measure phase:
// deliveries received and not yet acked × time.
type unackedArea struct {
	n    int           // deliveries now
	last time.Duration // when n changed
	area time.Duration // deliveries × time
	most int
}

// set changes the number of unacked deliveries at a time.
func (u *unackedArea) set(n int, at time.Duration, w *window) {
	u.close(at, w)
	u.n = n
	if w.holds(at) {
		u.most = max(u.most, n)
	}
}

// close accounts for the time up to at.
func (u *unackedArea) close(at time.Duration, w *window) {
	if w != nil {
		if d := min(at, w.to) - max(u.last, w.from); d > 0 {
			u.area += time.Duration(u.n) * d
		}
	}
	u.last = max(u.last, at)
}

// tallies are counts that are read while the run goes on.
type tallies struct {
	scheduled   atomic.Int64 // messages handed to a device
	ended       atomic.Int64 // of these, sends that have ended
	expected    atomic.Int64 // accepted messages × online recipients
	arrived     atomic.Int64 // first arrivals at online recipients
	again       atomic.Int64 // arrivals that aren't the first, or of nothing that is known
	unknown     atomic.Int64 // sends that ended without an answer
	lateSends   atomic.Int64 // in the measure phase, later than lateAfter
	leftInPhase atomic.Int64 // messages intended in the measure phase that left or were refused
	connections atomic.Int64 // devices that are connected
	syncing     atomic.Int64 // devices that have logged in, or will after a crash, and haven't synced
	nobody      atomic.Int64 // in the measure phase, messages whose sender had crashed and wasn't back: never sent
}
