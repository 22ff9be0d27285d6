package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
)

// What the server removes as it is pulled and can't be acked is lost with a
// page that a crash drops, exactly that; rungs that ack lose nothing and show
// nothing twice.
func TestCrashes(t *testing.T) {
	const n, P = 20, 5
	for _, point := range []CrashPoint{PullAndAck, MidSync, ReceiveAndAck} {
		for _, order := range []Order{Oldest, Newest} {
			for _, onPull := range []bool{true, false} {
				for _, to := range []string{inbox, "g:a"} {
					t.Run(fmt.Sprintf("%v %s on-pull=%v %s", point, orderNames[order], onPull, to), func(t *testing.T) {
						cfg := Config{Pull: Pulling{Page: P, Order: order}}
						cfg.Crash = Crashing{Point: point, Decide: func(_, login int) bool { return login == 1 }}
						if onPull {
							cfg.Pull.Ack, cfg.Ack = AckNothing, ackpolicy.Policy{Kind: ackpolicy.None}
						}
						m := &model{onPull: onPull, offline: onPull}
						m.backlog(to, n, "bob")
						act(t, cfg, m, func(s *stage) {
							s.login()
							s.say(to, "bob")
							if len(s.w.crashes) != 1 {
								t.Fatalf("%d crashes", len(s.w.crashes))
							}
							shown := len(s.w.shown)
							c := s.w.crashes[0]
							if c.Login != 1 || c.Point != point {
								t.Errorf("%+v", c)
							}
							s.relogin()
							s.say(to, "bob")
							m.serve(s.p)
							want, dropped := n+2, 0
							if point == PullAndAck {
								dropped = P
							}
							if len(c.Dropped) != dropped {
								t.Errorf("%d dropped, want %d", len(c.Dropped), dropped)
							}
							if onPull {
								want -= dropped
								for _, d := range c.Dropped {
									if s.w.shown[d.ClientMsgID] > 0 || !slices.Contains(m.removed, d.ClientMsgID) {
										t.Errorf("%s was dropped, and shown later", d.ClientMsgID)
									}
								}
							}
							if point == MidSync && shown != P {
								t.Errorf("%d were shown before the crash in the middle, want a page", shown)
							}
							if len(s.w.shown) != want || len(s.w.twice()) > 0 {
								t.Errorf("%d shown, want %d; twice %v", len(s.w.shown), want, s.w.twice())
							}
							if left := len(m.shelf(to).rows); left != 0 {
								t.Errorf("%d left on the server", left)
							}
							if got := s.w.syncs[len(s.w.syncs)-1].Login; got != 2 {
								t.Errorf("login %d, want 2", got)
							}
						})
					})
				}
			}
		}
	}
}

// What a crash leaves unacked comes again. Dedup decides whether it is shown
// again: none does, a window that is too small does and says so.
func TestDedupAfterACrash(t *testing.T) {
	const N = 10
	for _, tt := range []struct {
		dedup     dedup.Config
		twice     int
		forgotten uint64
	}{
		{dedup.Config{Mode: dedup.None}, N, 0},
		{dedup.Config{Mode: dedup.Set}, 0, 0},
		{dedup.Config{Mode: dedup.Window, Window: 100}, 0, 0},
		{dedup.Config{Mode: dedup.Window, Window: 4}, N, N}, // each one that is shown again forgets the next
		{dedup.Config{Mode: dedup.Watermark}, 0, 0},
	} {
		for _, drop := range []bool{false, true} { // the same device again, or what is left of it
			t.Run(fmt.Sprintf("%v %d drop=%v", tt.dedup.Mode, tt.dedup.Window, drop), func(t *testing.T) {
				m := &model{}
				m.shelf("g:a")
				act(t, Config{Dedup: tt.dedup, Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 2 * N}}, m, func(s *stage) {
					s.login()
					for range N {
						s.say("g:a", "bob")
					}
					var redelivered uint64
					if drop {
						s.dev.Drop()
						s.accept()
						m.serve(s.p)
						redelivered = N
					} else {
						s.dev.Crash()
						s.relogin()
					}
					st := s.dev.Stats()
					if got := len(s.w.twice()); got != tt.twice || st.Forgotten != tt.forgotten {
						t.Errorf("%d shown twice, %d forgotten; want %d, %d", got, st.Forgotten, tt.twice, tt.forgotten)
					}
					if known := tt.dedup.Mode == dedup.Set || tt.dedup.Mode == dedup.Watermark; known && !drop {
						redelivered = N
					}
					if redelivered > 0 && st.Redelivered != redelivered {
						t.Errorf("%d redelivered, want %d", st.Redelivered, redelivered)
					}
					if left := len(m.shelf("g:a").rows); left != 0 {
						t.Errorf("%d left", left)
					}
				})
			})
		}
	}
}

