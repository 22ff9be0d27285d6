package gateway

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

var (
	errIdle = errors.New("nothing came, not even a pong")
	errDone = errors.New("closed by the server")

	errDrained = errors.New("nothing more has come") // the reader waits then; no connection ends by it
)

// closeWait is how long the reader waits for the client's answer when it
// couldn't see push's own deadline for it.
const closeWait = 2 * time.Second

// socket is a connection's net.Conn as its reader and its writer (push) see
// it. It keeps time without a goroutine: the read deadline wakes the reader
// once per idle timeout, whatever the traffic, so that reading a message
// touches no timer. Each time it pings, and a whole period without a byte ends
// the connection.
type socket struct {
	net.Conn
	conn *push.Conn
	g    *Gateway

	until   time.Time // the hello's deadline, then the token's expiry
	greeted bool      // the hello has come
	pinged  bool      // a ping went out and nothing has come since
	ending  bool      // only the client's close frame is waited for

	raw     syscall.RawConn // nil: not a socket of the system
	fd      int             // while trying
	trying  bool            // Read doesn't wait, see connection.step
	drained bool            // while trying: all that had come is read

	inside  atomic.Bool // the reader holds the socket's read lock, so whoever closes would wait for it
	closing atomic.Bool // Close was called

	closeSent  atomic.Bool // our close frame is out: push gives the client a moment to answer
	peerClosed atomic.Bool // the client's close frame is in: nobody has to wait for anything
}

// Read is for the wire.Reader. It returns no timeout but the final ones.
func (s *socket) Read(p []byte) (int, error) {
	if s.trying {
		return s.try(p)
	}
	for {
		n, err := s.Conn.Read(p)
		if n > 0 {
			s.pinged = false
			s.g.stats.bytesRead.Add(uint64(n))
			return n, nil // an error comes again
		}
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if err := s.expired(); err != nil {
			return 0, err
		}
	}
}

// try reads without waiting. A read(2) that doesn't fill p has taken all that
// had come, so the one that would only say so is spared: a good part of what an
// ack costs. What comes from then on raises a new event. So does the end of the
// stream, unless it came along with the last bytes: then it is noticed when
// the next ping, or message, is written.
func (s *socket) try(p []byte) (int, error) {
	if s.drained || s.closing.Load() {
		return 0, errDrained
	}
	n, err := syscall.Read(s.fd, p)
	s.drained = n < len(p)
	switch {
	case n > 0:
		s.pinged = false
		s.g.stats.bytesRead.Add(uint64(n))
		return n, nil
	case err == syscall.EINTR:
		s.drained = false
		return 0, nil
	case err == syscall.EAGAIN:
		return 0, errDrained
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: err}
	}
	return 0, io.EOF
}

// enter and leave bracket what the reader does under the socket's read lock.
func (s *socket) enter(fd int) {
	s.inside.Store(true)
	s.fd, s.trying, s.drained = fd, true, false
}

func (s *socket) leave() (closing bool) {
	s.trying = false
	s.inside.Store(false)
	return s.closing.Load()
}

// Close leaves it to the reader when that holds the lock: it may even be the
// reader that closes. Either this sees inside, or leave sees closing.
func (s *socket) Close() error {
	s.closing.Store(true)
	if s.inside.Load() {
		return nil
	}
	return s.Conn.Close()
}

// expired decides what a passed read deadline means.
func (s *socket) expired() error {
	if s.ending || s.closeSent.Load() {
		return errDone
	}
	now := s.g.cfg.Now()
	switch late := !now.Before(s.until); {
	case late && !s.greeted:
		return wire.Faultf(wire.CodeBadRequest, "no hello within %s of the handshake: it has to be the first frame", s.g.cfg.HelloTimeout)
	case late:
		return wire.Faultf(wire.CodeUnauthenticated, "the token has expired: connect again with a new one")
	case s.greeted && s.pinged:
		return errIdle
	}
	// First the deadline, then the ping: should the connection be closed in
	// between, push's deadline replaces ours.
	s.arm(now)
	if s.greeted {
		s.pinged = s.conn.SendControl([]byte{0x89, 0}) == nil // fails when a close is on its way
	}
	return nil
}

// arm sets the next moment to look at the connection.
func (s *socket) arm(now time.Time) {
	wait := s.g.cfg.IdleTimeout
	if left := s.until.Sub(now); left < wait {
		wait = max(left, 0)
	}
	_ = s.Conn.SetReadDeadline(time.Now().Add(wait))
	if s.closeSent.Load() {
		_ = s.Conn.SetReadDeadline(time.Now().Add(closeWait))
	}
}

// greet is called once the hello has come: from then on the token's expiry counts.
func (s *socket) greet(expires time.Time) {
	s.greeted = true
	s.until = expires
	s.arm(s.g.cfg.Now())
}

// SetReadDeadline is called by push when the close frame is out, with the
// moment until which the client may answer it.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.closeSent.Store(true)
	if s.peerClosed.Load() {
		t = time.Unix(1, 0)
	}
	return s.Conn.SetReadDeadline(t)
}

// SyscallConn lets push write without waiting.
func (s *socket) SyscallConn() (syscall.RawConn, error) {
	if c, ok := s.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// drop reads and drops what still comes until the client hangs up or its time
// is over.
func (s *socket) drop() {
	var buf [512]byte
	for {
		if _, err := s.Conn.Read(buf[:]); err != nil {
			return
		}
	}
}
