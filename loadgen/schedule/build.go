package schedule

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// Each choice draws from a stream of its own: a variant that changes, say, who
// sends leaves the arrival times as they were.
const (
	streamGroupGaps   = 0x67726f7570676170
	streamGroupPick   = 0x67726f7570636f6e
	streamGroupSender = 0x67726f7570736e64
	streamDirectGaps  = 0x6469726563746761
	streamDirectPick  = 0x6469726563746f00
	streamLoginGaps   = 0x6c6f67696e676170
	streamLoginPick   = 0x6c6f67696e75736f
	streamBacklogFrom = 0x6261636b6c6f6766
	streamBacklogSend = 0x6261636b6c6f6773
)

// RepeatSeed derives the seed of one repeat, 0 ≤ repeat, from a profile's
// seed: output number repeat of SplitMix64 (Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014) started there.
// It doesn't know the variant, so all variants of one repeat see the same
// arrivals and differ only in what they set.
func RepeatSeed(seed uint64, repeat int) uint64 {
	z := seed + (uint64(repeat)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Build gives all events of warm-up and measure, sorted by At. It is Events in
// one slice, 56 bytes per event.
func Build(p *profiles.Profile, pop *population.Population, seed uint64) []Event {
	end := (p.Phases.Warmup + p.Phases.Measure).Std()
	expect := 0.0
	for _, f := range []*profiles.Flow{p.Traffic.Group, p.Traffic.Direct} {
		if f != nil {
			n := f.Rate.PerSecond() * end.Seconds()
			expect += n + 4*math.Sqrt(n) + 8 // four standard deviations of a Poisson count: rarely grown
		}
	}
	if p.Traffic.Login != nil {
		expect += float64(len(Arriving(p, pop)))
	}
	return slices.AppendSeq(make([]Event, 0, int(expect)), Events(p, pop, seed))
}

// Events gives the events of Build one by one, in memory that doesn't grow
// with the length of the run. Where several fall on the same nanosecond, the
// group's message comes first, then the direct one, then the login.
//
// A flow's rate is the rate over all conversations of its kind. With uniform
// arrivals the groups take turns, so that each of G groups sees even spacing
// G/rate; with others each arrival picks its group at random, so that each
// group of a Poisson flow is a Poisson process of rate/G. The sender is drawn
// among the group's online members, or is always the first of them
// (profiles.SendersFixed). A direct message goes from a random online user to
// a random user that has it as a friend, or to any other user where the
// population has no friends.
//
// Ordinals go on after those of Backlog. Logins begin with measure: each of
// Arriving logs in once, in random order, as far as the rate gets.
func Events(p *profiles.Profile, pop *population.Population, seed uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		end := (p.Phases.Warmup + p.Phases.Measure).Std()
		sources := []func() Event{groupSource(p.Traffic.Group, pop, seed), directSource(p.Traffic.Direct, pop, seed), loginSource(p, pop, seed)}
		ordinals := backlogCounts(p, pop)
		next := make([]Event, len(sources))
		for i, source := range sources {
			next[i] = source()
		}
		for {
			first := 0
			for i := range next {
				if next[i].At < next[first].At {
					first = i
				}
			}
			e := next[first]
			if e.At >= end {
				return
			}
			if e.Kind != Login {
				e.Ordinal = ordinals[e.Conversation]
				ordinals[e.Conversation]++
			}
			if !yield(e) {
				return
			}
			next[first] = sources[first]()
		}
	}
}

// never is an event after the end of any run: what an absent flow gives.
func never() Event { return Event{At: math.MaxInt64} }

func stream(seed, of uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, of)) }

func groupSource(f *profiles.Flow, pop *population.Population, seed uint64) func() Event {
	if f == nil || len(pop.Groups) == 0 {
		return never
	}
	pacer := pacerOf(f, stream(seed, streamGroupGaps))
	pick, sender := stream(seed, streamGroupPick), stream(seed, streamGroupSender)
	turn := 0
	return func() Event {
		c := 0
		if f.Arrivals == profiles.ArrivalsUniform {
			c = turn
			turn = (turn + 1) % len(pop.Groups)
		} else {
			c = pick.IntN(len(pop.Groups))
		}
		online := pop.Groups[c].Online
		from := online[0]
		if f.Senders != profiles.SendersFixed {
			from = online[sender.IntN(len(online))]
		}
		return Event{At: pacer.Next(), Kind: Group, Conversation: c, Sender: from, To: -1}
	}
}

func directSource(f *profiles.Flow, pop *population.Population, seed uint64) func() Event {
	if f == nil || len(pop.Users) < 2 {
		return never
	}
	online := directSenders(pop)
	if len(online) == 0 {
		return never
	}
	pacer := pacerOf(f, stream(seed, streamDirectGaps))
	pick := stream(seed, streamDirectPick)
	return func() Event {
		from := online[0]
		if f.Senders != profiles.SendersFixed {
			from = online[pick.IntN(len(online))]
		}
		var to int
		if pop.Friends > 0 {
			to = pop.Addressee(from, pick.IntN(pop.Addressees(from)))
		} else if to = pick.IntN(len(pop.Users) - 1); to >= from {
			to++ // anybody but oneself, each as likely
		}
		return Event{At: pacer.Next(), Kind: Direct, Conversation: pop.Inbox(to), Sender: from, To: to}
	}
}

// directSenders are the online users that have somebody to write to.
func directSenders(pop *population.Population) []int {
	online := make([]int, 0, len(pop.Users))
	for u, on := range pop.Online {
		if on && (pop.Friends == 0 || pop.Addressees(u) > 0) {
			online = append(online, u)
		}
	}
	return online
}

// DirectSenders is the number of users that may send direct messages during
// the run.
func DirectSenders(pop *population.Population) int { return len(directSenders(pop)) }

// Span gives the events with from ≤ At < to of a sorted slice, without a copy:
// the measured ones are Span(events, warmup, warmup+measure).
func Span(events []Event, from, to time.Duration) []Event {
	at := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(events, t, func(e Event, t time.Duration) int {
			if e.At < t {
				return -1
			}
			return 1 // also where equal: the first one that isn't before t
		})
		return i
	}
	return events[at(from):at(to)]
}
