package delivery

import (
	"context"
	"slices"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// Connect makes conn a session of its user: it joins the rooms of all the
// user's conversations first and describes them in the Welcome after, so that
// nothing falls between what the Welcome says and what is pushed.
func (s *Service) Connect(ctx context.Context, conn *push.Conn, h *wire.Hello) (*Session, error) {
	user := conn.User()
	resume, err := resumes(h)
	if err != nil {
		return nil, err
	}
	ss := &Session{s: s, conn: conn, user: user}
	conn.SetOwner(ss)
	// The memberships are read after the session can be found: a change that is
	// older than the read is in it, a newer one reaches the session.
	if !s.hub.Register(conn) {
		return nil, &wire.Fault{Code: wire.CodeReplaced, Message: "a newer connection of the same user is there already"}
	}
	groups, err := s.store.Login(ctx, user)
	if err != nil {
		return nil, err
	}
	ss.members = slices.Grow(ss.members, len(groups)+1)
	welcome := &wire.Welcome{User: user, MaxPage: uint32(s.cfg.MaxPage), Window: uint32(conn.SetWindow(int(h.Window)))}
	for _, g := range append(groups, Membership{Conversation: wire.Inbox(user)}) {
		c, err := s.open(ctx, g.Conversation)
		if err != nil {
			ss.Close()
			return nil, err
		}
		welcome.Epoch = c.epoch
		if state := ss.join(c, c.stored(g), resume[c.name]); state != nil {
			welcome.Conversations = append(welcome.Conversations, state)
		}
	}
	if err := conn.Begin(&wire.Frame{Welcome: welcome}); err != nil {
		ss.Close()
		return nil, err
	}
	return ss, nil
}

// maxResumes bounds a hello.
const maxResumes = 10_000

func resumes(h *wire.Hello) (map[string]*wire.Resume, error) {
	if len(h.Resume) > maxResumes {
		return nil, wire.Faultf(wire.CodeTooLarge, "hello resumes %d conversations, at most %d are taken", len(h.Resume), maxResumes)
	}
	m := make(map[string]*wire.Resume, len(h.Resume))
	for _, r := range h.Resume {
		if _, _, err := wire.ParseConversation(r.Conversation); err != nil {
			return nil, err
		}
		m[r.Conversation] = r
	}
	return m, nil
}

// join enters a room at the furthest of the stored cursor, acks that are not
// stored yet, and what the client says it holds, which counts as an ack. nil
// when the session has ended or its user was taken out of the group meanwhile.
func (ss *Session) join(c *conversation, cursor uint64, resume *wire.Resume) *wire.Conversation {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if _, removed := ss.left[c.name]; removed || ss.closed {
		return nil
	}
	cursor = ss.s.cursorOf(c, ss.user, cursor)
	if resume != nil {
		if w := c.resumeAt(resume.Epoch, resume.Cursor); w > cursor {
			cursor = w
			ss.s.acks.add(c, ss.user, w, nil)
		}
	}
	at, joined := ss.findLocked(c.name)
	if !joined {
		ms := membership{conv: c}
		ms.member, _ = c.room.Join(ss.conn, cursor)
		ss.members = slices.Insert(ss.members, at, ms)
	}
	return c.state(ss.members[at].member.Status())
}

// cursorOf is a user's cursor, acks that are not stored yet included. An
// inbox has no stored cursor: what is acked is gone.
func (s *Service) cursorOf(c *conversation, user string, stored uint64) uint64 {
	if c.kind == wire.KindInbox {
		c.mu.Lock()
		stored = max(stored, c.first-1)
		c.mu.Unlock()
	}
	return max(stored, s.acks.cursor(c, user))
}

// Hello describes a user's conversations over HTTP. A resume in it counts as
// an ack.
func (s *Service) Hello(ctx context.Context, user string, h *wire.Hello) (*wire.Welcome, error) {
	resume, err := resumes(h)
	if err != nil {
		return nil, err
	}
	groups, err := s.store.Login(ctx, user)
	if err != nil {
		return nil, err
	}
	welcome := &wire.Welcome{User: user, MaxPage: uint32(s.cfg.MaxPage), Window: uint32(s.hub.Config().Window)}
	for _, g := range append(groups, Membership{Conversation: wire.Inbox(user)}) {
		c, err := s.open(ctx, g.Conversation)
		if err != nil {
			return nil, err
		}
		cursor := s.cursorOf(c, user, c.stored(g))
		if r := resume[c.name]; r != nil {
			if w := c.resumeAt(r.Epoch, r.Cursor); w > cursor {
				cursor = w
				s.acks.add(c, user, w, nil)
			}
		}
		head, state := c.room.Head(), push.Live
		if cursor < head {
			state = push.Behind
		}
		if m := s.member(user, c.name); m != nil {
			_, head, state = m.Status()
		}
		welcome.Epoch = c.epoch
		welcome.Conversations = append(welcome.Conversations, c.state(cursor, head, state))
	}
	return welcome, nil
}

// Counts tells how much of each conversation waits behind the user's cursor.
func (s *Service) Counts(ctx context.Context, user string, r *wire.CountsRequest) (*wire.Counts, error) {
	groups, err := s.store.Login(ctx, user)
	if err != nil {
		return nil, err
	}
	counts := &wire.Counts{Ref: r.Ref}
	for _, g := range groups {
		c, err := s.open(ctx, g.Conversation)
		if err != nil {
			return nil, err
		}
		cursor, head := s.cursorOf(c, user, c.stored(g)), c.room.Head()
		counts.Epoch = c.epoch
		counts.Counts = append(counts.Counts, &wire.Count{
			Conversation: c.name, Cursor: cursor, Head: head, Unread: head - min(cursor, head),
		})
	}
	log, err := s.store.Open(ctx, wire.Inbox(user)) // rows may have gone one by one: only the store knows
	if err != nil {
		return nil, err
	}
	counts.Epoch = log.Epoch
	counts.Counts = append(counts.Counts, &wire.Count{
		Conversation: wire.Inbox(user), Cursor: log.First - 1, Head: log.Head, Unread: log.Size,
	})
	return counts, nil
}

// Friends lists a user's friends in byte order.
func (s *Service) Friends(ctx context.Context, user string, r *wire.FriendsRequest) (*wire.Friends, error) {
	limit := int(r.Limit)
	if limit <= 0 {
		limit = s.cfg.Page
	}
	names, more, err := s.store.Friends(ctx, user, r.After, min(limit, s.cfg.MaxPage))
	if err != nil {
		return nil, err
	}
	return &wire.Friends{Ref: r.Ref, Friends: names, More: more}, nil
}
