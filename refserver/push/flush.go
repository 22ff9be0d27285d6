package push

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// joinLimit is the most bytes that one write carries.
const joinLimit = 64 << 10

// writePart is how much of a large answer a client has to take per WriteTimeout.
const writePart = 1 << 20

// keepQueue is the longest queue whose memory an idle connection keeps, in frames.
const keepQueue = 64

// flusher writes what waits on its connections, one connection after the
// other, with writes that never block.
type flusher struct {
	hub *Hub

	mu    sync.Mutex
	cond  *sync.Cond
	ready []*Conn
	stop  bool

	spare [][]byte // swapped with a connection's queue; run's own
	buf   []byte   // where frames are joined; run's own
}

func newFlusher(h *Hub) *flusher {
	f := &flusher{hub: h}
	f.cond = sync.NewCond(&f.mu)
	return f
}

func (f *flusher) add(c *Conn) {
	f.mu.Lock()
	f.ready = append(f.ready, c)
	f.mu.Unlock()
	f.cond.Signal()
}

// addFrom takes those connections that are its own, in order.
func (f *flusher) addFrom(lists ...[]*Conn) {
	f.mu.Lock()
	for _, conns := range lists {
		for _, c := range conns {
			if c.flusher == f {
				f.ready = append(f.ready, c)
			}
		}
	}
	f.mu.Unlock()
	f.cond.Signal()
}

func (f *flusher) close() {
	f.mu.Lock()
	f.stop = true
	f.mu.Unlock()
	f.cond.Signal()
}

func (f *flusher) run() {
	var batch []*Conn
	for {
		f.mu.Lock()
		for len(f.ready) == 0 && !f.stop {
			f.cond.Wait()
		}
		if len(f.ready) == 0 {
			f.mu.Unlock()
			return
		}
		batch, f.ready = f.ready, batch[:0]
		f.mu.Unlock()
		for _, c := range batch {
			f.flush(c)
		}
		clear(batch)
	}
}

// flush writes all that waits on c. What comes meanwhile is written in a
// further round, so it is joined too.
func (f *flusher) flush(c *Conn) {
	for {
		frames, last := c.take(f.spare)
		if frames == nil {
			if last {
				c.afterClose()
			}
			return
		}
		rest, err := f.write(c, frames)
		if err != nil {
			clear(frames)
			c.Abort()
			f.spare = frames[:0]
			return
		}
		if rest != nil { // the socket is full: wait for it elsewhere
			f.spare = nil
			f.hub.wg.Go(func() { c.writeBlocking(rest) })
			return
		}
		clear(frames)
		f.spare = frames[:0]
	}
}

// take hands over the queue; nil when it is empty, and then c isn't scheduled
// any more. last tells that a close frame has gone out.
func (c *Conn) take(spare [][]byte) (frames [][]byte, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
	if len(c.queue) == 0 {
		c.scheduled, c.stuck = false, false
		if cap(c.queue) > keepQueue {
			c.queue = nil
		}
		return nil, c.closing && !c.closed
	}
	frames = c.queue
	c.queue, c.bytes = spare[:0], 0
	return frames, false
}

// write joins frames and writes them without blocking. rest is what the
// socket didn't take, nil when it took all.
func (f *flusher) write(c *Conn, frames [][]byte) (rest []byte, err error) {
	for i := 0; i < len(frames); {
		buf := frames[i]
		n := 1
		if i+1 < len(frames) {
			f.buf = append(f.buf[:0], frames[i]...)
			for i+n < len(frames) && len(f.buf)+len(frames[i+n]) <= joinLimit {
				f.buf = append(f.buf, frames[i+n]...)
				n++
			}
			buf = f.buf
		}
		i += n
		f.hub.stats.writes.Add(1)
		f.hub.stats.frames.Add(uint64(n))
		f.hub.stats.bytesOut.Add(uint64(len(buf)))
		wrote, err := c.out.tryWrite(buf)
		if err != nil {
			return nil, err
		}
		if wrote < len(buf) {
			rest = append([]byte(nil), buf[wrote:]...)
			for ; i < len(frames); i++ {
				rest = append(rest, frames[i]...)
				f.hub.stats.frames.Add(1)
				f.hub.stats.bytesOut.Add(uint64(len(frames[i])))
			}
			return rest, nil
		}
	}
	return nil, nil
}

// writeBlocking writes rest and then whatever is queued, waiting for the
// socket, until the queue is empty or the client has been stuck for WriteTimeout.
// Each part of what is larger than writePart has a WriteTimeout of its own.
func (c *Conn) writeBlocking(rest []byte) {
	var spare [][]byte
	c.mu.Lock()
	c.stuck = true
	c.mu.Unlock()
	for {
		for part := rest; len(part) > 0; {
			n := min(len(part), writePart)
			c.hub.stats.writes.Add(1)
			_ = c.sock.SetWriteDeadline(time.Now().Add(c.hub.cfg.WriteTimeout))
			if _, err := c.sock.Write(part[:n]); err != nil {
				c.hub.stats.closed.Add(1)
				c.Abort()
				return
			}
			part = part[n:]
		}
		_ = c.sock.SetWriteDeadline(time.Time{})
		frames, last := c.take(spare)
		if frames == nil {
			if last {
				c.afterClose()
			}
			return
		}
		rest = rest[:0]
		for _, b := range frames {
			rest = append(rest, b...)
		}
		c.hub.stats.frames.Add(uint64(len(frames)))
		c.hub.stats.bytesOut.Add(uint64(len(rest)))
		clear(frames)
		spare = frames[:0]
	}
}

// tryWriter is write(2) without waiting: net.Conn.Write would park the
// flusher on a full socket. The closure is made once per connection, so a
// write allocates nothing.
type tryWriter struct {
	raw syscall.RawConn
	fn  func(fd uintptr) bool
	buf []byte
	n   int
	err error
}

func (w *tryWriter) bind(raw syscall.RawConn) {
	w.raw = raw
	w.fn = func(fd uintptr) bool {
		for {
			w.n, w.err = syscall.Write(int(fd), w.buf)
			if !errors.Is(w.err, syscall.EINTR) {
				return true
			}
		}
	}
}

// tryWrite returns how much the socket took; 0 for a connection that has no
// descriptor (net.Pipe), so that all of it takes the blocking way.
func (w *tryWriter) tryWrite(b []byte) (int, error) {
	if w.raw == nil {
		return 0, nil
	}
	w.buf = b
	err := w.raw.Write(w.fn)
	w.buf = nil
	switch {
	case err != nil:
		return 0, err
	case w.err == syscall.EAGAIN:
		return 0, nil
	case w.err != nil:
		return 0, w.err
	}
	return w.n, nil
}
