package client

import (
	"fmt"
	"strings"
	"testing"

	"ackmark/loadgen/client/ackpolicy"
)

// TestRequestsPerLogin: what each rung asks for at login, by formula, in both
// orders, as counted by the server and as told by the device.
func TestRequestsPerLogin(t *testing.T) {
	const n, P, friends, of, open = 23, 5, 40, 8, 0.5
	pages := (n + P - 1) / P
	for _, tt := range []struct {
		rung   string
		pull   Pulling
		onPull bool
		want   int
		left   int // messages that stay on the server
	}{
		{"d1", Pulling{Mode: PullPerFriend, Ack: AckNothing}, true, 1 + friends, 0},
		{"d2", Pulling{Mode: PullCountsFirst, Open: open, Ack: AckNothing}, true, 1 + of*open, 11},
		{"d3", Pulling{Mode: PullAll, Ack: AckNothing}, true, 1, 0},
		{"d4", Pulling{Ack: AckNothing}, true, pages, 0},
		{"d5", Pulling{Ack: AckEachMessage}, false, pages + n, 0},
		{"d6", Pulling{Ack: AckPage}, false, 2 * pages, 0},
		{"d7", Pulling{Ack: AckNextPage}, false, pages + 1, 0},
	} {
		for _, order := range []Order{Oldest, Newest} {
			t.Run(fmt.Sprintf("%s %s", tt.rung, orderNames[order]), func(t *testing.T) {
				tt.pull.Page, tt.pull.Order = P, order
				cfg := Config{Pull: tt.pull, Ack: ackpolicy.Policy{Kind: ackpolicy.None}}
				m := &model{onPull: tt.onPull, friends: names("f", friends)}
				m.backlog(inbox, n, m.friends[:of]...)
				act(t, cfg, m, func(s *stage) {
					s.login()
					if m.requests != tt.want {
						t.Errorf("%d requests reached the server, want %d", m.requests, tt.want)
					}
					left := len(m.shelf(inbox).rows)
					if len(s.w.syncs) != 1 {
						t.Fatalf("%d syncs", len(s.w.syncs))
					}
					y := s.w.syncs[0]
					if y.Requests != tt.want || y.Messages != n-left || y.Login != 1 || y.LargestResponse == 0 {
						t.Errorf("%+v, want %d requests and %d messages", y, tt.want, n-left)
					}
					if tt.left > 0 && (left < tt.left || left > tt.left+1) || tt.left == 0 && left != 0 {
						t.Errorf("%d messages stay on the server, want about %d", left, tt.left)
					}
					if len(s.w.shown) != n-left || len(s.w.twice()) > 0 {
						t.Errorf("%d shown, %v of them twice, want %d", len(s.w.shown), s.w.twice(), n-left)
					}
					if order == Newest && tt.pull.Mode == 0 {
						if got := s.w.order[0]; got != fmt.Sprintf("%s.%d", inbox, n-P+1) {
							t.Errorf("%s was shown first, want the begin of the newest page", got)
						}
					}
				})
			})
		}
	}
}

// TestTenThousandFriends is d1 and d2 at their full size.
func TestTenThousandFriends(t *testing.T) {
	for _, tt := range []struct {
		pull Pulling
		want int
	}{
		{Pulling{Mode: PullPerFriend, Ack: AckNothing}, 10_001},
		{Pulling{Mode: PullCountsFirst, Open: 0.2, Ack: AckNothing}, 1 + 100},
	} {
		m := &model{onPull: true, friends: names("f", 10_000)}
		m.backlog(inbox, 1500, m.friends[3000:3500]...)
		act(t, Config{Pull: tt.pull, Ack: ackpolicy.Policy{Kind: ackpolicy.None}}, m, func(s *stage) {
			s.login()
			if m.requests != tt.want || s.w.syncs[0].Requests != tt.want {
				t.Errorf("%d requests, %d told, want %d", m.requests, s.w.syncs[0].Requests, tt.want)
			}
			if want := 3 * (tt.want - 1); tt.want < 10_000 && len(s.w.shown) != want {
				t.Errorf("%d shown, want 3 of each opened friend", len(s.w.shown))
			}
		})
	}
}

