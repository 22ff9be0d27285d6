package client

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// TestTryFlushNeverWaits fills a socket whose other end doesn't read: what
// doesn't fit stays queued, in order, for Flush.
func TestTryFlushNeverWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mine, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	w := &WebSocket{Clock: func() time.Duration { return 0 }, MaxUnsent: 64 << 20}
	conn := &counted{Conn: mine}
	s := w.session(conn, &conn.counter, nil)

	queued := uint64(0)
	put := func() {
		s.frame(ws.OpBinary, append(binary.BigEndian.AppendUint64(nil, queued), make([]byte, 64<<10)...))
		queued++
	}
	for full := false; !full; {
		put()
		full = !s.TryFlush() // a call that waits would wait for ever: nobody reads
	}
	put()
	if s.TryFlush() {
		t.Error("a full socket took everything")
	}
	flushed := make(chan struct{})
	go func() { s.Flush(); close(flushed) }()
	r := wire.NewReader(theirs, 4<<10, 1<<20, true)
	for k := range queued {
		_, payload, err := r.Next()
		if err != nil {
			t.Fatalf("frame %d: %v", k, err)
		}
		if got := binary.BigEndian.Uint64(payload); got != k {
			t.Fatalf("frame %d came where %d should have", got, k)
		}
	}
	<-flushed
	put()
	if !s.TryFlush() {
		t.Error("an empty socket didn't take one frame")
	}
	if _, payload, err := r.Next(); err != nil || binary.BigEndian.Uint64(payload) != queued-1 {
		t.Errorf("the last frame came as %v, %v", payload, err)
	}
	if _, written := s.Bytes(); written < queued*(64<<10) {
		t.Errorf("%d bytes counted for %d frames of 64 KiB", written, queued)
	}
}

// TestTrySend leaves to the caller what can't be written without waiting, and
// does nothing on a device that is busy.
func TestTrySend(t *testing.T) {
	play(t, Config{}, func(s *scene) { // a pipe is no socket: nothing goes at once
		p := s.enter(standing(1, 0, 0, 0))
		queued, flush, err := s.dev.TrySend(Message{To: room, ClientMsgID: "a", Body: []byte("hi")})
		if !queued || flush == nil || err != nil {
			t.Fatalf("queued %v, flush given %v, %v", queued, flush != nil, err)
		}
		p.quiet()
		flush()
		p.put(stored(p.want("send a"), 1, 1))
		s.dev.mu.Lock()
		queued, flush, err = s.dev.TrySend(Message{To: room, ClientMsgID: "b"})
		s.dev.mu.Unlock()
		if queued || flush != nil || err != nil {
			t.Errorf("a busy device: queued %v, flush given %v, %v", queued, flush != nil, err)
		}
		s.dev.Crash()
		if queued, _, err = s.dev.TrySend(Message{To: room, ClientMsgID: "c"}); !queued || err == nil {
			t.Errorf("a closed device: queued %v, %v; want the end told", queued, err)
		}
	})
}
