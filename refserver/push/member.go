package push

import (
	"time"

	"ackmark/refserver/wire"
)

// move accounts for deliveries that went in flight or came out of it.
func (m *Member) move(pushed, acked uint64) {
	c := m.conn
	c.mu.Lock()
	c.inFlight += int(pushed) - int(acked)
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
	skipped := uint64(0)
	if upTo > m.pushed { // acked by another way than this connection
		skipped = upTo - m.pushed
		m.pushed = upTo
	}
	m.move(skipped, upTo-m.acked)
	m.acked = upTo
	for id := range m.holes {
		if id <= upTo {
			delete(m.holes, id)
		}
	}
	m.since, m.retries = time.Now(), 0
	return upTo, true
}

// AckIDs notes acks by id, in any order. The cursor follows as far as they
// leave no hole; only then they are out of flight.
func (m *Member) AckIDs(ids []uint64) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index >= 0 {
		m.ackIDs(ids)
	}
}

func (m *Member) ackIDs(ids []uint64) {
	for _, id := range ids {
		if id > m.acked && id <= m.pushed {
			if m.holes == nil {
				m.holes = make(map[uint64]struct{})
			}
			m.holes[id] = struct{}{}
		}
	}
	from := m.acked
	for {
		if _, ok := m.holes[m.acked+1]; !ok {
			break
		}
		delete(m.holes, m.acked+1)
		m.acked++
	}
	if m.acked > from {
		m.move(0, m.acked-from)
		m.since, m.retries = time.Now(), 0
	}
}

// Page queues a page that covers everything up to upTo as an answer. The page
// that reaches the head makes a member that was behind live, under the lock
// that Deliver takes: nothing falls between the two. more is what the page
// told the client; when newer messages have arrived since, it is told to pull on.
// gone are seqs in the page's range that were acked by id before: they are not
// in flight.
func (m *Member) Page(frame []byte, upTo uint64, more bool, gone ...uint64) error {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	err := m.conn.SendControl(frame)
	if err != nil || m.index < 0 || m.state != Behind {
		return err
	}
	if upTo > m.pushed {
		if m.pushed == m.acked {
			m.since, m.retries = time.Now(), 0
		}
		m.move(upTo-m.pushed, 0)
		m.pushed = upTo
	}
	m.ackIDs(gone)
	switch {
	case upTo >= r.head:
		m.state = Live
	case !more:
		r.hub.stats.pullNow.Add(1)
		return m.conn.SendControl(r.pullNow(m.conn.form))
	}
	return nil
}

// SetOpen opens or closes the conversation on this connection and answers
// with its state. An opened one that has missed messages is behind.
func (m *Member) SetOpen(open bool) State {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !open:
		m.state = CountOnly
	case m.state == CountOnly && m.pushed < r.head:
		m.state = Behind
	case m.state == CountOnly:
		m.state = Live
	}
	return m.state
}

// Status returns the member's cursor, the head and how messages reach it.
func (m *Member) Status() (cursor, head uint64, state State) {
	m.room.mu.Lock()
	defer m.room.mu.Unlock()
	return m.acked, m.room.head, m.state
}

// Conn returns the member's connection.
func (m *Member) Conn() *Conn { return m.conn }

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
