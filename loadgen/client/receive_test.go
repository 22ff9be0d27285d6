package client

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
	"ackmark/refserver/wire"
)

// stream is a connection that yields deliveries without end and takes anything.
type stream struct {
	net.Conn
	record, buf []byte
	seq         uint64
	per         int // deliveries per read
}

func (s *stream) Read(p []byte) (int, error) {
	if s.seq == 0 {
		b, err := wire.AppendFrame(nil, welcome(standing(1, 0, 0, 0)))
		if err != nil {
			return 0, err
		}
		s.seq++
		return copy(p, wire.AppendMessage(nil, 2, b)), nil
	}
	s.buf = s.buf[:0]
	for range s.per {
		s.buf = wire.AppendDeliverMessage(s.buf, room, 1, s.seq, s.record)
		s.seq++
	}
	if len(s.buf) > len(p) {
		return 0, io.ErrShortBuffer
	}
	return copy(p, s.buf), nil
}

func (s *stream) Write(p []byte) (int, error)      { return len(p), nil }
func (s *stream) Close() error                     { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }

// receiving returns a step that takes in one delivery, and the counting device.
func receiving(t testing.TB, p ackpolicy.Policy, body, per int) (func(), *Device) {
	t.Helper()
	return receivingAs(t, Config{Ack: p, Observer: ignoreAll{}}, body, per)
}

// ignoreAll is an Observer that is told of what is in order in one call.
type ignoreAll struct{ Ignore }

func (ignoreAll) OnTaken(int, Arrival) {}

func receivingAs(t testing.TB, cfg Config, body, per int) (func(), *Device) {
	t.Helper()
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	w := &WebSocket{Clock: clock, ReadBuffer: 4096}
	cfg.Driver, cfg.Clock = w, clock
	f, err := NewFleet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d := f.Device(Identity{})
	text := make([]byte, body)
	for i := range text {
		text[i] = 'a'
	}
	s := w.session(&stream{record: wire.AppendRecord(nil, "bob", "r1.0.1", string(text), 1), per: per}, new(counter), link{d})
	d.sess = s
	step := func() {
		kind, begin, end := s.in.next(s.maxMessage)
		for kind == partial {
			if err := s.more(); err != nil {
				t.Fatal(err)
			}
			kind, begin, end = s.in.next(s.maxMessage)
		}
		s.in.r = end
		if err := s.dispatch(s.in.buf[begin:end]); err != nil {
			t.Fatal(err)
		}
	}
	step() // welcome
	t.Cleanup(func() { close(d.done); d.shutForTest() })
	return step, d
}

func TestReceivingAllocatesNothing(t *testing.T) {
	each, ten := ackpolicy.Policy{Kind: ackpolicy.Each}, ackpolicy.Policy{Kind: ackpolicy.Count, Every: 10}
	for name, cfg := range map[string]Config{
		"each":              {Ack: each, Observer: ignoreAll{}},
		"count":             {Ack: ten, Observer: ignoreAll{}},
		"count or interval": {Ack: ackpolicy.Policy{Kind: ackpolicy.CountOrInterval, Every: 10, Interval: 500 * time.Millisecond}, Observer: ignoreAll{}},
		"none":              {Ack: ackpolicy.Policy{Kind: ackpolicy.None}, Observer: ignoreAll{}},
		"told one by one":   {Ack: ten},
		"dedup none":        {Ack: ten, Observer: ignoreAll{}, Dedup: dedup.Config{Mode: dedup.None}},
		"dedup window":      {Ack: ten, Observer: ignoreAll{}, Dedup: dedup.Config{Mode: dedup.Window}},
		"about to crash":    {Ack: ten, Crash: Crashing{Point: MidSync, Decide: func(int, int) bool { return true }}},
	} {
		t.Run(name, func(t *testing.T) {
			step, d := receivingAs(t, cfg, 200, 5)
			for range 10_000 { // fills the window of identities
				step()
			}
			if n := testing.AllocsPerRun(5000, step); n != 0 {
				t.Errorf("%v allocations per delivery", n)
			}
			if st := d.Stats(); st.Deliveries < 15_000 || (st.AckRequests == 0) != (cfg.Ack.Kind == ackpolicy.None) {
				t.Errorf("%+v", st)
			}
		})
	}
}

func BenchmarkReceive(b *testing.B) {
	for _, p := range []ackpolicy.Policy{{Kind: ackpolicy.Each}, {Kind: ackpolicy.Count, Every: 10}} {
		b.Run(fmt.Sprint(p.Kind), func(b *testing.B) {
			step, _ := receiving(b, p, 200, 10)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// replayer feeds a device's arrivals to a replay, as the engine does.
type replayer struct {
	Ignore
	replay ackpolicy.Replay
	acks   uint64
	shown  []uint64

	policy  ackpolicy.Replay // told of everything that empties a batch
	decided uint64           // ack requests that the policy decided
}

func (r *replayer) OnReceived(_ int, _ string, at time.Duration) { r.policy.Arrive(at) }
func (r *replayer) OnConnection(_ int, up bool, now time.Duration, _ error) {
	if !up {
		r.policy.Expire(now)
		r.policy.Drop()
	}
}

func (r *replayer) OnArrival(_ int, a Arrival) { r.replay.Arrive(a.At) }
func (r *replayer) OnAckSent(_ int, a AckSent) {
	r.acks++
	switch {
	case a.Cause != ackpolicy.ByPage:
		r.decided++
	case a.Batch > 0:
		r.policy.Drop()
	}
}
func (r *replayer) OnShown(_ int, a Arrival) { r.shown = append(r.shown, a.Seq) }
func (r *replayer) OnTaken(dev int, a Arrival) {
	r.OnArrival(dev, a)
	r.OnShown(dev, a)
	r.OnReceived(dev, a.Conversation, a.At)
}

// TestDeviceSendsWhatTheReplaySays: over Poisson arrivals, a real timer and a
// real connection, the ack requests are those of the policy replayed.
func TestDeviceSendsWhatTheReplaySays(t *testing.T) {
	for _, p := range []ackpolicy.Policy{
		{Kind: ackpolicy.Each},
		{Kind: ackpolicy.Count, Every: 10},
		{Kind: ackpolicy.Interval, Interval: 500 * time.Millisecond},
		{Kind: ackpolicy.CountOrInterval, Every: 10, Interval: 500 * time.Millisecond},
		{Kind: ackpolicy.Count, Every: 10, Idle: 100 * time.Millisecond},
	} {
		play(t, Config{Ack: p}, func(s *scene) {
			r := &replayer{replay: ackpolicy.NewReplay(&p, 0, time.Hour), policy: ackpolicy.NewReplay(&p, 0, time.Hour)}
			s.dev.cfg.Observer, s.dev.taker = r, r
			c := s.enter(standing(1, 0, 0, 0))
			go func() {
				for range c.frames {
				}
			}()
			rng := rand.New(rand.NewPCG(1, 1))
			for seq := uint64(1); seq <= 2000; seq++ {
				time.Sleep(time.Duration(rng.ExpFloat64() * float64(50*time.Millisecond)))
				c.put(live(1, seq))
			}
			if err := s.dev.Close(s.Context()); err != nil {
				t.Fatal(err)
			}
			r.replay.Close(s.dev.cfg.Clock())
			if r.acks != r.replay.Acks() || len(r.shown) != 2000 {
				t.Errorf("%+v: %d ack requests, replayed %d; %d shown", p, r.acks, r.replay.Acks(), len(r.shown))
			}
		})
	}
}
