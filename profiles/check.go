package profiles

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// maxSends bounds what one run may plan; more is a slip of the pen.
const maxSends = 50_000_000

// checker looks for impossible and doubtful combinations in one resolved
// setting. A check is left out where one of its keys already has a problem.
type checker struct {
	source   *Source
	set      map[string]assigned
	p        *Profile
	problems Problems
	warnings []string
}

func (c *checker) all() {
	c.population()
	c.traffic()
	c.flow("traffic.group", c.p.Traffic.Group)
	c.flow("traffic.direct", c.p.Traffic.Direct)
	c.window()
	c.ackTime()
	c.uniformRace()
	c.resends()
	c.faults()
}

// sound tells that none of the keys, nor a section above them, is broken.
func (c *checker) sound(keys ...string) bool {
	for _, k := range keys {
		for at := k; ; {
			if c.source.base.broken[at] {
				return false
			}
			i := strings.LastIndex(at, ".")
			if i < 0 {
				break
			}
			at = at[:i]
		}
	}
	return true
}

// blame gives the position of that one of the keys that was set most
// specifically (flag, variant, file); of equals, the first. A key that nobody
// set is found at the section it would stand in.
func (c *checker) blame(keys ...string) Pos {
	best := assigned{}
	for _, k := range keys {
		if a, ok := c.set[k]; ok && a.layer > best.layer {
			best = a
		}
	}
	if best.layer != layerDefault {
		return best.at
	}
	for at := keys[0]; ; {
		i := strings.LastIndex(at, ".")
		if i < 0 {
			return Pos{File: c.source.file, Line: 1, Col: 1}
		}
		at = at[:i]
		if p, ok := c.source.base.sections[at]; ok {
			return p
		}
	}
}

func (c *checker) problem(at Pos, right, format string, args ...any) {
	c.problems = append(c.problems, Problem{Pos: at, What: fmt.Sprintf(format, args...), Right: right})
}

func (c *checker) warn(at Pos, right, format string, args ...any) {
	c.warnings = append(c.warnings, Problem{Pos: at, What: fmt.Sprintf(format, args...), Right: right}.Error())
}

// overridden warns where a flag makes a variant something else than its name says.
func (c *checker) overridden(v variant, flags map[string]assigned) {
	for _, k := range c.source.schema.keys {
		f, byFlag := flags[k.Name]
		s, byVariant := v.set[k.Name]
		if byFlag && byVariant && c.source.schema.text(k.Name, f.value) != c.source.schema.text(k.Name, s.value) {
			c.warn(f.at, "leave the flag out to keep the variant", "variant %s sets %s to %s, the flag overrides it", v.name, k.Name, c.source.schema.text(k.Name, s.value))
		}
	}
}

func (c *checker) population() {
	const users, count, members, friends, online = "population.users", "population.groups.count", "population.groups.members", "population.friends", "clients.online"
	p := c.p.Population
	if c.sound(users, count, members) && p.Groups.Count > 0 && p.Groups.Members > p.Users {
		c.problem(c.blame(members, users), fmt.Sprintf("at most %d, or population.users: %d", p.Users, p.Groups.Members),
			"groups of %d members, but only %d users", p.Groups.Members, p.Users)
	}
	if c.sound(users, friends) {
		switch {
		case p.Friends >= p.Users:
			c.problem(c.blame(friends, users), fmt.Sprintf("at most %d, or more users", p.Users-1), "%d friends each, but only %d users", p.Friends, p.Users)
		case p.Friends%2 == 1 && p.Users%2 == 1:
			c.problem(c.blame(friends, users), "make one of them even", "%d friends each among %d users can't all be mutual", p.Friends, p.Users)
		}
	}
	if c.sound(users, online) && c.p.Clients.Online.Of(p.Users) == 0 {
		c.problem(c.blame(online, users), "at least "+Percent(math.Ceil(10000/float64(p.Users))/100).String(), "%s of %d users is nobody", c.p.Clients.Online, p.Users)
	}
}

func (c *checker) traffic() {
	t := c.p.Traffic
	if t.Group == nil && t.Direct == nil && c.sound("traffic.group", "traffic.direct") {
		c.problem(c.blame("traffic.group"), "traffic: {group: {rate: 20/s}}, or direct, or both", "nothing is sent: there is no traffic")
	}
	if t.Group != nil && c.p.Population.Groups.Count == 0 && c.sound("traffic.group", "population.groups.count") {
		c.problem(c.blame("population.groups.count"), "at least 1, or leave traffic.group out", "0 groups, but traffic.group sends to groups")
	}
	if t.Direct != nil && c.p.Population.Users < 2 && c.sound("traffic.direct", "population.users") {
		c.problem(c.blame("population.users"), "at least 2, or leave traffic.direct out", "1 user has nobody to send traffic.direct to")
	}
}

