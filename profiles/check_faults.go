package profiles

import (
	"cmp"
	"slices"
)

// faults: each has what its kind has, happens within measure, and is over
// before the next one begins.
func (c *checker) faults() {
	if !c.sound("faults", "phases.measure") {
		return
	}
	list, _ := c.set["faults"].value.([]element)
	where, sound, times := make([]Pos, len(c.p.Faults)), true, 0
	for i, f := range c.p.Faults {
		at := list[i].at
		if c.set["faults"].layer == layerFlag {
			at = c.set["faults"].at
		}
		written := list[i].values.set
		for _, r := range []struct {
			key, of string
			fits    bool
		}{
			{"down", "", true},
			{"cut", FaultKillRedis, f.Kind == FaultKillRedis},
			{"share", FaultReset + " or " + FaultCrashClients, f.shared()},
		} {
			_, set := written["faults[]."+r.key]
			switch {
			case !set:
			case r.key == "down" && f.Kind == FaultReset:
				c.problem(at, "leave down out", "faults[%d]: a reset is over at once, nothing is down", i)
			case !r.fits:
				c.problem(at, "kind: "+r.of+", or leave "+r.key+" out", "faults[%d]: %s is for %s", i, r.key, r.of)
			}
		}
		measure := c.p.Phases.Measure
		before := len(c.problems)
		if times++; f.Every > 0 {
			times += int(measure / f.Every)
		}
		switch {
		case f.At+f.Down > measure:
			c.problem(at, "at + down at most "+measure.String(), "faults[%d] lasts from %s to %s, past the end of phases.measure %s", i, f.At, f.At+f.Down, measure)
		case f.Every > 0 && f.Every <= f.Down:
			c.problem(at, "every more than "+f.Down.String(), "faults[%d] happens again after %s, before it is over", i, f.Every)
		case times > maxFaults:
			c.problem(at, "every longer, or fewer faults", "up to faults[%d], faults would happen %d times; at most %d", i, times, maxFaults)
		case i > 0 && f.At < c.p.Faults[i-1].At:
			c.problem(at, "faults in order of time", "faults[%d] at %s comes before faults[%d] at %s", i, f.At, i-1, c.p.Faults[i-1].At)
		}
		sound = sound && len(c.problems) == before
		c.lostSends(i, at)
		c.crashClients(i, at)
		c.redisRestarts(i, at)
		where[i] = at
	}
	if sound {
		c.apart(where)
	}
}

// maxFaults bounds how often faults happen in a run.
const maxFaults = 10_000

// apart reports what happens while something else does, once for each two
// faults. where is where each is written.
func (c *checker) apart(where []Pos) {
	type failure struct {
		at, end Duration
		fault   int
	}
	var all []failure
	for i, f := range c.p.Faults {
		for _, at := range f.Times(c.p.Phases.Measure) {
			all = append(all, failure{at, at + f.Down, i})
		}
	}
	slices.SortStableFunc(all, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
	seen := map[[2]int]bool{}
	for k := 1; k < len(all); k++ {
		one, next := all[k-1], all[k]
		if next.at >= one.end && next.at > one.at {
			continue
		}
		pair := [2]int{min(one.fault, next.fault), max(one.fault, next.fault)}
		if !seen[pair] {
			c.problem(where[pair[1]], "one that is over before the next begins: another at, down or every",
				"faults[%d] at %s comes before faults[%d], from %s to %s, is over", next.fault, next.at, one.fault, one.at, one.end)
		}
		seen[pair] = true
		if one.end > next.end { // still there when the one after comes
			all[k] = one
		}
	}
}

// lostSends warns of a failure that outlasts the resends.
func (c *checker) lostSends(i int, at Pos) {
	f, s := c.p.Faults[i], c.p.Clients.Send
	if f.Kind == FaultCrashClients { // who crashes sends nothing meanwhile
		return
	}
	if last := s.Timeout * Duration(s.Retries+1); c.sound("clients.send") && f.Down >= last {
		c.warn(at, "down less than "+last.String()+", or more clients.send.retries", "faults[%d] lasts %s, longer than a sender tries: sends will end unknown", i, f.Down)
	}
}

// crashClients: there are clients that can crash, and they crash in one way.
func (c *checker) crashClients(i int, at Pos) {
	if c.p.Faults[i].Kind != FaultCrashClients || !c.sound("clients", "traffic") {
		return
	}
	switch cl := c.p.Clients; {
	case cl.Crash.Between != CrashOff:
		c.problem(at, "one of the two", "faults[%d] crashes clients, and clients.crash.between %s does, too", i, cl.Crash.Between)
	case cl.Online == 0 && c.p.Traffic.Login == nil:
		c.problem(at, "clients.online: 100%, or traffic.login", "faults[%d] crashes clients, and none is ever connected", i)
	}
}

// redisRestarts: a killed Redis comes back with what its append-only file has.
func (c *checker) redisRestarts(i int, at Pos) {
	if c.p.Faults[i].Kind == FaultKillRedis && c.p.Redis.Fsync == FsyncOff && c.sound("redis.fsync") {
		c.problem(at, "redis.fsync: always or everysec", "faults[%d] kills Redis, and with redis.fsync off it would come back empty, without users and groups", i)
	}
}
