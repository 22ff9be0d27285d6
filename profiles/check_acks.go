package profiles

import (
	"fmt"
	"math"
)

// window: N deliveries must fit in flight, or the client waits for deliveries
// that the window holds back (measuring.md, 13).
func (c *checker) window() {
	const every, window, policy = "clients.ack.every", "clients.window", "clients.ack.policy"
	a := c.p.Clients.Ack
	if !c.sound(every, window, policy) {
		return
	}
	if byCount(a.Policy) && a.Every > c.p.Clients.Window {
		c.problem(c.blame(every, window, policy), fmt.Sprintf("at most %d, or a larger clients.window", c.p.Clients.Window),
			"clients.ack.every is %d, larger than clients.window %d: the N-th delivery could never arrive", a.Every, c.p.Clients.Window)
	}
	if a.Policy == AckInterval && c.sound("clients.ack.interval", "traffic", "population") {
		if n := c.received() * a.Interval.Std().Seconds(); n > float64(c.p.Clients.Window) {
			c.warn(c.blame("clients.ack.interval", window, policy), "a larger clients.window or a shorter clients.ack.interval",
				"about %.0f deliveries arrive in %s, more than clients.window %d: the window would pace, not the policy", n, a.Interval, c.p.Clients.Window)
		}
	}
}

func byCount(policy string) bool    { return policy == AckCount || policy == AckCountOrInterval }
func byInterval(policy string) bool { return policy == AckInterval || policy == AckCountOrInterval }

// perConversation is the mean rate of deliveries, per second, that one online
// client receives in one group and in its inbox; 0 where there is no such
// traffic. A member doesn't receive what it sends: with senders drawn among m
// online members a client misses one in m of its group's messages.
func (c *checker) perConversation() (group, inbox float64) {
	p := c.p
	if f := p.Traffic.Group; f != nil && p.Population.Groups.Count > 0 {
		group = f.Rate.PerSecond() / float64(p.Population.Groups.Count)
		if online := math.Max(1, float64(p.Population.Groups.Members)*float64(p.Clients.Online)/100); f.Senders == SendersRandom {
			group *= (online - 1) / online
		}
	}
	if f := p.Traffic.Direct; f != nil {
		inbox = f.Rate.PerSecond() / float64(p.Population.Users)
	}
	return group, inbox
}

// received is the mean rate of deliveries per second over one connection.
func (c *checker) received() float64 {
	group, inbox := c.perConversation()
	p := c.p.Population
	return group*float64(p.Groups.Count)*float64(p.Groups.Members)/float64(p.Users) + inbox
}

// ackTime: what a client holds back, and the server after it, must reach the
// store before the server would send the delivery again.
func (c *checker) ackTime() {
	const policy, interval, idle, join, flush, retransmit, every = "clients.ack.policy", "clients.ack.interval", "clients.ack.idle", "server.ack_join", "server.ack_flush", "server.retransmit", "clients.ack.every"
	if !c.sound(policy, interval, idle, join, flush, retransmit) {
		return
	}
	a, s := c.p.Clients.Ack, c.p.Server
	held := func(key string, d Duration) bool {
		if d+s.AckFlush < s.Retransmit {
			return false
		}
		c.problem(c.blame(key, flush, retransmit, policy), "a sum below "+s.Retransmit.String()+", or a longer server.retransmit",
			"%s %s + server.ack_flush %s is not below server.retransmit %s: deliveries would be sent again before their ack counts", key, d, s.AckFlush, s.Retransmit)
		return true
	}
	switch {
	case byInterval(a.Policy) && held(interval, a.Interval):
	case a.Idle > 0 && !byInterval(a.Policy) && held(idle, a.Idle):
	case s.AckFlush >= s.Retransmit:
		c.problem(c.blame(flush, retransmit), "less than "+s.Retransmit.String(),
			"server.ack_flush %s is not below server.retransmit %s: deliveries would be sent again before their ack counts", s.AckFlush, s.Retransmit)
	case s.AckJoin+s.AckFlush >= s.Retransmit:
		c.problem(c.blame(join, flush, retransmit), "a sum below "+s.Retransmit.String()+", or a longer server.retransmit",
			"server.ack_join %s + server.ack_flush %s is not below server.retransmit %s: deliveries would be sent again before their ack counts", s.AckJoin, s.AckFlush, s.Retransmit)
	}
	if a.Policy != AckCount || a.Idle > 0 || !c.sound(every, "traffic", "population") {
		return
	}
	group, inbox := c.perConversation()
	for _, in := range []struct {
		what string
		rate float64
	}{{"a member's group", group}, {"an inbox", inbox}} {
		if fill := float64(a.Every) / in.rate; in.rate > 0 && fill >= s.Retransmit.Std().Seconds() {
			c.warn(c.blame(every, policy, retransmit), "a smaller clients.ack.every, policy count-or-interval, or a longer server.retransmit",
				"%d deliveries take about %s in %s, not less than server.retransmit %s: they will be sent again", a.Every, seconds(fill), in.what, s.Retransmit)
		}
	}
}

// uniformRace: with one sender and even spacing g, the interval timer that the
// first delivery armed fires together with a later arrival when T is a multiple
// of g; which one comes first is chance (measuring.md, 14).
func (c *checker) uniformRace() {
	const policy, interval, every = "clients.ack.policy", "clients.ack.interval", "clients.ack.every"
	f, a := c.p.Traffic.Group, c.p.Clients.Ack
	if f == nil || f.Arrivals != ArrivalsUniform || f.Senders != SendersFixed || !byInterval(a.Policy) ||
		!c.sound(policy, interval, every, "traffic.group.rate", "population.groups.count") || c.p.Population.Groups.Count == 0 {
		return
	}
	perGroup := f.Rate.PerSecond() / float64(c.p.Population.Groups.Count)
	rt := perGroup * a.Interval.Std().Seconds()
	k := math.Round(rt)
	if k < 1 || math.Abs(rt-k) > 1e-6*k {
		return
	}
	if a.Policy == AckCountOrInterval && float64(a.Every) < 1+k {
		return // N is there before the timer fires
	}
	half := 0.5 / perGroup
	t := a.Interval.Std().Seconds()
	c.problem(c.blame(interval, policy, "traffic.group.rate"), fmt.Sprintf("%s or %s, poisson arrivals, or senders: random", seconds(t-half), seconds(t+half)),
		"clients.ack.interval %s is exactly %.0f gaps of uniform arrivals from one sender: timer and delivery race", a.Interval, k)
}

// resends: the server must still know the client_msg_id of the last resend.
func (c *checker) resends() {
	const timeout, retries, dedup = "clients.send.timeout", "clients.send.retries", "server.dedup_for"
	if !c.sound(timeout, retries, dedup, "server.dedup") || c.p.Server.Dedup == Off {
		return
	}
	s := c.p.Clients.Send
	if last := s.Timeout * Duration(s.Retries+1); c.p.Server.DedupFor <= last {
		c.problem(c.blame(dedup, timeout, retries), "more than "+last.String()+", or fewer or quicker resends",
			"server.dedup_for %s ends before the last of %d resends every %s: a message could be stored twice", c.p.Server.DedupFor, s.Retries, s.Timeout)
	}
}
