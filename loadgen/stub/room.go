package stub

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"ackmark/refserver/wire"
)

// Locks are taken in the order user, conversation, and then alarm or conn; the
// server's own is held by itself.

// conversation is a group or an inbox.
type conversation struct {
	name string

	mu      sync.Mutex // guards all below
	head    uint64
	log     []*message // the newest, by seq without holes
	sent    map[sendKey]*message
	members []*member
	rng     *rand.Rand
}

type sendKey struct{ sender, id string }

// message is immutable once it is in a log.
type message struct {
	conv       *conversation
	seq        uint64
	sender, id string
	record     []byte
	frame      []byte // the whole deliver message
	received   int64
	twin       *message // the same stored a second time
	second     bool     // this is the twin
}

// user is one user, with at most one connection.
type user struct {
	name   string
	online atomic.Bool // conn != nil

	mu      sync.Mutex // guards all below
	conn    *conn      // that deliveries go to
	broken  bool       // the last one ended unasked: what wasn't acked may not have arrived
	members map[string]*member
}

// member is one user in one conversation. lastDue is guarded by the
// conversation's lock, all else by the user's.
type member struct {
	user *user
	conv *conversation

	lastDue int64

	visible uint64              // everything up to it has had its turn
	pushed  uint64              // the highest that was pushed
	cursor  uint64              // the highest ack
	holes   []uint64            // what the device misses and no page has covered yet, in order
	claimed uint64              // the highest that a page covered
	skip    map[uint64]struct{} // not to be paged: lost, or withheld until a rewind
	owed    []uint64            // to be paged, in order
	swap    *event              // held back until the next one
	late    []uint64            // withheld, in order
	unsaid  int                 // the member's own sends without an answer
	force   bool                // a withheld one has waited too long for a later one
	back    map[uint64]bool     // given back by a rewind; true: after a later one
	rewound uint64              // the first of them: welcome names what is before it until all are paged; 0 = none
}

func (s *Server) addUser(name string) *user {
	s.mu.Lock()
	u := s.users[name]
	if u == nil {
		u = &user{name: name, members: map[string]*member{}}
		s.users[name] = u
	}
	inbox := s.convs[wire.Inbox(name)] != nil
	s.mu.Unlock()
	if !inbox {
		s.join(s.open(wire.Inbox(name)), u)
	}
	return u
}

// open returns a conversation, made if it isn't there. Its random numbers
// depend on the seed and on its turn, not on its name, which every run gives anew.
func (s *Server) open(name string) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.convs[name]
	if c == nil {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name[:2]))
		c = &conversation{
			name: name, sent: map[sendKey]*message{},
			rng: rand.New(rand.NewPCG(s.cfg.Seed, h.Sum64()+uint64(len(s.convs)))),
		}
		s.convs[name] = c
	}
	return c
}

func (s *Server) addMembers(name string, names []string) (int, error) {
	users := make([]*user, 0, len(names))
	for _, n := range names {
		u := s.user(n)
		if u == nil {
			return 0, wire.Faultf(wire.CodeNoSuchUser, "user %s was never created", n)
		}
		users = append(users, u)
	}
	c := s.open(name)
	added := 0
	for _, u := range users {
		if s.join(c, u) {
			added++
		}
	}
	return added, nil
}

// join makes a member, who starts at the head. False: it was one already.
func (s *Server) join(c *conversation, u *user) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.members[c.name] != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &member{user: u, conv: c, visible: c.head, cursor: c.head, skip: map[uint64]struct{}{}, back: map[uint64]bool{}}
	u.members[c.name] = m
	c.members = append(c.members, m)
	return true
}

// at returns the message at seq; nil when it is trimmed.
func (c *conversation) at(seq uint64) *message {
	first := c.head - uint64(len(c.log)) + 1
	if seq < first || seq > c.head {
		return nil
	}
	return c.log[seq-first]
}

// store appends a message, at most retain of which stay. It returns how many
// were trimmed. The lock is held.
func (c *conversation) store(sender, id string, record []byte, at int64, retain int) (*message, int) {
	c.head++
	m := &message{
		conv: c, seq: c.head, sender: sender, id: id, record: record, received: at,
		frame: wire.AppendDeliverMessage(nil, c.name, epoch, c.head, record),
	}
	c.log = append(c.log, m)
	trimmed := 0
	if len(c.log) >= 2*retain {
		trimmed = len(c.log) - retain
		for _, old := range c.log[:trimmed] {
			delete(c.sent, sendKey{old.sender, old.id})
		}
		c.log = slices.Clone(c.log[trimmed:])
	}
	return m, trimmed
}

// owe notes that only a page can bring a seq.
func (m *member) owe(seq uint64, most int) {
	i, found := slices.BinarySearch(m.owed, seq)
	if !found {
		m.owed = slices.Insert(m.owed, i, seq)
	}
	if len(m.owed) > 2*most {
		m.owed = slices.Clone(m.owed[len(m.owed)-most:])
	}
}

// again owes everything above the cursor, since nobody knows what of it arrived,
// besides what is owed already.
func (m *member) again() {
	m.conv.mu.Lock()
	defer m.conv.mu.Unlock()
	kept, _ := slices.BinarySearch(m.owed, m.cursor+1)
	m.owed = m.owed[:kept]
	for seq := m.cursor + 1; seq <= m.visible; seq++ {
		msg := m.conv.at(seq)
		if _, skip := m.skip[seq]; msg != nil && !skip && msg.sender != m.user.name {
			m.owed = append(m.owed, seq)
		}
	}
}

// lost notes that a connection ended.
func (u *user) lost(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn == c {
		u.conn, u.broken = nil, true
		u.online.Store(false)
	}
}
