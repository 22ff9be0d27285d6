package delivery

import (
	"context"
	"slices"
	"sync"

	"ackmark/refserver/wire"
)

// memStore is a Store in memory, for what has to be tested with a clock that
// stands still. What Redis does is tested in redisstore and in server.
type memStore struct {
	sink Sink

	mu        sync.Mutex
	epoch     uint64
	down      bool
	hold      bool // appends wait for release
	full      bool // appends are refused
	downAfter int  // down after so many appends; 0: never
	failReads int  // reads fail after so many; 0: never
	held      []*Append
	logs      map[string]*memConv
	groups    map[string][]string // user → groups
	friends   map[string][]string
	calls     map[string]int
	moves     []Move
	rows      memRows

	afterLogin func() // runs once a login has read the memberships
}

type memConv struct {
	entries []Entry
	head    uint64
	epoch   uint64
	base    uint64
	former  uint64
	members map[string]uint64
	sent    map[string]uint64
	bare    map[uint64]bool // seqs that left no row
}

func newMemStore() *memStore {
	return &memStore{
		epoch: 1, logs: map[string]*memConv{}, groups: map[string][]string{},
		friends: map[string][]string{}, calls: map[string]int{},
	}
}

var errDown = wire.Faultf(wire.CodeUnavailable, "down")

func (m *memStore) enter(call string, epoch uint64) error {
	m.calls[call]++
	if m.down || epoch != m.epoch {
		return errDown
	}
	return nil
}

func (m *memStore) conv(name string) *memConv {
	c := m.logs[name]
	if c == nil {
		c = &memConv{members: map[string]uint64{}, sent: map[string]uint64{}, bare: map[uint64]bool{}, epoch: m.epoch}
		m.logs[name] = c
	}
	return c
}

func (m *memStore) Append(a *Append) error {
	m.mu.Lock()
	if m.full {
		m.mu.Unlock()
		return wire.Faultf(wire.CodeOverloaded, "the queue is full")
	}
	if m.hold {
		m.held = append(m.held, a)
		m.mu.Unlock()
		return nil
	}
	m.store(a)
	m.mu.Unlock()
	m.sink.Appended([]*Append{a})
	return nil
}

// release stores what was held, as one batch.
func (m *memStore) release() {
	m.mu.Lock()
	batch := m.held
	m.held, m.hold = nil, false
	for _, a := range batch {
		m.store(a)
	}
	m.mu.Unlock()
	m.sink.Appended(batch)
}

func (m *memStore) store(a *Append) {
	if a.Err = m.enter("append", m.epoch); a.Err != nil {
		return
	}
	if m.downAfter > 0 {
		m.downAfter--
		m.down = m.downAfter == 0
	}
	c := m.conv(a.Conversation)
	a.Epoch = m.epoch
	if _, ok := c.members[a.Sender]; a.Conversation[0] == 'g' && !ok {
		a.Err = wire.Faultf(wire.CodeNotMember, "not a member")
		return
	}
	key := a.Sender + " " + a.ClientMsgID
	if seq, ok := c.sent[key]; ok && !(c.bare[seq] && seq == a.Instead) {
		a.Seq, a.Duplicate, a.Fleeting = seq, true, c.bare[seq]
		return
	}
	c.head++
	a.Seq = c.head
	c.sent[key] = a.Seq
	if a.Fleeting {
		c.bare[a.Seq] = true
	} else {
		c.entries = append(c.entries, Entry{Seq: a.Seq, Record: a.Record})
	}
	if a.Conversation[0] == 'g' && m.rows.keep() {
		m.storeRows(a, c.members)
		return
	}
	if cursor, ok := c.members[a.Sender]; ok && cursor == a.Seq-1 {
		c.members[a.Sender], a.OwnGap = a.Seq, true
	}
}

