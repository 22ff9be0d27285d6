package population

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ackmark/profiles"
)

func profile(users, groups, members, friends int, online profiles.Percent) *profiles.Profile {
	p := &profiles.Profile{}
	p.Population = profiles.Population{Users: users, Groups: profiles.Groups{Count: groups, Members: members}, Friends: friends}
	p.Clients.Online = online
	return p
}

func build(t *testing.T, p *profiles.Profile, seed uint64, tag string) *Population {
	t.Helper()
	pop, err := Build(p, seed, tag)
	if err != nil {
		t.Fatal(err)
	}
	return pop
}

func TestOneGroupOfEverybody(t *testing.T) {
	pop := build(t, profile(500, 1, 500, 0, 100), 1, "r1")
	for i, u := range pop.Groups[0].Members {
		if i != u {
			t.Fatalf("member %d is user %d; with users = members everybody is in, in order", i, u)
		}
	}
	if !slices.Equal(pop.Groups[0].Members, pop.Groups[0].Online) || pop.OnlineCount() != 500 {
		t.Errorf("online 100%%: %d of 500 users, %d of 500 members", pop.OnlineCount(), len(pop.Groups[0].Online))
	}
	if pop.Users[7] != "r1.u7" || pop.Groups[0].ID != "r1.g0" {
		t.Errorf("ids %q and %q", pop.Users[7], pop.Groups[0].ID)
	}
	if pop.Conversation(0) != "g:r1.g0" || pop.Conversation(pop.Inbox(7)) != "u:r1.u7" || pop.Conversations() != 501 {
		t.Errorf("conversations %q, %q, %d", pop.Conversation(0), pop.Conversation(pop.Inbox(7)), pop.Conversations())
	}
}

func TestTagNames(t *testing.T) {
	if pop := build(t, profile(3, 1, 3, 0, 100), 1, ""); pop.Users[2] != "u2" || pop.Groups[0].ID != "g0" {
		t.Errorf("without a tag: %q, %q", pop.Users[2], pop.Groups[0].ID)
	}
	a, b := build(t, profile(100, 3, 10, 4, 50), 1, "a"), build(t, profile(100, 3, 10, 4, 50), 1, "b")
	for g := range a.Groups {
		if !slices.Equal(a.Groups[g].Members, b.Groups[g].Members) {
			t.Errorf("group %d: the tag changed who is a member", g)
		}
	}
	if !slices.Equal(a.Online, b.Online) || !slices.Equal(a.order, b.order) {
		t.Error("the tag changed who is online or who is friends")
	}
}

func TestSeed(t *testing.T) {
	p := profile(1000, 5, 100, 6, 50)
	if !reflect.DeepEqual(build(t, p, 1, "r"), build(t, p, 1, "r")) {
		t.Error("the same seed gave two populations")
	}
	a, b := build(t, p, 1, "r"), build(t, p, 2, "r")
	if slices.Equal(a.Groups[0].Members, b.Groups[0].Members) || slices.Equal(a.Online, b.Online) || slices.Equal(a.order, b.order) {
		t.Error("two seeds gave the same members, presence or friends")
	}
	if slices.Equal(a.Groups[0].Members, a.Groups[1].Members) {
		t.Error("two groups of one seed have the same members")
	}
}

// 20 groups of 500 from 10,000 users: distinct members in each, and each user
// equally likely. A user's number of groups is Binomial(20, 1/20), so the
// share of users in no group is 0.95^20 = 0.3585; over 10,000 users its
// standard deviation is below sqrt(p(1-p)/10000) = 0.0048; five of them pass.
func TestManyGroups(t *testing.T) {
	pop := build(t, profile(10_000, 20, 500, 0, 100), 7, "r")
	in := make([]int, 10_000)
	for g, group := range pop.Groups {
		if len(group.Members) != 500 || !slices.IsSorted(group.Members) || len(slices.Compact(slices.Clone(group.Members))) != 500 {
			t.Fatalf("group %d: %d members, sorted and distinct wanted", g, len(group.Members))
		}
		for _, u := range group.Members {
			in[u]++
		}
	}
	none := 0
	for _, n := range in {
		if n == 0 {
			none++
		}
	}
	if share, want := float64(none)/10_000, math.Pow(0.95, 20); math.Abs(share-want) > 5*0.0048 {
		t.Errorf("%.4f of the users are in no group, want %.4f ± 0.024", share, want)
	}
}

func TestFewerUsersThanSeats(t *testing.T) {
	pop := build(t, profile(60, 20, 50, 0, 100), 1, "r")
	for g, group := range pop.Groups {
		if n := len(slices.Compact(slices.Clone(group.Members))); n != 50 {
			t.Errorf("group %d has %d distinct members, want 50", g, n)
		}
	}
}

