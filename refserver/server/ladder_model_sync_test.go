package server

import (
	"slices"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// sync pulls from all groups at once.
func (u *modelUser) sync(rt *rapid.T) {
	r := &wire.SyncRequest{Ref: 1, Limit: uint32(between(rt, 1, 6, "limit"))}
	asked := map[string]uint64{}
	for _, held := range u.resume() {
		if held.Conversation[0] == 'g' && (u.phone == nil || u.phone.state[held.Conversation] != "count-only") && rapid.Bool().Draw(rt, "named") {
			r.After = append(r.After, held)
			asked[held.Conversation] = held.Cursor
		}
	}
	r.Ack = u.mayAck("next-page") && rapid.Bool().Draw(rt, "next sync is the ack")
	got := &wire.Sync{}
	if u.phone != nil {
		if got = u.phone.request(&wire.Frame{SyncRequest: r}).Sync; got == nil {
			rt.Fatalf("%s: no sync", u)
		}
	} else {
		u.w.call(u.name, "/v1/sync", r, got)
	}
	if r.Ack {
		for name, upTo := range asked {
			if u.saved[name].epoch == u.w.srv.store.Epoch() {
				u.acked(name, upTo)
			}
		}
	}
	total := 0
	for _, p := range got.Pages {
		total += len(p.Messages)
	}
	took := u.crashes(rt, total)
	left := took
	more := false
	for _, p := range got.Pages {
		name := p.Conversation
		after, named := asked[name]
		if !named {
			after = p.After // after the server's cursor
			if u.w.rung.cursor == delivery.CursorTimeAfter {
				after = min(after, u.saved[name].watermark())
			}
		}
		s := u.saved[name]
		s.enter(p.Epoch, u.w.convs[name].head)
		if !named {
			u.gone(name, 0, after, "a sync begins after it")
		}
		req := &wire.PageRequest{Limit: r.Limit, After: after}
		if u.phone != nil {
			u.phone.covered(name, p, false)
		}
		u.check(name, req, p, after)
		more = more || p.More
		n := -1
		if took >= 0 {
			n = min(left, len(p.Messages))
			left -= n
		}
		u.takePage(name, req, p, n)
	}
	if more && !got.More {
		rt.Fatalf("%s: %v says that nothing follows", u, got)
	}
	if !got.More {
		u.syncedAll(rt, got, asked)
	}
	if took >= 0 {
		u.fall(rt)
	}
}

// syncedAll checks that groups without a page have nothing.
func (u *modelUser) syncedAll(rt *rapid.T, got *wire.Sync, asked map[string]uint64) {
	for _, name := range u.conversations()[1:] {
		if u.phone != nil && u.phone.state[name] == "count-only" ||
			slices.ContainsFunc(got.Pages, func(p *wire.Page) bool { return p.Conversation == name }) {
			continue
		}
		if sure := u.sure(name); len(sure) > 0 && sure[len(sure)-1] > asked[name] && (u.phone == nil || u.phone.state[name] == "behind") {
			rt.Fatalf("%s: %v leaves out %s, where %v wait", u, got, name, sure)
		}
	}
}

// counts asks how much waits, checks that, and returns who has sent what waits
// in the inbox.
func (u *modelUser) counts() (senders []string) {
	w, inbox := u.w, wire.Inbox(u.name)
	all, by := &wire.Counts{}, &wire.Counts{}
	w.call(u.name, "/v1/counts", nil, all)
	w.call(u.name, "/v1/counts?senders=true", nil, by)
	for _, n := range all.Counts {
		want := uint64(len(u.rows[n.Conversation]))
		if !w.rung.rows(n.Conversation) {
			want = n.Head - n.Cursor
		}
		if n.Unread != want && len(u.sure(n.Conversation)) == len(u.rows[n.Conversation]) || n.Head != w.convs[n.Conversation].head {
			w.rt.Fatalf("%s: %v, want %d", u, n, want)
		}
	}
	want := map[string]uint64{}
	for seq := range u.rows[inbox] {
		want[w.convs[inbox].bySeq[seq].sender]++
	}
	for _, n := range by.Counts {
		if n.Unread != want[n.Sender] && len(u.sure(inbox)) == len(u.rows[inbox]) {
			w.rt.Fatalf("%s: %v, want %v", u, by, want)
		}
		senders = append(senders, n.Sender)
	}
	return senders
}
