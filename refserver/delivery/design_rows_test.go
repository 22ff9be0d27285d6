package delivery

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// onRows runs a test for copies and for ids, with a clock that stands still.
func onRows(t *testing.T, cfg Config, test func(t *testing.T, r *rig)) {
	for _, group := range []Group{GroupCopies, GroupIDs} {
		t.Run(string(group), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Group = group
				test(t, newRig(t, cfg, push.Config{QueueFrames: 64, Retransmit: 15 * time.Second}))
			})
		})
	}
}

var offline = Config{StoreFor: StoreForOffline, Remove: RemoveOnPull}

func (r *rig) wantRows(t *testing.T, want map[string][]uint64) {
	t.Helper()
	for user, seqs := range want {
		if got := r.store.stored(user, "g:1"); !slices.Equal(got, seqs) {
			t.Errorf("%s has %v, want %v", user, got, seqs)
		}
	}
}

// g1 and g2: who is online is pushed to and has no row; who is offline has one,
// until it pulls it.
func TestRowsForWhoIsOffline(t *testing.T) {
	onRows(t, offline, func(t *testing.T, r *rig) {
		mustAdd(t, r, "1", "a", "b", "c")
		a, b := r.connect(t, "a"), r.connect(t, "b")
		a.welcome("g:1")
		b.welcome("g:1")
		for seq := uint64(1); seq <= 3; seq++ {
			a.send("g:1", fmt.Sprint(seq))
			a.result(seq)
			b.deliver(seq)
		}
		r.wantRows(t, map[string][]uint64{"a": {}, "b": {}, "c": {1, 2, 3}})

		c := r.connect(t, "c")
		if w := c.welcome("g:1"); w.Cursor != 0 || w.Head != 3 || w.State != "behind" || w.First != 1 {
			t.Fatalf("welcome %v, want behind at 0 of 3", w)
		}
		if p := c.pull("g:1", 1, 0, 2); len(p.Messages) != 2 || p.UpTo != 2 || !p.More {
			t.Fatalf("page %v, want 1 and 2", p)
		}
		r.wantRows(t, map[string][]uint64{"c": {3}})
		a.send("g:1", "4")
		a.result(4)
		b.deliver(4)
		if p := c.pull("g:1", 1, 2, 2); len(p.Messages) != 2 || p.UpTo != 4 || p.More {
			t.Fatalf("page %v, want 3 and 4", p)
		}
		a.send("g:1", "5")
		a.result(5)
		c.deliver(5)
		synctest.Wait()
		r.wantRows(t, map[string][]uint64{"a": {}, "b": {}, "c": {}})
		if n := r.store.count("remove rows"); n != 0 {
			t.Errorf("%d acks of what goes as it is pulled", n)
		}

		// Whoever comes back with nothing stored stands at the head.
		c.end()
		synctest.Wait()
		again := r.connect(t, "c")
		if w := again.welcome("g:1"); w.Cursor != 5 || w.State != "live" {
			t.Errorf("welcome %v, want live at 5", w)
		}
	})
}

// A member that comes between the moment a row is written for it and the moment
// the message is dispatched misses nothing: it is told to pull.
func TestComingBetweenRowAndPush(t *testing.T) {
	for _, h := range []*wire.Hello{{}, {Live: true}, {Closed: true}} {
		onRows(t, offline, func(t *testing.T, r *rig) {
			mustAdd(t, r, "1", "a", "b")
			a := r.connect(t, "a")
			a.welcome("g:1")
			var b *device
			r.store.rows.beforeAppended = func(*Append) {
				r.store.rows.beforeAppended = nil
				r.store.mu.Unlock()
				b = r.open(t, "b", h)
				r.store.mu.Lock()
			}
			a.send("g:1", "1")
			a.result(1)
			w := b.welcome("g:1")
			if w.Head != 0 {
				t.Fatalf("welcome %v, want the head before the message", w)
			}
			if h.Closed {
				synctest.Wait()
				b.quiet()
				b.handle(&wire.Frame{Open: &wire.Open{Ref: 1, Conversation: "g:1"}})
				if f := b.next(); f.Conversation == nil || f.Conversation.State != "behind" {
					t.Fatalf("opened: %v, want behind", f)
				}
			} else if f := b.next(); f.PullNow == nil || f.PullNow.Head != 1 {
				t.Fatalf("got %v, want to be told to pull", f)
			}
			if p := b.pull("g:1", 1, 0, 10); len(p.Messages) != 1 || p.UpTo != 1 {
				t.Fatalf("page %v, want the message", p)
			}
			a.send("g:1", "2")
			a.result(2)
			b.deliver(2)
			synctest.Wait()
			b.quiet()
			r.wantRows(t, map[string][]uint64{"b": {}})
		})
	}
}