func TestOnlineIsExact(t *testing.T) {
	for _, tc := range []struct {
		online profiles.Percent
		want   int
	}{{100, 1000}, {50, 500}, {12.5, 125}, {0.06, 1}} {
		pop := build(t, profile(1000, 0, 0, 0, tc.online), 3, "r")
		if pop.OnlineCount() != tc.want {
			t.Errorf("online %s of 1000: %d, want %d", tc.online, pop.OnlineCount(), tc.want)
		}
	}
	pop := build(t, profile(1000, 4, 100, 0, 50), 3, "r")
	for g, group := range pop.Groups {
		for _, u := range group.Members {
			if slices.Contains(group.Online, u) != pop.Online[u] {
				t.Errorf("group %d: user %d online %v, but not so in the group", g, u, pop.Online[u])
			}
		}
	}
}

func TestFriendsAreMutualAndDistinct(t *testing.T) {
	for _, tc := range []struct{ users, friends int }{{2, 1}, {5, 2}, {5, 4}, {6, 3}, {6, 5}, {100, 7}, {101, 100}} {
		pop := build(t, profile(tc.users, 0, 0, tc.friends, 100), 9, "r")
		of := make([]map[int]bool, tc.users)
		for u := range of {
			of[u] = map[int]bool{}
			for k := range tc.friends {
				of[u][pop.Friend(u, k)] = true
			}
			if len(of[u]) != tc.friends || of[u][u] {
				t.Fatalf("%d users, %d friends: user %d has %v", tc.users, tc.friends, u, of[u])
			}
		}
		for u := range of {
			for f := range of[u] {
				if !of[f][u] {
					t.Fatalf("%d users, %d friends: %d has %d as a friend, but not the other way", tc.users, tc.friends, u, f)
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    *profiles.Profile
		tag  string
		want string
	}{
		{"nobody", profile(0, 0, 0, 0, 100), "r", "at least 1"},
		{"more members than users", profile(10, 1, 11, 0, 100), "r", "1 to 10 members"},
		{"no members", profile(10, 1, 0, 0, 100), "r", "1 to 10 members"},
		{"too many friends", profile(10, 0, 0, 10, 100), "r", "at most 9"},
		{"friends can't pair up", profile(9, 0, 0, 3, 100), "r", "make one of them even"},
		{"nobody online in a group", sending(profile(1000, 50, 2, 0, 1)), "r", "nobody of group"},
		{"more lists than users", listed(profile(10, 0, 0, 2, 100), 11), "r", "11 users with a friend list"},
		{"tag with a space", profile(10, 0, 0, 0, 100), "a b", `tag "a b"`},
		{"long tag", profile(10, 0, 0, 0, 100), strings.Repeat("x", 41), "up to 40"},
	} {
		if _, err := Build(tc.p, 1, tc.tag); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

func sending(p *profiles.Profile) *profiles.Profile {
	p.Traffic.Group = &profiles.Flow{Rate: 1}
	return p
}

func listed(p *profiles.Profile, of int) *profiles.Profile {
	p.Population.FriendsOf = of
	return p
}

// Without traffic to groups nobody has to be there to send it.
func TestNobodyOnline(t *testing.T) {
	pop := build(t, profile(100, 3, 10, 0, 0), 1, "r")
	if pop.OnlineCount() != 0 || len(pop.Groups[2].Online) != 0 || len(pop.Groups[2].Members) != 10 {
		t.Errorf("%d online, %d in a group of %d", pop.OnlineCount(), len(pop.Groups[2].Online), len(pop.Groups[2].Members))
	}
}

// Who has whom, counted from the lists themselves.
func TestAddressees(t *testing.T) {
	for _, tc := range []struct{ users, friends, of int }{
		{2, 1, 1}, {2, 1, 2}, {10, 3, 1}, {10, 3, 4}, {10, 9, 2}, {10, 9, 10}, {11, 3, 11}, {101, 50, 100}, {20, 6, 0}, {20, 7, 0}, {5, 0, 0},
	} {
		pop := build(t, listed(profile(tc.users, 0, 0, tc.friends, 100), tc.of), 3, "r")
		want := make([]map[int]bool, tc.users)
		for u := range want {
			want[u] = map[int]bool{}
		}
		for u := range tc.users {
			if has := tc.friends > 0 && (tc.of == 0 || u < tc.of); pop.HasFriends(u) != has {
				t.Errorf("%+v: user %d has friends: %v", tc, u, !has)
			}
			for k := 0; pop.HasFriends(u) && k < tc.friends; k++ {
				f := pop.Friend(u, k)
				if tc.of > 0 && f != (u+1+k)%tc.users {
					t.Errorf("%+v: friend %d of %d is %d, not the next user but %d", tc, k, u, f, k)
				}
				want[f][u] = true
			}
		}
		for u := range want {
			got := map[int]bool{}
			for k := range pop.Addressees(u) {
				got[pop.Addressee(u, k)] = true
			}
			if len(got) != pop.Addressees(u) || !reflect.DeepEqual(got, want[u]) {
				t.Errorf("%+v: user %d may write to %v, want %v", tc, u, got, want[u])
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	p := profile(10_000, 20, 500, 0, 100)
	for b.Loop() {
		if _, err := Build(p, 1, "r"); err != nil {
			b.Fatal(err)
		}
	}
}
