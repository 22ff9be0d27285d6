package ledger

import (
	"sync"
	"sync/atomic"
)

// state is what is known of a send.
type state uint32

const (
	unsent state = iota
	inFlight
	accepted
	refused
	unknown
)

func (s state) String() string {
	return [...]string{"unsent", "in flight", "accepted", "refused", "unknown"}[s]
}

// place is where a message was stored.
type place struct{ epoch, seq uint64 }

// before is the order of places: a later epoch begins after everything that
// survived of an earlier one.
func (p place) before(q place) bool {
	return p.epoch < q.epoch || p.epoch == q.epoch && p.seq < q.seq
}

// differs tells whether two places of one message contradict each other: two
// seqs in one epoch. In another epoch it may have been stored anew.
func (p place) differs(q place) bool { return p.epoch == q.epoch && p.seq != q.seq }

// message is one scheduled message.
type message struct {
	sender int32
	fanout int32 // recipients over which its fan-out is measured

	// state is written under mu. Once it is accepted, place doesn't change any
	// more and may be read without mu.
	state atomic.Uint32

	mu    sync.Mutex  // guards place until the answer, and all below
	place place       // what the sender was told; before that, the place of the first delivery, if early > 0
	early int32       // first arrivals at place before the answer
	again atomic.Bool // seen at two places of one epoch; only kept with Config.Repeats, needs no lock
	other *early      // those at other places

	spread spread
}

// early counts deliveries of one message at one place before its sender was
// told where it is. There is hardly ever more than one place.
type early struct {
	at   place
	n    int32
	next *early
}

// answer notes the result of a send. n deliveries that came before it, under
// another seq than the answer names, are told.
func (m *message) answer(s state, at place) (fresh bool, n int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.accepted() { // an answer stands, whatever comes later
		return false, 0
	}
	if s == accepted {
		n = m.differing(at)
		m.place, m.early, m.other = at, 0, nil
	}
	m.state.Store(uint32(s))
	return s == accepted, n
}

// differing counts the early deliveries at places that contradict one. The
// lock is held.
func (m *message) differing(at place) (n int32) {
	if m.early > 0 && m.place.differs(at) {
		n = m.early
	}
	for e := m.other; e != nil; e = e.next {
		if e.at.differs(at) {
			n += e.n
		}
	}
	return n
}

// arrived notes where a recipient got the message, and says whether that
// contradicts what its sender was told. Before the answer it is only counted.
func (m *message) arrived(at place) (contradicts bool) {
	if m.accepted() {
		return m.place.differs(at)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.accepted():
		return m.place.differs(at)
	case m.early == 0:
		m.place, m.early = at, 1
	case m.place == at:
		m.early++
	default:
		e := m.other
		for e != nil && e.at != at {
			e = e.next
		}
		if e == nil {
			e = &early{at: at, next: m.other}
			m.other = e
		}
		e.n++
	}
	return false
}

// elsewhere tells whether a place contradicts what is known of the message.
func (m *message) elsewhere(at place) bool {
	if told, known := m.told(); known {
		return told.differs(at)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return (m.early > 0 || m.accepted()) && m.place.differs(at)
}

func (m *message) accepted() bool { return state(m.state.Load()) == accepted }

// told is where the sender was told that the message is; false before that.
func (m *message) told() (place, bool) {
	if m.accepted() {
		return m.place, true
	}
	return place{}, false
}

// result is the state of a send and where the message is: as its sender was
// told, else where most recipients got it; known is false when nobody did.
func (m *message) result() (s state, at place, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, at = state(m.state.Load()), m.place
	most := m.early
	for e := m.other; e != nil; e = e.next {
		if e.n > most {
			at, most = e.at, e.n
		}
	}
	return s, at, s == accepted || most > 0
}

// unsettled counts deliveries of a message without an answer that contradict
// where most recipients got it.
func (m *message) unsettled() int32 {
	s, at, known := m.result()
	if s == accepted || !known {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.differing(at)
}
