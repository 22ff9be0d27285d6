package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// wsSession is one WebSocket connection. Serve reads; whoever finds bytes
// queued and nobody writing writes them all at once.
type wsSession struct {
	driver   *WebSocket
	conn     net.Conn
	count    *counter
	h        Handler
	clock    func() time.Duration
	writeFor time.Duration

	maxMessage, maxOut int

	in       frames
	now      time.Duration // when the last read returned
	wakeups  atomic.Uint64
	delivery Delivery      // the one at hand
	last     string        // its conversation
	served   chan struct{} // closed when Serve has returned

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
	ackBytes uint64        // queued
	err      error         // why nothing is written any more
}

var (
	_ Session = (*wsSession)(nil)
	_ Meter   = (*wsSession)(nil)
)

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
		driver: w, conn: conn, count: count, h: h, clock: w.Clock, keys: newMaskKeys(), served: make(chan struct{}),
		maxMessage: w.MaxMessage, maxOut: w.MaxUnsent, writeFor: w.WriteTimeout,
	}
	s.wrote.L = &s.mu
	defaultTo(&s.maxOut, defaultMaxUnsent)
	defaultTo(&s.writeFor, defaultWriteTimeout)
	defaultTo(&s.maxMessage, defaultMaxMessage)
	size := w.ReadBuffer
	defaultTo(&size, defaultReadBuffer)
	s.in.small = make([]byte, max(size, leastReadBuffer))
	s.in.buf = s.in.small
	return s
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
	s.enqueueAck(s.payload)
}

func (s *wsSession) enqueueAck(payload []byte) {
	before := len(s.out)
	s.enqueue(ws.OpBinary, payload)
	s.ackBytes += uint64(len(s.out) - before)
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
func (s *wsSession) Flush() { s.flush(s.clock()) }

// flush is Flush for who knows the time.
func (s *wsSession) flush(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing || len(s.out) == 0 {
		return
	}
	s.writing = true
	for len(s.out) > 0 && s.err == nil {
		b := s.out
		s.out = s.spare[:0]
		s.bound(now)
		s.mu.Unlock()
		_, err := s.conn.Write(b)
		s.mu.Lock()
		s.keep(b)
		if err != nil {
			s.failLocked(fmt.Errorf("write: %w", err))
		}
	}
	s.writing = false
	s.wrote.Broadcast()
}

// keep takes a written buffer back.
func (s *wsSession) keep(b []byte) {
	if s.spare = b[:0]; cap(b) > keepOut {
		s.spare = nil
	}
}

// bound keeps a write deadline ahead. A deadline costs as much as a small
// write, so it is moved only when a good part of it has gone.
func (s *wsSession) bound(now time.Duration) {
	if s.deadline == 0 || now-s.deadline > s.writeFor/8 {
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

// AckBytes returns the bytes of ack frames.
func (s *wsSession) AckBytes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ackBytes
}

// Wakeups returns the reads that brought something after a wait.
func (s *wsSession) Wakeups() uint64 { return s.wakeups.Load() }
