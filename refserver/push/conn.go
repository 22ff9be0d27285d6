package push

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// closeGrace is how long a client has to answer a close frame.
const closeGrace = 2 * time.Second

// Conn is one client's connection: a bounded queue in front of a socket.
type Conn struct {
	hub     *Hub
	user    string
	sock    net.Conn
	form    Form
	flusher *flusher
	done    chan struct{}
	serial  uint64    // see SetSerial
	out     tryWriter // used by whoever flushes: one flusher or one blocked write

	mu        sync.Mutex
	owner     any           // see SetOwner
	queue     [][]byte      // framed WebSocket messages; shared, never written to
	bytes     int           // of queue, large answers as half a queue
	window    int           // most deliveries in flight
	inFlight  int           // deliveries queued or written and not yet acked
	begun     bool          // Begin was called: the queue may flow
	scheduled bool          // a flusher or a blocked write will look at the queue
	closing   bool          // nothing more is queued; the socket ends once the queue is empty
	closed    bool          // the socket is closed
	stuck     bool          // a write waits for the socket
	drained   chan struct{} // closed once the queue was taken; nil: nobody waits
}

// User returns whose connection it is.
func (c *Conn) User() string { return c.user }

// Form returns how frames are encoded on it.
func (c *Conn) Form() Form { return c.form }

// Done is closed with the socket.
func (c *Conn) Done() <-chan struct{} { return c.done }

// SetSerial gives the connection its place in the order of arrival, before
// Register. Without one connections count in the order of Register.
func (c *Conn) SetSerial(n uint64) { c.serial = n }

// SetOwner keeps a value with the connection, for whoever finds it by Hub.Online.
func (c *Conn) SetOwner(v any) {
	c.mu.Lock()
	c.owner = v
	c.mu.Unlock()
}

// Owner returns the value of SetOwner, nil before.
func (c *Conn) Owner() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owner
}

// SendResult queues the answer to a send.
func (c *Conn) SendResult(v *wire.SendResultView) { _ = c.SendControl(c.form.encodeResult(v)) }

// SetWindow sets the most deliveries in flight and returns what is in force:
// 0, or more than the hub's own limit, gives that limit.
func (c *Conn) SetWindow(n int) int {
	if n <= 0 || n > c.hub.cfg.Window {
		n = c.hub.cfg.Window
	}
	c.mu.Lock()
	c.window = n
	c.mu.Unlock()
	return n
}

// Begin lets the queue flow, with first in front of whatever is queued already.
func (c *Conn) Begin(first *wire.Frame) error {
	b, err := c.form.encode(first)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.queue = append(c.queue, nil)
	copy(c.queue[1:], c.queue)
	c.queue[0] = b
	c.bytes += len(b)
	c.begun = true
	wake := c.scheduleLocked()
	c.mu.Unlock()
	if wake {
		c.flusher.add(c)
	}
	return nil
}

// Send encodes one frame and queues it. It never blocks. A client that sends
// requests and doesn't read the answers overflows its queue and is closed.
func (c *Conn) Send(f *wire.Frame) error {
	b, err := c.form.encode(f)
	if err != nil {
		return err
	}
	return c.SendControl(b)
}

// SendControl queues one complete WebSocket message: an answer, a pong. Answers
// may exceed the queue's limits by as much again: requests in flight are
// bounded, so only a client that doesn't read gets there, and it is ended. A
// large answer, such as everything in one page, counts as half a queue: what
// comes right behind it still finds room.
func (c *Conn) SendControl(b []byte) error {
	c.mu.Lock()
	if c.closing || c.closed {
		c.mu.Unlock()
		return net.ErrClosed
	}
	if len(c.queue) >= 2*c.hub.cfg.QueueFrames || c.bytes > 2*c.hub.cfg.QueueBytes {
		c.mu.Unlock()
		c.hub.stats.closed.Add(1)
		c.Abort()
		return net.ErrClosed
	}
	c.queue = append(c.queue, b)
	c.bytes += min(len(b), c.hub.cfg.QueueBytes/2)
	wake := c.scheduleLocked()
	c.mu.Unlock()
	if wake {
		c.flusher.add(c)
	}
	return nil
}

// WaitRoom waits until the queue has room for a large answer: the requests of a
// client that doesn't read are not served meanwhile.
func (c *Conn) WaitRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		if c.closing || c.closed {
			c.mu.Unlock()
			return net.ErrClosed
		}
		if !c.begun || c.bytes < c.hub.cfg.QueueBytes/2 && !c.stuck {
			c.mu.Unlock()
			return nil
		}
		if c.drained == nil {
			c.drained = make(chan struct{})
		}
		drained := c.drained
		c.mu.Unlock()
		select {
		case <-drained:
		case <-c.done:
			return net.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// roomLocked says whether n deliveries of size bytes in all fit the queue and,
// where they are in flight until they are acked, the window.
func (c *Conn) roomLocked(n, size int, tracked bool) bool {
	return !c.closing && !c.closed &&
		len(c.queue)+n <= c.hub.cfg.QueueFrames &&
		c.bytes+size <= c.hub.cfg.QueueBytes &&
		(!tracked || c.inFlight+n <= c.window)
}

func (c *Conn) scheduleLocked() bool {
	if !c.begun || c.scheduled || c.closed {
		return false
	}
	c.scheduled = true
	return true
}

// idle says that nothing waits to be written.
func (c *Conn) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.scheduled && len(c.queue) == 0
}

// Close queues a close frame behind what waits, writes all of it, gives the
// client a moment to answer and then ends the socket.
func (c *Conn) Close(code ws.StatusCode, reason string) {
	frame := wire.AppendClose(nil, code, reason, false)
	c.mu.Lock()
	if c.closing || c.closed {
		c.mu.Unlock()
		return
	}
	c.queue = append(c.queue, frame)
	c.bytes += len(frame)
	c.closing = true
	c.begun = true
	wake := c.scheduleLocked()
	c.mu.Unlock()
	if wake {
		c.flusher.add(c)
	}
}

// Abort ends the socket at once. It may be called at any time, more than once.
func (c *Conn) Abort() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	c.queue, c.bytes = nil, 0
	c.mu.Unlock()
	_ = c.sock.Close()
	c.hub.forget(c)
	close(c.done)
}

// afterClose runs once the close frame is written: the reader ends on the
// client's answer or on this deadline, and then calls Abort.
func (c *Conn) afterClose() { _ = c.sock.SetReadDeadline(time.Now().Add(closeGrace)) }

func (c *Conn) bindSocket() {
	if sc, ok := c.sock.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			c.out.bind(raw)
		}
	}
}
