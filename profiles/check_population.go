package profiles

import (
	"fmt"
	"math"
	"time"
)

func (c *checker) population() {
	const users, count, members, friends, of = "population.users", "population.groups.count", "population.groups.members", "population.friends", "population.friends_of"
	p := c.p.Population
	if c.sound(users, count, members) && p.Groups.Count > 0 && p.Groups.Members > p.Users {
		c.problem(c.blame(members, users), fmt.Sprintf("at most %d, or population.users: %d", p.Users, p.Groups.Members),
			"groups of %d members, but only %d users", p.Groups.Members, p.Users)
	}
	if c.sound(users, friends, of) {
		switch {
		case p.Friends >= p.Users:
			c.problem(c.blame(friends, users), fmt.Sprintf("at most %d, or more users", p.Users-1), "%d friends each, but only %d users", p.Friends, p.Users)
		case p.FriendsOf > p.Users:
			c.problem(c.blame(of, users), fmt.Sprintf("at most %d, or more users", p.Users), "%d users have friends, but there are only %d users", p.FriendsOf, p.Users)
		case p.FriendsOf > 0 && p.Friends == 0:
			c.problem(c.blame(of, friends), "population.friends: 100, or leave friends_of out", "%d users have a friend list, of 0 friends", p.FriendsOf)
		case p.FriendsOf == 0 && p.Friends%2 == 1 && p.Users%2 == 1:
			c.problem(c.blame(friends, users), "make one of them even", "%d friends each among %d users can't all be mutual", p.Friends, p.Users)
		}
	}
}

// online: who sends must be there, and who logs in must not.
func (c *checker) online() {
	const online, users, login = "clients.online", "population.users", "traffic.login"
	if !c.sound(online, users, "traffic") {
		return
	}
	t, share, n := c.p.Traffic, c.p.Clients.Online, c.p.Population.Users
	there := share.Of(n)
	switch {
	case share > 0 && there == 0:
		c.problem(c.blame(online, users), "at least "+Percent(math.Ceil(10000/float64(n))/100).String(), "%s of %d users is nobody", share, n)
	case there == 0 && t.Group != nil:
		c.problem(c.blame(online, "traffic.group.rate"), "more than 0%, or leave traffic.group out", "nobody is online from the start, so nobody can send traffic.group")
	case there == 0 && t.Direct != nil:
		c.problem(c.blame(online, "traffic.direct.rate"), "more than 0%, or leave traffic.direct out", "nobody is online from the start, so nobody can send traffic.direct")
	case there == n && t.Login != nil:
		c.problem(c.blame(online, "traffic.login.rate"), "less than 100%, or leave traffic.login out", "everybody is online from the start: nobody is left to log in")
	case there == n && c.p.Backlog.Direct != nil && c.sound("backlog.direct"):
		c.problem(c.blame("backlog.direct", online), "clients.online below 100%", "backlog.direct waits for users that are offline, and everybody is online")
	}
}

func (c *checker) traffic() {
	t, b := c.p.Traffic, c.p.Backlog
	if t.Group == nil && t.Direct == nil && c.sound("traffic.group", "traffic.direct", "backlog") {
		switch {
		case t.Login == nil && b.Direct == nil && b.Group == nil:
			c.problem(c.blame("traffic.group"), "traffic: {group: {rate: 20/s}}, or direct, or both", "nothing is sent: there is no traffic")
		case b.Direct == nil && b.Group == nil:
			c.problem(c.blame("traffic.login.rate"), "backlog: {direct: {}}, or traffic.group or traffic.direct", "nothing is sent, so nothing waits for who logs in")
		}
	}
	if t.Group != nil && c.p.Population.Groups.Count == 0 && c.sound("traffic.group", "population.groups.count") {
		c.problem(c.blame("population.groups.count"), "at least 1, or leave traffic.group out", "0 groups, but traffic.group sends to groups")
	}
	if t.Direct != nil && c.p.Population.Users < 2 && c.sound("traffic.direct", "population.users") {
		c.problem(c.blame("population.users"), "at least 2, or leave traffic.direct out", "1 user has nobody to send traffic.direct to")
	}
}

