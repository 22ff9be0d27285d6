package engine

import (
	"errors"
	"testing"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
)

// TestReplayKnowsWhatEmptiesABatch: the policy, acks every 2 or after 100 ms, is
// replayed over what was taken into batches, and over what took them away.
func TestReplayKnowsWhatEmptiesABatch(t *testing.T) {
	at := func(ms int) time.Duration { return time.Second + time.Duration(ms)*time.Millisecond }
	for _, tt := range []struct {
		name string
		play func(o *observer)
		want uint64
	}{
		{"two fill a batch", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnReceived(1, "g:g", at(2))
			o.OnReceived(1, "g:g", at(3))
		}, 1},
		{"conversations are apart", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnReceived(1, "u:me", at(2))
		}, 0},
		{"a pull acks the batch", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByPage, N: 1, Batch: 1, At: at(2)})
			o.OnReceived(1, "g:g", at(3))
		}, 0},
		{"a page's own ack leaves the batch", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByPage, N: 7, At: at(2), Carried: true})
			o.OnReceived(1, "g:g", at(3))
		}, 1},
		{"time was up before the pull", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByPage, N: 7, At: at(200)})
			o.OnReceived(1, "g:g", at(300))
		}, 1},
		{"a session that ends acks the batch", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByClose, N: 1, Batch: 1, At: at(120)}) // the timer was late
			o.left(1, at(130))
		}, 0},
		{"a timer that acked before it ended", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByInterval, N: 1, Batch: 1, At: at(105)})
			o.left(1, at(130))
		}, 1},
		{"a lost connection takes it along", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnConnection(1, false, at(50), errors.New("reset"))
			o.OnReceived(1, "g:g", at(60))
		}, 0},
		{"but not what was due before", func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnConnection(1, false, at(150), errors.New("reset"))
			o.OnReceived(1, "g:g", at(160))
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := observerOf(t, 1)
			o.policy = ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 2, Interval: 100 * time.Millisecond}
			tt.play(o)
			var got uint64
			for _, r := range o.devices[1].replays {
				got += r.Acks()
			}
			if got != tt.want {
				t.Errorf("%d ack requests replayed, want %d", got, tt.want)
			}
		})
	}
}

// TestAcksBelongToThePhaseInWhichTheyWereDue: a timer that is late at an edge of
// the phase, 2 s to 3 s, moves no ack out of it, nor into it.
func TestAcksBelongToThePhaseInWhichTheyWereDue(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		name     string
		received time.Duration // the deadline comes 100 ms later
		at       time.Duration // the ack
		want     int64
	}{
		{"late at the end", 2890 * time.Millisecond, 3010 * time.Millisecond, 1},
		{"late at the beginning", 1890 * time.Millisecond, 2010 * time.Millisecond, 0},
		{"after the end", 2910 * time.Millisecond, 3011 * time.Millisecond, 0},
		{"in the middle", 2100 * time.Millisecond, 2201 * time.Millisecond, 1},
	} {
		o, _ := observerOf(t, 1)
		o.policy = ackpolicy.Policy{Kind: ackpolicy.Interval, Interval: 100 * time.Millisecond}
		w := *o.window.Load()
		w.from, w.to = 2*second, 3*second
		o.window.Store(&w)
		o.OnReceived(1, "g:g", tt.received)
		o.OnAckSent(1, client.AckSent{
			Conversation: "g:g", N: 1, Batch: 1, Oldest: tt.received, Due: tt.received + 100*time.Millisecond, At: tt.at, Cause: ackpolicy.ByInterval,
		})
		st := &o.devices[1]
		if replayed := int64(st.replays["g:g"].Acks()); st.acksIn != tt.want || replayed != tt.want || st.causes[ackpolicy.ByInterval] != tt.want {
			t.Errorf("%s: %d acks in the phase, %d replayed, causes %v; want %d", tt.name, st.acksIn, replayed, st.causes, tt.want)
		}
	}
}

// TestReplayOfACrash: of an ack that a crash kept from being sent, the replay
// knows only where a full batch brought it about.
func TestReplayOfACrash(t *testing.T) {
	at := func(ms int) time.Duration { return time.Second + time.Duration(ms)*time.Millisecond }
	for _, tt := range []struct {
		name   string
		point  client.CrashPoint
		play   func(o *observer)
		acks   uint64
		unsent int64
	}{
		{"a full batch", client.ReceiveAndAck, func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnReceived(1, "g:g", at(2))
		}, 1, 1},
		{"a timer", client.ReceiveAndAck, func(o *observer) { o.OnReceived(1, "g:g", at(1)) }, 0, 0},
		{"between pull and ack, nothing due", client.PullAndAck, func(o *observer) {
			o.OnReceived(1, "g:g", at(1))
			o.OnReceived(1, "g:g", at(2))
			o.OnAckSent(1, client.AckSent{Conversation: "g:g", Cause: ackpolicy.ByCount, N: 2, Batch: 2, At: at(2)})
		}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := observerOf(t, 1)
			o.policy = ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 2, Interval: 100 * time.Millisecond}
			o.crashed = func(int) {}
			tt.play(o)
			o.OnCrash(1, client.CrashedAt{Point: tt.point, At: at(150)})
			o.OnReceived(1, "g:g", at(160)) // after it came back
			st := &o.devices[1]
			if got := st.replays["g:g"].Acks(); got != tt.acks || st.unsentAcks != tt.unsent {
				t.Errorf("%d acks replayed, %d unsent; want %d and %d", got, st.unsentAcks, tt.acks, tt.unsent)
			}
		})
	}
}
