package delivery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func TestAcksOfAMomentShareOneCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{AckJoin: 5 * time.Millisecond}, push.Config{})
		mustAdd(t, r, "1", users(500)...)
		var all []*device
		for _, u := range users(500) {
			d := r.connect(t, u)
			d.welcome("g:1")
			all = append(all, d)
		}
		all[0].send("g:1", "m1")
		all[0].result(1)
		for _, d := range all[1:] {
			d.deliver(1)
			d.ack("g:1", 1, 1)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if got := r.store.count("move"); got != 1 {
			t.Errorf("%d commands for 499 acks of one moment, want 1", got)
		}
		for _, u := range users(500) {
			if c := r.store.cursor("g:1", u); c != 1 {
				t.Fatalf("cursor of %s is %d, want 1", u, c)
			}
		}
		if s := r.Stats(); s.AckRequests != 499 || s.CursorsMoved != 499 || s.AcksIgnored != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestAckFlushWritesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{AckFlush: 2 * time.Second}, push.Config{})
		mustAdd(t, r, "1", "a", "b")
		a, b := r.connect(t, "a"), r.connect(t, "b")
		a.welcome("g:1")
		b.welcome("g:1")
		for i, id := range []string{"m1", "m2", "m3"} {
			a.send("g:1", id)
			a.result(uint64(i + 1))
			b.deliver(uint64(i + 1))
			b.handle(&wire.Frame{Ack: &wire.Ack{Ref: 9, Conversation: "g:1", Epoch: 1, UpTo: uint64(i + 1)}})
			if f := b.next(); f.AckResult == nil || f.AckResult.Cursor != uint64(i+1) {
				t.Fatalf("got %v: with write-behind an ack is answered at once", f)
			}
			time.Sleep(500 * time.Millisecond)
		}
		synctest.Wait()
		if c := r.store.cursor("g:1", "b"); c != 0 {
			t.Errorf("cursor %d stored after 1.5 s, want 0", c)
		}
		// A reconnect meanwhile sees the acks that are not stored yet.
		b.end()
		b = r.connect(t, "b")
		if c := b.welcome("g:1"); c.Cursor != 3 || c.State != "live" {
			t.Errorf("welcome %v, want cursor 3, live", c)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if c, n := r.store.cursor("g:1", "b"), r.store.count("move"); c != 3 || n != 1 {
			t.Errorf("cursor %d after %d commands, want 3 after 1", c, n)
		}
	})
}

// Who is told that its ack is stored finds it in the store alone: what waits is
// a seq, and a cursor that is stored as a time may stand elsewhere.
func TestStoredAcksDontWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{}, push.Config{})
		mustAdd(t, r, "1", "a", "b")
		if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Send(t.Context(), "a", &wire.Send{To: "u:b", ClientMsgId: "m2"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			ids  []uint64
		}{{"g:1", nil}, {"u:b", nil}, {"u:b", []uint64{1}}} {
			conv, err := r.Service.open(t.Context(), c.name)
			if err != nil {
				t.Fatal(err)
			}
			told := make(chan bool, 1)
			written := func(err error) { told <- err == nil && !r.acks.waiting(conv) }
			if c.ids != nil {
				r.acks.addIDs(conv, c.ids, written)
			} else {
				r.acks.add(conv, "b", 1, written)
			}
			if !<-told {
				t.Errorf("%s %v: told while it waits", c.name, c.ids)
			}
		}
	})
}

func TestAckedOnlyOnceStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{AckJoin: 100 * time.Millisecond}, push.Config{})
		mustAdd(t, r, "1", "a", "b")
		a := r.connect(t, "a")
		a.welcome("g:1")
		if _, err := r.Send(t.Context(), "b", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
			t.Fatal(err)
		}
		a.deliver(1)
		a.handle(&wire.Frame{Ack: &wire.Ack{Ref: 7, Conversation: "g:1", Epoch: 1, UpTo: 1}})
		time.Sleep(99 * time.Millisecond)
		synctest.Wait()
		a.quiet()
		time.Sleep(2 * time.Millisecond)
		if f := a.next(); f.AckResult == nil || f.AckResult.Ref != 7 || f.AckResult.Cursor != 1 {
			t.Errorf("got %v", f)
		}
		if c := r.store.cursor("g:1", "a"); c != 1 {
			t.Errorf("answered with cursor %d stored", c)
		}
	})
}

func TestAcksAreTriedAgainWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{}, push.Config{})
		mustAdd(t, r, "1", "a", "b")
		b := r.connect(t, "b")
		b.welcome("g:1")
		if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
			t.Fatal(err)
		}
		b.deliver(1)
		r.store.mu.Lock()
		r.store.down = true
		r.store.mu.Unlock()
		b.ack("g:1", 1, 1)
		time.Sleep(100 * time.Millisecond)
		r.store.mu.Lock()
		r.store.down = false
		r.store.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if c := r.store.cursor("g:1", "b"); c != 1 {
			t.Errorf("cursor %d, want 1", c)
		}
	})
}

func TestCloseStoresWhatIsAcked(t *testing.T) {
	r := newRig(t, Config{AckFlush: time.Hour}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Ack(t.Context(), "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 1}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c := r.store.cursor("g:1", "b"); c != 1 {
		t.Errorf("cursor %d, want 1", c)
	}
}

// The store can't fill a sender's own gap while the ack right before it is
// still on its way; otherwise trimming would stop for a member who only
// writes from then on.
func TestOwnGapBehindAnAckOnItsWay(t *testing.T) {
	for _, online := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{AckFlush: time.Second}, push.Config{})
			mustAdd(t, r, "1", "a", "b")
			ctx := t.Context()
			if _, err := r.Send(ctx, "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
				t.Fatal(err)
			}
			if online {
				b := r.connect(t, "b")
				if b.welcome("g:1"); b.pull("g:1", 1, 0, 10).UpTo != 1 {
					t.Fatal("page")
				}
				b.ack("g:1", 1, 1)
				b.send("g:1", "m2")
				b.result(2)
			} else {
				if _, err := r.Ack(ctx, "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 1}); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Send(ctx, "b", &wire.Send{To: "g:1", ClientMsgId: "m2"}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if c := r.store.cursor("g:1", "b"); c != 2 {
				t.Errorf("online %v: cursor %d, want 2: its own message filled the gap", online, c)
			}
		})
	}
}

