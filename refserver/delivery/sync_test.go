package delivery

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// backlog stores n messages in each of g:1 … g:groups, whose members are a, the
// sender, and b.
func backlog(t *testing.T, r *rig, groups, n int) {
	t.Helper()
	for g := 1; g <= groups; g++ {
		mustAdd(t, r, fmt.Sprint(g), "a", "b")
		for i := range n {
			mustSend(t, r, fmt.Sprintf("g:%d", g), fmt.Sprintf("m%d", i))
		}
	}
}

func mustSend(t *testing.T, r *rig, to, id string) {
	t.Helper()
	if _, err := r.Send(context.Background(), "a", &wire.Send{To: to, ClientMsgId: id, Body: "hi"}); err != nil {
		t.Fatal(err)
	}
}

// syncer is a client that pulls all groups at once.
type syncer struct {
	held     map[string]*wire.Resume
	requests int
	messages int
}

// take checks a sync and names what it covers in the next request.
func (c *syncer) take(t *testing.T, s *wire.Sync, limit int) (next []*wire.Resume) {
	t.Helper()
	c.requests++
	got := 0
	for _, p := range s.Pages {
		held := c.held[p.Conversation]
		if held == nil {
			held = &wire.Resume{Conversation: p.Conversation, Epoch: p.Epoch}
			c.held[p.Conversation] = held
		}
		if p.After != held.Cursor {
			t.Errorf("%s: a page after %d follows %d", p.Conversation, p.After, held.Cursor)
		}
		for i, m := range p.Messages {
			if m.Seq != held.Cursor+uint64(i)+1 {
				t.Errorf("%s: seq %d at %d after %d", p.Conversation, m.Seq, i, held.Cursor)
			}
		}
		held.Cursor = p.UpTo
		got += len(p.Messages)
		next = append(next, held)
	}
	if got > limit {
		t.Errorf("%d messages, want at most %d", got, limit)
	}
	c.messages += got
	return next
}

// With n messages waiting over all groups, ⌈n/P⌉ syncs of P messages get them,
// each once and in order; the next sync is the ack.
func TestSyncOfAllGroups(t *testing.T) {
	const groups, each = 3, 5
	for _, tc := range []struct {
		limit, requests int // ⌈15/limit⌉
	}{{4, 4}, {5, 3}, {7, 3}, {15, 1}, {1, 15}} {
		t.Run(fmt.Sprintf("WebSocket, limit %d", tc.limit), func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{})
			backlog(t, r, groups, each)
			b := r.connect(t, "b")
			b.welcome("g:1")
			c := syncer{held: map[string]*wire.Resume{}}
			var after []*wire.Resume
			for more := true; more; {
				b.handle(&wire.Frame{SyncRequest: &wire.SyncRequest{Ref: 9, After: after, Limit: uint32(tc.limit), Ack: true}})
				f := b.next()
				if f.Sync == nil || f.Sync.Ref != 9 || f.Sync.Epoch != 1 {
					t.Fatalf("got %v, want a sync", f)
				}
				after, more = c.take(t, f.Sync, tc.limit), f.Sync.More
			}
			check(t, r, &c, tc.requests, groups*each)
			// Live now, in every group.
			for g := 1; g <= groups; g++ {
				mustSend(t, r, fmt.Sprintf("g:%d", g), "live")
				b.deliver(each + 1)
			}
		})
		t.Run(fmt.Sprintf("HTTP, limit %d", tc.limit), func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{})
			backlog(t, r, groups, each)
			c := syncer{held: map[string]*wire.Resume{}}
			var after []*wire.Resume
			for more := true; more; {
				s, err := r.Sync(context.Background(), "b", &wire.SyncRequest{After: after, Limit: uint32(tc.limit), Ack: true})
				if err != nil {
					t.Fatal(err)
				}
				if n := len(r.store.moves); len(after) > 0 && n == 0 {
					t.Error("answered before the acks were stored")
				}
				after, more = c.take(t, s, tc.limit), s.More
			}
			check(t, r, &c, tc.requests, groups*each)
		})
	}
}

func check(t *testing.T, r *rig, c *syncer, requests, messages int) {
	t.Helper()
	s := r.Stats()
	if c.requests != requests || c.messages != messages {
		t.Errorf("%d requests for %d messages, want %d for %d", c.requests, c.messages, requests, messages)
	}
	if s.AckRequests != uint64(requests-1) || s.Syncs != uint64(requests) || s.Paged != uint64(messages) {
		t.Errorf("stats: %d ack requests, %d syncs, %d paged; want %d, %d, %d", s.AckRequests, s.Syncs, s.Paged, requests-1, requests, messages)
	}
}

func TestSyncFaults(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	backlog(t, r, 1, 1)
	mustAdd(t, r, "other", "a")
	b := r.connect(t, "b")
	b.welcome("g:1")
	for _, tc := range []struct {
		name  string
		after []*wire.Resume
		code  wire.Code
	}{
		{"no conversation", []*wire.Resume{{Conversation: "x"}}, wire.CodeBadRequest},
		{"an inbox", []*wire.Resume{{Conversation: "u:b"}}, wire.CodeBadRequest},
		{"another's group", []*wire.Resume{{Conversation: "g:other"}}, wire.CodeNotMember},
		{"too many", make([]*wire.Resume, maxResumes+1), wire.CodeTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := r.Sync(context.Background(), "b", &wire.SyncRequest{After: tc.after})
			wantFault(t, err, tc.code)
			b.handle(&wire.Frame{SyncRequest: &wire.SyncRequest{Ref: 3, After: tc.after}})
			if f := b.fault(tc.code); f.Ref != 3 {
				t.Errorf("ref %d, want 3", f.Ref)
			}
		})
	}
}

