package client

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"
	"go.uber.org/goleak"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const room = "g:a"

// recorder writes down what a device tells, one line per event.
type recorder struct {
	mu    sync.Mutex
	lines []string
	acks  []AckSent

	crashes []CrashedAt
	syncs   []Sync
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// take returns the lines since the last call.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := strings.Join(r.lines, "; ")
	r.lines = nil
	return s
}

// OnReceived is what arrivals and acks say already.
func (r *recorder) OnReceived(int, string, time.Duration) {}

func (r *recorder) OnArrival(int, Arrival) {}
func (r *recorder) OnShown(_ int, a Arrival) {
	r.add("show %d/%d %s", a.Epoch, a.Seq, a.ClientMsgID)
}
func (r *recorder) OnSendResult(_ int, s SendResult) {
	r.add("%s %s seq=%d attempts=%d code=%s", s.ClientMsgID, s.Outcome, s.Seq, s.Attempts, s.Code)
}
func (r *recorder) OnAckSent(_ int, a AckSent) {
	r.mu.Lock()
	r.acks = append(r.acks, a)
	r.mu.Unlock()
	how := ""
	if a.Carried {
		how = " carried"
	}
	r.add("ack %d n=%d %v%s", a.UpTo, a.N, a.Cause, how)
}
func (r *recorder) OnPage(_ int, p PageTaken) { r.add("page of %d", p.Messages) }
func (r *recorder) OnSync(_ int, s Sync) {
	r.mu.Lock()
	r.syncs = append(r.syncs, s)
	r.mu.Unlock()
	r.add("sync %d pages", s.Pages)
}
func (r *recorder) OnConnection(_ int, up bool, _ time.Duration, _ error) {
	r.add("up=%v", up)
}
func (r *recorder) OnCrash(_ int, c CrashedAt) {
	r.crashes = append(r.crashes, c)
	r.add("crash in login %d %v dropping %d", c.Login, c.Point, len(c.Dropped))
}
func (r *recorder) OnFault(_ int, _ time.Duration, f Fault) { r.add("fault %s", f.Code) }

// server is the other end of a device's pipes, scripted by the test.
type server struct {
	t      *testing.T
	refuse string // instead of an upgrade, the next times
	conns  chan *peer
	dials  atomic.Int64
	writes atomic.Int64 // of the device
}

// peer is the server's end of one connection.
type peer struct {
	t      *testing.T
	conn   net.Conn
	frames chan *wire.Frame
	closed chan ws.StatusCode
	gone   atomic.Bool // nothing more is read
}

type countWrites struct {
	net.Conn
	n *atomic.Int64
}

func (c countWrites) Write(p []byte) (int, error) {
	c.n.Add(1)
	return c.Conn.Write(p)
}

func (s *server) dial(context.Context, Identity, string) (net.Conn, error) {
	s.dials.Add(1)
	mine, theirs := net.Pipe()
	if s.refuse != "" {
		answer := s.refuse
		go func() {
			defer mine.Close()
			b := make([]byte, 4096)
			_, _ = mine.Read(b)
			_, _ = mine.Write([]byte(answer))
		}()
		return theirs, nil
	}
	p := &peer{t: s.t, conn: mine, frames: make(chan *wire.Frame, 1000), closed: make(chan ws.StatusCode, 1)}
	go p.read(s)
	return countWrites{theirs, &s.writes}, nil
}

func (p *peer) read(s *server) {
	defer close(p.frames)
	defer p.conn.Close()
	defer p.gone.Store(true)
	up := ws.Upgrader{Protocol: func(b []byte) bool { return string(b) == wire.SubprotocolBinary }}
	if _, err := up.Upgrade(p.conn); err != nil {
		return
	}
	s.conns <- p
	r := wire.NewReader(p.conn, 4096, 1<<20, true)
	var v wire.View
	for {
		op, b, err := r.Next()
		if err != nil {
			return
		}
		switch op {
		case ws.OpClose:
			code, _ := ws.ParseCloseFrameData(b)
			p.closed <- code
			_, _ = p.conn.Write(wire.AppendClose(nil, code, "", false))
			return
		case ws.OpBinary:
			if err := v.Decode(b); err != nil {
				p.t.Errorf("the device sent %v", err)
				return
			}
			f, err := v.Frame()
			if err != nil {
				p.t.Errorf("the device sent %v", err)
				return
			}
			p.frames <- f
		}
	}
}

// next returns the device's next frame.
func (p *peer) next() *wire.Frame {
	p.t.Helper()
	select {
	case f, ok := <-p.frames:
		if !ok {
			p.t.Fatal("the connection ended, a frame was expected")
		}
		return f
	case <-time.After(time.Minute):
		p.t.Fatal("no frame for a minute")
		return nil
	}
}

// want compares the device's next frames with a short form of each.
func (p *peer) want(forms ...string) (last *wire.Frame) {
	p.t.Helper()
	for _, form := range forms {
		last = p.next()
		if have := short(last); have != form {
			p.t.Fatalf("frame %q, want %q", have, form)
		}
	}
	return last
}

