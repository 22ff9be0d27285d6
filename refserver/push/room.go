package push

import (
	"sync"
	"time"

	"ackmark/refserver/wire"
)

// Message is one stored message on its way to a room.
type Message struct {
	Seq    uint64
	Sender string
	Record []byte

	// Origin is the connection that waits for Result, nil when none does. The
	// result is queued there before any newer message of the conversation, so
	// that the sender knows its own seq before it could take it for a gap.
	Origin *Conn
	Result wire.SendResultView

	Ahead  bool // it went to whom it reaches already (see Room.Ahead): others are told to pull it
	Pushed bool // set by Deliver: a member's queue took it

	answered bool
}

// Room is one conversation's members that are online on this node.
type Room struct {
	hub          *Hub
	conversation string
	epoch        uint64
	fleeting     bool

	mu      sync.Mutex
	head    uint64 // newest seq that was dispatched here
	members []*Member
	frames  []encoded // scratch of Deliver
	senders []*Conn   // scratch of Deliver: connections with an answer to write, to be woken first
	wakes   []*Conn   // scratch of Deliver: all others
}

// NewRoom makes a room for a conversation whose newest message is head. In a
// fleeting room a push is done once it is queued, as where nothing is stored
// for who is online or nothing is left to ack: it takes no place in the window
// and isn't sent again.
func (h *Hub) NewRoom(conversation string, epoch, head uint64, fleeting bool) *Room {
	return &Room{hub: h, conversation: conversation, epoch: epoch, head: head, fleeting: fleeting}
}

// Conversation returns the name of the conversation.
func (r *Room) Conversation() string { return r.conversation }

// Head returns the newest seq that this node knows.
func (r *Room) Head() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Members returns how many members are online here.
func (r *Room) Members() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.members)
}

// Deliver hands stored messages, in seq order, to the members that are live,
// and their results to those who wait for them. A seq that was dispatched
// before (a send that was stored twice as one) is only answered.
func (r *Room) Deliver(msgs []Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := msgs
	for len(fresh) > 0 && fresh[0].Seq <= r.head {
		fresh[0].answer(r)
		fresh = fresh[1:]
	}
	for len(fresh) > 0 {
		n := 1
		for n < len(fresh) && fresh[n].Seq == fresh[n-1].Seq+1 {
			n++
		}
		if fresh[0].Seq != r.head+1 { // something was stored that this node was not told of
			r.fallBehind(fresh[0].Seq - 1)
		}
		r.dispatch(fresh[:n])
		fresh = fresh[n:]
		for len(fresh) > 0 && fresh[0].Seq <= r.head {
			fresh[0].answer(r)
			fresh = fresh[1:]
		}
	}
	r.wake()
}

// dispatch pushes a run of consecutive messages that begins right after head.
func (r *Room) dispatch(run []Message) {
	r.head = run[len(run)-1].Seq
	if len(r.members) > 0 {
		now := time.Now()
		r.frames = r.frames[:0]
		for i := range run {
			r.frames = append(r.frames, encodeDeliver(r.conversation, r.epoch, &run[i]))
		}
		pushed := 0
		for _, m := range r.members {
			pushed += m.take(run, now)
		}
		r.hub.stats.pushed.Add(uint64(pushed))
		clear(r.frames)
	}
	for i := range run {
		run[i].answer(r)
	}
}

// take queues a run for one member and returns how many deliveries it got.
func (m *Member) take(run []Message, now time.Time) (n int) {
	r, c := m.room, m.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	wake, answered := false, false
	queue := func(b []byte) {
		c.queue = append(c.queue, b)
		c.bytes += len(b)
		wake = c.scheduleLocked() || wake
	}
	for i := range run {
		msg := &run[i]
		if msg.Sender == c.user {
			if msg.Origin == c && !c.closing && !c.closed {
				queue(c.form.encodeResult(&msg.Result))
				msg.answered, answered = true, true
			}
			m.own(msg.Seq)
			continue
		}
		if msg.Seq <= m.pushed { // a page that was read after it was stored has carried it
			continue
		}
		if m.state != Live {
			continue
		}
		b := r.frames[i].bytes(c.form, r.conversation, r.epoch, msg)
		if msg.Ahead || !c.roomLocked(1, len(b), !r.fleeting) {
			m.state = Behind
			if !c.closing && !c.closed {
				queue(r.pullNow(c.form))
				r.hub.stats.pullNow.Add(1)
			}
			continue
		}
		queue(b)
		if !r.fleeting {
			if m.flight() == 0 {
				m.since, m.retries = now, 0
			}
			c.inFlight++
		}
		m.pushed = msg.Seq
		msg.Pushed = true
		n++
	}
	switch {
	case wake && answered:
		r.senders = append(r.senders, c)
	case wake:
		r.wakes = append(r.wakes, c)
	}
	return n
}

// own passes over a message that the member sent itself: if its cursor stood
// right before it, it moves, as it does in the store.
func (m *Member) own(seq uint64) {
	if seq != m.ownTo+1 || m.ownFrom == 0 {
		m.ownFrom = seq
	}
	m.ownTo = seq
	was := m.flight()
	if m.acked == seq-1 {
		m.acked = seq
	}
	switch {
	case m.live == seq-1:
		m.live, m.pushed = seq, max(m.pushed, seq)
		delete(m.holes, seq)
		m.absorb()
	case m.state == Live:
		m.pushed = max(m.pushed, seq)
	}
	m.conn.inFlight += m.flight() - was // the caller holds its lock
}

// fallBehind makes every live member pull up to head.
func (r *Room) fallBehind(head uint64) {
	r.head = head
	for _, m := range r.members {
		if m.state == Live {
			m.state = Behind
			_ = m.conn.SendControl(r.pullNow(m.conn.form))
			r.hub.stats.pullNow.Add(1)
		}
	}
}

func (r *Room) pullNow(form Form) []byte {
	b, _ := form.encode(&wire.Frame{PullNow: &wire.PullNow{Conversation: r.conversation, Epoch: r.epoch, Head: r.head}})
	return b
}

// wake tells each flusher once of all the connections it has to look at. Who
// waits for an answer doesn't wait for the whole fan-out.
func (r *Room) wake() {
	for _, f := range r.hub.flushers {
		f.addFrom(r.senders, r.wakes)
	}
	clear(r.senders)
	clear(r.wakes)
	r.senders, r.wakes = r.senders[:0], r.wakes[:0]
}

func (msg *Message) answer(r *Room) {
	if msg.Origin == nil || msg.answered {
		return
	}
	msg.answered = true
	msg.Origin.SendResult(&msg.Result)
}