func (m *memStore) Open(_ context.Context, name string) (Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("open", m.epoch); err != nil {
		return Log{}, err
	}
	if name[0] == 'g' && m.logs[name] == nil {
		return Log{}, wire.Faultf(wire.CodeNoSuchGroup, "no such group")
	}
	c := m.conv(name)
	if c.epoch != m.epoch {
		c.epoch, c.base, c.former = m.epoch, c.head, c.epoch
	}
	l := Log{Epoch: m.epoch, Base: c.base, Former: c.former, Head: c.head, First: c.head + 1, Size: uint64(len(c.entries))}
	if len(c.entries) > 0 {
		l.First = c.entries[0].Seq
	}
	return l, nil
}

func (m *memStore) Read(_ context.Context, name string, epoch, after uint64, limit int) (out []Entry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("read", epoch); err != nil {
		return nil, err
	}
	if m.failReads > 0 && m.calls["read"] > m.failReads {
		return nil, errDown
	}
	for _, e := range m.conv(name).entries {
		if e.Seq > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *memStore) Login(_ context.Context, user string) (out Login, err error) {
	if m.afterLogin != nil {
		defer func() { m.afterLogin() }()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("login", m.epoch); err != nil {
		return Login{}, err
	}
	out.Epoch = m.epoch
	for _, g := range m.groups[user] {
		out.Groups = append(out.Groups, Membership{Conversation: g, Cursor: m.logs[g].members[user]})
	}
	return out, nil
}

func (m *memStore) Cursor(_ context.Context, group, user string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cursor, ok := m.conv(group).members[user]
	if !ok {
		return 0, wire.Faultf(wire.CodeNotMember, "not a member")
	}
	return cursor, nil
}

func (m *memStore) Move(_ context.Context, group string, epoch uint64, moves []Move) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("move", epoch); err != nil {
		return err
	}
	c := m.conv(group)
	for _, mv := range moves {
		if cursor, ok := c.members[mv.User]; ok {
			c.members[mv.User] = max(cursor, min(mv.UpTo, c.head))
		}
	}
	m.moves = append(m.moves, moves...)
	return nil
}

func (m *memStore) Trim(_ context.Context, group string, epoch uint64, retention int) (Trimmed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter("trim", epoch); err != nil {
		return Trimmed{}, err
	}
	c := m.conv(group)
	slowest := c.head
	for _, cursor := range c.members {
		slowest = min(slowest, cursor)
	}
	var t Trimmed
	for len(c.entries) > 0 && (c.entries[0].Seq <= slowest || retention > 0 && len(c.entries) > retention) {
		if c.entries[0].Seq > slowest {
			t.Truncated++
		}
		c.entries = c.entries[1:]
		t.Removed++
	}
	t.First = c.head + 1
	if len(c.entries) > 0 {
		t.First = c.entries[0].Seq
	}
	return t, nil
}

func (m *memStore) CreateUsers(context.Context, []string) error { return nil }

func (m *memStore) AddMembers(_ context.Context, group string, members []string) (added int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.conv(group)
	for _, u := range members {
		if _, ok := c.members[u]; !ok {
			c.members[u] = c.head
			m.groups[u] = append(m.groups[u], group)
			added++
		}
	}
	return added, nil
}

func (m *memStore) RemoveMembers(_ context.Context, group string, members []string) (removed int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range members {
		delete(m.conv(group).members, u)
		m.groups[u] = slices.DeleteFunc(m.groups[u], func(g string) bool { return g == group })
		removed++
	}
	return removed, nil
}

func (m *memStore) AddFriends(_ context.Context, user string, friends []string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.friends[user] = append(m.friends[user], friends...)
	return len(friends), nil
}

func (m *memStore) Friends(_ context.Context, user, after string, limit int) ([]string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.friends[user], false, nil
}

// restart loses the newest lost messages of each log and begins a new epoch.
func (m *memStore) restart(lost int) {
	m.mu.Lock()
	m.epoch++
	for _, c := range m.logs {
		for range lost {
			if n := len(c.entries); n > 0 {
				c.head--
				c.entries = c.entries[:n-1]
			}
		}
		for u, cursor := range c.members {
			c.members[u] = min(cursor, c.head)
		}
		clear(c.sent)
	}
	epoch := m.epoch
	m.mu.Unlock()
	m.sink.EpochChanged(epoch)
}

func (m *memStore) count(call string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[call]
}

func (m *memStore) cursor(group, user string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.logs[group].members[user]
}
