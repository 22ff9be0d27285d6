package push

import (
	"sync"
	"time"

	"ackmark/refserver/wire"
)

// State says how a conversation reaches one member's connection.
type State uint8

// A live member is pushed to. A member that is behind pulls until a page has
// reached the head. A count-only member has closed the conversation: its
// messages raise a count and nothing else.
const (
	Live State = iota
	Behind
	CountOnly
)

func (s State) String() string {
	switch s {
	case Live:
		return "live"
	case Behind:
		return "behind"
	default:
		return "count-only"
	}
}

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

	answered bool
}

// Room is one conversation's members that are online on this node.
type Room struct {
	hub          *Hub
	conversation string
	epoch        uint64

	mu      sync.Mutex
	head    uint64 // newest seq that was dispatched here
	members []*Member
	frames  []encoded // scratch of Deliver
	senders []*Conn   // scratch of Deliver: connections with an answer to write, to be woken first
	wakes   []*Conn   // scratch of Deliver: all others
}

// Member is one conversation on one connection. Its fields are guarded by the
// room's mutex.
type Member struct {
	room  *Room
	conn  *Conn
	index int // in room.members, -1 once it has left

	state          State
	pushed         uint64              // newest seq that was queued, paged or skipped as its own
	acked          uint64              // cursor as this node knows it
	since          time.Time           // last progress while something is unacked
	retries        uint                // retransmissions since the last progress
	ownFrom, ownTo uint64              // the last run of messages that the member sent itself
	holes          map[uint64]struct{} // acked by id above acked; inboxes only
}

// NewRoom makes a room for a conversation whose newest stored message is head.
func (h *Hub) NewRoom(conversation string, epoch, head uint64) *Room {
	return &Room{hub: h, conversation: conversation, epoch: epoch, head: head}
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

// Join adds a connection whose user has everything up to cursor. With
// messages beyond it the member starts behind: what is stored from now on is
// not missed, it is in the log and the page that reaches the head makes the
// member live.
func (r *Room) Join(c *Conn, cursor uint64) (m *Member, head uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cursor = min(cursor, r.head)
	m = &Member{room: r, conn: c, index: len(r.members), pushed: cursor, acked: cursor}
	if cursor < r.head {
		m.state = Behind
	}
	r.members = append(r.members, m)
	if len(r.members) == 1 {
		r.hub.addRoom(r)
	}
	return m, r.head
}

// Leave takes the member out of its room.
func (m *Member) Leave() {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index < 0 {
		return
	}
	m.move(0, m.pushed-m.acked)
	last := len(r.members) - 1
	r.members[m.index] = r.members[last]
	r.members[m.index].index = m.index
	r.members[last] = nil
	r.members = r.members[:last]
	m.index = -1
	if last == 0 {
		r.hub.dropRoom(r)
	}
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
		if m.state != Live {
			continue
		}
		b := r.frames[i].bytes(c.form, r.conversation, r.epoch, msg)
		if !c.roomLocked(1, len(b)) {
			m.state = Behind
			if !c.closing && !c.closed {
				queue(r.pullNow(c.form))
				r.hub.stats.pullNow.Add(1)
			}
			continue
		}
		queue(b)
		if m.pushed == m.acked {
			m.since, m.retries = now, 0
		}
		m.pushed = msg.Seq
		c.inFlight++
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
	switch {
	case m.acked == seq-1:
		m.acked, m.pushed = seq, seq
	case m.state == Live:
		m.pushed = seq
		m.conn.inFlight++
	}
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
