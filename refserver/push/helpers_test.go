package push

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/gobwas/ws"
	"go.uber.org/goleak"

	"ackmark/refserver/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the client's end of a connection: it collects what arrives, in
// words that tests compare.
type peer struct {
	conn  *Conn
	sock  net.Conn
	lines chan string
}

// connect gives a hub a connection over net.Pipe and reads its other end.
func connect(t testing.TB, h *Hub, user string) *peer {
	t.Helper()
	p := dial(h, user)
	go p.read()
	t.Cleanup(func() { p.conn.Abort(); p.sock.Close() })
	if err := p.conn.Begin(&wire.Frame{Welcome: &wire.Welcome{User: user}}); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "welcome")
	return p
}

func dial(h *Hub, user string) *peer {
	server, client := net.Pipe()
	return &peer{conn: h.NewConn(user, server, Binary), sock: client, lines: make(chan string, 4096)}
}

func (p *peer) read() {
	r := wire.NewReader(p.sock, 512, 1<<20, false)
	defer close(p.lines)
	for {
		op, payload, err := r.Next()
		if err != nil {
			return
		}
		p.lines <- describe(op, payload)
	}
}

func describe(op ws.OpCode, payload []byte) string {
	if op == ws.OpClose {
		code, reason := ws.ParseCloseFrameData(payload)
		return fmt.Sprintf("close %d %s", code, reason)
	}
	var v wire.View
	if err := v.Decode(payload); err != nil {
		return "undecodable: " + err.Error()
	}
	switch v.Kind {
	case wire.FrameDeliver:
		return fmt.Sprintf("deliver %d", v.Deliver.Seq)
	case wire.FrameSendResult:
		return fmt.Sprintf("result %d", v.SendResult.Seq)
	}
	f, err := v.Frame()
	if err != nil {
		return "undecodable: " + err.Error()
	}
	switch v.Kind {
	case wire.FramePullNow:
		return fmt.Sprintf("pull-now %d", f.PullNow.Head)
	case wire.FramePage:
		return fmt.Sprintf("page %d", f.Page.UpTo)
	case wire.FrameWelcome:
		return "welcome"
	}
	return v.Kind.String()
}

// expect waits for exactly these frames, in this order.
func (p *peer) expect(t testing.TB, want ...string) {
	t.Helper()
	for i, w := range want {
		got, ok := <-p.lines
		if !ok {
			t.Fatalf("connection ended before frame %d (%s)", i, w)
		}
		if got != w {
			t.Fatalf("frame %d: got %q, want %q of %v", i, got, w, want)
		}
	}
}

// quiet checks that nothing more has arrived. Only under synctest, after Wait.
func (p *peer) quiet(t testing.TB) {
	t.Helper()
	select {
	case got := <-p.lines:
		t.Fatalf("unexpected frame %q", got)
	default:
	}
}

// memLog is a log for retransmissions.
type memLog struct {
	msgs []Message

	mu  sync.Mutex
	err error
}

func (l *memLog) fail(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
}

func (l *memLog) ReadLog(_ context.Context, _, _ string, _, after uint64, limit int) ([]Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	var out []Message
	for _, m := range l.msgs {
		if m.Seq > after && len(out) < limit {
			out = append(out, m)
		}
	}
	return out, nil
}

var errAway = errors.New("store is away")

func startHub(t testing.TB, cfg Config, log LogReader) *Hub {
	t.Helper()
	h := New(cfg)
	h.Start(log)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // at once
		h.Close(ctx, ws.StatusGoingAway, "test ends")
	})
	return h
}

func message(seq uint64, sender string) Message {
	id := fmt.Sprintf("m%d", seq)
	return Message{Seq: seq, Sender: sender, Record: wire.AppendRecord(nil, sender, id, strings.Repeat("x", 100), 1)}
}

func sent(seq uint64, by *peer) Message {
	m := message(seq, by.conn.User())
	m.Origin = by.conn
	m.Result = wire.SendResultView{Ref: seq, Seq: seq}
	return m
}

func pageFrame(t testing.TB, c *Conn, upTo uint64, more bool) []byte {
	t.Helper()
	b, err := c.EncodePage(&wire.Page{UpTo: upTo, More: more}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
