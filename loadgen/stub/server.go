package stub

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// epoch is the stub's only history.
const epoch = 1

// Server is a running stub.
type Server struct {
	cfg    Config
	base   time.Time
	alarm  *alarm
	gate   *gate
	truth  truth
	counts counts

	listener net.Listener
	http     *http.Server
	served   chan struct{}

	mu     sync.Mutex // guards all below
	users  map[string]*user
	convs  map[string]*conversation
	conns  map[*conn]struct{}
	closed bool
	wg     sync.WaitGroup // connections
}

// counts are what /metrics shows.
type counts struct {
	stored, duplicate, refused   atomic.Uint64
	pushed, again, paged         atomic.Uint64
	ackRequests, pages, pullNows atomic.Uint64
	connections                  atomic.Int64
	writes, wrote, read          atomic.Uint64
	trimmed                      atomic.Uint64
}

// Start listens and serves until Close.
func Start(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, base: time.Now(), served: make(chan struct{}),
		users: map[string]*user{}, convs: map[string]*conversation{}, conns: map[*conn]struct{}{},
	}
	s.truth.keep = cfg.Keep
	s.gate = &gate{now: s.now, plan: cfg.Stall}
	var err error
	if s.listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(cfg.Port))); err != nil {
		return nil, fmt.Errorf("stub: %w", err)
	}
	if s.alarm, err = newAlarm(s.now, s.gate); err != nil {
		_ = s.listener.Close()
		return nil, err
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(s.listener) // always http.ErrServerClosed, by Close
	}()
	return s, nil
}

// now is the time since the server's start, nanoseconds.
func (s *Server) now() int64 { return int64(time.Since(s.base)) }

// Addr is host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is http://host:port.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Close breaks all connections and waits until nothing of the server is left.
// What it caused can still be read. Idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for c := range s.conns {
		c.abort()
	}
	s.mu.Unlock()
	var err error
	if first {
		if err = s.http.Close(); errors.Is(err, net.ErrClosed) {
			err = nil
		}
		s.alarm.close()
	}
	<-s.served
	s.wg.Wait()
	return err
}

// enter registers a connection; false when the server is closed.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	s.counts.connections.Add(1)
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.counts.connections.Add(-1)
	s.wg.Done()
}

func (s *Server) user(name string) *user {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[name]
}

func (s *Server) conversation(name string) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.convs[name]
}

// Head returns the newest seq of a conversation ("g:ID", "u:ID"); 0 when there
// is none.
func (s *Server) Head(conversation string) uint64 {
	c := s.conversation(conversation)
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.head
}

// Cursor returns how far a user has acked a conversation; false for one who
// isn't a member.
func (s *Server) Cursor(conversation, name string) (uint64, bool) {
	u := s.user(name)
	if u == nil {
		return 0, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.members[conversation]
	if m == nil {
		return 0, false
	}
	return m.cursor, true
}
