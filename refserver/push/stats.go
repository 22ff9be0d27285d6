package push

import "sync/atomic"

type counters struct {
	pushed, retransmitted, pullNow   atomic.Uint64
	writes, frames, bytesOut, closed atomic.Uint64
}

// Stats counts what a hub has done since it was made.
type Stats struct {
	Connections   uint64 // open now
	Pushed        uint64 // deliveries queued for the first time
	Retransmitted uint64 // deliveries queued again
	PullNow       uint64 // times a client was told to pull
	Writes        uint64 // write calls
	Frames        uint64 // WebSocket messages written
	BytesWritten  uint64 // bytes written, WebSocket headers included
	SlowClosed    uint64 // connections ended because a write stayed blocked or the queue overflowed
}

// Stats returns the counters.
func (h *Hub) Stats() Stats {
	return Stats{
		Connections:   uint64(h.Connections()),
		Pushed:        h.stats.pushed.Load(),
		Retransmitted: h.stats.retransmitted.Load(),
		PullNow:       h.stats.pullNow.Load(),
		Writes:        h.stats.writes.Load(),
		Frames:        h.stats.frames.Load(),
		BytesWritten:  h.stats.bytesOut.Load(),
		SlowClosed:    h.stats.closed.Load(),
	}
}
