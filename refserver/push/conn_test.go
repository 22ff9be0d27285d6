package push

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// tcpPair is a connected pair of real sockets: net.Pipe has no descriptor and
// takes the blocking way.
func tcpPair(t testing.TB) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server = <-accepted
	t.Cleanup(func() { server.Close(); client.Close() })
	return server, client
}

func TestQueuedFramesShareOneWrite(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	server, client := tcpPair(t)
	c := h.NewConn("b", server, Binary)
	room := h.NewRoom("g:1", 1, 0, false)
	room.Join(c, 0, JoinOptions{})
	for seq := uint64(1); seq <= 100; seq++ {
		room.Deliver([]Message{message(seq, "a")})
	}
	if err := c.Begin(&wire.Frame{Welcome: &wire.Welcome{}}); err != nil {
		t.Fatal(err)
	}
	p := &peer{conn: c, sock: client, lines: make(chan string, 4096)}
	go p.read()
	p.expect(t, "welcome")
	for seq := uint64(1); seq <= 100; seq++ {
		p.expect(t, describe(ws.OpBinary, wire.AppendDeliver(nil, "g:1", 1, seq, nil)))
	}
	if s := h.Stats(); s.Writes != 1 || s.Frames != 101 {
		t.Errorf("%d frames in %d writes, want 101 in 1", s.Frames, s.Writes)
	}
}

// A client that reads nothing for a while fills the socket; everything still
// arrives, in order, and other connections of the same flusher go on.
func TestFullSocketDoesNotHoldUpOthers(t *testing.T) {
	h := startHub(t, Config{Flushers: 1, QueueFrames: 1 << 16, QueueBytes: 64 << 20, Window: 1 << 16}, &memLog{})
	server, client := tcpPair(t)
	slow := h.NewConn("slow", server, Binary)
	fast := connect(t, h, "fast")
	room := h.NewRoom("g:1", 1, 0, false)
	_ = slow.Begin(&wire.Frame{Welcome: &wire.Welcome{}})
	room.Join(slow, 0, JoinOptions{})
	fastMember, _ := room.Join(fast.conn, 0, JoinOptions{})
	const n = 4000
	record := wire.AppendRecord(nil, "a", "m", string(make([]byte, 4000)), 1)
	for seq := uint64(1); seq <= n; seq++ {
		room.Deliver([]Message{{Seq: seq, Sender: "a", Record: record}})
		fast.expect(t, describe(ws.OpBinary, wire.AppendDeliver(nil, "g:1", 1, seq, nil)))
		fastMember.Ack(seq)
	}
	p := &peer{conn: slow, sock: client, lines: make(chan string, 8192)}
	go p.read()
	p.expect(t, "welcome")
	for seq := uint64(1); seq <= n; seq++ {
		p.expect(t, describe(ws.OpBinary, wire.AppendDeliver(nil, "g:1", 1, seq, nil)))
	}
}

func TestStuckClientIsEndedAfterWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{WriteTimeout: 3 * time.Second, Retransmit: -1}, nil)
		p := dial(h, "b") // nobody reads its other end
		start := time.Now()
		_ = p.conn.Begin(&wire.Frame{Welcome: &wire.Welcome{}})
		<-p.conn.Done()
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("ended after %v, want 3s", d)
		}
		if h.Stats().SlowClosed != 1 || h.Connections() != 0 {
			t.Errorf("stats %+v", h.Stats())
		}
		p.sock.Close()
	})
}

// A client that asks and doesn't read can't make the server buffer without limit.
func TestAnswersOverflowEndsTheConnection(t *testing.T) {
	h := startHub(t, Config{QueueFrames: 10, WriteTimeout: time.Hour}, &memLog{})
	p := dial(h, "b")
	defer p.sock.Close()
	_ = p.conn.Begin(&wire.Frame{Welcome: &wire.Welcome{}})
	for range 100 {
		if p.conn.Send(&wire.Frame{Counts: &wire.Counts{}}) != nil {
			break
		}
	}
	select {
	case <-p.conn.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("still open")
	}
}

func TestReplacedByNewerConnection(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	first, second := connect(t, h, "b"), connect(t, h, "b")
	h.Register(first.conn)
	h.Register(second.conn)
	first.expect(t, "close 4001 replaced by a newer connection of the same user")
	if h.Online("b") != second.conn {
		t.Error("the newer connection isn't the one that is online")
	}
	first.conn.Abort()
	if h.Online("b") != second.conn {
		t.Error("the older connection's end took the newer one offline")
	}
}

// A hello that was served late must not take the user's newer connection away.
func TestOlderConnectionDoesNotReplaceANewerOne(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	older, newer := connect(t, h, "b"), connect(t, h, "b")
	older.conn.SetSerial(7)
	newer.conn.SetSerial(8)
	if !h.Register(newer.conn) {
		t.Error("the newer connection was refused")
	}
	if h.Register(older.conn) {
		t.Error("the older connection took the user over")
	}
	older.expect(t, "close 4001 replaced by a newer connection of the same user")
	if h.Online("b") != newer.conn {
		t.Error("the newer connection isn't the one that is online")
	}
}

// Large answers to a client that doesn't read wait instead of ending it.
func TestWaitRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{QueueBytes: 1000, WriteTimeout: time.Hour, Retransmit: -1}, nil)
		p := dial(h, "b") // nobody reads its other end yet
		defer p.sock.Close()
		_ = p.conn.Begin(&wire.Frame{Welcome: &wire.Welcome{}})
		synctest.Wait() // the write of the welcome is stuck
		_ = p.conn.SendControl(make([]byte, 900))
		served := 0
		go func() {
			for p.conn.WaitRoom(t.Context()) == nil {
				served++
				if served == 5 {
					return
				}
				_ = p.conn.SendControl(wire.AppendMessage(nil, ws.OpBinary, make([]byte, 1500)))
			}
		}()
		synctest.Wait()
		if served != 0 {
			t.Errorf("%d answers queued behind a stuck write", served)
		}
		buf := make([]byte, 4096)
		for served < 5 {
			if _, err := p.sock.Read(buf); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
	})
}

func TestCloseLetsQueuedFramesOutFirst(t *testing.T) {
	h := New(Config{})
	h.Start(&memLog{})
	b := connect(t, h, "b")
	for range 50 {
		_ = b.conn.Send(&wire.Frame{Counts: &wire.Counts{}})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Close(context.Background(), ws.StatusGoingAway, "bye")
	}()
	for range 50 {
		b.expect(t, "counts")
	}
	b.expect(t, "close 1001 bye")
	if err := b.conn.Send(&wire.Frame{Counts: &wire.Counts{}}); err == nil {
		t.Error("a frame was queued behind the close frame")
	}
	// The reader of a socket aborts it once the client has closed its end.
	_, _ = io.Copy(io.Discard, b.conn.sock)
	b.conn.Abort()
	<-done
}
