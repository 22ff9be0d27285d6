package stub

import (
	"slices"
	"time"

	"ackmark/refserver/wire"
)

// window is what welcome names when hello doesn't. The stub doesn't hold to it.
const window = 256

// handle takes one frame in. An error ends the connection.
func (c *conn) handle(v *wire.View) error {
	switch v.Kind {
	case wire.FrameSend:
		return c.send(&v.Send)
	case wire.FrameAck:
		return c.ack(&v.Ack)
	case wire.FrameHello, wire.FramePageRequest:
		f, err := v.Frame()
		if err != nil {
			return err
		}
		if f.Hello != nil {
			return c.hello(f.Hello)
		}
		return c.page(f.PageRequest)
	}
	return wire.Faultf(wire.CodeUnsupported, "the stub doesn't take frame %v", v.Kind)
}

// refuse answers a request with an error.
func (c *conn) refuse(ref uint64, code wire.Code, conversation string) error {
	f := wire.Faultf(code, "%s: not a conversation of user %s", conversation, c.user.name).Frame(ref)
	f.Conversation = conversation
	return c.frame(&wire.Frame{Error: f})
}

func (c *conn) hello(h *wire.Hello) error {
	u := c.user
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn == c {
		return wire.Faultf(wire.CodeBadRequest, "a second hello; one opens the connection")
	}
	if u.conn != nil {
		u.conn.farewell(closeReplace, "connected again elsewhere")
		u.broken = true
	}
	u.conn = c
	u.online.Store(true)
	w := &wire.Welcome{User: u.name, Epoch: epoch, Window: h.Window, MaxPage: uint32(c.srv.cfg.Page)}
	if w.Window == 0 {
		w.Window = window
	}
	for _, r := range h.Resume {
		if m := u.members[r.Conversation]; m != nil && r.Epoch == epoch && m.rewound == 0 {
			m.cursor = max(m.cursor, min(r.Cursor, m.visible))
		}
	}
	for _, m := range u.members {
		if u.broken {
			m.again()
		}
		w.Conversations = append(w.Conversations, m.standing())
	}
	u.broken = false
	return c.frame(&wire.Frame{Welcome: w})
}

// standing describes a conversation. What hasn't had its turn yet at this
// member doesn't exist for it.
func (m *member) standing() *wire.Conversation {
	m.conv.mu.Lock()
	first := m.conv.head - uint64(len(m.conv.log)) + 1
	m.conv.mu.Unlock()
	out := &wire.Conversation{
		Conversation: m.conv.name, Epoch: epoch, Cursor: m.cursor, Head: max(m.visible, m.cursor), First: first, State: "live",
	}
	if m.rewound > 0 {
		out.Cursor, out.Base = m.rewound-1, m.rewound-1
	}
	if out.Cursor < out.Head {
		out.State = "behind"
	}
	return out
}

// send stores a message, plans its deliveries and answers.
func (c *conn) send(v *wire.SendView) error {
	s, at := c.srv, c.readAt
	s.gate.begin(at)
	room := s.conversation(string(v.To))
	kind, owner, err := wire.ParseConversation(string(v.To))
	if err != nil || room == nil {
		s.counts.refused.Add(1)
		return c.refuse(v.Ref, wire.CodeNoSuchGroup, string(v.To))
	}
	m := c.user.asks(room.name)
	if kind == wire.KindGroup && m == nil {
		s.counts.refused.Add(1)
		return c.refuse(v.Ref, wire.CodeNotMember, string(v.To))
	}
	key := sendKey{c.user.name, string(v.ClientMsgID)}
	room.mu.Lock()
	msg, duplicate := room.sent[key], true
	wait := time.Duration(0)
	if msg == nil {
		duplicate = false
		record := wire.AppendRecord(nil, key.sender, key.id, string(v.Body), time.Now().UnixMilli())
		msg = s.plan(room, key, record, at)
		s.counts.stored.Add(1)
	} else {
		s.counts.duplicate.Add(1)
	}
	if s.cfg.Answer != nil {
		wait = s.cfg.Answer.Draw(room.rng)
	}
	room.mu.Unlock()
	answer := wire.SendResultView{
		Ref: v.Ref, ClientMsgID: v.ClientMsgID, Conversation: v.To, Epoch: epoch, Seq: msg.seq, Duplicate: duplicate,
	}
	if kind == wire.KindInbox {
		u := s.user(owner)
		answer.Offline = u != nil && !u.online.Load()
	}
	b := wire.AppendMessage(nil, opBinary, wire.AppendSendResult(nil, &answer))
	if wait <= 0 {
		c.answer(m, b)
		return nil
	}
	s.alarm.add(&event{due: at + int64(wait), fire: func(*event) { c.answer(m, b) }})
	return nil
}

