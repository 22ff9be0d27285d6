package gateway

import (
	"context"
	"sync"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// fake is a Service in memory: one group "g1" of alice and bob, seqs per
// conversation, and whatever error a test wants.
type fake struct {
	hub *push.Hub

	mu       sync.Mutex
	fail     error // every operation's answer, when set
	seq      uint64
	sessions int
	closed   int
	acks     []uint64
}

const fakeEpoch = 7

// Acks that make a session do something else than note them.
const (
	ackAborts = 1000 + iota
	ackPanics
	ackAnswered
)

func (f *fake) setFail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *fake) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail
}

func (f *fake) Hello(_ context.Context, user string, _ *wire.Hello) (*wire.Welcome, error) {
	return &wire.Welcome{User: user, Epoch: fakeEpoch, Window: 256, MaxPage: 1000, Conversations: []*wire.Conversation{
		{Conversation: "g:g1", Epoch: fakeEpoch, Cursor: 1, Head: 2, First: 1, State: "behind"},
	}}, f.err()
}

func (f *fake) Send(_ context.Context, _ string, m *wire.Send) (*wire.SendResult, error) {
	if m.ClientMsgId == "panic" {
		panic("asked to")
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	return &wire.SendResult{Ref: m.Ref, ClientMsgId: m.ClientMsgId, Conversation: m.To, Epoch: fakeEpoch, Seq: f.seq}, nil
}

func (f *fake) Pull(_ context.Context, _ string, r *wire.PageRequest) (*wire.Page, error) {
	return &wire.Page{Ref: r.Ref, Conversation: r.Conversation, Epoch: fakeEpoch, Sender: r.Sender, After: r.After, UpTo: r.After + 1, Head: r.After + 1,
		Messages: []*wire.Deliver{{Seq: r.After + 1, Sender: "bob", ClientMsgId: "m", Body: "hi", TimeMs: 1}}}, f.err()
}

func (f *fake) Sync(_ context.Context, _ string, r *wire.SyncRequest) (*wire.Sync, error) {
	return &wire.Sync{Ref: r.Ref, Epoch: fakeEpoch, More: r.Ack, Pages: []*wire.Page{{
		Conversation: "g:g1", Epoch: fakeEpoch, UpTo: 1, Head: 2, More: true,
		Messages: []*wire.Deliver{{Seq: 1, Sender: "bob", ClientMsgId: "m", Body: "hi", TimeMs: 1}},
	}}}, f.err()
}

func (f *fake) Ack(_ context.Context, _ string, a *wire.Ack) (*wire.AckResult, error) {
	return &wire.AckResult{Ref: a.Ref, Conversation: a.Conversation, Epoch: fakeEpoch, Cursor: a.UpTo}, f.err()
}

func (f *fake) Counts(_ context.Context, _ string, r *wire.CountsRequest) (*wire.Counts, error) {
	if r.Senders {
		return &wire.Counts{Epoch: fakeEpoch, Counts: []*wire.Count{{Conversation: "u:alice", Unread: 1, Sender: "bob"}}}, f.err()
	}
	return &wire.Counts{Epoch: fakeEpoch, Counts: []*wire.Count{{Conversation: "g:g1", Unread: 1, Cursor: 1, Head: 2}}}, f.err()
}

func (f *fake) Friends(_ context.Context, _ string, r *wire.FriendsRequest) (*wire.Friends, error) {
	return &wire.Friends{Friends: []string{r.After + "x"}, More: r.Limit == 1}, f.err()
}

func (f *fake) CreateUsers(context.Context, []string) error { return f.err() }

func (f *fake) AddMembers(_ context.Context, _ string, members []string) (int, error) {
	return len(members), f.err()
}

func (f *fake) RemoveMembers(_ context.Context, _ string, members []string) (int, error) {
	return len(members), f.err()
}

func (f *fake) AddFriends(_ context.Context, _ string, friends []string) (int, error) {
	return len(friends), f.err()
}

func (f *fake) Connect(ctx context.Context, conn *push.Conn, h *wire.Hello) (Session, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	w, _ := f.Hello(ctx, conn.User(), h)
	f.hub.Register(conn)
	f.mu.Lock()
	f.sessions++
	f.mu.Unlock()
	return &fakeSession{f: f, conn: conn}, conn.Begin(&wire.Frame{Welcome: w})
}

type fakeSession struct {
	f    *fake
	conn *push.Conn
}

func (s *fakeSession) Close() {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.closed++
}

func (s *fakeSession) Handle(ctx context.Context, v *wire.View) error {
	frame, err := v.Frame()
	if err != nil {
		return err
	}
	switch v.Kind {
	case wire.FrameSend:
		r, err := s.f.Send(ctx, s.conn.User(), frame.Send)
		if err != nil {
			return s.conn.Send(&wire.Frame{Error: wire.AsFault(err).Frame(v.Send.Ref)})
		}
		return s.conn.Send(&wire.Frame{SendResult: r})
	case wire.FrameAck:
		switch v.Ack.UpTo {
		case ackAborts:
			s.conn.Abort()
		case ackPanics:
			panic("asked to")
		case ackAnswered:
			return s.conn.Send(&wire.Frame{AckResult: &wire.AckResult{Ref: v.Ack.Ref}})
		}
		s.f.mu.Lock()
		s.f.acks = append(s.f.acks, v.Ack.UpTo)
		s.f.mu.Unlock()
		return nil
	case wire.FrameHello:
		return wire.Faultf(wire.CodeBadRequest, "hello was sent already")
	}
	return nil
}
