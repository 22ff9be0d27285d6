package delivery

import (
	"cmp"
	"context"
	"sync"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// conversation is what this node remembers of a group or an inbox in one epoch.
type conversation struct {
	name  string
	kind  wire.Kind
	ready chan struct{} // closed once opened

	// Set before ready is closed, then constant.
	err    error
	epoch  uint64
	base   uint64 // head when the epoch began
	former uint64 // epoch before, 0: none
	room   *push.Room

	mu        sync.Mutex
	seen      uint64 // newest seq that was stored while the conversation was being opened
	first     uint64 // oldest seq still stored; of an inbox, see oldest
	bare      bare   // of an inbox
	newest    int64  // time of the newest message, where cursors are times
	tail      tail
	used      time.Time
	trimDirty bool
}

// open returns a conversation, reading its state from the store the first
// time. In a new epoch that read also marks the base, so it comes before any
// send of the epoch.
func (s *Service) open(ctx context.Context, name string) (*conversation, error) {
	s.mu.Lock()
	c, ok := s.conversations[name]
	if !ok {
		kind, _, err := wire.ParseConversation(name)
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		c = &conversation{name: name, kind: kind, ready: make(chan struct{})}
		s.conversations[name] = c
	}
	c.mu.Lock()
	c.used = time.Now() // under both locks, so that it isn't forgotten between here and a Join
	c.mu.Unlock()
	s.mu.Unlock()
	if !ok {
		// The opener's own deadline must not fail the others that wait.
		openCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.SendTimeout)
		s.load(openCtx, c)
		cancel()
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	return c, nil
}

func (s *Service) load(ctx context.Context, c *conversation) {
	log, err := s.store.Open(ctx, c.name)
	c.mu.Lock()
	if err != nil {
		c.err = err
	} else {
		s.epoch.CompareAndSwap(0, log.Epoch)
		c.epoch, c.base, c.former, c.first = log.Epoch, log.Base, log.Former, log.First
		head := max(log.Head, c.seen)
		c.room = s.hub.NewRoom(c.name, log.Epoch, head, s.cfg.fleeting())
		c.tail.reset(head)
	}
	c.used = time.Now()
	close(c.ready)
	c.mu.Unlock()
	if err != nil {
		s.mu.Lock()
		if s.conversations[c.name] == c {
			delete(s.conversations, c.name)
		}
		s.mu.Unlock()
	}
}

// loaded returns a conversation that is opened; nil when it isn't, and then
// seq is noted for one that is just being opened.
func (s *Service) loaded(name string, seq uint64) *conversation {
	s.mu.Lock()
	c := s.conversations[name]
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room == nil {
		c.seen = max(c.seen, seq)
		return nil
	}
	return c
}

// forgetIdle drops conversations that nobody has used for IdleAfter and that
// nobody is online in.
func (s *Service) forgetIdle(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.conversations {
		c.mu.Lock()
		idle := c.room != nil && now.Sub(c.used) > s.cfg.IdleAfter && !c.trimDirty && c.room.Members() == 0
		c.mu.Unlock()
		if idle && !s.acks.waiting(c) {
			delete(s.conversations, name)
		}
	}
}

// current says whether c is what the service remembers now: not forgotten, not
// of an epoch that has ended.
func (s *Service) current(c *conversation) bool { return c.epoch == s.epoch.Load() }

// state describes a conversation for one user.
func (c *conversation) state(cursor, head uint64, state push.State) *wire.Conversation {
	c.mu.Lock()
	first := c.first
	c.mu.Unlock()
	if first == 0 { // rows are each member's own
		first = cursor + 1
	}
	return &wire.Conversation{
		Conversation: c.name, Epoch: c.epoch, Cursor: cursor, Head: head, Base: c.base,
		First: first, State: state.String(),
	}
}

// asked is the seq after which a page request goes on.
func (c *conversation) asked(r *wire.PageRequest, cursor uint64) uint64 {
	return c.worth(cmp.Or(r.Epoch, c.epoch), r.After, cursor)
}

// worth is what a seq of some epoch is worth in the conversation's: itself in
// the same one; of the one before, no more than what was stored when this one
// began. Of any other nobody knows how far back it holds, since an epoch in
// between may have begun further back: the user's cursor is all that counts then.
func (c *conversation) worth(epoch, seq, cursor uint64) uint64 {
	switch {
	case epoch == c.epoch:
	case epoch == c.former && epoch != 0:
		seq = min(seq, c.base)
	default:
		seq = min(seq, cursor)
	}
	return min(seq, c.room.Head())
}
