package engine

import (
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
)

// The replay of the ack policy sees what the policy saw: each delivery when it
// was taken into the batch, not when it arrived, since one from behind a gap
// waits; and whatever else emptied the batch, since a batch that a pull acked or
// a lost connection took along is none of the policy's.

// OnReceived replays a delivery.
func (o *observer) OnReceived(dev int, conversation string, at time.Duration) {
	w := o.window.Load()
	if w == nil {
		return
	}
	st := &o.devices[dev]
	if st.replay != nil && st.named == conversation {
		st.replay.Arrive(at)
		return
	}
	r := st.replays[conversation]
	if r == nil {
		if st.replays == nil {
			st.replays = make(map[string]*ackpolicy.Replay, 1)
		}
		replay := ackpolicy.NewReplay(&o.policy, w.from, w.to)
		r = &replay
		st.replays[conversation] = r
	}
	st.named, st.replay = conversation, r
	r.Arrive(at)
}

// emptied replays an ack request that a pull brought about and that took the
// batch along.
func (st *deviceState) emptied(a client.AckSent) {
	if a.Cause != ackpolicy.ByPage || a.Batch == 0 {
		return
	}
	if r := st.replays[a.Conversation]; r != nil {
		r.Drop()
	}
}

// disconnected drops what was to be acked on the connection.
func (st *deviceState) disconnected(now time.Duration) {
	for _, r := range st.replays {
		r.Expire(now)
		r.Drop()
	}
}
