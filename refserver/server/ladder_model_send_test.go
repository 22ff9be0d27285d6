package server

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// send sends a message, or the same one again, over the sender's connection or
// over HTTP.
func (w *ladder) send(rt *rapid.T) {
	u := w.anyone(rt, "sender")
	c := w.convs[pick(rt, w.targets(u), "to")]
	id := fmt.Sprint(between(rt, 0, 30, "id"))
	m := &wire.Send{Ref: 1, To: c.name, ClientMsgId: id, Body: bodyOf(id)}
	got := &wire.SendResult{}
	if u.phone != nil && rapid.Bool().Draw(rt, "over its connection") {
		if got = u.phone.request(&wire.Frame{Send: m}).SendResult; got == nil {
			rt.Fatalf("%s: no result", u)
		}
	} else {
		w.call(u.name, "/v1/send", m, got)
	}
	w.sent(rt, u, c, got)
}

// targets are the conversations that a user may send to.
func (w *ladder) targets(u *modelUser) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(w.convs)) {
		member := slices.Contains(w.convs[name].members, u.name)
		if member == (name[0] == 'g') {
			names = append(names, name)
		}
	}
	return names
}

// sent checks the answer to a send that was the only one under way.
func (w *ladder) sent(rt *rapid.T, u *modelUser, c *modelConv, got *wire.SendResult) {
	key := u.name + " " + got.ClientMsgId
	if m := c.sent[key]; m != nil {
		if !got.Duplicate || got.Seq != m.seq {
			rt.Fatalf("resend of %s to %s: %v, want a duplicate of %d", key, c.name, got, m.seq)
		}
		return
	}
	if got.Duplicate || got.Seq != c.head+1 {
		rt.Fatalf("send of %s to %s: %v, want seq %d", key, c.name, got, c.head+1)
	}
	w.stored(u, c, key, got.Seq)
	w.settle(c)
	w.pushed(c, got.Seq)
	if c.name[0] == 'u' {
		r := w.user(c.members[0])
		waits := r.phone == nil
		if w.rung.storeFor == delivery.StoreForOffline {
			waits = r.rows[c.name][got.Seq] == rowSure
		}
		if got.Offline != waits {
			rt.Fatalf("send of %s to %s: %v, want offline %v", key, c.name, got, waits)
		}
	}
}

// stored notes a message: a row for everybody else, until a push shows that it
// has none.
func (w *ladder) stored(u *modelUser, c *modelConv, key string, seq uint64) {
	m := &modelMessage{key: key, sender: u.name, seq: seq}
	c.sent[key], c.bySeq[seq], c.head = m, m, max(c.head, seq)
	if s := u.saved[c.name]; s != nil && s.epoch == w.srv.store.Epoch() { // its own: it knows what it has sent
		s.covered[seq] = true
	}
	for _, name := range c.members {
		if r := w.user(name); r != u && w.rung.rows(c.name) {
			r.rows[c.name][seq] = rowSure
		}
	}
}

// pushed checks that who is live has got a message, or was told to pull it.
func (w *ladder) pushed(c *modelConv, seq uint64) {
	m := c.bySeq[seq]
	for _, name := range c.members {
		if p := w.user(name).phone; p != nil && name != m.sender && p.state[c.name] == "live" && p.at[c.name] < seq {
			w.rt.Fatalf("%s is live in %s: %d is neither pushed nor to be pulled", name, c.name, seq)
		}
	}
}
