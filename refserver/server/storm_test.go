package server

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/gateway"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// What the design promises in counts, on a real Redis and real sockets. Counts
// are those of the commands that the server issues; where Redis counts calls
// of a script as well, the two are held against each other.

type storm struct {
	*Server
	t     *testing.T
	redis *redistest.Redis
}

func startStorm(t *testing.T, r *redistest.Redis, change func(*Config)) *storm {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Listen, cfg.Redis, cfg.InsecureDev = "127.0.0.1:0", r.URL(), true
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := &storm{Server: s, t: t, redis: r}
	t.Cleanup(st.stop)
	return st
}

func (s *storm) stop() {
	if s.Server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Server.Stop(ctx); err != nil {
		s.t.Error(err)
	}
	s.Server = nil
}

func (s *storm) populate(group string, members int) []string {
	s.t.Helper()
	names := make([]string, members)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", group, i)
	}
	if err := s.svc.CreateUsers(s.t.Context(), names); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.svc.AddMembers(s.t.Context(), group, names); err != nil {
		s.t.Fatal(err)
	}
	return names
}

func (s *storm) commands(name string) uint64 { return s.store.Stats().Commands[name] }

// member is one user's WebSocket connection, driven by the test.
type member struct {
	t    *testing.T
	sock net.Conn
	in   *wire.Reader
	view wire.View
}

