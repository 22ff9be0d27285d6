package engine

import (
	"context"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
	"ackmark/results/pair"
)

// crowd is the group of the ack storm.
const crowd = 500

const (
	// liveMessages is how many messages a live turn of a comparison brings to
	// each connection.
	liveMessages = 40
	// fullWrites is how many writes fill a socket for a turn: fewer than the
	// initial congestion window of 10 segments, since more of them would wait
	// at the sender for a delayed ack, and come joined.
	fullWrites = 8
)

// lane is the connections of one side of a comparison, and how many deliveries
// they have read.
type lane struct {
	source *source
	name   string
	joined int // frames per write of the server
	cut    int // frames per read, while a gate holds the readers
	next   int // ordinal

	read   atomic.Int64
	target atomic.Int64
	done   chan struct{}
	gate   *gate              // nil: connections read as they like
	before func(from, to int) // told before messages are written
}

func (l *lane) add(n int64) {
	if l.read.Add(n) == l.target.Load() {
		l.done <- struct{}{}
	}
}

// expect sets what the lane has to read until wait returns.
func (l *lane) expect(messages int) (from, to int) {
	from, to = l.next, l.next+messages
	if l.next = to; to > lastOrdinal {
		panic("the benchmark has used up its messages; run it with fewer rounds")
	}
	l.target.Add(int64(messages * crowd))
	if l.before != nil {
		l.before(from, to)
	}
	return from, to
}

// live hands messages over one write at a time, as a server under moderate load
// does: each finds the reader asleep.
func (l *lane) live(deliveries int) {
	for range deliveries / crowd / l.joined {
		from, to := l.expect(l.joined)
		l.source.write(l.name, from, to, l.joined)
		<-l.done
	}
}

// fill has the sockets filled for a turn.
func (l *lane) fill() {
	from, to := l.expect(fullWrites * l.joined)
	l.source.write(l.name, from, to, l.joined)
}

// drain lets the connections read what the sockets hold.
func (l *lane) drain(int) {
	l.gate.open()
	<-l.done
}

// turn is the deliveries of a turn.
func (l *lane) turn(full bool) int {
	if full {
		return fullWrites * l.joined * crowd
	}
	return liveMessages * crowd
}

// side makes a lane a side of a comparison: live, or from full sockets.
func (l *lane) side(full bool) pair.Side {
	if !full {
		return pair.Side{Name: l.name, Run: l.live}
	}
	l.fill() // what is read now, no gate holds: the readers wait in the kernel
	<-l.done
	l.gate.arm()
	l.fill()
	<-l.done
	l.fill()
	return pair.Side{Name: l.name, Run: l.drain, Reset: l.fill}
}

func newLane(s *source, name string, joined, cut int) *lane {
	one := len(appendPerfFrame(nil, firstOrdinal))
	return &lane{
		source: s, name: name, joined: joined, cut: cut, next: firstOrdinal, done: make(chan struct{}, 1),
		gate: newGate(one*cut, one*joined*fullWrites),
	}
}

// dial opens a connection of the lane, up to and with the welcome's begin.
func (l *lane) dial(ctx context.Context) (*gated, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", l.source.addr)
	if err != nil {
		return nil, err
	}
	return &gated{Conn: c, gate: l.gate}, nil
}

// bareConn shakes hands and says hello, and no more.
func (l *lane) bareConn(b testing.TB) *gated {
	b.Helper()
	d := ws.Dialer{
		Protocols: []string{wire.SubprotocolBinary},
		NetDial:   func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) },
	}
	c, _, _, err := d.Dial(context.Background(), "ws://"+l.source.addr+"/"+l.name)
	if err != nil {
		b.Fatal(err)
	}
	hello, err := wire.AppendFrame(nil, &wire.Frame{Hello: &wire.Hello{}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.Write(wire.AppendMasked(nil, ws.OpBinary, hello, 1)); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	var head [4]byte
	if _, err := io.ReadFull(c, head[:2]); err != nil { // the welcome is a short frame
		b.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(head[1])); err != nil {
		b.Fatal(err)
	}
	return c.(*gated)
}

// bare is the floor: a goroutine per connection that reads, steps over frames
// and writes a prebuilt ack after every so many; it looks at nothing.
func bare(b testing.TB, s *source, name string, joined, cut, every int) *lane {
	l := newLane(s, name, joined, cut)
	ack := wire.AppendMasked(nil, ws.OpBinary, wire.AppendAck(nil, 0, perfGroup, 1, lastOrdinal), 1)
	buffers := &sync.Pool{New: func() any { return new([4 << 10]byte) }}
	for range crowd {
		c := &bareClient{conn: l.bareConn(b), lane: l, ack: ack, every: every, buffers: buffers}
		rc, err := c.conn.Conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			b.Fatal(err)
		}
		go c.serve(rc)
	}
	return l
}

