package stub

import (
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/gobwas/ws"
	"golang.org/x/sys/unix"

	"ackmark/refserver/wire"
)

const (
	readBuffer   = 4 << 10
	maxMessage   = 1 << 20
	maxBacklog   = 16 << 20 // bytes that a connection may not take
	goodbye      = 5 * time.Second
	closeReplace = ws.StatusCode(4001)
)

// conn is one WebSocket connection.
type conn struct {
	srv    *Server
	user   *user
	sock   net.Conn
	raw    syscall.RawConn
	readAt int64 // when the last read returned; the reader's own

	mu      sync.Mutex // guards all below; taken last of all locks
	backlog []unsent
	waiting int // bytes in backlog
	closed  bool
}

// unsent is what the socket didn't take at once.
type unsent struct {
	b   []byte
	msg *message // whose delay ends with it; nil = none
}

// connect upgrades, and serves the connection until it ends.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	u, err := s.authenticate(r)
	if err != nil {
		reply(w, nil, err)
		return
	}
	if s.cfg.Accept > 0 {
		select {
		case <-time.After(s.cfg.Accept):
		case <-r.Context().Done():
			return
		}
	}
	up := ws.HTTPUpgrader{Timeout: goodbye, Protocol: func(p string) bool { return p == wire.SubprotocolBinary }}
	sock, buf, _, err := up.Upgrade(r, w)
	if err != nil {
		return // the peer was told
	}
	defer sock.Close()
	c := &conn{srv: s, user: u, sock: sock}
	tcp, ok := sock.(*net.TCPConn)
	if !ok || !s.enter(c) {
		return
	}
	defer s.leave(c)
	if c.raw, err = tcp.SyscallConn(); err != nil {
		return
	}
	reader := wire.NewReader((*source)(c), readBuffer, maxMessage, true)
	if n := buf.Reader.Buffered(); n > 0 {
		early, _ := buf.Reader.Peek(n)
		reader.Preload(early)
	}
	_ = sock.SetDeadline(time.Time{}) // the HTTP server's no longer hold
	c.serve(reader)
	c.abort()
	u.lost(c)
}

// source is what frames are read from. The time is taken when a read returns,
// also in a stall, whose length is then part of the delay; what was read is
// acted upon after it.
type source conn

func (r *source) Read(p []byte) (int, error) {
	r.srv.gate.wait()
	n, err := r.sock.Read(p)
	r.readAt = r.srv.now()
	r.srv.counts.read.Add(uint64(n))
	r.srv.gate.wait()
	return n, err
}

func (c *conn) serve(reader *wire.Reader) {
	c.readAt = c.srv.now()
	var v wire.View
	for {
		op, payload, err := reader.Next()
		if err != nil {
			return
		}
		switch op {
		case ws.OpPing:
			c.write(wire.AppendMessage(nil, ws.OpPong, payload), nil)
		case ws.OpClose:
			c.write(wire.AppendClose(nil, ws.StatusNormalClosure, "", false), nil)
			return
		case ws.OpBinary:
			err := v.Decode(payload)
			if err == nil {
				err = c.handle(&v)
			}
			if err != nil {
				c.write(wire.AppendClose(nil, wire.CloseCode(err), err.Error(), false), nil)
				return
			}
		}
	}
}

// frame writes any frame.
func (c *conn) frame(f *wire.Frame) error {
	b, err := wire.AppendFrame(nil, f)
	if err == nil {
		c.write(wire.AppendMessage(nil, ws.OpBinary, b), nil)
	}
	return err
}

// write writes one message without waiting. What the socket doesn't take
// follows as soon as it does. msg is the message whose delay ends here.
func (c *conn) write(b []byte, msg *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if len(c.backlog) == 0 {
		n := c.try(b)
		if n == len(b) {
			c.written(msg, n)
			return
		}
		b = b[n:]
		c.srv.counts.wrote.Add(uint64(n))
		c.srv.wg.Add(1) // the connection itself is in it, so it isn't 0
		go c.drain()
	}
	if c.waiting += len(b); c.waiting > maxBacklog {
		c.closed = true
		c.sock.Close()
		return
	}
	c.backlog = append(c.backlog, unsent{b, msg})
}

func (c *conn) written(msg *message, n int) {
	if msg != nil {
		c.srv.truth.sample(msg.received, c.srv.now())
	}
	c.srv.counts.writes.Add(1)
	c.srv.counts.wrote.Add(uint64(n))
}

// try is one write(2) that doesn't wait.
func (c *conn) try(b []byte) (n int) {
	_ = c.raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), b) // a broken connection is the reader's to find
		return true
	})
	return max(n, 0)
}

// drain writes the backlog, waiting where it has to.
func (c *conn) drain() {
	defer c.srv.wg.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.backlog) > 0 && !c.closed {
		next := c.backlog[0]
		c.mu.Unlock()
		c.srv.gate.wait()
		_, err := c.sock.Write(next.b)
		c.mu.Lock()
		if err != nil {
			c.closed = true
			c.sock.Close()
			return
		}
		c.written(next.msg, len(next.b))
		c.waiting -= len(next.b)
		c.backlog = c.backlog[1:]
	}
}

// farewell closes in order: the peer reads everything that was written before.
func (c *conn) farewell(code ws.StatusCode, reason string) {
	c.write(wire.AppendClose(nil, code, reason, false), nil)
	_ = c.sock.SetReadDeadline(time.Now().Add(goodbye))
}

func (c *conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.sock.Close()
}
