package push

import (
	"time"

	"ackmark/refserver/wire"
)

// flight is how many of the member's deliveries are queued or written and not
// acked. In a fleeting room none is.
func (m *Member) flight() int {
	if m.room.fleeting {
		return 0
	}
	return int(m.pushed-m.live) - len(m.holes)
}

// settle tells the connection that a member with was deliveries in flight has now.
func (m *Member) settle(was, now int) {
	if was == now {
		return
	}
	c := m.conn
	c.mu.Lock()
	c.inFlight += now - was
	c.mu.Unlock()
}

// Ack moves the member's cursor forward to upTo, never past the head, and on
// over messages that the member sent itself: a member who only writes from
// then on would otherwise never ack again. It returns the cursor that stands
// and whether it moved. Keeping the last run of own messages is enough: what
// lies between two runs has to be acked, and that jumps the next one.
func (m *Member) Ack(upTo uint64) (cursor uint64, moved bool) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	upTo = min(upTo, r.head)
	if m.ownFrom > 0 && upTo+1 >= m.ownFrom && upTo < m.ownTo {
		upTo = m.ownTo
	}
	if upTo <= m.acked || m.index < 0 {
		return m.acked, false
	}
	was := m.flight()
	m.pushed = max(m.pushed, upTo) // acked by another way than this connection
	m.acked = upTo
	for id := range m.holes {
		if id <= upTo {
			delete(m.holes, id)
		}
	}
	m.live = max(m.live, upTo)
	m.absorb()
	m.settle(was, m.flight())
	m.since, m.retries = time.Now(), 0
	return m.acked, true
}

// absorb moves live on over what was acked by id, and the cursor with it once
// nothing is left below.
func (m *Member) absorb() {
	for len(m.holes) > 0 {
		if _, ok := m.holes[m.live+1]; !ok {
			break
		}
		m.live++
		delete(m.holes, m.live)
	}
	if m.acked >= m.from {
		m.acked = m.live
	}
}

// AckIDs notes acks by id, in any order: they are out of flight. The cursor
// follows as far as they leave no hole. Of what the client pulls by itself
// (JoinOptions.Live) nothing is noted here, the store has it.
func (m *Member) AckIDs(ids []uint64) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index >= 0 {
		m.ackIDs(ids)
	}
}

func (m *Member) ackIDs(ids []uint64) {
	was, from := m.flight(), m.live
	for _, id := range ids {
		if id > m.live && id <= m.pushed {
			if m.holes == nil {
				m.holes = make(map[uint64]struct{})
			}
			m.holes[id] = struct{}{}
		}
	}
	m.absorb()
	m.settle(was, m.flight())
	if m.live > from {
		m.since, m.retries = time.Now(), 0
	}
}

// Paged is what a page covers: everything up to UpTo, from the client's own
// watermark on; newest first, only its last part.
type Paged struct {
	UpTo   uint64
	More   bool     // as the page tells the client
	Newest bool     // newest first
	Gone   []uint64 // seqs in the page's range that were acked by id before: they are not in flight
}

// Page queues a page as an answer. The page that reaches the head makes a
// member that was behind live, under the lock that Deliver takes: nothing falls
// between the two. When newer messages have arrived than the page told of, the
// client is told to pull on. Who pulls the newest first pulls the older ones by
// itself, and is live at once. A page of one sender's messages covers nothing:
// it is queued with Conn.SendControl. With frame nil the page is queued already,
// as a part of a Sync: nobody who is behind was pushed to since.
func (m *Member) Page(frame []byte, p Paged) error {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if frame != nil {
		if err := m.conn.SendControl(frame); err != nil {
			return err
		}
	}
	if m.index < 0 || m.state != Behind {
		return nil
	}
	switch {
	case p.Newest && p.UpTo >= r.head:
		m.fromHead(p.UpTo)
		return nil
	case p.Newest:
		return nil
	}
	was := m.flight()
	if p.UpTo > m.pushed {
		if was == 0 {
			m.since, m.retries = time.Now(), 0
		}
		m.pushed = p.UpTo
	}
	m.settle(was, m.flight())
	m.ackIDs(p.Gone)
	switch {
	case p.UpTo >= r.head:
		m.state = Live
	case !p.More:
		r.hub.stats.pullNow.Add(1)
		return m.conn.SendControl(r.pullNow(m.conn.form))
	}
	return nil
}

// encodeResult is the answer to a send in the form of the connection.
func (f Form) encodeResult(v *wire.SendResultView) []byte {
	if f == JSON {
		b, _ := f.encode(&wire.Frame{SendResult: &wire.SendResult{
			Ref: v.Ref, ClientMsgId: string(v.ClientMsgID), Conversation: string(v.Conversation),
			Epoch: v.Epoch, Seq: v.Seq, Duplicate: v.Duplicate, Offline: v.Offline,
		}})
		return b
	}
	return wire.AppendMessage(nil, binaryOp, wire.AppendSendResult(nil, v))
}