// bareClient reads as lean as a goroutine can: read(2) until nothing is left,
// into a buffer that it borrows, and write(2). The runtime only wakes it.
type bareClient struct {
	conn     *gated
	lane     *lane
	ack, out []byte
	rest     []byte // of a frame that isn't complete
	every    int
	unacked  int
	frames   int64 // not told to the lane
	broken   bool
	buffers  *sync.Pool
}

func (c *bareClient) serve(rc syscall.RawConn) {
	for !c.broken && c.conn.pass() && rc.Read(c.read) == nil {
	}
}

// read takes what is there; false when it has to wait for more.
func (c *bareClient) read(fd uintptr) bool {
	buf := c.buffers.Get().(*[4 << 10]byte)
	defer c.buffers.Put(buf)
	have := copy(buf[:], c.rest)
	for {
		n, err := syscall.Read(int(fd), buf[have:have+c.conn.most(len(buf)-have)])
		if err != nil || n == 0 {
			c.rest = append(c.rest[:0], buf[:have]...)
			c.broken = err != syscall.EAGAIN
			return c.broken
		}
		c.conn.took(n)
		have = copy(buf[:], buf[c.step(buf[:have+n]):have+n])
		if len(c.out) > 0 {
			if _, err := syscall.Write(int(fd), c.out); err != nil {
				c.broken = true
				return true
			}
			c.out = c.out[:0]
		}
		if c.conn.tells() {
			c.lane.add(c.frames)
			c.frames = 0
			if c.conn.held {
				c.rest = append(c.rest[:0], buf[:have]...)
				return true
			}
		}
	}
}

// step steps over whole frames and returns where the rest begins.
func (c *bareClient) step(b []byte) (at int) {
	for len(b)-at >= 4 {
		size := 2 + int(b[at+1])
		if b[at+1] == 126 {
			size = 4 + int(b[at+2])<<8 + int(b[at+3])
		}
		if len(b)-at < size {
			break
		}
		at += size
		c.frames++
		if c.unacked++; c.unacked == c.every {
			c.unacked = 0
			c.out = append(c.out, c.ack...)
		}
	}
	return at
}

// raw reads full sockets with read(2), one after the other, in the same pieces
// and on as many threads as the floor has.
func raw(b testing.TB, s *source, name string, joined, cut int) pair.Side {
	l := newLane(s, name, joined, cut)
	var fds []int
	for range crowd {
		c := l.bareConn(b).Conn.(*net.TCPConn)
		rc, err := c.SyscallConn()
		if err != nil {
			b.Fatal(err)
		}
		_ = rc.Control(func(fd uintptr) { fds = append(fds, int(fd)) })
	}
	fill := l.fill
	fill()
	read := func(fds []int) {
		buf := make([]byte, 2<<10)
		for _, fd := range fds {
			for left := l.gate.turn; left > 0; {
				n, err := syscall.Read(fd, buf[:min(len(buf), l.gate.piece)])
				if err != nil {
					panic(err)
				}
				left -= n
			}
		}
	}
	return pair.Side{Name: "raw", Reset: fill, Run: func(int) {
		var wg sync.WaitGroup
		for part := range slices.Chunk(fds, (crowd+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0)) {
			wg.Go(func() { read(part) })
		}
		wg.Wait()
	}}
}
