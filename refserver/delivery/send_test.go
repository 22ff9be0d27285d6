package delivery

import (
	"strings"
	"testing"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func TestSendChecks(t *testing.T) {
	r := newRig(t, Config{MaxBody: 100}, push.Config{})
	mustAdd(t, r, "1", "a")
	for _, c := range []struct {
		name string
		send *wire.Send
		code wire.Code
	}{
		{"oversized body", &wire.Send{To: "g:1", ClientMsgId: "m", Body: strings.Repeat("x", 101)}, wire.CodeTooLarge},
		{"not UTF-8", &wire.Send{To: "g:1", ClientMsgId: "m", Body: "\xff"}, wire.CodeBadRequest},
		{"no client_msg_id", &wire.Send{To: "g:1"}, wire.CodeBadRequest},
		{"no receiver", &wire.Send{ClientMsgId: "m"}, wire.CodeBadRequest},
		{"oneself", &wire.Send{To: "u:a", ClientMsgId: "m"}, wire.CodeBadRequest},
		{"no such group", &wire.Send{To: "g:2", ClientMsgId: "m"}, wire.CodeNoSuchGroup},
	} {
		_, err := r.Send(t.Context(), "a", c.send)
		if f := wire.AsFault(err); f == nil || f.Code != c.code {
			t.Errorf("%s: got %v, want %s", c.name, err, c.code)
		}
		d := r.connect(t, "a")
		d.welcome("g:1")
		d.handle(&wire.Frame{Send: c.send})
		d.fault(c.code)
	}
	_, err := r.Send(t.Context(), "x", &wire.Send{To: "g:1", ClientMsgId: "m"})
	wantFault(t, err, wire.CodeNotMember)
	if s := r.Stats(); s.SendsStored != 0 || s.SendsRefused != 13 {
		t.Errorf("stats %+v, want 13 refused", s)
	}
}

func TestSendsInFlightAreBounded(t *testing.T) {
	r := newRig(t, Config{MaxInFlight: 2}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	a := r.connect(t, "a")
	a.welcome("g:1")
	r.store.hold = true
	a.send("g:1", "m1")
	a.send("g:1", "m2")
	a.send("g:1", "m3")
	if e := a.fault(wire.CodeOverloaded); !e.Retryable {
		t.Error("overload must be retryable")
	}
	r.store.release()
	a.result(1)
	a.result(2)
	a.send("g:1", "m3")
	a.result(3)
}

func TestIdempotentSend(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a", "b")
	b := r.connect(t, "b")
	b.welcome("g:1")
	for i := range 3 {
		got, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m1"})
		if err != nil || got.Seq != 1 || got.Duplicate != (i > 0) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m2"}); err != nil {
		t.Fatal(err)
	}
	b.deliver(1)
	b.deliver(2)
}

func TestMembershipChangesReachThoseOnline(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "a")
	fill(t, r, "a", "g:1", 3)
	b := r.connect(t, "b")
	if f := b.next(); f.Welcome == nil || len(f.Welcome.Conversations) != 1 {
		t.Fatalf("got %v, want the inbox alone", f)
	}
	mustAdd(t, r, "1", "b")
	if f := b.next(); f.Conversation == nil || f.Conversation.Cursor != 3 || f.Conversation.State != "live" {
		t.Fatalf("got %v: who joins starts at the head", f)
	}
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m"}); err != nil {
		t.Fatal(err)
	}
	b.deliver(4)
	if _, err := r.RemoveMembers(t.Context(), "1", []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m5"}); err != nil {
		t.Fatal(err)
	}
	b.ack("g:1", 1, 4)
	b.fault(wire.CodeNotMember) // and no deliver 5 before it
}

// A membership that changes while its user logs in: the list was read before,
// the session is found after.
func TestMembershipChangesDuringLogin(t *testing.T) {
	for _, change := range []string{"removed", "added"} {
		t.Run(change, func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{})
			mustAdd(t, r, "1", "a")
			if change == "removed" {
				mustAdd(t, r, "1", "b")
			}
			r.store.afterLogin = func() {
				r.store.afterLogin = nil
				if change == "removed" {
					if _, err := r.RemoveMembers(t.Context(), "1", []string{"b"}); err != nil {
						t.Error(err)
					}
				} else {
					mustAdd(t, r, "1", "b")
				}
			}
			b := r.connect(t, "b")
			f := b.next()
			if f.Welcome == nil {
				t.Fatalf("got %v, want the welcome first", f)
			}
			if change == "removed" && len(f.Welcome.Conversations) != 1 {
				t.Errorf("welcome %v, want the inbox alone", f.Welcome)
			}
			if change == "added" {
				if f := b.next(); f.Conversation == nil || f.Conversation.Conversation != "g:1" {
					t.Fatalf("got %v, want the new group", f)
				}
			}
			if _, err := r.Send(t.Context(), "a", &wire.Send{To: "g:1", ClientMsgId: "m"}); err != nil {
				t.Fatal(err)
			}
			if change == "added" {
				b.deliver(1)
				return
			}
			b.ack("g:1", 1, 1)
			b.fault(wire.CodeNotMember) // and no deliver before it
		})
	}
}
