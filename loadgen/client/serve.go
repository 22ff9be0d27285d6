package client

import (
	"encoding/binary"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// Serve reads until the connection ends.
func (s *wsSession) Serve() error {
	defer close(s.served)
	defer s.end()
	s.now = s.clock()
	for {
		if err := s.take(); err != nil {
			return err
		}
		if err := s.more(); err != nil {
			return s.failed(err)
		}
	}
}

// take hands on all messages that have been read.
func (s *wsSession) take() error {
	for {
		kind, begin, end := s.in.next(s.maxMessage)
		switch kind {
		case partial:
			return nil
		case usual:
			s.in.r = end
			if err := s.dispatch(s.in.buf[begin:end:end]); err != nil {
				return s.refuse(err)
			}
		case unusual:
			if err := apart(s.strange); err != nil {
				return err
			}
		}
	}
}

// apart does what happens seldom and needs a large stack in a goroutine of its
// own: the one that then waits for years in a read would keep that stack.
func apart(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return <-done
}

// handle takes in one message.
func (s *wsSession) handle(op ws.OpCode, payload []byte) error {
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
	return nil
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

// source is what a wire.Reader reads from: the session's buffer, and what comes
// after it.
type source wsSession

func (r *source) Read(p []byte) (int, error) {
	s := (*wsSession)(r)
	if s.in.r == s.in.w {
		s.in.want = 0
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.in.buf[s.in.r:s.in.w])
	s.in.r += n
	return n, nil
}

// more reads once. What the frames before gave rise to is written first, in one
// write, and the time is taken at once when there is more.
func (s *wsSession) more() error {
	s.flush(s.now)
	f := &s.in
	if f.err != nil {
		return f.ended()
	}
	fresh := f.r == f.w // else the rest of a message comes, which wakes nobody
	f.room()
	p := f.buf[f.w:]
	n, err := s.conn.Read(p)
	s.now = s.clock()
	f.w += n
	if n > 0 && fresh {
		s.wakeups.Add(1)
	}
	f.joined = f.joined || f.pushed && n == len(p)
	if f.err = err; n == 0 && err != nil {
		return f.ended()
	}
	return nil
}

// strange has one message that isn't of the usual form read: a control frame, a
// fragmented message with the control frames in it, or what is to be refused.
func (s *wsSession) strange() error {
	control := s.in.buf[s.in.r]&0x08 != 0
	reader := wire.NewReader((*source)(s), 0, s.maxMessage, false)
	for {
		op, payload, err := reader.Next()
		if err != nil {
			return s.failed(err)
		}
		last := control || op == ws.OpBinary || op == ws.OpText
		if last { // what was read beyond it came out of buf at once, right before r
			s.in.r -= reader.Buffered()
		}
		if err := s.handle(op, payload); err != nil || last {
			return err
		}
	}
}
