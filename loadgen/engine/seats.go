package engine

import (
	"sync"
	"sync/atomic"

	"ackmark/loadgen/client"
	"ackmark/profiles"
)

// seat is a user's place in a run: the device that it has, and what is kept of
// those that it had.
type seat struct {
	// device is nil while the user has none: never logged in, away, or crashed
	// and not back yet.
	device atomic.Pointer[client.Device]

	mu        sync.Mutex    // guards what follows
	saved     *client.Saved // what the last device had persisted; nil before it ended
	carried   carried       // by the connections of earlier devices
	forgotten uint64        // what earlier devices showed without knowing whether it was new
}

// device is the one that a user has now, or nil.
func (r *run) device(user int) *client.Device { return r.seats[user].device.Load() }

// take takes a user's device away, so that nobody sends through it any more.
func (s *seat) take() *client.Device { return s.device.Swap(nil) }

// keep notes what a device that has ended leaves: what it had persisted, and
// what its connections carried.
func (s *seat) keep(d *client.Device) {
	st := d.Stats()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = d.Saved()
	s.carried.add(&st)
	s.forgotten += st.Forgotten
}

// former is what the user's last device had persisted, nil without one.
func (s *seat) former() *client.Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved
}

// carried is what went over connections, and how often that woke a device.
type carried struct {
	read, wrote uint64 // bytes
	acks        uint64 // bytes of ack requests
	wakeups     uint64
	ackWakeups  uint64 // of these, for an ack alone
}

func (c *carried) add(st *client.Stats) {
	c.read += st.BytesRead
	c.wrote += st.BytesWritten
	c.acks += st.AckBytes
	c.wakeups += st.Wakeups
	c.ackWakeups += st.AckWakeups
}

// carried sums what all connections have carried.
func (r *run) carried() carried {
	var sum carried
	for i := range r.seats {
		s := &r.seats[i]
		s.mu.Lock()
		sum.read += s.carried.read
		sum.wrote += s.carried.wrote
		sum.acks += s.carried.acks
		sum.wakeups += s.carried.wakeups
		sum.ackWakeups += s.carried.ackWakeups
		s.mu.Unlock()
		if d := s.device.Load(); d != nil {
			st := d.Stats()
			sum.add(&st)
		}
	}
	return sum
}

// dedupFigures are what remembering takes and what a window was too small for.
// Devices have left by then; what they had persisted is what they remembered.
func (r *run) dedupFigures() {
	var forgotten, bytes, devices uint64
	for i := range r.seats {
		s := &r.seats[i]
		s.mu.Lock()
		forgotten += s.forgotten
		saved := s.saved
		s.mu.Unlock()
		if d := s.device.Load(); d != nil {
			forgotten += d.Stats().Forgotten
			saved = d.Saved()
		}
		if saved != nil {
			devices++
			bytes += uint64(saved.Bytes())
		}
	}
	r.out.Metrics.Set("client_dedup_bytes", float64(bytes)/float64(devices))
	if r.profile.Clients.Dedup == profiles.DedupWindow {
		r.out.Metrics.Set("beyond_window", float64(forgotten))
	}
	if r.polls != nil {
		r.out.Metrics.Set("poll_requests", float64(r.polls.total()))
	}
}
