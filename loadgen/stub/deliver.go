package stub

import (
	"slices"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

const opBinary = ws.OpBinary

// fault is what befalls a delivery.
type fault uint8

const (
	plain fault = iota
	own         // the recipient sent it
	lose
	again
	swap
	renumber
	late
)

const (
	// swapWait bounds how long a delivery waits to be overtaken.
	swapWait = 500 * time.Millisecond
	// lateWait bounds how long a withheld one waits for a later one.
	lateWait = 2 * time.Second
)

// plan stores a message, twice if so drawn, and sets when each recipient gets
// it. The conversation's lock is held.
func (s *Server) plan(c *conversation, key sendKey, record []byte, at int64) *message {
	msg, trimmed := c.store(key.sender, key.id, record, at, s.cfg.Retain)
	c.sent[key] = msg
	if s.cfg.Inject.Twice > 0 && c.rng.Float64() < s.cfg.Inject.Twice {
		twin, n := c.store(key.sender, key.id, record, at, s.cfg.Retain)
		twin.second = true
		msg.twin = twin
		trimmed += n
		s.truth.note(caseTwice, msg, "")
	}
	s.counts.trimmed.Add(uint64(trimmed))
	for _, m := range c.members {
		e := &event{fire: s.deliver, m: m, msg: msg, due: at}
		if m.user.name == key.sender {
			e.what = own
		} else {
			e.due += int64(max(s.cfg.Delay.Draw(c.rng), 0))
			e.what = s.draw(c, msg)
		}
		e.due = max(e.due, m.lastDue)
		m.lastDue = e.due
		s.alarm.add(e)
	}
	return msg
}

// draw chooses the fault of a delivery.
func (s *Server) draw(c *conversation, msg *message) fault {
	in := &s.cfg.Inject
	if msg.twin != nil {
		return plain
	}
	x := c.rng.Float64()
	for _, f := range [...]struct {
		share float64
		what  fault
	}{{in.Lose, lose}, {in.Again, again}, {in.Swap, swap}, {in.Renumber, renumber}, {in.Late, late}} {
		if x -= f.share; x < 0 {
			return f.what
		}
	}
	return plain
}

// deliver is a recipient's turn at a message.
func (s *Server) deliver(e *event) {
	m, u, msg := e.m, e.m.user, e.msg
	u.mu.Lock()
	defer u.mu.Unlock()
	held := m.swap
	m.swap = nil
	if held != nil && (e.what != plain || u.conn == nil) {
		s.push(m, held.msg)
		held = nil
	}
	switch {
	case held != nil:
		s.cross(m, held, msg)
	case e.what == own:
		m.visible = msg.seq
		if msg.twin != nil { // the sender is told of the first only
			m.visible = msg.twin.seq
			m.holes = append(m.holes, msg.twin.seq)
		}
	case e.what == lose:
		m.withhold(msg.seq)
		s.truth.note(caseLost, msg, u.name)
	case e.what == again && u.conn != nil:
		s.push(m, msg)
		u.conn.write(msg.frame, nil)
		s.counts.again.Add(1)
		s.truth.note(caseAgain, msg, u.name)
	case (e.what == swap || e.what == renumber) && u.conn != nil:
		m.swap = e
		s.after(swapWait, func() {
			if m.swap == e {
				m.swap = nil
				s.push(m, msg)
				_ = s.rewind(u)
			}
		}, u)
	case e.what == late && u.conn != nil:
		m.withhold(msg.seq)
		m.late = append(m.late, msg.seq)
		s.after(lateWait, func() { s.overdue(m, msg) }, u)
	default:
		s.push(m, msg)
	}
	if msg.twin != nil && e.what != own {
		s.push(m, msg.twin)
	}
	_ = s.rewind(u) // its frames encode: they hold names that were checked
}

// after runs do some time later, with the user's lock held.
func (s *Server) after(wait time.Duration, do func(), u *user) {
	s.alarm.add(&event{due: s.now() + int64(wait), fire: func(*event) {
		u.mu.Lock()
		defer u.mu.Unlock()
		do()
	}})
}

// withhold passes over a seq.
func (m *member) withhold(seq uint64) {
	m.skip[seq] = struct{}{}
	m.visible = seq
	m.holes = append(m.holes, seq)
}

// push writes a message, or leaves it to a page where nobody is connected.
func (s *Server) push(m *member, msg *message) {
	m.visible = max(m.visible, msg.seq)
	c := m.user.conn
	if c == nil {
		m.owe(msg.seq, s.cfg.Retain)
		return
	}
	m.pushed = max(m.pushed, msg.seq)
	if msg.second {
		c.write(msg.frame, nil)
		s.counts.again.Add(1)
		s.truth.note(caseShownTwice, msg, m.user.name)
		return
	}
	s.counts.pushed.Add(1)
	c.write(msg.frame, msg)
}

// cross writes two adjacent messages in the wrong order, or under each other's
// seq. They are adjacent: whatever else came between would have pushed held.
func (s *Server) cross(m *member, held *event, next *message) {
	first, c := held.msg, m.user.conn
	m.visible, m.pushed = next.seq, next.seq
	s.counts.pushed.Add(2)
	if held.what == swap {
		c.write(next.frame, next)
		c.write(first.frame, first)
		s.truth.note(caseSwapped, first, m.user.name)
		return
	}
	c.write(wire.AppendDeliverMessage(nil, m.conv.name, epoch, first.seq, next.record), next)
	c.write(wire.AppendDeliverMessage(nil, m.conv.name, epoch, next.seq, first.record), first)
	s.truth.note(caseRenumbered, first, m.user.name)
}

// paged notes a message that a page brings.
func (s *Server) paged(m *member, msg *message) {
	if msg.second {
		s.truth.note(caseShownTwice, msg, m.user.name)
	}
	if m.back[msg.seq] {
		s.truth.note(caseLate, msg, m.user.name)
	}
}

// overdue looks after a withheld message: where nothing later came, it is
// delivered as if it had only been slow.
func (s *Server) overdue(m *member, msg *message) {
	i, found := slices.BinarySearch(m.late, msg.seq)
	switch {
	case !found:
		return
	case m.claimed < msg.seq && m.pushed < msg.seq:
		m.late = slices.Delete(m.late, i, i+1)
		delete(m.skip, msg.seq)
		if h, hole := slices.BinarySearch(m.holes, msg.seq); hole {
			m.holes = slices.Delete(m.holes, h, h+1)
		}
		s.push(m, msg)
		_ = s.rewind(m.user)
		return
	case m.pushed < msg.seq: // only the device's own came later
		m.force = true
		_ = s.rewind(m.user)
	}
	s.after(lateWait, func() { s.overdue(m, msg) }, m.user)
}

// holdsBack tells whether the device may hold a message back behind a hole that
// no page has claimed. One after everything that was pushed holds nothing back,
// and where it is the conversation's last no page ever claims it.
func (m *member) holdsBack() bool { return len(m.holes) > 0 && m.holes[0] < m.pushed }

// rewind goes back before the withheld messages of a user's conversations, once
// later ones have been shown: everything that was pushed has arrived (the
// close comes after it), every hole before it was claimed by a page, every own send answered
// and an earlier rewind is through, so the device holds nothing back. Whatever may
// be the last of these to come true calls it, with the user's lock held.
func (s *Server) rewind(u *user) error {
	c := u.conn
	if c == nil {
		return nil
	}
	any := false
	for _, m := range u.members {
		if len(m.late) == 0 || m.swap != nil || m.unsaid > 0 || m.holdsBack() || m.rewound > 0 {
			continue
		}
		keep := m.late[:0]
		for _, seq := range m.late {
			if seq > m.claimed || m.pushed < seq && !m.force {
				keep = append(keep, seq)
				continue
			}
			delete(m.skip, seq)
			m.owe(seq, s.cfg.Retain)
			m.back[seq] = m.pushed > seq
			if m.rewound == 0 {
				m.rewound = seq // the first; its base is the one before
			}
		}
		m.late, m.force = keep, false
		if m.rewound == 0 {
			continue
		}
		any = true
		s.counts.pullNows.Add(1)
		if err := c.frame(&wire.Frame{PullNow: &wire.PullNow{Conversation: m.conv.name, Epoch: epoch + 1, Head: m.visible}}); err != nil {
			return err
		}
	}
	if any {
		c.farewell(wire.StatusServiceRestart, "going back to an earlier epoch")
		u.conn = nil
		u.online.Store(false)
	}
	return nil
}