func (c *checker) flow(path string, f *Flow) {
	if f == nil || !c.sound("phases.warmup", "phases.measure", path) {
		return
	}
	total := f.Rate.PerSecond() * (c.p.Phases.Measure + c.p.Phases.Warmup).Std().Seconds()
	if total > maxSends {
		c.problem(c.blame(path+".rate", "phases.measure"), fmt.Sprintf("at most %d", maxSends), "%s plans %.0f sends", path, total)
		return
	}
	c.arrivals(path, "message", *f)
}

// logins: at least one falls into measure.
func (c *checker) logins() {
	l := c.p.Traffic.Login
	if l == nil || !c.sound("phases.measure", "traffic.login") {
		return
	}
	c.arrivals("traffic.login", "login", Flow{Rate: l.Rate, Arrivals: l.Arrivals, Burst: l.Burst})
}

// arrivals: at least one arrival, or one burst of them, falls into measure.
func (c *checker) arrivals(path, what string, f Flow) {
	rate, arrivals, burst := path+".rate", path+".arrivals", path+".burst"
	measure := c.p.Phases.Measure
	n := f.Rate.PerSecond() * measure.Std().Seconds()
	switch {
	case n < 1:
		c.problem(c.blame(rate, "phases.measure"), "a higher rate or a longer phases.measure", "%s at %s comes to less than one %s in %s", path, f.Rate, what, measure)
	case f.Arrivals == ArrivalsBurst && n < float64(f.Burst):
		c.problem(c.blame(burst, rate, "phases.measure"), "a smaller burst, a higher rate or a longer phases.measure",
			"bursts of %d at %s come every %s, less than once in %s", f.Burst, f.Rate, seconds(float64(f.Burst)/f.Rate.PerSecond()), measure)
	}
	if _, set := c.set[burst]; set && f.Arrivals != ArrivalsBurst {
		c.warn(c.blame(burst), arrivals+": burst, or leave it out", "%s has no effect with %s arrivals", burst, f.Arrivals)
	}
}

// backlog: what waits is sent by somebody, in bounds, and is pulled by somebody.
func (c *checker) backlog() {
	b, p := c.p.Backlog, c.p.Population
	if b.Direct == nil && b.Group == nil || !c.sound("backlog", "population", "traffic") {
		return
	}
	if c.p.Traffic.Login == nil {
		at := c.blame("backlog.direct.share", "backlog.group.messages")
		c.problem(at, "traffic: {login: {rate: 20/s}}, or leave backlog out", "a backlog waits for who logs in, and nobody does")
	}
	if d := b.Direct; d != nil {
		const share, messages, friends = "backlog.direct.share", "backlog.direct.messages", "population.friends"
		receivers := p.Users - c.p.Clients.Online.Of(p.Users)
		if p.FriendsOf > 0 {
			receivers = min(receivers, p.FriendsOf)
		}
		total := float64(receivers) * float64(d.Share.Of(p.Friends)) * float64(d.Messages)
		switch {
		case p.Friends == 0:
			c.problem(c.blame(share, messages, friends), "population.friends: 100, or leave backlog.direct out", "backlog.direct comes from friends, and nobody has any")
		case d.Share.Of(p.Friends) == 0:
			c.problem(c.blame(share, friends), "at least "+Percent(math.Ceil(10000/float64(p.Friends))/100).String(), "backlog.direct.share: %s of %d friends is nobody", d.Share, p.Friends)
		case total > maxSends:
			c.problem(c.blame(messages, share, friends), fmt.Sprintf("at most %d", maxSends), "backlog.direct plans %.0f sends", total)
		}
	}
	if g := b.Group; g != nil {
		const messages, count = "backlog.group.messages", "population.groups.count"
		total := float64(p.Groups.Count) * float64(g.Messages)
		switch {
		case p.Groups.Count == 0:
			c.problem(c.blame(count), "at least 1, or leave backlog.group out", "0 groups, but backlog.group waits in groups")
		case total > maxSends:
			c.problem(c.blame(messages, count), fmt.Sprintf("at most %d", maxSends), "backlog.group plans %.0f sends", total)
		}
	}
}

func seconds(s float64) Duration {
	return Duration(time.Duration(min(s, 1e9) * float64(time.Second)).Round(time.Millisecond))
}
