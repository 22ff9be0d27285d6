package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gobwas/ws"

	"ackmark/loadgen/client"
	"ackmark/loadgen/client/ackpolicy"
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

func newLane(s *source, name string, joined int) *lane {
	one := len(appendPerfFrame(nil, firstOrdinal))
	return &lane{
		source: s, name: name, joined: joined, next: firstOrdinal, done: make(chan struct{}, 1),
		gate: newGate(one*joined, one*joined*fullWrites),
	}
}

// dial opens a connection of the lane, up to and with the welcome's begin.
func (l *lane) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", l.source.addr)
	if err != nil {
		return nil, err
	}
	return &gated{Conn: c, gate: l.gate}, nil
}

// bareConn shakes hands and says hello, and no more.
func (l *lane) bareConn(b testing.TB) net.Conn {
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
	return c
}

// bare is the floor: a goroutine per connection that reads, steps over frames
// and writes a prebuilt ack after every so many; it looks at nothing.
func bare(b testing.TB, s *source, name string, joined, every int) *lane {
	l := newLane(s, name, joined)
	for range crowd {
		c := l.bareConn(b)
		go bareClient(c, every, l.add)
	}
	return l
}

func bareClient(c net.Conn, every int, read func(int64)) {
	ack := wire.AppendMasked(nil, ws.OpBinary, wire.AppendAck(nil, 0, perfGroup, 1, lastOrdinal), 1)
	buf, out := make([]byte, 2<<10), []byte(nil)
	have, unacked := 0, 0
	for {
		n, err := c.Read(buf[have:])
		if err != nil {
			return
		}
		have += n
		at, frames := 0, int64(0)
		for have-at >= 4 {
			size := 2 + int(buf[at+1])
			if buf[at+1] == 126 {
				size = 4 + int(buf[at+2])<<8 + int(buf[at+3])
			}
			if have-at < size {
				break
			}
			at += size
			frames++
			if unacked++; unacked == every {
				unacked = 0
				out = append(out, ack...)
			}
		}
		have = copy(buf, buf[at:have])
		if len(out) > 0 {
			if _, err := c.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
		read(frames)
	}
}

// raw reads full sockets with read(2), one after the other, in the same pieces
// and on as many threads as the floor has.
func raw(b testing.TB, s *source, name string, joined int) pair.Side {
	l := newLane(s, name, joined)
	var fds []int
	for range crowd {
		c := l.bareConn(b).(*gated).Conn.(*net.TCPConn)
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

// counting counts deliveries that an observer has seen; the lane is told when
// their connection has read and done all that came with them.
type counting struct {
	client.Observer
	seen []int64 // by device
}

func (c counting) OnShown(dev int, a client.Arrival) {
	c.Observer.OnShown(dev, a)
	c.seen[dev]++
}

// told is a connection that tells the lane before it reads again.
type told struct {
	net.Conn
	lane *lane
	seen *int64
}

func (c *told) Read(p []byte) (int, error) {
	if n := *c.seen; n > 0 {
		*c.seen = 0
		c.lane.add(n)
	}
	return c.Conn.Read(p)
}

// devices is the generator: devices with the engine's observer, which keeps
// ledger, histograms, series and the replay; or with none of it.
func devices(b testing.TB, s *source, name string, joined, every int, measured bool) *lane {
	b.Helper()
	l := newLane(s, name, joined)
	clock := newClock()
	policy := ackpolicy.Policy{Kind: ackpolicy.Count, Every: every}
	var o client.Observer = client.Ignore{}
	if measured {
		obs := perfObserver(b, policy)
		o = obs
		l.before = func(from, to int) {
			for k := from; k < to; k++ {
				obs.msgs.intended[0][k] = clock.now()
				obs.msgs.sent[0][k].Store(int64(clock.now()))
				obs.ledger.OnSend(0, k)
				obs.ledger.OnAccepted(0, k, 1, uint64(k+1))
			}
		}
	}
	seen := make([]int64, crowd)
	fleet, err := client.NewFleet(client.Config{
		Clock: clock.now, Observer: counting{o, seen}, Ack: policy,
		Driver: &client.WebSocket{
			URL: "ws://" + s.addr + "/" + name, Clock: clock.now,
			Dial: func(ctx context.Context, id client.Identity, _ string) (net.Conn, error) {
				c, err := l.dial(ctx)
				return &told{Conn: c, lane: l, seen: &seen[id.Index]}, err
			},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range crowd {
		d := fleet.Device(client.Identity{Index: i, User: fmt.Sprintf("u%d", i)})
		if err := d.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(d.Crash)
	}
	return l
}
