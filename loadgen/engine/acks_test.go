package engine

import (
	"math"
	"testing"

	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// predictOf builds what predict needs for a resolved profile and returns its
// answer together with the deliveries that the schedule holds for a group.
func predictOf(t *testing.T, sets ...string) (r *run, w *window, requests, chance float64) {
	t.Helper()
	src, err := profiles.Load("ack-storm")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := src.Resolve(append([]string{"phases.warmup=0s", "phases.measure=60s"}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	p := settings[len(settings)-1].Profile // "10 or 500ms"
	pop, err := population.Build(p, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := policyOf(p.Clients.Ack)
	if err != nil {
		t.Fatal(err)
	}
	r = &run{profile: p, pop: pop, seed: 1, obs: &observer{policy: policy}}
	r.msgs = newMessages("x", pop.Conversations(), nil, r.events())
	w = &window{from: 0, to: p.Phases.Measure.Std()}
	requests, chance = r.predict(w)
	return r, w, requests, chance
}

func TestPredict(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sets  []string
		batch float64 // deliveries ÷ ack requests; NaN: no closed form
		slack float64 // the schedule's rate isn't quite the profile's
	}{
		// measuring.md (14), cases/ack-rate.csv: r = 20·499/500, T = 0.5 s.
		{"count-or-interval", []string{"clients.ack.policy=count-or-interval", "clients.ack.every=10"}, 9.20015, 0.15},
		{"interval", []string{"clients.ack.policy=interval"}, 1 + 19.96*0.5, 0.6},
		{"count", []string{"clients.ack.policy=count"}, 10, 1e-9},
		{"each", []string{"clients.ack.policy=each"}, 1, 1e-9},
		{"count, bursts", []string{"clients.ack.policy=count", "traffic.group.arrivals=burst"}, 10, 1e-9},
		{"interval, bursts", []string{"clients.ack.policy=interval", "traffic.group.arrivals=burst"}, math.NaN(), 0},
		{"interval, even, random senders", []string{"clients.ack.policy=interval", "traffic.group.arrivals=uniform"}, math.NaN(), 0},
		// 16/s evenly from one sender: 1 + ⌊16 × 0.53⌋ = 9.
		{"interval, even, fixed sender", []string{"clients.ack.policy=interval", "clients.ack.interval=530ms", "traffic.group.rate=16/s",
			"traffic.group.arrivals=uniform", "traffic.group.senders=fixed"}, 9, 1e-9},
		{"an idle flush", []string{"clients.ack.policy=interval", "clients.ack.idle=100ms"}, math.NaN(), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w, requests, chance := predictOf(t, tt.sets...)
			s := r.stream(0, w)
			if math.IsNaN(tt.batch) {
				if !math.IsNaN(requests) {
					t.Errorf("predicted %v, but there is no closed form", requests)
				}
				return
			}
			if got := s.scheduled / requests; math.Abs(got-tt.batch) > tt.slack {
				t.Errorf("mean batch %v, want %v", got, tt.batch)
			}
			if !(chance >= 0 && chance < 0.02) { // the limit is 5 %
				t.Errorf("expected error %v in 60 s", chance)
			}
			if tt.name == "interval" { // exactly at the schedule's own rate
				rate := float64(len(r.msgs.intended[0])) / 60 * 499 / 500
				if got, want := s.scheduled/requests, 1+rate*0.5; math.Abs(got-want) > 1e-6 {
					t.Errorf("mean batch %v, want %v at %v/s", got, want, rate)
				}
			}
		})
	}
}

func TestStreams(t *testing.T) {
	// Two groups share 20/s; half of 12 users are online; direct messages to anybody.
	r, w, _, _ := predictOf(t, "population.users=12", "population.groups.members=12", "population.groups.count=2",
		"clients.online=50%", "traffic.direct.rate=11/s")
	s := r.stream(0, w)
	if want := 10.0 * 5 / 6; math.Abs(s.rate-want) > 1e-9 {
		t.Errorf("rate in a group %v, want %v: 10/s, a sixth of it one's own", s.rate, want)
	}
	if n := float64(len(r.msgs.intended[0])); s.scheduled != n*5 {
		t.Errorf("%v deliveries of %v messages, want five each", s.scheduled, n)
	}
	online, offline := -1, -1
	for u, on := range r.pop.Online {
		if on {
			online = u
		} else {
			offline = u
		}
	}
	// Each of six senders sends 11/6 per second to one of eleven others; five of them may pick this one.
	if got, want := r.stream(r.pop.Inbox(online), w).rate, 11.0/6*5/11; math.Abs(got-want) > 1e-9 {
		t.Errorf("rate in an inbox %v, want %v", got, want)
	}
	if s := r.stream(r.pop.Inbox(offline), w); s.scheduled != 0 || s.receivers != 0 {
		t.Errorf("%+v of somebody offline", s)
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct{ ours, unknown, theirs, want float64 }{
		{100, 0, 100, 100}, {100, 0, 101, 100}, {100, 2, 101, 101}, {100, 2, 102, 102}, {100, 2, 103, 100}, {100, 2, 99, 100},
	} {
		if got := within(tt.ours, tt.unknown, tt.theirs); got != tt.want {
			t.Errorf("%v accepted, %v unknown, %v stored: %v, want %v", tt.ours, tt.unknown, tt.theirs, got, tt.want)
		}
	}
}
