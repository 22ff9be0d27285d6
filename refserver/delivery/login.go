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
	ss := &Session{s: s, conn: conn, user: user, begin: push.JoinOptions{Live: h.Live, Closed: h.Closed}}
	conn.SetOwner(ss)
	// The memberships are read after the session can be found: a change that is
	// older than the read is in it, a newer one reaches the session.
	if !s.hub.Register(conn) {
		return nil, &wire.Fault{Code: wire.CodeReplaced, Message: "a newer connection of the same user is there already"}
	}
	welcome := &wire.Welcome{User: user, MaxPage: uint32(s.cfg.MaxPage), Window: uint32(conn.SetWindow(int(h.Window)))}
	places, err := s.places(ctx, user, ss.enter)
	if err != nil {
		ss.Close()
		return nil, err
	}
	for i := range places {
		p := &places[i]
		welcome.Epoch = p.c.epoch
		if state := ss.join(p.c, p.cursor, resume[p.c.name]); state != nil {
			welcome.Conversations = append(welcome.Conversations, state)
		}
	}
	if err := conn.Begin(&wire.Frame{Welcome: welcome}); err != nil {
		ss.Close()
		return nil, err
	}
	s.presence.came(ss)
	return ss, nil
}

// place is where a user stands in one conversation.
type place struct {
	c      *conversation
	cursor uint64
	unread uint64
	head   uint64 // as it was noted before rows were read
}

// places reads where a user stands in its groups and its inbox, which is the
// last one. Where only a part of a group's messages is stored for a member, its
// rows are read after the head was noted, and after enter, unless nil, has taken
// a connection there: so a message is found among the rows or lies beyond the head.
func (s *Service) places(ctx context.Context, user string, enter func(*place) bool) ([]place, error) {
	login, err := s.store.Login(ctx, user)
	if err != nil {
		return nil, err
	}
	places := make([]place, 0, len(login.Groups)+1)
	convs := make([]*conversation, 0, len(login.Groups))
	known := login.Groups[:0]
	for _, g := range login.Groups {
		c, err := s.openIn(ctx, g.Conversation, login.Epoch)
		if err != nil {
			return nil, err
		}
		p := place{c: c, head: c.room.Head()}
		if s.design.partial() && enter != nil && !enter(&p) {
			continue // the session has ended, or its user was taken out of the group meanwhile
		}
		places, convs, known = append(places, p), append(convs, c), append(known, g)
	}
	inbox, err := s.openIn(ctx, wire.Inbox(user), login.Epoch)
	if err != nil {
		return nil, err
	}
	at, err := s.design.standings(ctx, user, known, convs)
	if err != nil {
		return nil, err
	}
	for i, st := range at {
		p := &places[i]
		p.cursor, p.unread = st.cursor, st.unread
		if s.design.partial() {
			p.cursor = min(st.cursor, p.head)
		}
	}
	return append(places, place{c: inbox, cursor: s.cursorOf(inbox, user, 0), head: inbox.room.Head()}), nil
}

// openIn is open for a request that has read something else in an epoch, and
// fails when that is over.
func (s *Service) openIn(ctx context.Context, name string, epoch uint64) (*conversation, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if c.epoch != epoch {
		return nil, restarted()
	}
	return c, nil
}

// restarted is the fault of a request in whose middle an epoch began.
func restarted() *wire.Fault {
	return wire.Faultf(wire.CodeUnavailable, "the store has just restarted; ask again")
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

// enter joins a room before it is known where its user stands there: nobody is
// pushed to until join says so. false when the session has ended or its user
// was taken out of the group meanwhile.
func (ss *Session) enter(p *place) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if _, removed := ss.left[p.c.name]; removed || ss.closed {
		return false
	}
	at, joined := ss.findLocked(p.c.name)
	if !joined {
		o := ss.begin
		o.Hold = true
		ms := membership{conv: p.c}
		ms.member, p.head = p.c.room.Join(ss.conn, 0, o)
		ss.members = slices.Insert(ss.members, at, ms)
	}
	return true
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
		if w := c.worth(resume.Epoch, resume.Cursor, cursor); w > cursor {
			cursor = w
			ss.s.acks.add(c, ss.user, w, nil)
		}
	}
	at, joined := ss.findLocked(c.name)
	if !joined {
		o := ss.begin
		o.Closed = o.Closed && c.kind == wire.KindGroup
		ms := membership{conv: c}
		ms.member, _ = c.room.Join(ss.conn, cursor, o)
		ss.members = slices.Insert(ss.members, at, ms)
	} else {
		ss.members[at].member.Resume(cursor)
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
	places, err := s.places(ctx, user, nil)
	if err != nil {
		return nil, err
	}
	welcome := &wire.Welcome{User: user, MaxPage: uint32(s.cfg.MaxPage), Window: uint32(s.hub.Config().Window)}
	for _, p := range places {
		c, cursor := p.c, p.cursor
		if r := resume[c.name]; r != nil {
			if w := c.worth(r.Epoch, r.Cursor, cursor); w > cursor {
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
	if r.Senders {
		return s.senderCounts(ctx, user, r)
	}
	places, err := s.places(ctx, user, nil)
	if err != nil {
		return nil, err
	}
	counts := &wire.Counts{Ref: r.Ref}
	for _, p := range places[:len(places)-1] { // all but the inbox
		counts.Epoch = p.c.epoch
		counts.Counts = append(counts.Counts, &wire.Count{
			Conversation: p.c.name, Cursor: p.cursor, Head: p.c.room.Head(), Unread: p.unread,
		})
	}
	log, err := s.store.Open(ctx, wire.Inbox(user)) // rows may have gone one by one: only the store knows
	if err != nil {
		return nil, err
	}
	if log.Epoch != places[len(places)-1].c.epoch {
		return nil, restarted()
	}
	counts.Epoch = log.Epoch
	counts.Counts = append(counts.Counts, &wire.Count{
		Conversation: wire.Inbox(user), Cursor: log.First - 1, Head: log.Head, Unread: log.Size,
	})
	return counts, nil
}

// Friends lists a user's friends in byte order. Without a limit in the request
// as many as a page has messages.
func (s *Service) Friends(ctx context.Context, user string, r *wire.FriendsRequest) (*wire.Friends, error) {
	limit := int(r.Limit)
	if limit <= 0 {
		limit = s.cfg.Page
	}
	names, more, err := s.store.Friends(ctx, user, r.After, min(limit, s.cfg.MaxFriends))
	if err != nil {
		return nil, err
	}
	return &wire.Friends{Ref: r.Ref, Friends: names, More: more}, nil
}
