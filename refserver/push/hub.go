package push

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"
)

// Config sets the limits of a Hub. Zero values are replaced by the defaults.
type Config struct {
	QueueFrames  int           // most frames waiting on a connection, default 1024
	QueueBytes   int           // most bytes waiting on a connection, default 256 KiB
	Window       int           // most deliveries in flight, unacked, per connection, default 256
	Retransmit   time.Duration // unacked that long without progress: sent again, default 15 s, negative: never
	WriteTimeout time.Duration // a blocked write ends the connection after it, default 10 s
	Flushers     int           // goroutines that write, default half of GOMAXPROCS: the other half reads
}

func (c Config) withDefaults() Config {
	if c.QueueFrames <= 0 {
		c.QueueFrames = 1024
	}
	if c.QueueBytes <= 0 {
		c.QueueBytes = 256 << 10
	}
	if c.Window <= 0 {
		c.Window = 256
	}
	if c.Retransmit == 0 {
		c.Retransmit = 15 * time.Second
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.Flushers <= 0 {
		// Measured in storms on 2 processors: at full speed one flusher needs 8–16 % less
		// CPU per delivery than two, which leave nobody to read acks; at paced rates
		// it is within 4 % either way, but for acks of each message at 20/s (12 % more).
		c.Flushers = max(runtime.GOMAXPROCS(0)/2, 1)
	}
	return c
}

// StatusReplaced closes a connection whose user has connected again.
const StatusReplaced ws.StatusCode = 4001

// Hub holds the connections of one node.
type Hub struct {
	cfg      Config
	flushers []*flusher
	next     atomic.Uint32 // spreads connections over the flushers
	stats    counters

	mu    sync.Mutex
	conns map[string]*Conn   // the newest connection of each user
	all   map[*Conn]struct{} // every connection whose socket is open
	rooms map[*Room]struct{} // rooms with members, for the retransmission sweep

	stop chan struct{}
	wg   sync.WaitGroup // flushers, the sweep, blocked writes
}

// New makes a Hub; Start it before the first connection.
func New(cfg Config) *Hub {
	h := &Hub{
		cfg:   cfg.withDefaults(),
		conns: make(map[string]*Conn),
		all:   make(map[*Conn]struct{}),
		rooms: make(map[*Room]struct{}),
		stop:  make(chan struct{}),
	}
	for range h.cfg.Flushers {
		h.flushers = append(h.flushers, newFlusher(h))
	}
	return h
}

// Config returns the limits in force.
func (h *Hub) Config() Config { return h.cfg }

// Start runs the flushers and, unless Retransmit is negative, the
// retransmission sweep, which reads the log through log.
func (h *Hub) Start(log LogReader) {
	for _, f := range h.flushers {
		h.wg.Go(f.run)
	}
	if h.cfg.Retransmit > 0 {
		h.wg.Go(func() { h.sweepLoop(log) })
	}
}

// CloseAll closes every connection with a code and a reason, and lets what is
// queued go out first.
func (h *Hub) CloseAll(code ws.StatusCode, reason string) {
	for _, c := range h.snapshot() {
		c.Close(code, reason)
	}
}

// Close ends every connection, politely until ctx ends and at once after it,
// and returns when nothing of the hub runs any more.
func (h *Hub) Close(ctx context.Context, code ws.StatusCode, reason string) {
	h.CloseAll(code, reason)
	for _, c := range h.snapshot() {
		select {
		case <-c.done:
		case <-ctx.Done():
			c.Abort()
		}
	}
	close(h.stop)
	for _, f := range h.flushers {
		f.close()
	}
	h.wg.Wait()
}

func (h *Hub) snapshot() []*Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	conns := make([]*Conn, 0, len(h.all))
	for c := range h.all {
		conns = append(conns, c)
	}
	return conns
}

// NewConn takes over a socket after its WebSocket handshake. Nothing is
// written before Begin. Whoever reads the socket calls Abort when reading ends.
func (h *Hub) NewConn(user string, sock net.Conn, form Form) *Conn {
	c := &Conn{
		hub:     h,
		user:    user,
		sock:    sock,
		form:    form,
		window:  h.cfg.Window,
		flusher: h.flushers[int(h.next.Add(1))%len(h.flushers)],
		done:    make(chan struct{}),
	}
	c.bindSocket()
	h.mu.Lock()
	h.all[c] = struct{}{}
	h.mu.Unlock()
	return c
}

// Register makes c the user's connection and closes an older one. When c
// itself is the older one, since its hello was served late, it is closed and
// Register answers false.
func (h *Hub) Register(c *Conn) bool {
	h.mu.Lock()
	old, newest := h.conns[c.user], true
	if old != nil && old.serial > c.serial {
		old, newest = c, false
	} else {
		h.conns[c.user] = c
	}
	h.mu.Unlock()
	if old != nil && (old != c || !newest) {
		old.Close(StatusReplaced, "replaced by a newer connection of the same user")
	}
	return newest
}

// Online returns the user's connection on this node, nil when there is none.
func (h *Hub) Online(user string) *Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[user]
}

// Connections returns how many sockets are open.
func (h *Hub) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

func (h *Hub) forget(c *Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, c)
	if h.conns[c.user] == c {
		delete(h.conns, c.user)
	}
}
