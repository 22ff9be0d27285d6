package push

import "time"

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

// Member is one conversation on one connection. Its fields are guarded by the
// room's mutex.
//
// acked is the cursor. What is in flight is counted from live on: a member that
// was made live at the head of a conversation pulls what waits below by itself,
// so that part is neither in flight nor sent again, and its acks move the
// cursor all the same. from is where live began; once the cursor has reached it
// the two are one.
type Member struct {
	room  *Room
	conn  *Conn
	index int // in room.members, -1 once it has left

	state          State
	self           bool                // pulls what waits below the head by itself
	held           bool                // until Resume
	retries        uint8               // retransmissions since the last progress, as far as maxBackoff
	pushed         uint64              // newest seq that was queued, paged or skipped as its own
	acked          uint64              // cursor as this node knows it
	live           uint64              // all of (from, live] is acked; in flight are those in (live, pushed] without the holes
	from           uint64              // see above
	since          time.Time           // last progress while something is unacked
	ownFrom, ownTo uint64              // the last run of messages that the member sent itself
	holes          map[uint64]struct{} // acked by id above live; inboxes only
}

// JoinOptions says how a member begins.
type JoinOptions struct {
	Live   bool // live from the head on, with nothing in flight of what waits below: the client pulls that by itself
	Closed bool // count-only until it is opened
	Hold   bool // behind until Resume: where it stands is read from the store after it has joined
}

// Join adds a connection whose user has everything up to cursor. With
// messages beyond it the member starts behind: what is stored from now on is
// not missed, it is in the log and the page that reaches the head makes the
// member live.
func (r *Room) Join(c *Conn, cursor uint64, o JoinOptions) (m *Member, head uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m = &Member{room: r, conn: c, index: len(r.members), self: o.Live, held: o.Hold}
	if o.Closed {
		m.state = CountOnly
	}
	m.begin(cursor)
	if o.Hold && !o.Closed {
		m.state = Behind
	}
	r.members = append(r.members, m)
	if len(r.members) == 1 {
		r.hub.addRoom(r)
	}
	return m, r.head
}

// Resume ends what JoinOptions.Hold began, once: the member has everything up
// to cursor, or, where only a part of the messages is stored for its user,
// nothing that is stored lies up to there.
func (m *Member) Resume(cursor uint64) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index >= 0 && m.held {
		m.held = false
		m.rewind()
		m.begin(max(cursor, m.acked)) // an own message may have moved it
	}
}

// begin puts a member that has nothing in flight at its cursor.
func (m *Member) begin(cursor uint64) {
	head := m.room.head
	cursor = min(cursor, head)
	m.acked, m.live, m.from, m.pushed = cursor, cursor, cursor, cursor
	switch {
	case m.state == CountOnly:
	case m.self:
		m.fromHead(0)
	case cursor < head:
		m.state = Behind
	default:
		m.state = Live
	}
}

// fromHead makes a member live from the head on, or from where a page has been
// ahead of the room.
func (m *Member) fromHead(ahead uint64) {
	m.rewind()
	m.state = Live
	m.live = max(m.live, m.room.head, ahead)
	m.from, m.pushed = m.live, m.live
}

// rewind takes what is in flight out of it.
func (m *Member) rewind() {
	m.settle(m.flight(), 0)
	m.pushed = m.live
	clear(m.holes)
}

// Leave takes the member out of its room.
func (m *Member) Leave() {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index < 0 {
		return
	}
	m.rewind()
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

// SetOpen opens or closes the conversation on this connection and answers
// with its state. A closed one is neither pushed nor sent again, and what was
// in flight is so no more. An opened one that has missed messages is behind,
// or live at once when its client pulls by itself.
func (m *Member) SetOpen(open bool) State {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.index < 0:
	case !open:
		m.rewind()
		m.state = CountOnly
	case m.state != CountOnly:
	case m.self:
		m.fromHead(0)
	case m.pushed < r.head:
		m.state = Behind
	default:
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
