package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/population"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
)

// stuck is a driver whose connection of device 0 takes two seconds per write,
// and the others' none.
type stuck struct{ departed chan departure }

type departure struct {
	dev int
	id  string
	at  time.Time
}

func (s stuck) Connect(_ context.Context, id client.Identity, _ client.Hello, h client.Handler) (client.Session, error) {
	return &stuckSession{stuck: s, dev: id.Index, h: h, done: make(chan struct{})}, nil
}

type stuckSession struct {
	stuck
	dev  int
	h    client.Handler
	out  []string
	done chan struct{}
}

func (s *stuckSession) Send(m *client.Outgoing)          { s.out = append(s.out, m.ClientMsgID) }
func (s *stuckSession) Ack(string, uint64, uint64)       {}
func (s *stuckSession) AckIDs(string, uint64, []uint64)  {}
func (s *stuckSession) Pull(*client.PullRequest)         {}
func (s *stuckSession) Sync(*client.SyncRequest)         {}
func (s *stuckSession) Counts(uint64, bool)              {}
func (s *stuckSession) Friends(uint64, string, int)      {}
func (s *stuckSession) Open(uint64, string)              {}
func (s *stuckSession) CloseConversation(uint64, string) {}
func (s *stuckSession) Abort()                           { close(s.done) }
func (s *stuckSession) Bytes() (read, written uint64)    { return 0, 0 }
func (s *stuckSession) Close(context.Context) error      { s.Abort(); return nil }
func (s *stuckSession) Serve() error {
	s.h.OnWelcome(0, &client.Welcome{Window: 1})
	<-s.done
	return context.Canceled
}

func (s *stuckSession) Flush() {
	for _, id := range s.out {
		if s.dev == 0 {
			time.Sleep(2 * time.Second) // in a bubble: the write takes that long
		}
		s.departed <- departure{s.dev, id, time.Now()}
	}
	s.out = nil
}

// TestPacerNeverWaits has one device stuck in its writes: others leave on time,
// its own queue up and leave in order, and their lag shows the wait.
func TestPacerNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := []schedule.Event{
			{At: 1 * time.Second, Kind: schedule.Group, Ordinal: 0, Sender: 0},
			{At: 2 * time.Second, Kind: schedule.Group, Ordinal: 1, Sender: 0},
			{At: 2 * time.Second, Kind: schedule.Group, Ordinal: 2, Sender: 1},
			{At: 2500 * time.Millisecond, Kind: schedule.Group, Ordinal: 3, Sender: 1},
		}
		pop := &population.Population{Users: []string{"a", "b"}, Groups: []population.Group{{ID: "g", Members: []int{0, 1}, Online: []int{0, 1}}}, Online: []bool{true, true}}
		l, err := ledger.New(ledger.Config{Conversations: []ledger.Conversation{{Name: "g:g", Recipients: []int{0, 1}, Senders: []int{0, 0, 1, 1}}}})
		if err != nil {
			t.Fatal(err)
		}
		setup, err := measure.NewRecorder(measure.Config{Shards: 1, MeasureEnd: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		r := &run{
			profile: &profiles.Profile{Traffic: profiles.Traffic{Group: &profiles.Flow{Bytes: 10}}}, pop: pop, clock: newClock(), ledger: l,
			msgs: newMessages("x", 3, nil, slices.Values(events)), seats: make([]seat, 2),
		}
		r.obs = &observer{msgs: r.msgs, ledger: l, setup: setup, devices: make([]deviceState, 2), online: func(int, int) int64 { return 1 }}
		rec, err := measure.NewRecorder(measure.Config{Shards: 1, MeasureEnd: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		r.obs.window.Store(&window{to: time.Minute, recorder: rec})
		driver := stuck{departed: make(chan departure, 10)}
		fleet, err := client.NewFleet(client.Config{Driver: driver, Clock: r.clock.now, Observer: r.obs, Ack: ackpolicy.Policy{Kind: ackpolicy.Each}})
		if err != nil {
			t.Fatal(err)
		}
		for u := range r.seats {
			d := fleet.Device(client.Identity{Index: u, User: pop.Users[u]})
			if err := d.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.seats[u].device.Store(d)
		}
		r.msgs.begin(0)
		p := newPacer(r)
		p.wait.nap = time.Sleep // a bubble knows no system calls
		p.walk(t.Context(), 0, slices.Values(events))
		close(driver.departed)
		got := map[string]time.Duration{}
		for d := range driver.departed {
			got[d.id] = d.at.Sub(r.clock.began)
		}
		want := map[string]time.Duration{
			"x.0.0": 3 * time.Second, // 1 s + 2 s of writing
			"x.0.1": 5 * time.Second, // after it
			"x.0.2": 2 * time.Second, "x.0.3": 2500 * time.Millisecond,
		}
		for id, at := range want {
			if got[id] != at {
				t.Errorf("%s left at %v, want %v", id, got[id], at)
			}
		}
		lag := rec.Snapshot().Percentiles(measure.ScheduleLag)
		if lag.Count != 4 || *lag.Min != 0 || *lag.Max < 2_990_000 || *lag.Max > 3_010_000 {
			t.Errorf("lag from %v to %v µs of %d; want 0 to 3 s of 4", *lag.Min, *lag.Max, lag.Count)
		}
		if n := r.obs.tallies.lateSends.Load(); n != 2 {
			t.Errorf("%d late sends, want the two of the device that was stuck", n)
		}
		for u := range r.seats {
			r.device(u).Crash()
		}
	})
}

func TestBodies(t *testing.T) {
	b := newBodies(200, 1)
	if first, second := string(b.next(200)), string(b.next(200)); first == second {
		t.Error("two bodies are the same")
	}
	for _, c := range b.next(200) {
		if c < ' ' || c > '~' {
			t.Errorf("byte %d isn't printable", c)
		}
	}
	if n := len(b.next(0)); n != 0 {
		t.Errorf("an empty body has %d bytes", n)
	}
}
