package delivery

import (
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
