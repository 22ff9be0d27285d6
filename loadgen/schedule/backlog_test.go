package schedule

import (
	"math"
	"slices"
	"testing"
	"time"

	"ackmark/profiles"
)

// resolve makes the one setting of a profile without a file.
func resolve(t *testing.T, yaml string) *profiles.Profile {
	t.Helper()
	s, err := profiles.Parse("t.yaml", []byte("profile: ackmark/v1\nname: t\n"+yaml))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return settings[0].Profile
}

const receivers = `
population: {users: 120, groups: {count: 0}, friends: 100, friends_of: 3}
clients: {online: 0%}
backlog: {direct: {share: 12%, messages: 3}}
traffic: {login: {rate: 1/s, arrivals: uniform}}
phases: {warmup: 1s, measure: 10s}
`

// 3 receivers × 12 % of 100 friends × 3 messages: 36 in each inbox.
func TestDirectBacklog(t *testing.T) {
	p := resolve(t, receivers)
	pop := populate(t, p, 1)
	got := slices.Collect(Backlog(p, pop, 1))
	if len(got) != 108 || BacklogSize(p, pop) != 108 {
		t.Fatalf("%d messages, size %d; want 3 × 12 × 3 = 108", len(got), BacklogSize(p, pop))
	}
	next, from := map[int]int{}, map[int]map[int]int{}
	for i, e := range got {
		if e.Kind != Direct || e.At != 0 || e.Conversation != pop.Inbox(e.To) || e.To >= 3 {
			t.Fatalf("message %d: %+v", i, e)
		}
		if d := (e.Sender - e.To + 120) % 120; d < 1 || d > 100 {
			t.Fatalf("message %d: %d is no friend of %d", i, e.Sender, e.To)
		}
		if e.Ordinal != next[e.Conversation] {
			t.Fatalf("message %d: ordinal %d, want %d", i, e.Ordinal, next[e.Conversation])
		}
		next[e.Conversation]++
		if from[e.To] == nil {
			from[e.To] = map[int]int{}
		}
		from[e.To][e.Sender]++
	}
	for to := range 3 {
		if len(from[to]) != 12 {
			t.Errorf("%d friends wrote to %d, want 12", len(from[to]), to)
		}
		for sender, n := range from[to] {
			if n != 3 {
				t.Errorf("%d wrote %d messages to %d, want 3", sender, n, to)
			}
		}
	}
	if slices.Equal(got, slices.Collect(Backlog(p, pop, 2))) || !slices.Equal(got, slices.Collect(Backlog(p, pop, 1))) {
		t.Error("the seed doesn't decide who wrote")
	}
	for range Backlog(p, pop, 1) {
		break // a consumer may stop early
	}
}

// Who is online from the start has no direct backlog, and what is sent during
// the run goes on counting where the backlog ends.
func TestOrdinalsGoOnAfterTheBacklog(t *testing.T) {
	p := resolve(t, `
population: {users: 40, groups: {count: 4, members: 40}, friends: 10}
clients: {online: 25%}
backlog: {direct: {share: 50%, messages: 2}, group: {messages: 7}}
traffic: {group: {rate: 100/s}, direct: {rate: 100/s}, login: {rate: 10/s}}
`)
	pop := populate(t, p, 1)
	next, groups := map[int]int{}, 0
	check := func(e Event) {
		t.Helper()
		if e.Ordinal != next[e.Conversation] {
			t.Fatalf("%+v: ordinal, want %d", e, next[e.Conversation])
		}
		next[e.Conversation]++
	}
	for e := range Backlog(p, pop, 1) {
		check(e)
		if e.Kind == Group {
			groups++
		}
		if e.Kind == Direct && pop.Online[e.To] {
			t.Fatalf("%+v: a backlog for somebody who is online", e)
		}
		if e.Kind == Group && !pop.Online[e.Sender] {
			t.Fatalf("%+v: a member that logs in wrote it, though others are online", e)
		}
	}
	// 30 offline users × 5 friends × 2, and 4 groups × 7
	if groups != 28 || BacklogSize(p, pop) != 328 {
		t.Errorf("%d to groups of %d; want 28 of 328", groups, BacklogSize(p, pop))
	}
	logins := 0
	for e := range Events(p, pop, 1) {
		if e.Kind == Login {
			logins++
			continue
		}
		check(e)
	}
	if logins != 30 {
		t.Errorf("%d logins; want the 30 that are offline", logins)
	}
	for range Backlog(p, pop, 1) {
		break
	}
}

