package engine

import (
	"math"
	"testing"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/measure"
	"ackmark/profiles"
	"ackmark/results"
)

// TestLogins takes two logins in, one of which crashes and comes back, and a
// reconnection, which is none.
func TestLogins(t *testing.T) {
	o, m := observerOf(t, 4)
	var crashed []int
	o.crashed = func(dev int) { crashed = append(crashed, dev) }
	at := func(ms int) time.Duration { return 2*time.Second + time.Duration(ms)*time.Millisecond }

	o.dials(0, at(0), true)
	o.dials(1, at(10), true)
	if n := o.tallies.syncing.Load(); n != 2 {
		t.Errorf("%d are syncing, want 2", n)
	}
	o.OnConnection(0, true, at(5), nil)
	o.OnConnection(1, true, at(15), nil)
	// Began is when the device dialed; the user wanted in 3 ms before.
	o.OnSync(0, client.Sync{Login: 1, Began: at(3), At: at(40), Requests: 5, Pages: 4, LargestResponse: 700})
	o.ledger.OnSend(0, 2)
	o.OnCrash(1, client.CrashedAt{Login: 1, Point: client.PullAndAck, At: at(30), Dropped: []client.Dropped{
		{Conversation: "g:g", Epoch: 1, Seq: 3, ClientMsgID: m.id(0, 2)},
	}})
	if n := o.tallies.syncing.Load(); n != 1 || len(crashed) != 1 || crashed[0] != 1 {
		t.Errorf("%d are syncing, want the one that comes back; crashed %v", n, crashed)
	}
	if n := o.tallies.connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	o.dials(1, at(50), true)
	o.OnConnection(1, true, at(55), nil)
	o.OnSync(1, client.Sync{Login: 2, Began: at(50), At: at(80), Requests: 2, Pages: 1, LargestResponse: 900})
	o.OnSync(1, client.Sync{Login: 3, Began: at(90), At: at(95), Requests: 100, Pages: 1, LargestResponse: 5000}) // reconnected
	if n := o.tallies.syncing.Load(); n != 0 {
		t.Errorf("%d are syncing, want nobody", n)
	}
	sync := o.setup.Snapshot().Percentiles(measure.Sync)
	if sync.Count != 3 || *sync.Min/100 != 50 || *sync.Max/100 != 400 {
		t.Errorf("%d syncs from %d to %d µs, want 3 from 5 to 40 ms", sync.Count, *sync.Min, *sync.Max)
	}
	if c := o.setup.Snapshot().Percentiles(measure.Connect); c.Count != 3 {
		t.Errorf("%d connects, want 3: each login dials", c.Count)
	}
	if rep := o.ledger.Audit(nil); rep.Dropped != 1 {
		t.Errorf("the ledger knows of %d dropped, want 1", rep.Dropped)
	}

	r := &run{obs: o, msgs: m, plannedLogins: 2, profile: &profiles.Profile{}, out: results.Run{Metrics: results.Values{}}}
	r.profile.Clients.Crash.Between = profiles.CrashPullAndAck
	r.loginFigures()
	for name, want := range map[string]float64{
		"logins": 3, "crashes": 1, "requests_per_login": 3.5, "pages_per_login": 2.5, "largest_response_bytes": 900,
	} {
		if got, ok := r.out.Metrics.Get(name); !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if len(r.out.Warnings) != 0 {
		t.Errorf("warnings %q", r.out.Warnings)
	}

	o.dials(0, at(100), true)
	o.left(0, at(110)) // before it had synced
	r.loginFigures()
	if len(r.out.Warnings) != 1 {
		t.Errorf("warnings %q, want one of the login that never synced", r.out.Warnings)
	}
}

// TestEarlyArrivals counts what waited for a device that connects before there
// is traffic.
func TestEarlyArrivals(t *testing.T) {
	o, m := observerOf(t, 2)
	o.window.Store(nil)
	m.intended[0][0] = time.Second
	a := client.Arrival{Conversation: "g:g", Epoch: 1, Seq: 1, ClientMsgID: []byte(m.id(0, 0)), At: 3 * time.Second, Path: client.Paged}
	o.OnArrival(1, a)
	o.OnArrival(1, a)
	if n, again := o.tallies.arrived.Load(), o.tallies.again.Load(); n != 1 || again != 1 {
		t.Errorf("%d arrived, %d again; want one of each", n, again)
	}
	if age := o.setup.Snapshot().Percentiles(measure.OfflineAge); age.Count != 1 || *age.Max/10_000 != 200 {
		t.Errorf("%d ages of up to %d µs, want one of 2 s", age.Count, *age.Max)
	}
}

func TestCrashing(t *testing.T) {
	second := crashing(profiles.Crash{Probability: 100, Login: 2}, 1)
	if second(7, 1) || !second(7, 2) || second(7, 3) {
		t.Error("login: 2 crashes the second login and no other")
	}
	some, same := crashing(profiles.Crash{Probability: 30}, 1), crashing(profiles.Crash{Probability: 30}, 1)
	const devs, logins = 1000, 10
	n := 0
	for dev := range devs {
		for login := 1; login <= logins; login++ {
			if some(dev, login) != same(dev, login) {
				t.Fatal("the same seed, user and login were decided in two ways")
			}
			if some(dev, login) {
				n++
			}
		}
	}
	// Binomial: five standard deviations of √(n·p·q).
	if want, slack := 0.3*devs*logins, 5*math.Sqrt(devs*logins*0.3*0.7); math.Abs(float64(n)-want) > slack {
		t.Errorf("%d of %d logins crash, want about %v", n, devs*logins, want)
	}
	if crashing(profiles.Crash{}, 1)(1, 1) {
		t.Error("probability 0 crashed")
	}
}

func TestForGood(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(p *profiles.Profile)
		want bool
	}{
		{"everything must come", func(*profiles.Profile) {}, false},
		{"crashes, and nothing goes before its ack", func(p *profiles.Profile) { p.Clients.Crash.Between = profiles.CrashMidSync }, false},
		{"crashes, and what was pulled is gone", func(p *profiles.Profile) {
			p.Clients.Crash.Between, p.Server.Remove = profiles.CrashPullAndAck, profiles.RemoveOnPull
		}, true},
		{"visits, and what is pushed isn't stored", func(p *profiles.Profile) {
			p.Clients.Session, p.Server.StoreFor = profiles.Duration(time.Second), profiles.StoreForOffline
		}, true},
		{"a cursor that passes ties over", func(p *profiles.Profile) { p.Server.Cursor = profiles.CursorTimeAfter }, true},
		{"groups that nobody opens", func(p *profiles.Profile) { p.Clients.Pull.Groups = profiles.GroupsOnDemand }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := observerOf(t, 1)
			p := resolved(t, "smoke", nil)
			tt.set(p)
			r := &run{profile: p, obs: o}
			if got := r.forGood(); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			o.tallies.syncing.Add(1)
			if r.forGood() {
				t.Error("somebody is syncing still")
			}
		})
	}
}

func TestDesignFlags(t *testing.T) {
	if f := designFlags(resolved(t, "smoke", nil).Server); len(f) != 0 {
		t.Errorf("flags %q for what the server does anyway", f)
	}
	got := designFlags(profiles.Server{
		Group: "copies", Cursor: "seq", StoreFor: "offline", Remove: "on-pull", SenderIndex: "on", Dedup: "off",
	})
	want := []string{"--group", "copies", "--store-for", "offline", "--remove", "on-pull", "--dedup", "off", "--sender-index"}
	if len(got) != len(want) {
		t.Fatalf("flags %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("flags %q, want %q", got, want)
		}
	}
}
