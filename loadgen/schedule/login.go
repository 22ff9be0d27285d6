package schedule

import (
	"time"

	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// Arriving gives the users that traffic.login lets log in, ascending: those
// that are offline at the start and for whom something can wait, since they are
// a member of a group that is sent to, or somebody writes to them. Where only
// the first users have friends, the others are there to be friends, and don't
// log in.
func Arriving(p *profiles.Profile, pop *population.Population) []int {
	member := make([]bool, len(pop.Users))
	if p.Traffic.Group != nil || p.Backlog.Group != nil {
		for _, g := range pop.Groups {
			for _, u := range g.Members {
				member[u] = true
			}
		}
	}
	direct := p.Traffic.Direct != nil || p.Backlog.Direct != nil
	var out []int
	for u, on := range pop.Online {
		if !on && (member[u] || direct && (pop.Friends == 0 || pop.HasFriends(u))) {
			out = append(out, u)
		}
	}
	return out
}

func loginSource(p *profiles.Profile, pop *population.Population, seed uint64) func() Event {
	l := p.Traffic.Login
	if l == nil {
		return never
	}
	users := Arriving(p, pop)
	stream(seed, streamLoginPick).Shuffle(len(users), func(i, j int) { users[i], users[j] = users[j], users[i] })
	pacer := pacerOf(&profiles.Flow{Rate: l.Rate, Arrivals: l.Arrivals, Burst: l.Burst}, stream(seed, streamLoginGaps))
	n := 0
	return func() Event {
		if n == len(users) {
			return never()
		}
		e := Event{At: after(p.Phases.Warmup.Std(), pacer.Next()), Kind: Login, Conversation: -1, Ordinal: n, Sender: users[n], To: -1}
		n++
		return e
	}
}

// after adds times of which the second may be never.
func after(start, at time.Duration) time.Duration {
	if sum := start + at; sum >= at {
		return sum
	}
	return at
}
