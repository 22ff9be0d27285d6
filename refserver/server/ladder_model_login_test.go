package server

import (
	"slices"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// login connects, with what the client holds or without a word of it.
func (u *modelUser) login(rt *rapid.T) {
	hello := &wire.Hello{
		Live:   oneIn(rt, 3, "live"),
		Closed: u.w.rung.onOpen || oneIn(rt, 5, "closed"),
	}
	if rapid.Bool().Draw(rt, "resumes") {
		hello.Resume = u.resume()
	}
	u.connect(hello)
}

// resume is what the client holds.
func (u *modelUser) resume() (held []*wire.Resume) {
	for _, name := range u.conversations() {
		if s := u.saved[name]; s.epoch != 0 {
			held = append(held, &wire.Resume{Conversation: name, Epoch: s.epoch, Cursor: s.watermark()})
		}
	}
	return held
}

func (u *modelUser) connect(hello *wire.Hello) {
	w := u.w
	p := w.dial(u)
	u.phone, p.self = p, hello.Live
	p.write(&wire.Frame{Hello: hello})
	f, open := p.next()
	if !open || f == nil || f.Welcome == nil {
		w.rt.Fatalf("%s: got %v, want a welcome", u, f)
	}
	names := u.conversations()
	if len(f.Welcome.Conversations) != len(names) {
		w.rt.Fatalf("%s: welcome %v, want %v", u, f.Welcome, names)
	}
	for _, c := range f.Welcome.Conversations {
		if !slices.Contains(names, c.Conversation) {
			w.rt.Fatalf("%s: welcome %v, want %v", u, f.Welcome, names)
		}
		u.begin(c, hello)
	}
	p.settle()
}

// begin takes note of where a conversation stands at login.
func (u *modelUser) begin(c *wire.Conversation, hello *wire.Hello) {
	w, s := u.w, u.saved[c.Conversation]
	for _, r := range hello.Resume { // counts as an ack
		if r.Conversation == c.Conversation {
			u.acked(c.Conversation, u.kept(r, c))
		}
	}
	s.enter(c.Epoch, c.Base)
	if head := w.convs[c.Conversation].head; c.Head != head {
		w.rt.Fatalf("%s: %v, want head %d", u, c, head)
	}
	want := "live"
	switch {
	case hello.Closed && c.Conversation[0] == 'g':
		want = "count-only"
	case !hello.Live && c.Cursor < c.Head:
		want = "behind"
	}
	if c.State != want {
		w.rt.Fatalf("%s: %v, want %s", u, c, want)
	}
	u.passed(c.Conversation, c.Cursor)
	u.phone.state[c.Conversation], u.phone.at[c.Conversation] = c.State, c.Cursor
	if c.State == "live" {
		u.phone.at[c.Conversation] = c.Head
	}
}

// kept is what the server takes of a resume.
func (u *modelUser) kept(r *wire.Resume, c *wire.Conversation) uint64 {
	upTo := min(r.Cursor, c.Head)
	if r.Epoch != c.Epoch {
		upTo = min(upTo, c.Base)
	}
	return upTo
}

// passed notes that the server says nothing is left for the user up to a seq.
// It has to be right: each message up to there was shown, or is lost.
func (u *modelUser) passed(conversation string, upTo uint64) {
	u.gone(conversation, 0, upTo, "the server's cursor is past it")
	u.saved[conversation].cover(0, upTo)
}

// gone checks that all of (after, upTo] was shown or is lost by what the rung
// is known to lose.
func (u *modelUser) gone(conversation string, after, upTo uint64, why string) {
	s, c := u.saved[conversation], u.w.convs[conversation]
	for seq := after + 1; seq <= upTo; seq++ {
		m := c.bySeq[seq]
		if m == nil || m.sender == u.name || s.gone[m.key] != "" || s.may[m.key] || u.rows[conversation][seq] == rowMaybe {
			continue
		}
		if _, shown := s.shown[m.key]; shown || u.waiting(conversation, seq) {
			continue
		}
		if u.w.rung.cursor == delivery.CursorTimeAfter && conversation[0] == 'g' { // judged by the audit
			s.may[m.key] = true
			continue
		}
		u.w.rt.Fatalf("%s: %s %d (%s) wasn't shown, and isn't coming: %s", u, conversation, seq, m.key, why)
	}
}

// waiting says whether a message has arrived and wasn't taken in yet.
func (u *modelUser) waiting(conversation string, seq uint64) bool {
	return u.phone != nil && slices.ContainsFunc(u.phone.pending, func(f *wire.Frame) bool {
		return f.Deliver.Conversation == conversation && f.Deliver.Seq == seq
	})
}

// setOpen opens or closes a group.
func (u *modelUser) setOpen(rt *rapid.T) {
	if u.w.rung.direct {
		return
	}
	name := pick(rt, u.conversations()[1:], "group")
	was := u.phone.state[name]
	f := &wire.Frame{Close: &wire.Close{Ref: 1, Conversation: name}}
	open := was == "count-only" || oneIn(rt, 5, "open")
	if open {
		f = &wire.Frame{Open: &wire.Open{Ref: 1, Conversation: name}}
	}
	c := u.phone.request(f).Conversation
	switch {
	case c == nil || c.Conversation != name || c.Head != u.w.convs[name].head:
		rt.Fatalf("%s: got %v", u, c)
	case !open && c.State != "count-only", open && c.State == "count-only":
		rt.Fatalf("%s: open %v: got %v", u, open, c)
	case open && was != "count-only" && c.State != was:
		rt.Fatalf("%s: opened while %s: got %v", u, was, c)
	case open && was == "count-only" && c.State == "live":
		if !u.phone.self {
			u.gone(name, u.phone.at[name], c.Head, "it is live from the head on")
		}
		u.phone.at[name] = c.Head
	}
	u.phone.state[name] = c.State
}