// Nobody online: the members themselves have written.
func TestGroupBacklogOfAnOfflineGroup(t *testing.T) {
	p := resolve(t, `
population: {users: 5, groups: {count: 2, members: 5}}
clients: {online: 0%}
backlog: {group: {messages: 500}}
traffic: {login: {rate: 1/s, arrivals: uniform}}
`)
	count := map[int]float64{}
	for e := range Backlog(p, populate(t, p, 1), 1) {
		count[e.Sender]++
	}
	for u := range 5 { // Binomial(1000, 1/5): five standard deviations of 12.6
		if math.Abs(count[u]-200) > 64 {
			t.Errorf("member %d wrote %.0f of 1000 messages, want about 200", u, count[u])
		}
	}
}

// Uniform logins at 1/s from the end of warm-up on: 1.5 s, 2.5 s, 3.5 s, and
// then nobody is left.
func TestLogins(t *testing.T) {
	p := resolve(t, receivers)
	pop := populate(t, p, 1)
	events := Build(p, pop, 1)
	if len(events) != 3 {
		t.Fatalf("%d events, want 3 logins: who only is a friend stays away", len(events))
	}
	seen := map[int]bool{}
	for i, e := range events {
		if want := time.Duration(i)*time.Second + 1500*time.Millisecond; e.At != want || e.Kind != Login || e.Ordinal != i || e.Conversation != -1 || e.To != -1 || e.Sender >= 3 || seen[e.Sender] {
			t.Errorf("login %d: %+v, want at %v", i, e, want)
		}
		seen[e.Sender] = true
	}
	p.Traffic.Login.Rate = 0.2
	if n := len(Build(p, pop, 1)); n != 2 { // 10 s × 0.2/s
		t.Errorf("%d logins at 12/m in 10s, want 2", n)
	}
	other := slices.Collect(Events(p, pop, 5))
	for seed := uint64(2); other[0].Sender == events[0].Sender && seed < 50; seed++ {
		other = slices.Collect(Events(p, pop, seed))
	}
	if other[0].Sender == events[0].Sender {
		t.Error("no seed changes who logs in first")
	}
}

// Who logs in: members of groups that are sent to, owners of a friend list,
// everybody where anybody may be written to; nobody who is there already.
func TestArriving(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		want       int
	}{
		{"group members", "population: {users: 100, groups: {count: 1, members: 100}}\nclients: {online: 40%}\ntraffic: {group: {}, login: {}}", 60},
		{"a group nobody sends to", "population: {users: 100, groups: {count: 1, members: 100}, friends: 2, friends_of: 10}\nclients: {online: 0%}\nbacklog: {direct: {share: 50%}}\ntraffic: {login: {}}", 10},
		{"anybody", "population: {users: 100, groups: {count: 0}}\nclients: {online: 10%}\ntraffic: {direct: {}, login: {}}", 90},
		{"mutual friends", "population: {users: 100, groups: {count: 0}, friends: 4}\nclients: {online: 10%}\ntraffic: {direct: {}, login: {}}", 90},
	} {
		p := resolve(t, tc.yaml)
		pop := populate(t, p, 1)
		got := Arriving(p, pop)
		if len(got) != tc.want || !slices.IsSorted(got) || slices.ContainsFunc(got, func(u int) bool { return pop.Online[u] }) {
			t.Errorf("%s: %d users, want %d, sorted and offline", tc.name, len(got), tc.want)
		}
	}
}

// With one-way friends a direct message goes to somebody who has the sender as
// a friend, and who has nobody to write to doesn't send.
func TestDirectTrafficToOneWayFriends(t *testing.T) {
	p := resolve(t, `
population: {users: 100, groups: {count: 0}, friends: 30, friends_of: 4}
clients: {online: 50%}
traffic: {direct: {rate: 500/s}}
`)
	pop := populate(t, p, 1)
	to := map[int]int{}
	for e := range Events(p, pop, 1) {
		if d := (e.Sender - e.To + 100) % 100; d < 1 || d > 30 || e.To >= 4 || !pop.Online[e.Sender] {
			t.Fatalf("%+v: the sender is no friend of the receiver, or offline", e)
		}
		to[e.To]++
	}
	if len(to) != 4 {
		t.Errorf("messages to %d of 4 users with friends", len(to))
	}
}

func TestAfter(t *testing.T) {
	if got := after(time.Second, math.MaxInt64-1); got != math.MaxInt64-1 {
		t.Errorf("an arrival that never comes moved to %v", got)
	}
	if got := after(2*time.Second, time.Second); got != 3*time.Second {
		t.Errorf("got %v, want 3s", got)
	}
}
