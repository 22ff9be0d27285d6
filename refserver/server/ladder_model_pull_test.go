package server

import (
	"slices"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// pull asks for one page, over the connection or, for who is offline, over
// HTTP; then the client crashes before it has taken it in, in the middle of
// that, or not at all.
func (u *modelUser) pull(rt *rapid.T) {
	name := pick(rt, u.conversations(), "conversation")
	how := pick(rt, u.ways(name), "how")
	if how == "sync" {
		u.sync(rt)
		return
	}
	r := &wire.PageRequest{Limit: uint32(between(rt, 1, 4, "limit"))}
	r.Ack = u.mayAck("next-page") && rapid.Bool().Draw(rt, "next page is the ack")
	switch how {
	case "newest":
		r.Newest = true
	case "all":
		r.All = true
	case "sender":
		r.Sender = u.opened(rt)
	}
	if name[0] == 'u' && u.mayAck("next-page") && !r.Ack {
		r.Ids = u.someSeqs(rt, name)
	}
	p := u.page(name, r)
	took := u.crashes(rt, len(p.Messages))
	u.takePage(name, r, p, took)
	if took >= 0 {
		u.fall(rt)
	}
}

// ways are how the rung pulls a conversation.
func (u *modelUser) ways(conversation string) []string {
	other := "sync"
	if conversation[0] == 'g' {
		other = "sender"
	}
	ways := slices.DeleteFunc(slices.Clone(u.w.rung.pulls), func(how string) bool { return how == other })
	if len(ways) == 0 {
		ways = []string{"oldest"}
	}
	return ways
}

// opened chooses a friend by the friend list or by the counts, and checks these.
func (u *modelUser) opened(rt *rapid.T) string {
	var friends []string
	if rapid.Bool().Draw(rt, "friend by friend") {
		f := &wire.Friends{}
		u.w.call(u.name, "/v1/friends", nil, f)
		if friends = f.Friends; len(friends) != len(u.w.users)-1 {
			rt.Fatalf("%s: friends %v", u, friends)
		}
	} else {
		friends = u.counts()
	}
	if len(friends) == 0 {
		friends = []string{"nobody"}
	}
	return pick(rt, friends, "friend")
}

// page asks for a page and checks it against the model.
func (u *modelUser) page(name string, r *wire.PageRequest) *wire.Page {
	s := u.saved[name]
	r.Ref, r.Conversation, r.Epoch, r.After = 1, name, s.epoch, s.watermark()
	r.Ack = r.Ack && r.After > 0 && s.epoch == u.w.srv.store.Epoch() // an ack of another epoch is ignored
	p := &wire.Page{}
	if u.phone != nil {
		if at := u.phone.before[name]; r.Newest && at > r.After+1 {
			r.Before = at
		}
		if p = u.phone.request(&wire.Frame{PageRequest: r}).Page; p == nil {
			u.w.rt.Fatalf("%s: no page", u)
		}
		u.phone.covered(name, p, r.Newest)
		if u.phone.before[name] = 0; r.Newest && p.More {
			u.phone.before[name] = p.After + 1
		}
	} else {
		u.w.call(u.name, "/v1/pull", r, p)
	}
	s.enter(p.Epoch, u.w.convs[name].head) // restarts of a Redis that loses nothing
	if r.Ack {
		u.acked(name, r.After)
	}
	for _, id := range r.Ids { // over a connection the page doesn't wait for the ack
		if u.rows[name][id] != 0 {
			u.rows[name][id] = rowMaybe
		}
	}
	u.check(name, r, p, r.After)
	u.ackedIDs(name, r.Ids)
	return p
}

// check holds a page against what is stored for the user.
func (u *modelUser) check(name string, r *wire.PageRequest, p *wire.Page, asked uint64) {
	w, c, rows := u.w, u.w.convs[name], u.rows[name]
	fail := func(why string) { w.rt.Fatalf("%s: %v\n%v\n%s; rows %v, head %d", u, r, p, why, rows, c.head) }
	got := map[uint64]bool{}
	for i, d := range p.Messages {
		got[d.Seq] = true
		u.known(name, d)
		switch {
		case i > 0 && d.Seq <= p.Messages[i-1].Seq, d.Seq <= p.After && r.Sender == "", d.Seq > p.UpTo:
			fail("not in order, or outside of what it covers")
		case w.rung.rows(name) && rows[d.Seq] == 0:
			fail("a message that isn't stored any more")
		case r.Sender != "" && d.Sender != r.Sender:
			fail("another sender's message")
		}
	}
	if p.After < asked && w.rung.cursor != delivery.CursorTimeFrom && r.Sender == "" && !w.storming {
		fail("begins before what was asked for")
	}
	again, held := 0, asked // ties come again beyond the limit; a sync that names nothing goes on after the server's cursor
	if w.rung.cursor == delivery.CursorTimeFrom {
		held = max(held, u.saved[name].watermark())
	}
	for _, d := range p.Messages {
		if d.Seq <= held {
			again++
		}
	}
	if !r.All && len(p.Messages)-again > int(r.Limit) {
		fail("more messages than asked for")
	}
	wait := func(seq uint64) bool { // whether the page has to have it
		m := c.bySeq[seq]
		if m == nil || m.sender == u.name || r.Sender != "" && m.sender != r.Sender {
			return false
		}
		return !w.rung.rows(name) || rows[seq] == rowSure
	}
	for seq := p.After + 1; seq <= p.UpTo; seq++ {
		if wait(seq) && !got[seq] && !(r.Sender != "" && p.More) {
			fail("leaves out what it covers")
		}
	}
	switch {
	case r.Sender != "":
	case r.Newest && r.Before == 0 && p.UpTo != c.head:
		fail("doesn't begin at the head")
	case r.Newest && !p.More:
		for seq := asked + 1; seq <= p.After; seq++ {
			if wait(seq) && w.rung.rows(name) {
				fail("says that nothing older waits")
			}
		}
	case !r.Newest:
		if p.More != (p.UpTo < c.head) || r.All && p.More {
			fail("more is wrong")
		}
		u.skipped(name, p, asked)
	}
	if w.rung.onPull() && w.rung.rows(name) {
		for seq := range got {
			delete(rows, seq)
		}
	}
}

// skipped checks what lies between where a page was to begin and where it does.
func (u *modelUser) skipped(name string, p *wire.Page, asked uint64) {
	s := u.saved[name]
	for seq := asked + 1; seq <= p.After; seq++ {
		if m := u.w.convs[name].bySeq[seq]; m != nil && p.Truncated && m.sender != u.name {
			if _, shown := s.shown[m.key]; !shown {
				s.gone[m.key] = "truncated, and it was said"
			}
		}
	}
	if u.w.rung.rows(name) {
		for _, seq := range u.sure(name) {
			if seq > asked && seq <= p.After {
				u.w.rt.Fatalf("%s: %v passes over %d", u, p, seq)
			}
		}
		return
	}
	u.gone(name, asked, p.After, "a page passes over it")
}

// crashes says how many messages of a page a client takes in before it
// crashes; -1: it doesn't.
func (u *modelUser) crashes(rt *rapid.T, n int) int {
	switch between(rt, 0, 11, "crash") {
	case 11:
		return 0
	case 10:
		return between(rt, 0, n, "taken in before")
	default:
		return -1
	}
}

// takePage takes a page in, up to n messages of it unless n is negative.
func (u *modelUser) takePage(name string, r *wire.PageRequest, p *wire.Page, n int) {
	if u.phone != nil && n != 0 {
		u.receive(len(u.phone.pending)) // they came before
	}
	s := u.saved[name]
	upTo := p.UpTo
	messages, rest := p.Messages, []*wire.Deliver(nil)
	if n >= 0 {
		messages, rest = p.Messages[:n], p.Messages[n:]
		if upTo = p.After; n > 0 {
			upTo = messages[n-1].Seq
		}
	}
	for _, d := range messages {
		u.take(name, d)
	}
	switch {
	case r.Sender != "" || r.Newest && n >= 0: // covers its messages alone
	case r.Newest:
		s.cover(p.After, p.UpTo)
	case n != 0:
		s.cover(r.After, upTo)
	}
	for _, d := range rest {
		u.drop(name, d)
	}
}

// fall is a crash of the client.
func (u *modelUser) fall(rt *rapid.T) {
	if u.phone != nil {
		u.phone.hangUp()
		u.crash()
	}
}
