package schedule

import (
	"iter"
	"math/rand/v2"

	"ackmark/loadgen/population"
	"ackmark/profiles"
)

// Backlog gives the messages that wait before anybody logs in, in the order in
// which they are sent: first the direct ones, then those to groups. They have
// no time. It holds one user's senders, whatever the number of messages.
//
// backlog.direct: each user that is offline and has friends has been written
// to by share of them, a random choice, each with messages, the friends taking
// turns. backlog.group: each group has messages, the groups taking turns, from
// a random member that is online from the start, so that who logs in has sent
// nothing itself and what it pulls is known; where nobody is, from any member.
func Backlog(p *profiles.Profile, pop *population.Population, seed uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		if p.Backlog.Direct != nil && !directBacklog(p.Backlog.Direct, pop, stream(seed, streamBacklogFrom), yield) {
			return
		}
		if p.Backlog.Group != nil {
			groupBacklog(p.Backlog.Group, pop, stream(seed, streamBacklogSend), yield)
		}
	}
}

func directBacklog(b *profiles.DirectBacklog, pop *population.Population, r *rand.Rand, yield func(Event) bool) bool {
	friends := make([]int, pop.Friends)
	for to := range pop.Users {
		if !waitedFor(pop, to) {
			continue
		}
		for k := range friends {
			friends[k] = k
		}
		n := b.Share.Of(pop.Friends)
		for k := range n { // the first n of a shuffle (Fisher and Yates)
			other := k + r.IntN(len(friends)-k)
			friends[k], friends[other] = friends[other], friends[k]
		}
		for m := range b.Messages * n {
			e := Event{Kind: Direct, Conversation: pop.Inbox(to), Ordinal: m, Sender: pop.Friend(to, friends[m%n]), To: to}
			if !yield(e) {
				return false
			}
		}
	}
	return true
}

func groupBacklog(b *profiles.GroupBacklog, pop *population.Population, r *rand.Rand, yield func(Event) bool) {
	for m := range b.Messages {
		for g, group := range pop.Groups {
			from := group.Online
			if len(from) == 0 {
				from = group.Members
			}
			if !yield(Event{Kind: Group, Conversation: g, Ordinal: m, Sender: from[r.IntN(len(from))], To: -1}) {
				return
			}
		}
	}
}

// waitedFor tells whether backlog.direct fills a user's inbox.
func waitedFor(pop *population.Population, user int) bool {
	return !pop.Online[user] && pop.HasFriends(user)
}

// backlogCounts is the number of messages of Backlog per conversation.
func backlogCounts(p *profiles.Profile, pop *population.Population) []int {
	counts := make([]int, pop.Conversations())
	if b := p.Backlog.Group; b != nil {
		for g := range pop.Groups {
			counts[g] = b.Messages
		}
	}
	if b := p.Backlog.Direct; b != nil {
		for u := range pop.Users {
			if waitedFor(pop, u) {
				counts[pop.Inbox(u)] = b.Share.Of(pop.Friends) * b.Messages
			}
		}
	}
	return counts
}

// BacklogSize is the number of messages of Backlog.
func BacklogSize(p *profiles.Profile, pop *population.Population) int {
	n := 0
	for _, c := range backlogCounts(p, pop) {
		n += c
	}
	return n
}