// TestGroupsPerLogin: G groups of n messages each, by the three ways to pull
// groups.
func TestGroupsPerLogin(t *testing.T) {
	const G, n, P = 6, 10, 4
	per := (n + P - 1) / P
	all := (G*n + P - 1) / P
	for _, tt := range []struct {
		name string
		pull Pulling
		want int
		open int
	}{
		{"group by group, next page", Pulling{}, G * (per + 1), G},
		{"group by group, page", Pulling{Ack: AckPage}, G * 2 * per, G},
		{"group by group, newest: one ack at the end", Pulling{Ack: AckPage, Order: Newest}, G * (per + 1), G},
		{"all groups, next page", Pulling{Groups: AllGroups}, all + 1, G},
		{"all groups, none", Pulling{Groups: AllGroups, Ack: AckNothing}, all, G},
		{"all groups, each", Pulling{Groups: AllGroups, Ack: AckEachMessage}, all + G*n, G},
		{"on demand", Pulling{Groups: OnDemand, Open: 1. / 3}, 2 * (1 + per + 1), 2},
		{"on demand, newest", Pulling{Groups: OnDemand, Open: 1. / 3, Order: Newest}, 2 * (1 + per + 1), 2},
		{"all groups apart from friends", Pulling{Groups: AllGroups, Mode: PullPerFriend}, 1 + 3 + all + 1, G},
		{"group by group apart from friends", Pulling{Mode: PullPerFriend}, 1 + 3 + G*(per+1), G},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.pull.Page = P
			m := &model{friends: names("f", 3)}
			for _, g := range names("g:", G) {
				m.backlog(g, n, "bob")
			}
			act(t, Config{Pull: tt.pull}, m, func(s *stage) {
				s.login()
				if m.requests != tt.want || s.w.syncs[0].Requests != tt.want {
					t.Errorf("%d requests, %d told, want %d", m.requests, s.w.syncs[0].Requests, tt.want)
				}
				if len(s.w.shown) != tt.open*n || len(s.w.twice()) > 0 {
					t.Errorf("%d shown, %v twice", len(s.w.shown), s.w.twice())
				}
				left := 0
				for _, c := range m.shelves {
					left += len(c.rows)
				}
				want := (G - tt.open) * n
				if tt.pull.Ack == AckNothing {
					want = G * n
				}
				if left != want {
					t.Errorf("%d stay on the server, want %d", left, want)
				}
				// closed groups are only counted; live ones are pushed
				before := len(s.w.shown)
				for _, g := range names("g:", G) {
					s.say(g, "bob")
				}
				s.m.serve(s.p)
				if got := len(s.w.shown) - before; got != tt.open {
					t.Errorf("%d live deliveries, want %d", got, tt.open)
				}
			})
		})
	}
}

// An opened group is live from then on, and stays wanted through reconnections;
// a closed one is left alone.
func TestOpenAndClose(t *testing.T) {
	for _, order := range []Order{Oldest, Newest} {
		m := &model{}
		m.backlog("g:a", 3, "bob")
		m.backlog("g:b", 3, "bob")
		act(t, Config{Pull: Pulling{Groups: OnDemand, Order: order}}, m, func(s *stage) {
			s.login()
			if m.requests != 0 || len(s.w.syncs) != 1 {
				t.Fatalf("%d requests, %d syncs; nothing is opened", m.requests, len(s.w.syncs))
			}
			if err := s.dev.Open("g:a"); err != nil {
				t.Fatal(err)
			}
			m.serve(s.p)
			s.say("g:a", "bob")
			s.say("g:b", "bob")
			m.serve(s.p)
			if len(s.w.shown) != 4 {
				t.Fatalf("shown %v", s.w.order)
			}
			s.p.conn.Close()
			m.store("g:a", "bob", false, false)
			s.accept()
			m.serve(s.p)
			if len(s.w.shown) != 5 || len(s.w.twice()) > 0 {
				t.Errorf("shown %v", s.w.order)
			}
			if err := s.dev.CloseConversation("g:a"); err != nil {
				t.Fatal(err)
			}
			m.serve(s.p)
			s.say("g:a", "bob")
			m.serve(s.p)
			if len(s.w.shown) != 5 || len(m.shelf("g:a").rows) != 1 {
				t.Errorf("a closed group was pulled: %v", s.w.order)
			}
			if err := s.dev.Open("g:a"); err != nil {
				t.Fatal(err)
			}
			m.serve(s.p)
			if len(s.w.shown) != 6 || len(m.shelf("g:a").rows) != 0 {
				t.Errorf("shown %v, %d left", s.w.order, len(m.shelf("g:a").rows))
			}
			if err := s.dev.Open("g:none"); err == nil || !strings.Contains(err.Error(), "g:none") {
				t.Errorf("opening what isn't there: %v", err)
			}
		})
	}
}

// With acks off, no page request acks and closing acks nothing.
func TestNoneNeverAcks(t *testing.T) {
	for _, order := range []Order{Oldest, Newest} {
		for _, to := range []string{inbox, "g:a"} {
			m := &model{}
			m.backlog(to, 7, "bob")
			cfg := Config{Ack: ackpolicy.Policy{Kind: ackpolicy.None}, Pull: Pulling{Ack: AckNothing, Order: order, Page: 3}}
			act(t, cfg, m, func(s *stage) {
				s.login()
				s.say(to, "bob")
				s.m.serve(s.p)
				if err := s.dev.Close(s.Context()); err != nil {
					t.Fatal(err)
				}
				m.serve(s.p)
				if len(s.w.acks) > 0 || len(m.shelf(to).rows) != 8 || len(s.w.shown) != 8 {
					t.Errorf("%d acks, %d rows left, %d shown", len(s.w.acks), len(m.shelf(to).rows), len(s.w.shown))
				}
			})
		}
	}
}
