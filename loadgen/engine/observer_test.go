package engine

import (
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/schedule"
)

// observerOf makes an observer of one group with two members, in which member 0
// sends n messages, one per millisecond from 1 s on; the measure phase is from
// 1 s to 1 h.
func observerOf(t testing.TB, n int) (*observer, *messages) {
	t.Helper()
	events := make([]schedule.Event, n)
	for k := range events {
		events[k] = schedule.Event{At: time.Duration(k) * time.Millisecond, Kind: schedule.Group, Ordinal: k}
	}
	m := newMessages("x", 1, nil, slices.Values(events))
	m.begin(time.Second)
	l, err := ledger.New(ledger.Config{Conversations: []ledger.Conversation{{Name: "g:g", Recipients: []int{0, 1}, Senders: make([]int, n)}}})
	if err != nil {
		t.Fatal(err)
	}
	setup, err := measure.NewRecorder(measure.Config{Shards: 1, MeasureEnd: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := measure.NewRecorder(measure.Config{
		Shards: 1, MeasureStart: time.Second, MeasureEnd: time.Hour, SeriesOf: []measure.Name{measure.Live},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{
		msgs: m, ledger: l, setup: setup, devices: make([]deviceState, 2),
		policy: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 2}, online: func(int, int) int64 { return 1 },
	}
	o.window.Store(&window{from: time.Second, to: time.Hour, recorder: rec})
	return o, m
}

func TestObserver(t *testing.T) {
	o, m := observerOf(t, 3)
	snap := func() *measure.Snapshot { return o.window.Load().recorder.Snapshot() }
	at := func(ms int) time.Duration { return time.Second + time.Duration(ms)*time.Millisecond }
	arrive := func(k int, when time.Duration, path client.Path) {
		o.OnArrival(1, client.Arrival{Conversation: "g:g", Epoch: 1, Seq: uint64(k + 1), ClientMsgID: []byte(m.id(0, k)), At: when, Path: path})
	}
	for k := range 3 {
		o.ledger.OnSend(0, k)
		m.sent[0][k].Store(int64(at(k + 1))) // each a millisecond late
	}
	arrive(0, at(5), client.Pushed)  // intended at 0 ms: 5 ms
	arrive(1, at(9), client.Pushed)  // intended at 1 ms: 8 ms
	arrive(1, at(12), client.Pushed) // again
	arrive(2, at(30), client.Paged)  // offline: 28 ms of age
	o.OnArrival(1, client.Arrival{ClientMsgID: []byte("stranger"), At: at(31), Path: client.Pushed})

	live, service := snap().Percentiles(measure.Live), snap().Percentiles(measure.LiveService)
	if live.Count != 2 || *live.Min != 5000 || *live.Max/10 != 800 {
		t.Errorf("live: %d from %d to %d µs, want 2 from 5000 to 8000", live.Count, *live.Min, *live.Max)
	}
	if *service.Min != 4000 {
		t.Errorf("live service from %d µs, want 4000: a millisecond less", *service.Min)
	}
	if age := o.setup.Snapshot().Percentiles(measure.OfflineAge); age.Count != 1 || *age.Max < 27_900 || *age.Max > 28_100 {
		t.Errorf("age of the paged message: %d samples, %d µs; want one of 28 ms", age.Count, *age.Max)
	}
	if n := snap().Completed(measure.Deliveries); n != 3 {
		t.Errorf("%d deliveries, want 3 first arrivals", n)
	}
	if n := snap().Completed(measure.Redeliveries); n != 1 {
		t.Errorf("%d redeliveries, want 1", n)
	}
	st := &o.devices[1]
	if st.arrivals != 5 || st.unacked.n != 5 {
		t.Errorf("%d arrivals, %d unacked; want all 5", st.arrivals, st.unacked.n)
	}
	o.OnAckSent(1, client.AckSent{N: 4, Oldest: at(5), Due: at(40), At: at(40), Cause: ackpolicy.ByCount, Unacked: 5})
	if st.unacked.n != 1 || st.unacked.most != 5 || st.acksIn != 1 || st.causes[ackpolicy.ByCount] != 1 {
		t.Errorf("after an ack of 4: %d unacked, most %d, %d acks", st.unacked.n, st.unacked.most, st.acksIn)
	}
	if d := snap().Percentiles(measure.AckDelay); d.Count != 1 || *d.Max/100 != 350 {
		t.Errorf("ack delay %d µs, want 35 ms", *d.Max)
	}

	for k, outcome := range []client.Outcome{client.Accepted, client.Unknown, client.Refused} {
		o.tallies.scheduled.Add(1)
		o.OnSendResult(0, client.SendResult{
			Tag: tagOf(0, k), Outcome: outcome, Epoch: 1, Seq: uint64(k + 1), Attempts: 1,
			Intended: m.intended[0][k], Sent: m.intended[0][k] + time.Millisecond, Answered: m.intended[0][k] + 50*time.Millisecond,
		})
	}
	send := snap().Percentiles(measure.SendResponse)
	if send.Count != 2 || *send.Max < 49_900 || *send.Max > 50_100 {
		t.Errorf("%d sends of up to %d µs; the one that was given up keeps its 50 ms, the refused one has none", send.Count, *send.Max)
	}
	if o.tallies.ended.Load() != 3 || o.tallies.unknown.Load() != 1 || o.tallies.leftInPhase.Load() != 3 || o.tallies.expected.Load() != 1 {
		t.Errorf("ended %d, unknown %d, left %d, expected %d", o.tallies.ended.Load(), o.tallies.unknown.Load(), o.tallies.leftInPhase.Load(), o.tallies.expected.Load())
	}
	if rep := o.ledger.Audit(nil); rep.Foreign != 1 || rep.Accepted != 1 || rep.Unknown != 1 || rep.Refused != 1 {
		t.Errorf("ledger: %+v", rep)
	}
}

func TestObserverConnections(t *testing.T) {
	o, _ := observerOf(t, 1)
	o.devices[1].dialed = 2 * time.Second
	o.OnConnection(1, true, 2*time.Second+30*time.Millisecond, nil)
	if p := o.setup.Snapshot().Percentiles(measure.Connect); p.Count != 1 || *p.Max/100 != 300 {
		t.Errorf("connect %d µs, want 30 ms", *p.Max)
	}
	o.devices[1].unacked.set(7, 3*time.Second, o.window.Load())
	o.OnConnection(1, false, 5*time.Second, &client.CloseError{Code: 1001, Reason: "bye"})
	o.OnConnection(1, false, 6*time.Second, syscall.ECONNREFUSED)
	if n := o.tallies.connections.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
	if u := o.devices[1].unacked; u.n != 0 || u.area != 14*time.Second {
		t.Errorf("unacked %d, area %v; want 7 deliveries for 2 s, and none since", u.n, u.area)
	}
	o.OnConnection(1, true, 7*time.Second, nil)
	if n := o.window.Load().recorder.Snapshot().Completed(measure.Reconnects); n != 1 {
		t.Errorf("%d reconnects, want 1", n)
	}
	if s := o.trouble.sentences(); len(s) != 2 || s[0] != "1 × connection lost: closed by the server (1001 bye)" || s[1] != "1 × couldn't connect: connection refused" {
		t.Errorf("trouble %q", s)
	}
}

// BenchmarkArrival is what the generator itself pays per delivery, beyond the
// device.
func BenchmarkArrival(b *testing.B) {
	o, m := observerOf(b, b.N)
	ids := make([][]byte, b.N)
	for k := range ids {
		ids[k] = []byte(m.id(0, k))
		m.sent[0][k].Store(int64(m.intended[0][k]))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for k, id := range ids {
		a := client.Arrival{Conversation: "g:g", Epoch: 1, Seq: uint64(k + 1), ClientMsgID: id, At: m.intended[0][k] + time.Millisecond, Path: client.Pushed}
		o.OnArrival(1, a)
		o.OnShown(1, a)
	}
}

// Two devices on one cache line would slow each other down.
func TestDeviceStateSize(t *testing.T) {
	if n := unsafe.Sizeof(deviceState{}); n != 4*64 {
		t.Errorf("%d bytes, want four cache lines of 64: change the padding", n)
	}
}