// Over HTTP too an ack carries the cursor over the user's own messages behind it.
func TestHTTPAckJumpsOverOwnMessagesThatFollow(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	for i, sender := range []string{"a", "b", "b", "a"} {
		if _, err := r.Send(t.Context(), sender, &wire.Send{To: "g:1", ClientMsgId: string(rune('p' + i))}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Ack(t.Context(), "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 1})
	if err != nil || got.Cursor != 3 || r.store.cursor("g:1", "b") != 3 {
		t.Errorf("%v, %v: want cursor 3", got, err)
	}
}

func TestBadAcks(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		user string
		ack  *wire.Ack
		code wire.Code
	}{
		{"not a member", "x", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 1}, wire.CodeNotMember},
		{"no such group", "a", &wire.Ack{Conversation: "g:9", Epoch: 1, UpTo: 1}, wire.CodeNoSuchGroup},
		{"another's inbox", "a", &wire.Ack{Conversation: "u:b", Epoch: 1, UpTo: 1}, wire.CodeNotMember},
		{"nonsense", "a", &wire.Ack{Conversation: "x", Epoch: 1, UpTo: 1}, wire.CodeBadRequest},
		{"no epoch", "a", &wire.Ack{Conversation: "g:1", UpTo: 1}, wire.CodeBadRequest},
		{"nothing", "a", &wire.Ack{Conversation: "g:1", Epoch: 1}, wire.CodeBadRequest},
		{"ids in a group", "a", &wire.Ack{Conversation: "g:1", Epoch: 1, Ids: []uint64{1}}, wire.CodeUnsupported},
		{"both", "a", &wire.Ack{Conversation: "u:a", Epoch: 1, UpTo: 1, Ids: []uint64{1}}, wire.CodeBadRequest},
	} {
		_, err := r.Ack(t.Context(), c.user, c.ack)
		if f := wire.AsFault(err); f == nil || f.Code != c.code {
			t.Errorf("%s: got %v, want %s", c.name, err, c.code)
		}
		d := r.connect(t, "a")
		d.welcome("g:1")
		if c.user == "a" && c.code != wire.CodeNoSuchGroup {
			d.handle(&wire.Frame{Ack: c.ack})
			if f := d.next(); f.Error == nil {
				t.Errorf("%s over WebSocket: got %v", c.name, f)
			}
		}
	}
	if got := r.store.count("move"); got != 0 {
		t.Errorf("%d cursors commands for refused acks", got)
	}
}

func TestAckPastTheHeadIsClamped(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Ack(t.Context(), "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 1 << 60})
	if err != nil || got.Cursor != 1 {
		t.Errorf("got %v, %v; want cursor 1", got, err)
	}
	for _, m := range r.store.moves {
		if m.UpTo != 1 {
			t.Errorf("move %v", m)
		}
	}
}

func TestInboxAcksByIDAndCumulative(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	ctx := t.Context()
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		got, err := r.Send(ctx, "a", &wire.Send{To: "u:b", ClientMsgId: id})
		if err != nil || !got.Offline {
			t.Fatalf("%v %v: want stored for an offline receiver", got, err)
		}
	}
	if _, err := r.Ack(ctx, "b", &wire.Ack{Conversation: "u:b", Epoch: 1, Ids: []uint64{2}}); err != nil {
		t.Fatal(err)
	}
	p, err := r.Pull(ctx, "b", &wire.PageRequest{Conversation: "u:b"})
	if err != nil || len(p.Messages) != 3 || p.After != 0 || p.UpTo != 4 {
		t.Fatalf("%v, %v: want 1, 3, 4 and the range (0, 4]", p, err)
	}
	if _, err := r.Ack(ctx, "b", &wire.Ack{Conversation: "u:b", Epoch: 1, UpTo: 3}); err != nil {
		t.Fatal(err)
	}
	counts, err := r.Counts(ctx, "b", &wire.CountsRequest{})
	if err != nil || counts.Counts[0].Unread != 1 {
		t.Errorf("%v, %v: want one left", counts, err)
	}
}

// What is acked by ids over HTTP, alone or in a pull, is out of the flight of the
// user's connection, and the answer names the cursor that stands.
func TestHTTPAckByIDsOpensTheWindow(t *testing.T) {
	for _, pull := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{Window: 2})
			d := r.connect(t, "bob")
			d.welcome("u:bob")
			for _, id := range []string{"m1", "m2"} {
				r.sent(t, "ann", id)
			}
			d.deliver(1)
			d.deliver(2)
			if pull {
				r.mustPull(t, "bob", &wire.PageRequest{Conversation: "u:bob", Epoch: 1, Ids: []uint64{1, 2}})
			} else {
				for _, step := range []struct{ id, cursor uint64 }{{2, 0}, {1, 2}} {
					got, err := r.Ack(t.Context(), "bob", &wire.Ack{Conversation: "u:bob", Epoch: 1, Ids: []uint64{step.id}})
					if err != nil || got.Cursor != step.cursor {
						t.Errorf("ack of %d: %v, %v, want cursor %d", step.id, got, err, step.cursor)
					}
				}
			}
			r.sent(t, "ann", "m3")
			synctest.Wait()
			d.deliver(3)
			d.quiet()
		})
	}
}

// Of who is offline too an ack by ids answers the cursor that stands.
func TestAckByIDsOfWhoIsOffline(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	for _, id := range []string{"m1", "m2", "m3"} {
		r.sent(t, "ann", id)
	}
	for _, step := range []struct{ epoch, id, cursor uint64 }{{1, 2, 0}, {1, 1, 2}, {9, 3, 2}, {1, 3, 3}} {
		got, err := r.Ack(t.Context(), "bob", &wire.Ack{Conversation: "u:bob", Epoch: step.epoch, Ids: []uint64{step.id}})
		if err != nil || got.Cursor != step.cursor {
			t.Errorf("ack of %d: %v, %v, want cursor %d", step.id, got, err, step.cursor)
		}
	}
}
