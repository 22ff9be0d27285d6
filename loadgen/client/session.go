package client

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// wsSession is one WebSocket connection. Serve reads; whoever finds bytes
// queued and nobody writing writes them all at once.
type wsSession struct {
	conn     net.Conn
	count    *counter
	h        Handler
	clock    func() time.Duration
	maxOut   int
	writeFor time.Duration

	reader *wire.Reader
	view   wire.View
	now    time.Duration // when the last read returned
	served chan struct{} // closed when Serve has returned

	mu       sync.Mutex // guards all below
	wrote    sync.Cond  // writing has become false
	out      []byte     // framed and queued
	spare    []byte     // the other buffer
	payload  []byte     // scratch for one frame
	keys     maskKeys
	writing  bool
	closed   bool          // our close frame is queued
	over     bool          // Serve has returned
	deadline time.Duration // when the write deadline was set
	err      error         // why nothing is written any more
}

var _ Session = (*wsSession)(nil)

// keepOut bounds the write buffers that an idle connection holds on to, bytes.
const keepOut = 4 << 10

// statusReplaced is the reference server's close code for a connection whose
// user has connected again.
const statusReplaced = 4001

// CloseError is how the server closed the connection.
type CloseError struct {
	Code   uint16
	Reason string
}

// Error returns code and reason.
func (e *CloseError) Error() string {
	return fmt.Sprintf("the server closed the connection: %d %s", e.Code, e.Reason)
}

var (
	errAborted     = errors.New("the connection was broken off")
	errClosedFirst = errors.New("the server closed the connection first")
	errUnsent      = errors.New("the server takes nothing any more, the queue to it is full")
)

func (w *WebSocket) session(conn net.Conn, count *counter, h Handler) *wsSession {
	s := &wsSession{
		conn: conn, count: count, h: h, clock: w.Clock, keys: newMaskKeys(), served: make(chan struct{}),
		maxOut: w.MaxUnsent, writeFor: w.WriteTimeout,
	}
	s.wrote.L = &s.mu
	defaultTo(&s.maxOut, defaultMaxUnsent)
	defaultTo(&s.writeFor, defaultWriteTimeout)
	size, limit := w.ReadBuffer, w.MaxMessage
	defaultTo(&size, defaultReadBuffer)
	defaultTo(&limit, defaultMaxMessage)
	s.reader = wire.NewReader((*source)(s), size, limit, false)
	return s
}

// source is what the frame reader reads from. It is asked for more when no
// complete frame is left: then what the frames before gave rise to is written,
// in one write, and the time is taken at once when there is more.
type source wsSession

func (r *source) Read(p []byte) (int, error) {
	s := (*wsSession)(r)
	s.Flush()
	n, err := s.conn.Read(p)
	s.now = s.clock()
	return n, err
}

// Serve reads until the connection ends.
func (s *wsSession) Serve() error {
	defer close(s.served)
	defer s.end()
	s.now = s.clock()
	for {
		op, payload, err := s.reader.Next()
		if err != nil {
			return s.failed(err)
		}
		switch op {
		case ws.OpBinary:
			if err := s.dispatch(payload); err != nil {
				return s.refuse(err)
			}
		case ws.OpText:
			return s.refuse(wire.Faultf(wire.CodeUnsupported, "a text message on a connection with subprotocol %s", wire.SubprotocolBinary))
		case ws.OpPing:
			s.frame(ws.OpPong, payload)
		case ws.OpClose:
			return s.closedBy(payload)
		}
	}
}

func (s *wsSession) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.conn.Close()
}

// failed explains a read error: an abort or a failed write closes the socket
// under the reader.
func (s *wsSession) failed(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return err
}

// refuse closes because the server broke the protocol.
func (s *wsSession) refuse(err error) error {
	s.sendClose(wire.CloseCode(err), "")
	s.Flush()
	return err
}

