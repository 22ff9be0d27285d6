package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"ackmark/refserver/wire"
)

// HTTP is the Driver for the reference server over HTTP and JSON, for measuring
// designs of a request per operation. Nothing is pushed over HTTP: live messages
// are polled for, so their latency has the poll interval in it. Zero values
// stand for the defaults named with each field.
type HTTP struct {
	URL   string               // "http://HOST:PORT", or https
	Clock func() time.Duration // required: the fleet's

	// Poll is how often each conversation that is live is asked for what is
	// new; default 1s. Devices take their turns spread over it.
	Poll time.Duration
	// Parallel is how many requests of one device may be under way, each on a
	// connection of its own that is kept; default 4. Requests begin in the order
	// they were queued in.
	Parallel int
	Timeout  time.Duration // of one request; default 10s

	// Dial opens the connection below; default: TCP to the URL's host, from
	// the identity's turn of Sources.
	Dial    func(ctx context.Context, id Identity, addr string) (net.Conn, error)
	Sources []net.IP // local addresses, where one hasn't enough ports

	MaxAnswer int // bytes of one answer; default 64 MiB
	MaxQueue  int // requests queued before the session is given up; default 16,384
}

var _ Driver = (*HTTP)(nil)

const (
	defaultPoll     = time.Second
	defaultParallel = 4
	defaultRequest  = 10 * time.Second
	defaultMaxQueue = 16 << 10

	// keepAlive is how long an idle connection is trusted to be open still; the
	// server ends it after a minute.
	keepAlive = 30 * time.Second
)

// Requester is a Session whose transport has requests of its own.
type Requester interface {
	// Requests returns how many requests were written, hello included, and how
	// many of these were polls for live messages.
	Requests() (all, polls uint64)
}

// Connect says hello and takes the answer in.
func (h *HTTP) Connect(ctx context.Context, id Identity, hello Hello, to Handler) (Session, error) {
	s, err := h.session(id, hello, to)
	if err != nil {
		return nil, err
	}
	b, err := wire.EncodeJSON(helloOf(hello))
	if err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	l := &lane{session: s}
	var welcome wire.Welcome
	var fault *Fault
	err = l.do(ctx, &request{method: http.MethodPost, path: "/v1/hello", body: b}, func(status int, body []byte) error {
		fault, err = answered(status, body, &welcome)
		return err
	})
	switch {
	case fault != nil:
		l.close()
		return nil, fault
	case err != nil:
		l.close()
		return nil, fmt.Errorf("hello to %s: %w", h.URL, err)
	}
	s.idle = append(s.idle, l)
	s.welcomed(&welcome)
	return s, nil
}

func (h *HTTP) session(id Identity, hello Hello, to Handler) (*httpSession, error) {
	base, err := url.Parse(h.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &Fault{Code: string(wire.CodeUnsupported), Message: fmt.Sprintf("%q is no address of an HTTP server; want http://HOST:PORT", h.URL)}
	}
	s := &httpSession{
		driver: h, id: id, hello: hello, h: to, clock: h.Clock, host: base.Host, tls: base.Scheme == "https",
		poll: h.Poll, parallel: h.Parallel, timeout: h.Timeout, maxAnswer: h.MaxAnswer, maxQueue: h.MaxQueue,
		places:  map[string]*place{},
		answers: make(chan answer), ended: make(chan struct{}), served: make(chan struct{}),
	}
	defaultTo(&s.poll, defaultPoll)
	defaultTo(&s.parallel, defaultParallel)
	defaultTo(&s.timeout, defaultRequest)
	defaultTo(&s.maxAnswer, defaultMaxMessage)
	defaultTo(&s.maxQueue, defaultMaxQueue)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// dial opens a connection and has its bytes counted below TLS.
func (s *httpSession) dial(ctx context.Context) (net.Conn, error) {
	addr := s.host
	if _, _, err := net.SplitHostPort(addr); err != nil { // it names no port
		port := "80"
		if s.tls {
			port = "443"
		}
		addr = net.JoinHostPort(addr, port)
	}
	dial := s.driver.Dial
	if dial == nil {
		dial = dialerFrom(s.driver.Sources)
	}
	c, err := dial(ctx, s.id, addr)
	if err != nil {
		return nil, err
	}
	below := net.Conn(&tallied{Conn: c, to: &s.count})
	if !s.tls {
		return below, nil
	}
	name, _, _ := net.SplitHostPort(addr)
	return tls.Client(below, &tls.Config{ServerName: name}), nil
}

// dialerFrom dials TCP from the identity's turn of local addresses.
func dialerFrom(sources []net.IP) func(ctx context.Context, id Identity, addr string) (net.Conn, error) {
	return func(ctx context.Context, id Identity, addr string) (net.Conn, error) {
		var d net.Dialer
		if len(sources) > 0 {
			d.LocalAddr = &net.TCPAddr{IP: sources[id.Index%len(sources)]}
		}
		return d.DialContext(ctx, "tcp", addr)
	}
}

// tallied is one of several connections whose bytes are counted together.
type tallied struct {
	net.Conn
	to *counter
}

func (c *tallied) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.to.read.Add(uint64(n))
	return n, err
}

func (c *tallied) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.to.written.Add(uint64(n))
	return n, err
}

// answered reads an answer: what was asked for, or the fault that the server
// told. An error means that it is neither.
func answered(status int, body []byte, into any) (*Fault, error) {
	if status == http.StatusOK {
		if err := wire.DecodeJSON(body, into); err != nil {
			return nil, fmt.Errorf("the server's answer can't be read: %w", err)
		}
		return nil, nil
	}
	if status < http.StatusBadRequest {
		return nil, fmt.Errorf("the server answered with HTTP status %d, which isn't one of its own", status)
	}
	return faultOfStatus(status, body), nil
}

// faultOfStatus reads the body of an error; where it has none of the server's
// own, the status tells.
func faultOfStatus(status int, body []byte) *Fault {
	var e wire.Error
	if wire.DecodeJSON(body, &e) == nil && e.Code != "" {
		return faultOf(&e)
	}
	return &Fault{
		Code:      string(codeOf(status)),
		Message:   fmt.Sprintf("the server answered with HTTP status %d", status),
		Retryable: status == http.StatusTooManyRequests || status >= http.StatusInternalServerError,
	}
}

// errTimeout is that of one request; the connection is of no use after it.
var errTimeout = errors.New("no answer in time")