func (c *checker) flow(path string, f *Flow) {
	rate, arrivals, burst := path+".rate", path+".arrivals", path+".burst"
	if f == nil || !c.sound(rate, arrivals, burst, "phases.warmup", "phases.measure") {
		return
	}
	measure := c.p.Phases.Measure.Std()
	perPhase := f.Rate.PerSecond() * measure.Seconds()
	total := perPhase + f.Rate.PerSecond()*c.p.Phases.Warmup.Std().Seconds()
	switch {
	case total > maxSends:
		c.problem(c.blame(rate, "phases.measure"), fmt.Sprintf("at most %d", maxSends), "%s plans %.0f sends", path, total)
	case perPhase < 1:
		c.problem(c.blame(rate, "phases.measure"), "a higher rate or a longer phases.measure", "%s at %s sends less than one message in %s", path, f.Rate, c.p.Phases.Measure)
	case f.Arrivals == ArrivalsBurst && perPhase < float64(f.Burst):
		c.problem(c.blame(burst, rate, "phases.measure"), "a smaller burst, a higher rate or a longer phases.measure",
			"bursts of %d at %s come every %s, less than once in %s", f.Burst, f.Rate, seconds(float64(f.Burst)/f.Rate.PerSecond()), c.p.Phases.Measure)
	}
	if _, set := c.set[burst]; set && f.Arrivals != ArrivalsBurst {
		c.warn(c.blame(burst), arrivals+": burst, or leave it out", "%s has no effect with %s arrivals", burst, f.Arrivals)
	}
}

func seconds(s float64) Duration {
	return Duration(time.Duration(min(s, 1e9) * float64(time.Second)).Round(time.Millisecond))
}

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
	const policy, interval, idle, flush, retransmit, every = "clients.ack.policy", "clients.ack.interval", "clients.ack.idle", "server.ack_flush", "server.retransmit", "clients.ack.every"
	if !c.sound(policy, interval, idle, flush, retransmit) {
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
	case byInterval(a.Policy):
		held(interval, a.Interval)
	case a.Idle > 0:
		held(idle, a.Idle)
	case s.AckFlush >= s.Retransmit:
		c.problem(c.blame(flush, retransmit), "less than "+s.Retransmit.String(),
			"server.ack_flush %s is not below server.retransmit %s: deliveries would be sent again before their ack counts", s.AckFlush, s.Retransmit)
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
	if !c.sound(timeout, retries, dedup) {
		return
	}
	s := c.p.Clients.Send
	if last := s.Timeout * Duration(s.Retries+1); c.p.Server.DedupFor <= last {
		c.problem(c.blame(dedup, timeout, retries), "more than "+last.String()+", or fewer or quicker resends",
			"server.dedup_for %s ends before the last of %d resends every %s: a message could be stored twice", c.p.Server.DedupFor, s.Retries, s.Timeout)
	}
}

func (c *checker) faults() {
	if !c.sound("faults", "phases.measure") {
		return
	}
	list, _ := c.set["faults"].value.([]element)
	measure, up := c.p.Phases.Measure, Duration(0)
	for i, f := range c.p.Faults {
		at := list[i].at
		if c.set["faults"].layer == layerFlag {
			at = c.set["faults"].at
		}
		switch {
		case f.At+f.Down > measure:
			c.problem(at, "at + down at most "+measure.String(), "faults[%d] lasts from %s to %s, past the end of phases.measure %s", i, f.At, f.At+f.Down, measure)
		case f.At < up:
			c.problem(at, "faults in order of time, the next at "+up.String()+" or later", "faults[%d] at %s comes before the one before it is over", i, f.At)
		}
		up = f.At + f.Down
		s := c.p.Clients.Send
		if last := s.Timeout * Duration(s.Retries+1); c.sound("clients.send") && f.Down >= last {
			c.warn(at, "down less than "+last.String()+", or more clients.send.retries", "faults[%d] lasts %s, longer than a sender tries: sends will end unknown", i, f.Down)
		}
	}
}
