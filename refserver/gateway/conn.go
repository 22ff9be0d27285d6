package gateway

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// readBuffer is what an idle connection holds for reading, in bytes: eight acks
// at once. A longer frame is read into memory of its own.
const readBuffer = 256

// acksAtOnce is how many acks of one connection are handled between two looks
// at its deadlines.
const acksAtOnce = 1024

// views are shared by all connections: one is in use only while a frame is
// handled, so idle connections hold none.
type views struct{ pool sync.Pool }

func (p *views) get() *wire.View {
	if v, ok := p.pool.Get().(*wire.View); ok {
		return v
	}
	return new(wire.View)
}

func (p *views) put(v *wire.View) { p.pool.Put(v) }

// connection is one WebSocket connection as its reading goroutine sees it.
type connection struct {
	g       *Gateway
	who     identity
	form    push.Form
	sock    *socket
	conn    *push.Conn
	reader  *wire.Reader
	session Session // nil until the hello is answered

	// What step has found: the next frame that isn't its own, or why there is none.
	op      ws.OpCode
	payload []byte
	err     error
}

// serveConn reads one connection until it ends.
func (g *Gateway) serveConn(raw net.Conn, serial uint64, early []byte, who identity, form push.Form) {
	defer g.end()
	now := g.cfg.Now()
	s := &socket{Conn: raw, g: g, until: now.Add(g.cfg.HelloTimeout)}
	c := &connection{g: g, who: who, form: form, sock: s, reader: wire.NewReader(s, readBuffer, g.cfg.MaxFrame, true)}
	c.reader.Preload(early)
	g.stats.bytesRead.Add(uint64(len(early)))
	s.raw, _ = s.SyscallConn()
	s.arm(now)
	c.conn = g.hub.NewConn(who.user, s, form)
	c.conn.SetSerial(serial)
	s.conn = c.conn
	defer c.conn.Abort()
	if g.draining.Load() { // it came in while the others were closed
		c.goodbye(ws.StatusGoingAway, "server is shutting down")
		return
	}
	err := c.guard(c.run)
	if s.leave() { // a panic may have left it inside
		_ = s.Conn.Close()
	}
	c.finish(err)
}

// guard turns a panic into an error that ends this connection only.
func (c *connection) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.g.stats.panics.Add(1)
			c.g.log.Error("panic while reading a connection", "user", c.who.user, "panic", p, "stack", string(debug.Stack()))
			err = wire.Faultf(wire.CodeInternal, "the server failed at this frame; its log says how")
		}
	}()
	return f()
}

// first handles the first frame on a goroutine of its own and waits for it:
// opening a session needs much stack, and that goes with the goroutine, while
// the reader's own, which stays as long as the connection, keeps 4 KiB instead
// of 8.
func (c *connection) first(op ws.OpCode, payload []byte) error {
	done := make(chan error, 1)
	go func() { done <- c.guard(func() error { return c.message(op, payload) }) }()
	return <-done
}

// next returns the next frame that isn't an ack. As long as only acks come it
// stays under the socket's read lock, where a wait needs no read(2) before it.
func (c *connection) next(step func(fd uintptr) bool) (ws.OpCode, []byte, error) {
	if c.sock.raw == nil || c.session == nil || c.form != push.Binary {
		op, payload, err := c.reader.Next()
		if err == nil {
			c.g.stats.framesRead.Add(1)
		}
		return op, payload, err
	}
	for {
		switch err := c.sock.raw.Read(step); {
		case err == nil && c.sock.closing.Load(): // it was left to us
			_ = c.sock.Conn.Close()
			return 0, nil, net.ErrClosed
		case err == nil && c.err == errDrained: // a busy client: deadlines count for it too
			continue
		case err == nil:
			return c.op, c.payload, c.err
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, nil, err
		}
		if err := c.sock.expired(); err != nil {
			return 0, nil, err
		}
	}
}

// step handles the acks that have come, and returns false when it wants to
// wait for more. Nothing here may wait for anything else: who closes the socket
// waits for it to return.
func (c *connection) step(fd uintptr) (done bool) {
	c.sock.enter(int(fd))
	for range acksAtOnce {
		c.op, c.payload, c.err = c.reader.Next()
		if c.err == errDrained {
			return c.leaveStep(false)
		}
		if c.err != nil {
			return c.leaveStep(true)
		}
		c.g.stats.framesRead.Add(1)
		if c.op != ws.OpBinary || !wire.IsAck(c.payload) {
			return c.leaveStep(true)
		}
		if c.err = c.message(c.op, c.payload); c.err != nil {
			return c.leaveStep(true)
		}
	}
	c.err = errDrained
	return c.leaveStep(true)
}

func (c *connection) leaveStep(done bool) bool {
	return c.sock.leave() || done // when it is being closed, serveConn does the rest
}

// run handles frames until one can't be.
func (c *connection) run() error {
	step := c.step // made once: it is called for every ack
	for {
		op, payload, err := c.next(step)
		if err != nil {
			return err
		}
		switch op {
		case ws.OpPing:
			_ = c.conn.SendControl(wire.AppendMessage(nil, ws.OpPong, payload)) // refused: the next read ends
		case ws.OpPong:
		case ws.OpClose:
			return closedBy(payload)
		default:
			if c.session == nil {
				err = c.first(op, payload)
			} else {
				err = c.message(op, payload)
			}
			if err != nil {
				return err
			}
		}
	}
}