func (s *wsSession) closedBy(payload []byte) error {
	e := &CloseError{Code: uint16(ws.StatusNoStatusRcvd)}
	if len(payload) >= 2 {
		e.Code, e.Reason = binary.BigEndian.Uint16(payload), string(payload[2:])
	}
	s.sendClose(ws.StatusCode(e.Code), "") // the echo, unless ours came first
	s.Flush()
	if e.Code == statusReplaced {
		return &Fault{Code: codeReplaced, Message: e.Reason}
	}
	return e
}

// Send queues a send frame.
func (s *wsSession) Send(m *Outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.payload = wire.AppendSend(s.payload[:0], m.Ref, m.To, m.ClientMsgID, m.Body)
	s.enqueue(ws.OpBinary, s.payload)
}

// Ack queues a cumulative ack frame.
func (s *wsSession) Ack(conversation string, epoch, upTo uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.payload = wire.AppendAck(s.payload[:0], 0, conversation, epoch, upTo)
	s.enqueue(ws.OpBinary, s.payload)
}

// Pull queues a page request.
func (s *wsSession) Pull(r *PullRequest) {
	b, err := wire.AppendFrame(nil, &wire.Frame{PageRequest: &wire.PageRequest{
		Ref: r.Ref, Conversation: r.Conversation, Epoch: r.Epoch, After: r.After, Limit: uint32(r.Limit), Ack: r.Ack,
	}})
	if err != nil { // a conversation named by the server itself is UTF-8
		s.fail(err)
		return
	}
	s.queue(b)
}

func (s *wsSession) queue(payload []byte) { s.frame(ws.OpBinary, payload) }

func (s *wsSession) frame(op ws.OpCode, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enqueue(op, payload)
}

func (s *wsSession) enqueue(op ws.OpCode, payload []byte) {
	if s.err != nil || s.closed || s.over {
		return
	}
	if len(s.out)+len(payload) > s.maxOut {
		s.failLocked(errUnsent)
		return
	}
	s.out = wire.AppendMasked(s.out, op, payload, s.keys.next())
}

func (s *wsSession) sendClose(code ws.StatusCode, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.closed {
		return
	}
	s.out = wire.AppendClose(s.out, code, reason, true)
	s.closed = true
}

// Flush writes what is queued, and what is queued while it writes.
func (s *wsSession) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing || len(s.out) == 0 {
		return
	}
	s.writing = true
	for len(s.out) > 0 && s.err == nil {
		b := s.out
		s.out = s.spare[:0]
		s.bound()
		s.mu.Unlock()
		_, err := s.conn.Write(b)
		s.mu.Lock()
		if s.spare = b[:0]; cap(b) > keepOut {
			s.spare = nil
		}
		if err != nil {
			s.failLocked(fmt.Errorf("write: %w", err))
		}
	}
	s.writing = false
	s.wrote.Broadcast()
}

// bound keeps a write deadline ahead. A deadline costs as much as a small
// write, so it is moved only when a good part of it has gone.
func (s *wsSession) bound() {
	if now := s.clock(); s.deadline == 0 || now-s.deadline > s.writeFor/8 {
		s.deadline = max(now, 1)
		_ = s.conn.SetWriteDeadline(time.Now().Add(s.writeFor)) // fails only on a closed connection, as the write will
	}
}

func (s *wsSession) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(err)
}

func (s *wsSession) failLocked(err error) {
	if s.err == nil {
		s.err = err
		s.conn.Close()
	}
}

// Close writes what is queued and a close frame, and waits for the server's.
func (s *wsSession) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.fail(context.Cause(ctx)) })()
	s.mu.Lock()
	late := s.closed || s.over // what was queued last has been dropped
	s.mu.Unlock()
	s.sendClose(ws.StatusNormalClosure, "")
	s.Flush()
	s.mu.Lock()
	for s.writing {
		s.wrote.Wait()
	}
	err := s.err
	s.mu.Unlock()
	<-s.served
	if err == nil && late {
		return errClosedFirst
	}
	return err
}

// Abort closes the socket.
func (s *wsSession) Abort() { s.fail(errAborted) }

// Bytes returns what went over the connection.
func (s *wsSession) Bytes() (read, written uint64) {
	return s.count.read.Load(), s.count.written.Load()
}