// The ack that a crash prevents may be due by a timer. A send without an answer
// ends as unknown then, with nobody closing the device.
func TestCrashByTimer(t *testing.T) {
	cfg := Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Interval, Interval: time.Second}}
	cfg.Crash = Crashing{Point: ReceiveAndAck, Decide: func(_, login int) bool { return login == 1 }}
	m := &model{}
	m.shelf("g:a")
	act(t, cfg, m, func(s *stage) {
		s.login()
		for range 3 {
			s.say("g:a", "bob")
		}
		if err := s.dev.Send(Message{To: "g:a", ClientMsgID: "mine"}); err != nil {
			t.Fatal(err)
		}
		if n := s.dev.Stats().Unacked; n != 3 {
			t.Fatalf("%d unacked before an ack is due", n)
		}
		time.Sleep(2 * time.Second)
		m.serve(s.p)
		<-s.dev.Done()
		synctest.Wait()
		if len(s.w.crashes) != 1 || len(s.w.acks) > 0 || len(m.shelf("g:a").rows) != 3 || !slices.Equal(s.w.ended, []string{"mine unknown"}) {
			t.Errorf("%d crashes, %d acks, %d left, sends ended: %v", len(s.w.crashes), len(s.w.acks), len(m.shelf("g:a").rows), s.w.ended)
		}
		s.relogin()
		if len(s.w.shown) != 3 || len(s.w.twice()) > 0 || len(m.shelf("g:a").rows) > 0 {
			t.Errorf("shown %v", s.w.order)
		}
		if saved := s.dev.Saved(); saved.Logins() != 2 || saved.Bytes() == 0 {
			t.Errorf("%d logins, %d bytes persisted", saved.Logins(), saved.Bytes())
		}
	})
}

// TestOnPullLosesExactlyWhatWasDropped: where pages remove what they bring, what
// is lost in the end is what the crashes' own log says, however the backlog is
// pulled and whatever is pushed in between.
func TestOnPullLosesExactlyWhatWasDropped(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{
			Ack:   ackpolicy.Policy{Kind: ackpolicy.None},
			Dedup: dedup.Config{Mode: rapid.SampledFrom([]dedup.Mode{dedup.None, dedup.Set, dedup.Window, dedup.Watermark}).Draw(rt, "dedup")},
			Pull: Pulling{
				Mode:   rapid.SampledFrom([]PullMode{PullPaged, PullAll, PullPerFriend}).Draw(rt, "mode"),
				Groups: rapid.SampledFrom([]GroupPull{PerGroup, AllGroups}).Draw(rt, "groups"),
				Order:  rapid.SampledFrom([]Order{Oldest, Newest}).Draw(rt, "order"),
				Ack:    AckNothing,
				Page:   rapid.IntRange(1, 5).Draw(rt, "page"),
			},
		}
		if cfg.Pull.Order == Newest {
			cfg.Pull.Groups = PerGroup
		}
		crashes := rapid.SliceOfN(rapid.Bool(), 6, 6).Draw(rt, "logins that crash")
		cfg.Crash = Crashing{Point: PullAndAck, Decide: func(_, login int) bool { return login < len(crashes) && crashes[login] }}
		waits := rapid.SliceOfN(rapid.IntRange(0, 12), len(crashes), len(crashes)).Draw(rt, "waits at each login")
		m := &model{onPull: true, offline: true, friends: names("f", 3)}
		var lost, dropped []string
		act(t, cfg, m, func(s *stage) {
			sent := 0
			for _, n := range waits {
				for range n {
					m.store(rigNames[sent%3], m.friends[sent/2%3], false, false)
					sent++
				}
				if s.p == nil {
					s.login()
				} else {
					s.dev.Crash() // or it has crashed
					s.relogin()
				}
				for _, name := range rigNames {
					s.say(name, "f00001")
				}
				m.serve(s.p)
			}
			s.dev.Crash()
			s.relogin() // a last one, for what was stored after a crash
			for _, c := range s.w.crashes {
				for _, d := range c.Dropped {
					dropped = append(dropped, d.ClientMsgID)
				}
			}
			for _, c := range m.shelves {
				for k := 1; k <= c.n; k++ {
					if id := fmt.Sprintf("%s.%d", c.name, k); s.w.shown[id] == 0 {
						lost = append(lost, id)
					}
				}
			}
			slices.Sort(lost)
			slices.Sort(dropped)
			lost = slices.Concat(lost, s.w.twice())
		})
		if !slices.Equal(lost, dropped) {
			rt.Fatalf("lost or shown twice %v, dropped %v", lost, dropped)
		}
	})
}