func (c *connection) message(op ws.OpCode, payload []byte) error {
	v := c.g.views.get()
	defer c.g.views.put(v)
	if err := c.decode(v, op, payload); err != nil {
		return err
	}
	if c.session == nil {
		return c.hello(v)
	}
	switch v.Kind {
	case wire.FrameSend: // never waits for the store
		if c.g.draining.Load() {
			_ = c.conn.Send(&wire.Frame{Error: wire.AsFault(shuttingDown()).Frame(v.Send.Ref)}) // refused: it is ending
			return nil
		}
		c.g.stats.sends.Add(1)
		return c.session.Handle(c.g.ctx, v)
	case wire.FrameAck: // never waits either
		return c.session.Handle(c.g.ctx, v)
	default:
		ctx, cancel := context.WithTimeout(c.g.ctx, c.g.cfg.RequestTimeout)
		defer cancel()
		return c.session.Handle(ctx, v)
	}
}

func (c *connection) decode(v *wire.View, op ws.OpCode, payload []byte) error {
	switch {
	case c.form == push.Binary && op != ws.OpBinary:
		return wire.Faultf(wire.CodeUnsupported, "text message on a binary connection: send binary messages, or connect with subprotocol %s", wire.SubprotocolJSON)
	case c.form == push.JSON && op != ws.OpText:
		return wire.Faultf(wire.CodeUnsupported, "binary message on a JSON connection: send text messages, or connect with subprotocol %s", wire.SubprotocolBinary)
	case c.form == push.Binary:
		return v.Decode(payload)
	}
	var f wire.Frame
	if err := wire.DecodeJSON(payload, &f); err != nil {
		return err
	}
	return v.SetFrame(&f)
}

// hello takes the first frame.
func (c *connection) hello(v *wire.View) error {
	if v.Kind != wire.FrameHello {
		return wire.Faultf(wire.CodeBadRequest, "the first frame is %s: it has to be hello", v.Kind)
	}
	f, err := v.Frame()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.g.ctx, c.g.cfg.RequestTimeout)
	defer cancel()
	session, err := c.g.svc.Connect(ctx, c.conn, f.GetHello())
	if err != nil {
		return err
	}
	c.session = session
	c.sock.greet(c.who.expires)
	return nil
}

// peerClose is how reading ends when the client said goodbye.
type peerClose struct{ code ws.StatusCode }

func (peerClose) Error() string { return "closed by the client" }

func closedBy(payload []byte) error {
	if len(payload) < 2 {
		return peerClose{ws.StatusNormalClosure}
	}
	return peerClose{ws.StatusCode(binary.BigEndian.Uint16(payload))}
}

// finish ends a connection by what ended its reading: says why where somebody
// is there to hear it, and waits for the answer.
func (c *connection) finish(err error) {
	if c.session != nil {
		c.session.Close()
	}
	var bye peerClose
	var netErr net.Error
	switch {
	case errors.As(err, &bye):
		c.sock.peerClosed.Store(true)
		if c.sock.closeSent.Load() {
			return
		}
		c.goodbye(bye.code, "")
	case errors.Is(err, errIdle):
		c.g.stats.idleClosed.Add(1)
		c.g.log.Debug("connection ended", "user", c.who.user, "why", err)
	case errors.Is(err, errDone), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &netErr):
		c.g.log.Debug("connection ended", "user", c.who.user, "why", err)
	default:
		c.refuse(err)
	}
}

// refuse tells the client what it did wrong, in an error frame and in the
// close frame behind it.
func (c *connection) refuse(err error) {
	code := wire.CloseCode(err)
	var protocol ws.ProtocolError
	if errors.As(err, &protocol) {
		err = wire.Faultf(wire.CodeBadRequest, "%w", err)
	}
	f := wire.AsFault(err)
	if f.Code == wire.CodeInternal {
		c.g.log.Error("connection failed", "user", c.who.user, "error", err)
	} else {
		c.g.stats.badFrames.Add(1)
		c.g.log.Debug("connection refused", "user", c.who.user, "code", string(f.Code), "why", f.Message)
	}
	_ = c.conn.Send(&wire.Frame{Error: f.Frame(0)}) // fails when it is closing already, with another reason
	c.goodbye(code, f.Message)
}

// goodbye sends a close frame and waits until the client has it.
func (c *connection) goodbye(code ws.StatusCode, reason string) {
	if !c.sock.closeSent.Load() {
		_ = c.sock.Conn.SetReadDeadline(time.Now().Add(c.g.cfg.WriteTimeout + closeWait))
	}
	c.conn.Close(code, reason)
	c.linger()
}

// linger reads on until the client has answered the close frame or its time is
// over: a socket closed with unread bytes would be reset, and the client might
// never see why. After a breach of the protocol its answer can't be told from
// the rest any more.
func (c *connection) linger() {
	c.sock.ending = true
	for {
		op, _, err := c.reader.Next()
		if err != nil {
			break
		}
		if op == ws.OpClose {
			return
		}
	}
	c.sock.drop()
}