// quiet checks that the device has sent nothing more.
func (p *peer) quiet() {
	p.t.Helper()
	synctest.Wait()
	select {
	case f, ok := <-p.frames:
		if ok {
			p.t.Fatalf("frame %q, want none", short(f))
		}
	default:
	}
}

func short(f *wire.Frame) string {
	switch {
	case f.Hello != nil:
		s := "hello"
		for _, r := range f.Hello.Resume {
			s += fmt.Sprintf(" %s@%d/%d", r.Conversation, r.Epoch, r.Cursor)
		}
		return s
	case f.Ack != nil:
		return fmt.Sprintf("ack %d/%d", f.Ack.Epoch, f.Ack.UpTo)
	case f.PageRequest != nil:
		s := fmt.Sprintf("pull %d/%d", f.PageRequest.Epoch, f.PageRequest.After)
		if f.PageRequest.Ack {
			s += " ack"
		}
		return s
	case f.Send != nil:
		return "send " + f.Send.ClientMsgId
	}
	return f.String()
}

// put writes frames in one write, so that the device reads them at once.
func (p *peer) put(frames ...*wire.Frame) {
	p.t.Helper()
	if err := p.try(frames...); err != nil {
		p.t.Fatal(err)
	}
}

// try is put to a device that may have gone.
func (p *peer) try(frames ...*wire.Frame) error {
	p.t.Helper()
	var out []byte
	for _, f := range frames {
		b, err := wire.AppendFrame(nil, f)
		if err != nil {
			p.t.Fatal(err)
		}
		out = wire.AppendMessage(out, ws.OpBinary, b)
	}
	_, err := p.conn.Write(out)
	synctest.Wait()
	return err
}

func message(seq uint64, id string) *wire.Deliver {
	return &wire.Deliver{Seq: seq, Sender: "bob", ClientMsgId: id, Body: "hi", TimeMs: 1}
}

// live is a pushed message m<seq>.
func live(epoch, seq uint64) *wire.Frame { return liveAs(epoch, seq, fmt.Sprint("m", seq)) }

func liveAs(epoch, seq uint64, id string) *wire.Frame {
	d := message(seq, id)
	d.Conversation, d.Epoch = room, epoch
	return &wire.Frame{Deliver: d}
}

func lives(epoch, from, to uint64) (f []*wire.Frame) {
	for seq := from; seq <= to; seq++ {
		f = append(f, live(epoch, seq))
	}
	return f
}

// page answers a page request with m<after+1> … m<upTo>.
func page(req *wire.Frame, epoch, after, upTo, head uint64) *wire.Frame {
	p := &wire.Page{Ref: req.PageRequest.Ref, Conversation: room, Epoch: epoch, After: after, UpTo: upTo, Head: head, More: upTo < head}
	for seq := after + 1; seq <= upTo; seq++ {
		p.Messages = append(p.Messages, message(seq, fmt.Sprint("m", seq)))
	}
	return &wire.Frame{Page: p}
}

func standing(epoch, cursor, head, base uint64) *wire.Conversation {
	return &wire.Conversation{Conversation: room, Epoch: epoch, Cursor: cursor, Head: head, Base: base, First: 1}
}

func welcome(c ...*wire.Conversation) *wire.Frame {
	return &wire.Frame{Welcome: &wire.Welcome{User: "ann", Epoch: 1, Conversations: c, Window: 256, MaxPage: 1000}}
}

// scene is one device and its server in a bubble.
type scene struct {
	*testing.T
	srv *server
	rec *recorder
	dev *Device
}

func play(t *testing.T, cfg Config, script func(s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		clock := func() time.Duration { return time.Since(start) }
		s := &scene{T: t, rec: &recorder{}, srv: &server{t: t, conns: make(chan *peer, 10)}}
		cfg.Clock, cfg.Observer = clock, s.rec
		cfg.Driver = &WebSocket{URL: "ws://test/v1/connect", Clock: clock, Dial: s.srv.dial}
		if cfg.Ack.Kind == 0 {
			cfg.Ack.Kind = ackpolicy.Each
		}
		f, err := NewFleet(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.dev = f.Device(Identity{Index: 3, User: "ann", Token: "t"})
		defer func() { s.dev.Crash() }() // whichever it is then
		script(s)
	})
}

// enter starts the device and welcomes it.
func (s *scene) enter(c ...*wire.Conversation) *peer {
	s.Helper()
	started := make(chan error, 1)
	go func() { started <- s.dev.Start(s.Context()) }()
	p := s.accept("hello", c...)
	if err := <-started; err != nil {
		s.Fatal(err)
	}
	return p
}

// accept takes the next connection.
func (s *scene) accept(hello string, c ...*wire.Conversation) *peer {
	s.Helper()
	p := <-s.srv.conns
	p.want(hello)
	p.put(welcome(c...))
	return p
}

// told compares what the observer was told since the last time.
func (s *scene) told(want string) {
	s.Helper()
	synctest.Wait()
	if have := s.rec.take(); have != want {
		s.Errorf("told\n %q, want\n %q", have, want)
	}
}
