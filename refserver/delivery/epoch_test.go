package delivery

import (
	"fmt"
	"testing"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// A store that lost its tail hands out the same seqs again. A client whose
// watermark is ahead must fall back, or it would drop new messages.
func TestLostTailBeginsANewEpoch(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	b := r.connect(t, "b")
	b.welcome("g:1")
	fill(t, r, "a", "g:1", 10)
	for seq := uint64(1); seq <= 10; seq++ {
		b.deliver(seq)
	}
	b.ack("g:1", 1, 10)
	r.store.restart(4) // 7–10 are gone
	if f := b.next(); f.Error == nil || f.Error.Code != "close 1012" {
		t.Fatalf("got %v, want a close", f)
	}
	b.end()

	// Before the client is back, new messages take the old seqs.
	for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
		if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: id}); err != nil {
			t.Fatal(err)
		}
	}
	b = r.connect(t, "b", &wire.Resume{Conversation: "g:1", Epoch: 1, Cursor: 10})
	c := b.welcome("g:1")
	if c.Epoch != 2 || c.Base != 6 || c.Head != 11 || c.Cursor != 6 || c.State != "behind" {
		t.Fatalf("welcome %v, want epoch 2, base 6, head 11, cursor 6, behind", c)
	}
	// Even one that asks as if nothing had happened gets them.
	p := b.pull("g:1", 1, 10, 100)
	if p.Epoch != 2 || p.After != 6 || len(p.Messages) != 5 || p.Messages[0].ClientMsgId != "n1" {
		t.Errorf("page %v", p)
	}
	// An ack of the old epoch moves nothing.
	b.handle(&wire.Frame{Ack: &wire.Ack{Ref: 3, Conversation: "g:1", Epoch: 1, UpTo: 10}})
	if f := b.next(); f.AckResult == nil || f.AckResult.Cursor != 6 {
		t.Errorf("got %v, want cursor 6", f)
	}
}

// A message that is stored while a conversation is being opened is neither
// lost nor pushed twice.
func TestStoredWhileOpening(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	r.store.hold = true
	a := r.connect(t, "a")
	a.welcome("g:1")
	a.send("g:1", "m1")
	a.send("g:1", "m2")
	b := r.connect(t, "b")
	if c := b.welcome("g:1"); c.Head != 0 {
		t.Fatalf("head %d", c.Head)
	}
	r.store.release()
	a.result(1)
	a.result(2)
	b.deliver(1)
	b.deliver(2)
}

// What a client says of an epoch is worth something in the next one only. With
// another between, the base says nothing: there 5 to 10 were other messages, and
// a client of the first that kept them would never see these.
func TestTwoEpochsBehind(t *testing.T) {
	const acked = 3 // of the first epoch; everything else was only received
	claims := []struct {
		epoch, seq, want uint64
	}{
		{1, 10, acked}, {1, 4, acked}, // 4 has survived, but nobody knows that any more
		{2, 7, 7}, {2, 10, 9}, // no further than what was stored when this one began
		{3, 8, 8}, {3, 99, 11},
		{4, 10, acked}, {99, 10, acked}, // never was
	}
	ways := map[string]func(t *testing.T, r *rig, name string, at *wire.Resume) uint64{
		"hello": func(t *testing.T, r *rig, name string, at *wire.Resume) uint64 {
			return r.connect(t, "b", at).welcome(name).Cursor
		},
		"hello over HTTP": func(t *testing.T, r *rig, name string, at *wire.Resume) uint64 {
			w, err := r.Hello(t.Context(), "b", &wire.Hello{Resume: []*wire.Resume{at}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Hello(t.Context(), "b", &wire.Hello{}); err != nil { // what it said counts as an ack
				t.Fatal(err)
			}
			for _, c := range w.Conversations {
				if c.Conversation == name {
					return c.Cursor
				}
			}
			t.Fatalf("%s isn't in %v", name, w)
			return 0
		},
		"page": func(t *testing.T, r *rig, name string, at *wire.Resume) uint64 {
			b := r.connect(t, "b")
			b.welcome(name)
			return b.pull(name, at.Epoch, at.Cursor, 100).After
		},
		"page over HTTP": func(t *testing.T, r *rig, name string, at *wire.Resume) uint64 {
			return r.mustPull(t, "b", &wire.PageRequest{Conversation: name, Epoch: at.Epoch, After: at.Cursor, Limit: 100}).After
		},
		"sync": func(t *testing.T, r *rig, name string, at *wire.Resume) uint64 {
			s, err := r.Sync(t.Context(), "b", &wire.SyncRequest{After: []*wire.Resume{at}, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Pages) == 0 {
				return 11 // nothing follows
			}
			return s.Pages[0].After
		},
	}
	for way, try := range ways {
		for _, name := range []string{"g:1", "u:b"} {
			if way == "sync" && name == "u:b" {
				continue // is about groups
			}
			for _, claim := range claims {
				t.Run(fmt.Sprintf("%s %s %d of epoch %d", way, name, claim.seq, claim.epoch), func(t *testing.T) {
					r := newRig(t, Config{}, push.Config{})
					mustAdd(t, r, "1", "a", "b")
					fill(t, r, "a", name, 10)
					if _, err := r.Ack(t.Context(), "b", &wire.Ack{Conversation: name, Epoch: 1, UpTo: acked}); err != nil {
						t.Fatal(err)
					}
					r.store.restart(6)
					for i := range 5 {
						mustSend(t, r, name, fmt.Sprintf("second-%d", i))
					}
					r.store.restart(0)
					for i := range 2 {
						mustSend(t, r, name, fmt.Sprintf("third-%d", i))
					}
					if got := try(t, r, name, &wire.Resume{Conversation: name, Epoch: claim.epoch, Cursor: claim.seq}); got != claim.want {
						t.Errorf("goes on after %d, want %d", got, claim.want)
					}
				})
			}
		}
	}
}

// A login that reads in one epoch and finds its conversations in the next one
// would mix both; it is refused, and the next one is all of the new epoch.
func TestRestartDuringLogin(t *testing.T) {
	for _, group := range []string{"with a group", "without"} {
		t.Run(group, func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{})
			if group == "with a group" {
				mustAdd(t, r, "1", "a", "b")
				fill(t, r, "a", "g:1", 2)
			}
			for name, ask := range map[string]func() (uint64, error){
				"hello": func() (uint64, error) { w, err := r.Hello(t.Context(), "b", &wire.Hello{}); return w.GetEpoch(), err },
				"counts": func() (uint64, error) {
					c, err := r.Counts(t.Context(), "b", &wire.CountsRequest{})
					return c.GetEpoch(), err
				},
			} {
				before := r.store.epoch
				r.store.afterLogin = func() {
					r.store.afterLogin = nil
					r.store.restart(0)
				}
				_, err := ask()
				wantFault(t, err, wire.CodeUnavailable)
				if epoch, err := ask(); err != nil || epoch != before+1 {
					t.Errorf("%s: epoch %d (%v), want %d", name, epoch, err, before+1)
				}
			}
		})
	}
}
