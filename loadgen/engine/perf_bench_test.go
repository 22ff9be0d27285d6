package engine

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"ackmark/results/pair"
)

// gate holds readers back between turns, so that sockets can be filled off the
// clock. It also cuts reads to the server's writes, as if each came alone.
type gate struct {
	piece, turn int // bytes of a write, and of a turn
	armed       atomic.Bool

	mu     sync.Mutex
	opened sync.Cond
	turns  int // that were opened
	ended  bool
}

func newGate(piece, turn int) *gate {
	g := &gate{piece: piece, turn: turn}
	g.opened.L = &g.mu
	return g
}

func (g *gate) arm() { g.armed.Store(true) }

func (g *gate) open() {
	g.mu.Lock()
	g.turns++
	g.mu.Unlock()
	g.opened.Broadcast()
}

// gated is a connection behind a gate.
type gated struct {
	net.Conn
	gate  *gate
	turns int
	left  int // bytes of this turn
	held  bool
}

// Close lets everybody out: the comparison is over.
func (c *gated) Close() error {
	c.gate.mu.Lock()
	c.gate.ended = true
	c.gate.mu.Unlock()
	c.gate.opened.Broadcast()
	return c.Conn.Close()
}

// tells says whether what was read so far is to be told to the lane: behind a
// gate only at the end of a turn, since both sides share that counter.
func (c *gated) tells() bool { return !c.held || c.left == 0 }

// pass waits at the gate, where a turn has ended; false when the comparison is over.
func (c *gated) pass() bool {
	if !c.held || c.left > 0 {
		return true
	}
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.turns == c.turns && !g.ended {
		g.opened.Wait()
	}
	c.turns, c.left = g.turns, g.turn
	return !g.ended
}

// most is how many bytes may be read at once.
func (c *gated) most(n int) int {
	if c.held {
		return min(n, c.gate.piece, c.left)
	}
	return n
}

// took notes a read.
func (c *gated) took(n int) {
	if !c.held && c.gate.armed.Load() {
		c.held, c.left = true, c.gate.turn
	}
	c.left -= n
}

func (c *gated) Read(p []byte) (int, error) {
	if !c.pass() {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p[:c.most(len(p))])
	c.took(n)
	return n, err
}

// BenchmarkReceive holds the generator's CPU per received delivery – read,
// decode, dedup, ledger, histograms, series, ack policy – against a bare client
// that reads and steps over frames and writes as many prebuilt acks. The
// frames come from another process: live, each finding its reader asleep, and
// from full sockets, where waking up costs nothing and all that is left shows.
func BenchmarkReceive(b *testing.B) {
	for _, c := range []struct {
		name          string
		joined, every int
		full          bool
	}{
		{"live/ack-each", 1, 1, false}, {"live/ack-10", 1, 10, false}, {"live-joined-10/ack-10", 10, 10, false},
		{"full/ack-each", 1, 1, true}, {"full/ack-10", 1, 10, true}, {"full-joined-5/ack-10", 5, 10, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := startSource(b)
			floor := bare(b, s, "bare", c.joined, c.joined, c.every)
			ours := devices(b, s, "ours", c.joined, c.every, true)
			pair.Bench(b, floor.turn(c.full), floor.side(c.full), ours.side(c.full))
			pair.Limit(b, 1.5)
		})
	}
}

// BenchmarkReceiveFloor shows that the floor is honest: at most 1.2 × read(2)
// of the same bytes in the same pieces. Sockets are filled with five deliveries
// a write and emptied with one a read, so that opening the gate for a connection,
// which read(2) has none of, is spread over forty reads.
func BenchmarkReceiveFloor(b *testing.B) {
	s := startSource(b)
	floor := bare(b, s, "bare", 5, 1, lastOrdinal)
	pair.Require(b, pair.Bench(b, floor.turn(true), raw(b, s, "raw", 5, 1), floor.side(true)), 1.2)
}

// BenchmarkMeasuring is the overhead of measuring: the same devices on the same
// load with ledger, histograms, series and replay, against devices whose
// observer looks at nothing.
func BenchmarkMeasuring(b *testing.B) {
	for _, c := range []struct {
		name string
		full bool
	}{{"live", false}, {"full", true}} {
		b.Run(c.name, func(b *testing.B) {
			s := startSource(b)
			off := devices(b, s, "off", 1, 10, false)
			on := devices(b, s, "on", 1, 10, true)
			pair.Bench(b, on.turn(c.full), off.side(c.full), on.side(c.full))
		})
	}
}