// From another epoch a sync goes on after what was stored when this one began,
// and its acks are ignored.
func TestSyncFromAnotherEpoch(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	backlog(t, r, 1, 3)
	s, err := r.Sync(context.Background(), "b", &wire.SyncRequest{After: []*wire.Resume{{Conversation: "g:1", Epoch: 99, Cursor: 3}}, Ack: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pages) != 1 || s.Pages[0].After != 0 || len(s.Pages[0].Messages) != 3 {
		t.Errorf("got %v, want all three messages", s)
	}
	if st := r.Stats(); st.AcksIgnored != 1 || st.CursorsMoved != 0 {
		t.Errorf("stats %+v, want the ack ignored", st)
	}
}

// A store that fails half-way doesn't take what was read before it: that may
// have been removed already.
func TestSyncThatFailsHalfWay(t *testing.T) {
	r := newRig(t, Config{TailMessages: 1, CacheBytes: 1}, push.Config{})
	backlog(t, r, 2, 3)
	r.store.failReads = 1
	s, err := r.Sync(context.Background(), "b", &wire.SyncRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pages) != 1 || !s.More || len(s.Pages[0].Messages) != 3 {
		t.Errorf("got %v, want the first group and more", s)
	}
}

// A closed group is neither pushed, nor sent again, nor part of a sync; opened
// it is behind, and live once it was pulled.
func TestClosedAtLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{}, push.Config{Retransmit: time.Second})
		backlog(t, r, 2, 2)
		b := r.hello(t, "b", &wire.Hello{Closed: true})
		for _, want := range []struct{ conversation, state string }{{"g:1", "count-only"}, {"g:2", "count-only"}, {"u:b", "live"}} {
			if got := b.described[want.conversation].State; got != want.state {
				t.Errorf("%s is %s, want %s", want.conversation, got, want.state)
			}
		}
		mustSend(t, r, "g:1", "closed")
		time.Sleep(time.Minute)
		synctest.Wait()
		b.quiet()
		if st := r.hub.Stats(); st.Pushed+st.Retransmitted+st.PullNow != 0 {
			t.Errorf("stats %+v, want nothing pushed", st)
		}
		b.handle(&wire.Frame{SyncRequest: &wire.SyncRequest{}})
		if f := b.next(); f.Sync == nil || len(f.Sync.Pages) != 0 || f.Sync.More {
			t.Errorf("got %v, want nothing", f)
		}
		counts, err := r.Counts(context.Background(), "b", &wire.CountsRequest{})
		if err != nil || counts.Counts[0].Unread != 3 || counts.Counts[1].Unread != 2 {
			t.Errorf("counts %v, %v; want 3 and 2 unread", counts, err)
		}

		b.handle(&wire.Frame{Open: &wire.Open{Ref: 5, Conversation: "g:1"}})
		if c := b.next().Conversation; c == nil || c.Ref != 5 || c.State != "behind" || c.Cursor != 0 || c.Head != 3 {
			t.Fatalf("opened: %v, want behind, 0 of 3", c)
		}
		if p := b.pull("g:1", 1, 0, 10); len(p.Messages) != 3 || p.More {
			t.Errorf("page %v, want 3 messages", p)
		}
		mustSend(t, r, "g:1", "open")
		mustSend(t, r, "g:2", "closed")
		b.deliver(4)
		b.ack("g:1", 1, 4)
		b.handle(&wire.Frame{Close: &wire.Close{Ref: 6, Conversation: "g:1"}})
		if c := b.next().Conversation; c == nil || c.State != "count-only" || c.Cursor != 4 {
			t.Errorf("closed: %v, want count-only at 4", c)
		}
		mustSend(t, r, "g:1", "closed-again")
		time.Sleep(time.Minute)
		synctest.Wait()
		b.quiet()
		b.handle(&wire.Frame{Close: &wire.Close{Conversation: "u:b"}})
		b.fault(wire.CodeBadRequest)
	})
}

// A client that pulls by itself is live at once, with nothing in flight of what
// waits below.
func TestLiveAtLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{}, push.Config{Retransmit: time.Second, Window: 2})
		backlog(t, r, 1, 5)
		b := r.hello(t, "b", &wire.Hello{Live: true})
		if c := b.described["g:1"]; c.State != "live" || c.Cursor != 0 || c.Head != 5 {
			t.Errorf("described as %v, want live, 0 of 5", c)
		}
		mustSend(t, r, "g:1", "live")
		b.deliver(6)
		time.Sleep(time.Minute) // 6 is sent again, what lies below isn't
		synctest.Wait()
		again := r.hub.Stats().Retransmitted
		for range again {
			b.deliver(6)
		}
		if again == 0 {
			t.Error("nothing was sent again")
		}
		for after := uint64(0); after < 5; after += 2 {
			p := b.pull("g:1", 1, after, 2)
			b.ack("g:1", 1, p.UpTo)
		}
		mustSend(t, r, "g:1", "live-2")
		b.deliver(7)
		b.ack("g:1", 1, 7)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.quiet()
		if got := r.store.cursor("g:1", "b"); got != 7 {
			t.Errorf("stored cursor %d, want 7", got)
		}
	})
}
