package client

import (
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

// An ack of g:a up to a seq below 128: header 2, mask 4, and of the payload 2 for
// the frame's field, 5 for the conversation, 2 for the epoch, 2 for the seq.
const ackFrame = 2 + 4 + 2 + 5 + 2 + 2

// Deliveries that come in one read wake a phone once, however many they are; an
// ack that they give rise to doesn't wake it again, that of a timer does.
func TestWakeups(t *testing.T) {
	const T = 100 * time.Millisecond
	for _, c := range []struct {
		name  string
		ack   ackpolicy.Policy
		reads []uint64 // deliveries in each
		want  Stats
	}{
		{"each", ackpolicy.Policy{Kind: ackpolicy.Each}, []uint64{2, 1}, Stats{AckRequests: 3, Wakeups: 2, AckBytes: 3 * ackFrame}},
		{"count", ackpolicy.Policy{Kind: ackpolicy.Count, Every: 3}, []uint64{3, 1, 3}, Stats{AckRequests: 2, Wakeups: 3, AckBytes: 2 * ackFrame}},
		// the pauses between reads are T/2: seq 1's deadline passes after the second read, that of
		// seq 4 has none after it
		{"interval", ackpolicy.Policy{Kind: ackpolicy.Interval, Interval: T}, []uint64{1, 2, 1}, Stats{AckRequests: 2, Wakeups: 5, AckWakeups: 2, AckBytes: 2 * ackFrame}},
		{"count before interval", ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 2, Interval: T}, []uint64{2, 2}, Stats{AckRequests: 2, Wakeups: 2, AckBytes: 2 * ackFrame}},
		{"interval before count", ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 5, Interval: T}, []uint64{2, 2}, Stats{AckRequests: 1, Wakeups: 3, AckWakeups: 1, AckBytes: ackFrame}},
		{"idle", ackpolicy.Policy{Kind: ackpolicy.Count, Every: 10, Idle: T}, []uint64{1, 1, 1}, Stats{AckRequests: 1, Wakeups: 4, AckWakeups: 1, AckBytes: ackFrame}},
		{"none", ackpolicy.Policy{Kind: ackpolicy.None}, []uint64{4}, Stats{Wakeups: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, Config{Ack: c.ack}, func(s *scene) {
				p := s.enter(standing(1, 0, 0, 0))
				before := s.dev.Stats()
				seq := uint64(1)
				for i, n := range c.reads {
					if i > 0 {
						later(T / 2)
					}
					p.put(lives(1, seq, seq+n-1)...)
					seq += n
				}
				later(2 * T)
				st := s.dev.Stats()
				got := Stats{
					AckRequests: st.AckRequests, Wakeups: st.Wakeups - before.Wakeups, AckWakeups: st.AckWakeups,
					AckBytes: st.AckBytes,
				}
				if got != c.want {
					t.Errorf("%d requests, %d wake-ups, %d for acks, %d ack bytes; want %d, %d, %d, %d",
						got.AckRequests, got.Wakeups, got.AckWakeups, got.AckBytes, c.want.AckRequests, c.want.Wakeups, c.want.AckWakeups, c.want.AckBytes)
				}
			})
		})
	}
}

// What a connection has carried is still counted when it is gone, and a message
// that needs several reads wakes a phone once.
func TestWakeupsOutliveConnections(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(live(1, 1))
		p.want("ack 1/1")
		st := s.dev.Stats()
		large := message(2, "m2")
		large.Conversation, large.Epoch, large.Body = room, 1, string(make([]byte, 3*defaultReadBuffer))
		p.put(&wire.Frame{Deliver: large})
		p.want("ack 1/2")
		large.Seq, large.ClientMsgId = 3, "m3"
		p.put(&wire.Frame{Deliver: large}, live(1, 4)) // more than the buffer, at once
		p.want("ack 1/3", "ack 1/4")
		s.dev.Drop()
		synctest.Wait()
		after := s.dev.Stats()
		if n := after.Wakeups - st.Wakeups; n != 2 || after.AckBytes != 4*ackFrame {
			t.Errorf("%d wake-ups for two writes, %d ack bytes; want 2, %d", n, after.AckBytes, 4*ackFrame)
		}
	})
}

// Over HTTP an ack takes a whole request, and each answer but that to an ack
// wakes.
func TestHTTPMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		v := w.visit(w.driver(), Hello{})
		synctest.Wait() // hello, and the first poll at 0s
		m := v.s.(Meter)
		if n := m.Wakeups(); n != 1 || m.AckBytes() != 0 {
			t.Errorf("%d wake-ups, %d ack bytes after the first poll; want 1, 0", n, m.AckBytes())
		}
		_, before := v.s.Bytes()
		v.s.Ack("g:a", 1, 2)
		synctest.Wait()
		_, after := v.s.Bytes()
		if n := m.AckBytes(); n != after-before || n == 0 {
			t.Errorf("%d ack bytes, %d were written", n, after-before)
		}
		later(2500 * time.Millisecond) // two more polls
		if n := m.Wakeups(); n != 3 || m.AckBytes() != after-before {
			t.Errorf("%d wake-ups, %d ack bytes after two more polls; want 3, %d", n, m.AckBytes(), after-before)
		}
		v.close()
	})
}
