package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/population"
	"ackmark/profiles"
	"ackmark/results"
)

// hall is a server that welcomes everybody and notes who comes and who goes, and
// when. Whoever comes has one message pushed.
type hall struct {
	clock clock
	msgs  *messages

	mu     sync.Mutex // guards what follows
	events []visitEvent
}

type visitEvent struct {
	what string // "comes", "leaves" or "dies"
	user int
	at   time.Duration
}

func (h *hall) note(what string, user int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, visitEvent{what, user, h.clock.now().Round(time.Millisecond)})
}

func (h *hall) Connect(_ context.Context, id client.Identity, _ client.Hello, to client.Handler) (client.Session, error) {
	h.note("comes", id.Index)
	return &visitor{stuckSession: stuckSession{dev: id.Index, h: to, done: make(chan struct{})}, hall: h}, nil
}

type visitor struct {
	stuckSession
	hall *hall
	once sync.Once
}

func (v *visitor) Serve() error {
	v.h.OnWelcome(v.hall.clock.now(), &client.Welcome{Window: 1, Conversations: []client.Standing{{Conversation: "g:g", Epoch: 1}}})
	v.h.OnDelivery(v.hall.clock.now(), &client.Delivery{
		Conversation: []byte("g:g"), Sender: []byte("a"), ClientMsgID: []byte(v.hall.msgs.id(0, 0)), Epoch: 1, Seq: 1,
	})
	<-v.done
	return context.Canceled
}

func (v *visitor) Flush() {}

func (v *visitor) end(how string) {
	v.once.Do(func() {
		v.hall.note(how, v.dev)
		close(v.done)
	})
}

func (v *visitor) Abort()                      { v.end("dies") }
func (v *visitor) Close(context.Context) error { v.end("leaves"); return nil }

// livesOf makes a run whose user 1 is to log in.
func livesOf(t *testing.T, c profiles.Clients) (*run, *hall) {
	t.Helper()
	o, m := observerOf(t, 1)
	r := &run{
		profile: &profiles.Profile{Clients: c}, clock: newClock(), msgs: m, obs: o, seats: make([]seat, 2),
		pop: &population.Population{Users: []string{"a", "b"}}, engine: &engine{tokenSecret: "secret"},
		out: results.Run{Metrics: results.Values{}},
	}
	o.ledger.OnSend(0, 0)
	o.crashed = func(user int) { r.lives.crashed(user) }
	h := &hall{clock: r.clock, msgs: m}
	cfg := client.Config{Driver: h, Clock: r.clock.now, Observer: o, Ack: ackpolicy.Policy{Kind: ackpolicy.Each}}
	point, err := client.ParseCrashPoint(c.Crash.Between)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Crash = client.Crashing{Point: point, Decide: crashing(c.Crash, 1)}
	if r.fleet, err = client.NewFleet(cfg); err != nil {
		t.Fatal(err)
	}
	r.lives = newLives(r, t.Context())
	return r, h
}

func (h *hall) check(t *testing.T, want ...visitEvent) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range max(len(want), len(h.events)) {
		var got, should visitEvent
		if i < len(h.events) {
			got = h.events[i]
		}
		if i < len(want) {
			should = want[i]
		}
		if got != should {
			t.Errorf("event %d: %+v, want %+v", i, got, should)
		}
	}
}

// TestVisits has a user come for 2 s and stay away for 1 s, until the measure
// phase is over: who is there then stays.
func TestVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, h := livesOf(t, profiles.Clients{
			Session: profiles.Duration(2 * time.Second), Away: profiles.Duration(time.Second), Crash: profiles.Crash{Between: profiles.CrashOff},
		})
		time.Sleep(time.Second)
		r.lives.arrive(1, 990*time.Millisecond) // the pacer was late
		time.Sleep(7 * time.Second)
		r.lives.endVisits()
		time.Sleep(5 * time.Second)
		h.check(t,
			visitEvent{"comes", 1, 1 * time.Second}, visitEvent{"leaves", 1, 3 * time.Second},
			visitEvent{"comes", 1, 4 * time.Second}, visitEvent{"leaves", 1, 6 * time.Second},
			visitEvent{"comes", 1, 7 * time.Second},
		)
		r.leave(t.Context())
		if n := r.obs.tallies.connections.Load(); n != 1 { // the one that leave closed isn't told of
			t.Errorf("%d connections, want 1", n)
		}
		if n := r.obs.tallies.leftInPhase.Load(); n != 0 { // 990 ms is before the measure phase of observerOf
			t.Errorf("%d logins in the measure phase, want none", n)
		}
		if r.obs.logins.began != 3 || r.obs.logins.synced != 3 {
			t.Errorf("%d logins, %d synced; want 3 of each", r.obs.logins.began, r.obs.logins.synced)
		}
	})
}

// TestRelogin has a client crash with its first delivery shown and not acked. It
// comes back with what it had persisted, so the redelivery isn't shown again.
func TestRelogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, h := livesOf(t, profiles.Clients{Crash: profiles.Crash{
			Between: profiles.CrashReceiveAndAck, Probability: 100, Login: 1, Relogin: profiles.Duration(500 * time.Millisecond),
		}})
		time.Sleep(2 * time.Second)
		r.lives.arrive(1, 2*time.Second)
		time.Sleep(200 * time.Millisecond)
		if r.device(1) != nil || r.obs.tallies.syncing.Load() != 1 {
			t.Error("the device is dead and about to come back: nobody sends through it, and the drain waits for it")
		}
		time.Sleep(5 * time.Second)
		h.check(t,
			visitEvent{"comes", 1, 2 * time.Second}, visitEvent{"dies", 1, 2 * time.Second},
			visitEvent{"comes", 1, 2500 * time.Millisecond},
		)
		r.leave(t.Context())
		rep := r.obs.ledger.Audit(nil)
		if rep.Arrivals != 2 || rep.Redelivered != 1 || rep.ShownTwice != 0 {
			t.Errorf("%d arrivals, %d redelivered, %d shown twice; want 2, 1, 0", rep.Arrivals, rep.Redelivered, rep.ShownTwice)
		}
		if l := &r.obs.logins; l.crashes != 1 || l.began != 2 || l.synced != 2 {
			t.Errorf("%d crashes, %d logins, %d synced; want 1, 2, 2", l.crashes, l.began, l.synced)
		}
	})
}

// TestLivesEnd ends while a user is about to come back: it stays away.
func TestLivesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, h := livesOf(t, profiles.Clients{Crash: profiles.Crash{
			Between: profiles.CrashReceiveAndAck, Probability: 100, Relogin: profiles.Duration(time.Hour),
		}})
		time.Sleep(2 * time.Second)
		r.lives.arrive(1, 2*time.Second)
		time.Sleep(time.Second)
		r.leave(t.Context())
		h.check(t, visitEvent{"comes", 1, 2 * time.Second}, visitEvent{"dies", 1, 2 * time.Second})
		if n := r.obs.tallies.syncing.Load(); n != 0 {
			t.Errorf("%d are syncing still", n)
		}
		r.lives.arrive(1, 3*time.Second) // too late
		r.lives.crashed(1)
		synctest.Wait()
		h.check(t, visitEvent{"comes", 1, 2 * time.Second}, visitEvent{"dies", 1, 2 * time.Second})
	})
}
