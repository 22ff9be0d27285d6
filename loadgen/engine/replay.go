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

// emptied replays that an ack request emptied a batch: one that a pull or the end
// of a session brought about takes it along; one of a timer tells that a deadline
// may have passed, which the next delivery would tell too, if there is one.
func (st *deviceState) emptied(a client.AckSent) {
	r := st.replays[a.Conversation]
	if r == nil {
		return
	}
	switch a.Cause {
	case ackpolicy.ByInterval, ackpolicy.ByIdle:
		r.Expire(a.At)
	case ackpolicy.ByPage, ackpolicy.ByClose:
		if a.Batch > 0 {
			r.Drop()
		}
	case ackpolicy.ByCount:
	}
}

// ended drops what a device that has ended had not acked: nobody will. Where a
// crash came between a delivery and its ack, the replay has counted that ack,
// and one is counted off again.
func (st *deviceState) ended(crash client.CrashPoint) {
	acks := int64(0)
	for _, r := range st.replays {
		acks += int64(r.Acks())
		r.Drop()
	}
	if crash == client.ReceiveAndAck && acks > st.acksIn-st.pageAcks+st.unsentAcks {
		st.unsentAcks++
	}
}

// disconnected drops what was to be acked on the connection.
func (st *deviceState) disconnected(now time.Duration) {
	for _, r := range st.replays {
		r.Expire(now)
		r.Drop()
	}
}