func (s *storm) connect(user string) *member {
	s.t.Helper()
	token, err := gateway.NewTokens(DevSecret, time.Now).Mint(user, time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	d := ws.Dialer{
		Protocols: []string{wire.SubprotocolBinary},
		Header:    ws.HandshakeHeaderHTTP(http.Header{"Authorization": {"Bearer " + token}}),
		Timeout:   20 * time.Second,
	}
	sock, early, _, err := d.Dial(s.t.Context(), "ws://"+s.Addr()+"/v1/connect")
	if err != nil {
		s.t.Fatalf("%s: %v", user, err)
	}
	s.t.Cleanup(func() { sock.Close() })
	m := &member{t: s.t, sock: sock, in: wire.NewReader(sock, 4096, 1<<20, false)}
	if early != nil {
		b, _ := early.Peek(early.Buffered())
		m.in.Preload(b)
	}
	m.write(&wire.Frame{Hello: &wire.Hello{}})
	if f := m.next(); f.Welcome == nil {
		s.t.Fatalf("%s: got %v, want a welcome", user, f)
	}
	return m
}

func (m *member) write(f *wire.Frame) {
	m.t.Helper()
	payload, err := wire.AppendFrame(nil, f)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.sock.Write(wire.AppendMasked(nil, ws.OpBinary, payload, rand.Uint32())); err != nil {
		m.t.Fatal(err)
	}
}

// read decodes the next frame into m.view. It may run outside the test's goroutine.
func (m *member) read() error {
	_ = m.sock.SetReadDeadline(time.Now().Add(60 * time.Second))
	op, payload, err := m.in.Next()
	if err == nil && op != ws.OpBinary {
		err = fmt.Errorf("opcode %v: %q", op, payload)
	}
	if err != nil {
		return err
	}
	return m.view.Decode(payload)
}

func (m *member) next() *wire.Frame {
	m.t.Helper()
	if err := m.read(); err != nil {
		m.t.Fatal(err)
	}
	f, err := m.view.Frame()
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}

func TestGroupSendIsOneCommandWhateverItsSize(t *testing.T) {
	s := startStorm(t, redistest.Start(t), nil)
	const sends = 20
	for _, size := range []int{2, 50, 500} {
		group := fmt.Sprint("size", size)
		sender := s.connect(s.populate(group, size)[0])
		sender.write(&wire.Frame{Send: &wire.Send{To: wire.Group(group), ClientMsgId: "first"}}) // the group is opened
		sender.next()
		issued, ran := s.commands("append"), s.redis.CommandStats()["evalsha"]
		others := s.store.Stats().Commands
		for i := range sends {
			sender.write(&wire.Frame{Send: &wire.Send{To: wire.Group(group), ClientMsgId: fmt.Sprint(i)}})
			if f := sender.next(); f.SendResult == nil || f.SendResult.Seq != uint64(i+2) {
				t.Fatalf("got %v", f)
			}
		}
		if got := s.commands("append") - issued; got != sends {
			t.Errorf("group of %d: %d commands for %d sends", size, got, sends)
		}
		// What else runs meanwhile is the trimming of a log, once a second.
		trims := s.commands("trim") - others["trim"]
		if got := s.redis.CommandStats()["evalsha"] - ran; got < sends || got > sends+trims+1 {
			t.Errorf("group of %d: Redis saw %d calls of scripts for %d sends and %d trims", size, got, sends, trims)
		}
	}
}

// Everybody online acks every message on its own.
func TestAckEachCostsFewCursorCommands(t *testing.T) {
	const size, sends = 500, 20
	s := startStorm(t, redistest.Start(t), nil)
	names := s.populate("storm", size)
	sender := s.connect(names[0])
	var wg sync.WaitGroup
	acked := make(chan struct{}, size)
	for _, name := range names[1:] {
		m := s.connect(name)
		wg.Go(func() {
			for want := uint64(1); want <= sends; want++ {
				if err := m.read(); err != nil {
					t.Error(err)
					return
				}
				d := &m.view.Deliver
				if m.view.Kind != wire.FrameDeliver || d.Seq != want {
					t.Errorf("got %v %d, want deliver %d", m.view.Kind, d.Seq, want)
					return
				}
				ack := wire.AppendAck(nil, 0, string(d.Conversation), d.Epoch, d.Seq)
				if _, err := m.sock.Write(wire.AppendMasked(nil, ws.OpBinary, ack, 1)); err != nil {
					t.Error(err)
					return
				}
				acked <- struct{}{}
			}
		})
	}
	for i := range sends {
		sender.write(&wire.Frame{Send: &wire.Send{To: "g:storm", ClientMsgId: fmt.Sprint(i), Body: "hi"}})
		if f := sender.next(); f.SendResult == nil {
			t.Fatalf("got %v", f)
		}
		for range size - 1 {
			<-acked
		}
	}
	wg.Wait()
	// All cursors stand at the head once the last acks are stored.
	deadline := time.Now().Add(10 * time.Second)
	for s.svc.Stats().CursorsMoved < (size-1)*1 || !s.allAcked(names, sends) {
		if time.Now().After(deadline) {
			t.Fatal("cursors don't reach the head")
		}
	}
	deliveries := float64((size - 1) * sends)
	if got := s.svc.Stats().AckRequests; got != (size-1)*sends {
		t.Errorf("%d ack requests, want %d", got, (size-1)*sends)
	}
	if perDelivery := float64(s.commands("move")) / deliveries; perDelivery > 0.02 {
		t.Errorf("%.4f cursor commands per delivery (%d), want 0.02 at most", perDelivery, s.commands("move"))
	}
}

func (s *storm) allAcked(names []string, seq uint64) bool {
	scores, err := s.redis.Client().ZRangeWithScores(s.t.Context(), s.cfg.Namespace+":{g:storm}:members", 0, -1).Result()
	if err != nil || len(scores) != len(names) {
		s.t.Fatalf("%d members, %v", len(scores), err)
	}
	return scores[0].Score == float64(seq)
}

// 500 members come back together, to a server that has nothing in memory: the
// log is read once for all of them, not once for each.
func TestLogIsReadOncePerGroupAndMoment(t *testing.T) {
	const size, backlog = 500, 600
	r := redistest.Start(t)
	before := startStorm(t, r, nil)
	names := before.populate("late", size+1)
	for i := range backlog {
		if _, err := before.svc.Send(t.Context(), names[size], &wire.Send{To: "g:late", ClientMsgId: fmt.Sprint(i), Body: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	before.stop()

	s := startStorm(t, r, nil)
	members := make([]*member, size)
	for i, name := range names[:size] {
		members[i] = s.connect(name)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := 0
	for _, m := range members {
		wg.Go(func() {
			n, err := m.drain(backlog)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			got += n
			mu.Unlock()
		})
	}
	wg.Wait()
	if got != size*backlog {
		t.Errorf("%d messages, want %d", got, size*backlog)
	}
	// Chunks of 256 seqs: 1–256, 257–512, 513–600.
	if reads := s.commands("read"); reads != 3 {
		t.Errorf("the log was read %d times for %d members, want 3", reads, size)
	}
}

// drain pulls pages until the head.
func (m *member) drain(backlog int) (n int, err error) {
	for after := uint64(0); ; {
		req, err := wire.AppendFrame(nil, &wire.Frame{PageRequest: &wire.PageRequest{Conversation: "g:late", After: after, Limit: 200, Ack: after > 0}})
		if err != nil {
			return n, err
		}
		if _, err := m.sock.Write(wire.AppendMasked(nil, ws.OpBinary, req, 1)); err != nil {
			return n, err
		}
		if err := m.read(); err != nil {
			return n, err
		}
		p := &m.view.Page
		if m.view.Kind != wire.FramePage {
			return n, fmt.Errorf("got %v, want a page", m.view.Kind)
		}
		if err := p.Messages(func(*wire.DeliverView) error { n++; return nil }); err != nil {
			return n, err
		}
		if !p.More {
			return n, nil
		}
		after = p.UpTo
	}
}
