package population

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ackmark/profiles"
)

// Each part draws from a stream of its own, so that a profile that changes
// one part (say, who is online) leaves the others as they were.
const (
	streamOnline  = 0x6f6e6c696e650000
	streamFriends = 0x667269656e640000
	streamMembers = 0x6d656d6265720000 // + the group's index
)

// maxTag keeps tag + ".u" + an index within the 64 characters of a wire id.
const maxTag = 40

// Build makes the population of a profile. Members are drawn without
// replacement, each group on its own, so users may be fewer than groups ×
// members. Exactly online% of the users, rounded, are online. The tag stands
// before each id ("TAG.u0", "TAG.g0"); it doesn't change who is drawn.
//
// An error says what the profile asks that can't be, such as more members than
// users or traffic to a group in which nobody is online.
func Build(p *profiles.Profile, seed uint64, tag string) (*Population, error) {
	users, groups, members := p.Population.Users, p.Population.Groups.Count, p.Population.Groups.Members
	switch {
	case len(tag) > maxTag || strings.Trim(tag, idChars) != "":
		return nil, fmt.Errorf("population: tag %q can't stand in an id; up to %d letters, digits, '.', '_' or '-'", tag, maxTag)
	case users < 1:
		return nil, fmt.Errorf("population: %d users; at least 1", users)
	case groups > 0 && (members < 1 || members > users):
		return nil, fmt.Errorf("population: groups of %d members from %d users; 1 to %d members", members, users, users)
	case p.Population.Friends > users-1:
		return nil, fmt.Errorf("population: %d friends each among %d users; at most %d", p.Population.Friends, users, users-1)
	case p.Population.FriendsOf < 0 || p.Population.FriendsOf > users:
		return nil, fmt.Errorf("population: %d users with a friend list among %d users; at most all", p.Population.FriendsOf, users)
	case p.Population.FriendsOf == 0 && p.Population.Friends%2 == 1 && users%2 == 1:
		return nil, fmt.Errorf("population: %d friends each among %d users can't be mutual; make one of them even", p.Population.Friends, users)
	}
	if tag != "" {
		tag += "."
	}
	pop := &Population{
		Users:     make([]string, users),
		Groups:    make([]Group, groups),
		Online:    drawOnline(users, p.Clients.Online.Of(users), seed),
		Friends:   p.Population.Friends,
		FriendsOf: p.Population.FriendsOf,
	}
	for u := range pop.Users {
		pop.Users[u] = tag + "u" + strconv.Itoa(u)
	}
	for g := range pop.Groups {
		m := drawMembers(users, members, rand.New(rand.NewPCG(seed, streamMembers+uint64(g))))
		on := slices.DeleteFunc(slices.Clone(m), func(u int) bool { return !pop.Online[u] })
		if len(on) == 0 && p.Traffic.Group != nil {
			return nil, fmt.Errorf("population: nobody of group %d is online, so nobody can send to it; raise clients.online (%s) or population.groups.members (%d)",
				g, p.Clients.Online, members)
		}
		pop.Groups[g] = Group{ID: tag + "g" + strconv.Itoa(g), Members: m, Online: on}
	}
	if pop.Friends > 0 && pop.FriendsOf == 0 {
		pop.order = rand.New(rand.NewPCG(seed, streamFriends)).Perm(users)
		pop.place = make([]int, users)
		for i, u := range pop.order {
			pop.place[u] = i
		}
	}
	return pop, nil
}

const idChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

func drawOnline(users, n int, seed uint64) []bool {
	online := make([]bool, users)
	for _, u := range rand.New(rand.NewPCG(seed, streamOnline)).Perm(users)[:n] {
		online[u] = true
	}
	return online
}

// drawMembers picks m of n without replacement, each subset equally likely, in
// m steps whatever n is: R. W. Floyd's sampling (Bentley, "Programming Pearls:
// a sample of brilliance", CACM 30/9, 1987).
func drawMembers(n, m int, r *rand.Rand) []int {
	in := make(map[int]struct{}, m)
	for i := n - m; i < n; i++ {
		u := r.IntN(i + 1)
		if _, taken := in[u]; taken {
			u = i
		}
		in[u] = struct{}{}
	}
	out := make([]int, 0, m)
	for u := range in {
		out = append(out, u)
	}
	slices.Sort(out)
	return out
}

// Conversations is the number of conversation indexes: groups and inboxes.
func (p *Population) Conversations() int { return len(p.Groups) + len(p.Users) }

// Inbox is the conversation index of a user's inbox.
func (p *Population) Inbox(user int) int { return len(p.Groups) + user }

// Conversation is the wire name of a conversation index: "g:ID" or "u:ID".
func (p *Population) Conversation(c int) string {
	if c < len(p.Groups) {
		return "g:" + p.Groups[c].ID
	}
	return "u:" + p.Users[c-len(p.Groups)]
}

// OnlineCount is the number of users that are online.
func (p *Population) OnlineCount() int {
	n := 0
	for _, on := range p.Online {
		if on {
			n++
		}
	}
	return n
}