// A row that is written while its reader logs in is either found or lies beyond
// the head that was noted before.
func TestRowWhileLoggingIn(t *testing.T) {
	onRows(t, offline, func(t *testing.T, r *rig) {
		mustAdd(t, r, "1", "a", "b")
		a := r.connect(t, "a")
		a.welcome("g:1")
		a.send("g:1", "1")
		a.result(1)
		if p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1"}); len(p.Messages) != 1 {
			t.Fatalf("page %v, want one message", p)
		}
		r.store.afterLogin = func() {
			r.store.afterLogin = nil
			a.send("g:1", "2")
			a.result(2)
		}
		b := r.connect(t, "b")
		w := b.welcome("g:1")
		if w.State != "behind" || w.Cursor != 1 {
			t.Fatalf("welcome %v, want behind at 1", w)
		}
		if p := b.pull("g:1", 1, w.Cursor, 10); len(p.Messages) != 1 || p.Messages[0].Seq != 2 {
			t.Fatalf("page %v, want 2", p)
		}
	})
}

// g3: everybody has a row before the push; an ack removes it, and what isn't
// acked comes again from the member's own rows.
func TestRowsForAllGoOnAck(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, r *rig) {
		mustAdd(t, r, "1", "a", "b", "c")
		a, b := r.connect(t, "a"), r.connect(t, "b")
		a.welcome("g:1")
		b.welcome("g:1")
		r.store.rows.beforeAppended = func(*Append) { b.quiet() } // not pushed before it is stored
		for seq := uint64(1); seq <= 3; seq++ {
			a.send("g:1", fmt.Sprint(seq))
			a.result(seq)
			b.deliver(seq)
		}
		r.wantRows(t, map[string][]uint64{"a": {}, "b": {1, 2, 3}, "c": {1, 2, 3}})
		b.ack("g:1", 1, 2)
		time.Sleep(time.Second)
		r.wantRows(t, map[string][]uint64{"b": {3}, "c": {1, 2, 3}})
		time.Sleep(20 * time.Second)
		b.deliver(3)
		b.ack("g:1", 1, 3)
		time.Sleep(time.Second)
		r.wantRows(t, map[string][]uint64{"b": {}, "c": {1, 2, 3}})

		c := r.connect(t, "c")
		w := c.welcome("g:1")
		if w.Cursor != 0 || w.State != "behind" {
			t.Fatalf("welcome %v, want behind at 0", w)
		}
		if p := c.pull("g:1", 1, 0, 10); len(p.Messages) != 3 || p.More {
			t.Fatalf("page %v, want 3 messages", p)
		}
		r.wantRows(t, map[string][]uint64{"c": {1, 2, 3}}) // a page isn't an ack
		c.ack("g:1", 1, 2)
		c.end()
		time.Sleep(time.Second)
		if w := r.connect(t, "c").welcome("g:1"); w.Cursor != 2 || w.State != "behind" {
			t.Errorf("welcome %v, want behind at 2", w)
		}
	})
}

// Who sends has no row of its own message and is not behind because of it.
func TestOwnMessagesHaveNoRow(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, r *rig) {
		mustAdd(t, r, "1", "a", "b")
		for i, by := range []string{"a", "b", "a", "a"} {
			if _, err := r.Send(context.Background(), by, &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		p := r.mustPull(t, "a", &wire.PageRequest{Conversation: "g:1", Limit: 1})
		if len(p.Messages) != 1 || p.Messages[0].Seq != 2 || p.UpTo != 4 || p.More {
			t.Errorf("page %v, want 2 alone, and nothing more", p)
		}
		counts, err := r.Counts(context.Background(), "b", &wire.CountsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if c := counts.Counts[0]; c.Unread != 3 || c.Cursor != 0 || c.Head != 4 {
			t.Errorf("count %v, want 3 of 4", c)
		}
		if res, err := r.Ack(context.Background(), "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 3}); err != nil || res.Cursor != 3 {
			t.Errorf("ack %v (%v), want 3", res, err)
		}
		r.wantRows(t, map[string][]uint64{"a": {2}, "b": {4}})
	})
}

// A slow member that was passed over has a row, and pulls.
func TestFullQueueHasARow(t *testing.T) {
	onRows(t, offline, func(t *testing.T, r *rig) {
		mustAdd(t, r, "1", "a", "b")
		b := r.connect(t, "b")
		b.welcome("g:1")
		full := make(chan struct{})
		r.store.rows.beforeAppended = func(a *Append) {
			if len(r.store.rows.byUser["b"]["g:1"]) > 0 {
				select {
				case <-full:
				default:
					close(full)
				}
			}
		}
		b.stall()
		sent := uint64(0)
		for done := false; !done && sent < 1000; {
			sent++
			if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(sent), Body: "x"}); err != nil {
				t.Fatal(err)
			}
			select {
			case <-full:
				done = true
			default:
			}
		}
		rows := r.store.stored("b", "g:1")
		if len(rows) != 1 || rows[0] != sent {
			t.Fatalf("rows %v, want the last one, %d", rows, sent)
		}
		b.unstall()
		for seq := uint64(1); seq < sent; seq++ {
			b.deliver(seq)
		}
		if f := b.next(); f.PullNow == nil || f.PullNow.Head != sent {
			t.Fatalf("got %v, want to be told to pull up to %d", f, sent)
		}
		if p := b.pull("g:1", 1, sent-1, 10); len(p.Messages) != 1 || p.UpTo != sent {
			t.Fatalf("page %v, want %d", p, sent)
		}
	})
}

func (r *rig) mustPull(t *testing.T, user string, req *wire.PageRequest) *wire.Page {
	t.Helper()
	p, err := r.Pull(context.Background(), user, req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