// asks notes that a member's send waits for its answer; nil for no member.
func (u *user) asks(conversation string) *member {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.members[conversation]
	if m != nil {
		m.unsaid++
	}
	return m
}

func (c *conn) answer(m *member, b []byte) {
	c.user.mu.Lock()
	defer c.user.mu.Unlock()
	if m != nil {
		m.unsaid--
	}
	c.write(b, nil)
	if c.user.conn == c { // else the client sends again, and that answer does it
		_ = c.srv.rewind(c.user) // it may have been the last thing that a rewind waited for
	}
}

func (c *conn) ack(a *wire.AckView) error {
	c.srv.counts.ackRequests.Add(1)
	u := c.user
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.members[string(a.Conversation)]
	if m == nil {
		return c.refuse(a.Ref, wire.CodeNotMember, string(a.Conversation))
	}
	m.acked(a.UpTo)
	if a.Ref == 0 {
		return nil
	}
	return c.frame(&wire.Frame{AckResult: &wire.AckResult{Ref: a.Ref, Conversation: m.conv.name, Epoch: epoch, Cursor: m.cursor}})
}

// acked moves the cursor, never back and never past the head.
func (m *member) acked(upTo uint64) {
	m.conv.mu.Lock()
	head := m.conv.head
	m.conv.mu.Unlock()
	m.cursor = max(m.cursor, min(upTo, head))
}

// page answers with what is owed and claims everything that has had its turn.
func (c *conn) page(r *wire.PageRequest) error {
	s, u := c.srv, c.user
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.Ack {
		s.counts.ackRequests.Add(1)
	}
	m := u.members[r.Conversation]
	switch {
	case m == nil:
		return c.refuse(r.Ref, wire.CodeNotMember, r.Conversation)
	case u.conn != c: // closing: whoever asks here asks again on the next one
		return nil
	}
	if r.Ack {
		m.acked(r.After)
	}
	limit := s.cfg.Page
	if r.Limit > 0 {
		limit = min(limit, int(r.Limit))
	}
	from, _ := slices.BinarySearch(m.owed, r.After+1)
	to, _ := slices.BinarySearch(m.owed, m.visible+1)
	upTo := max(m.visible, r.After)
	if to-from > limit {
		to = from + limit
		upTo = m.owed[to-1]
	}
	p := &wire.Page{Ref: r.Ref, Conversation: r.Conversation, Epoch: epoch, After: r.After, UpTo: upTo, More: upTo < m.visible, Head: max(m.visible, r.After)}
	var seqs []uint64
	var records [][]byte
	m.conv.mu.Lock()
	for _, seq := range m.owed[min(from, to):to] {
		if msg := m.conv.at(seq); msg != nil {
			seqs, records = append(seqs, seq), append(records, msg.record)
			s.paged(m, msg)
		}
		delete(m.back, seq)
	}
	m.conv.mu.Unlock()
	m.owed = slices.Delete(m.owed, min(from, to), to)
	if len(m.back) == 0 {
		m.rewound = 0
	}
	m.claimed = max(m.claimed, upTo)
	covered, _ := slices.BinarySearch(m.holes, upTo+1)
	m.holes = slices.Delete(m.holes, 0, covered)
	s.counts.pages.Add(1)
	s.counts.paged.Add(uint64(len(seqs)))
	c.write(wire.AppendMessage(nil, opBinary, wire.AppendPage(nil, p, seqs, records)), nil)
	return s.rewind(u)
}
