package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// WebSocket is the Driver for the reference server. Zero values stand for the
// defaults named with each field.
type WebSocket struct {
	URL   string               // "ws://HOST:PORT/v1/connect", or wss
	Clock func() time.Duration // required: the fleet's

	// Dial opens the connection below; default: TCP to the URL's host, from
	// the identity's turn of Sources.
	Dial    func(ctx context.Context, id Identity, addr string) (net.Conn, error)
	Sources []net.IP // local addresses, where one hasn't enough ports

	ReadBuffer int // bytes per connection to begin with; default 512, more where frames come joined or are larger
	MaxMessage int // bytes of one message from the server; default 80 MiB, which the reference server's largest answer to a pull fits into
	MaxUnsent  int // bytes queued and not written before the connection is given up; default 4 MiB
	// WriteTimeout is the longest that the server may take nothing; default 10s.
	WriteTimeout time.Duration

	views sync.Pool // of *wire.View
}

var _ Driver = (*WebSocket)(nil)

const (
	defaultReadBuffer   = 512
	joinedReadBuffer    = 4 << 10
	leastReadBuffer     = 64
	defaultMaxMessage   = 80 << 20
	defaultMaxUnsent    = 4 << 20
	defaultWriteTimeout = 10 * time.Second
	handshakeBuffer     = 512
	maxErrorBody        = 4 << 10
)

// Connect dials, shakes hands and sends hello.
func (w *WebSocket) Connect(ctx context.Context, id Identity, hello Hello, h Handler) (Session, error) {
	first, err := wire.AppendFrame(nil, &wire.Frame{Hello: helloOf(hello)})
	if err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	var count *counter
	var refused *Fault
	dialer := ws.Dialer{
		ReadBufferSize: handshakeBuffer, WriteBufferSize: handshakeBuffer,
		Protocols: []string{wire.SubprotocolBinary},
		Header:    ws.HandshakeHeaderHTTP(http.Header{"Authorization": {"Bearer " + id.Token}}),
		NetDial: func(ctx context.Context, _, addr string) (net.Conn, error) {
			c, err := w.dial(ctx, id, addr)
			if err != nil {
				return nil, err
			}
			below := &counted{Conn: c}
			count = &below.counter
			return below, nil
		},
		OnStatusError: func(status int, _ []byte, resp io.Reader) { refused = refusal(status, resp) },
	}
	conn, rest, hs, err := dialer.Dial(ctx, w.URL)
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, fmt.Errorf("connect to %s: %w", w.URL, err)
	case hs.Protocol != wire.SubprotocolBinary:
		conn.Close()
		return nil, &Fault{Code: string(wire.CodeUnsupported), Message: fmt.Sprintf("%s speaks subprotocol %q, not %s", w.URL, hs.Protocol, wire.SubprotocolBinary)}
	}
	s := w.session(conn, count, h)
	if rest != nil {
		early, _ := rest.Peek(rest.Buffered())
		s.in.preload(early)
		ws.PutReader(rest)
	}
	s.queue(first)
	s.Flush()
	return s, nil
}

func (w *WebSocket) dial(ctx context.Context, id Identity, addr string) (net.Conn, error) {
	if w.Dial != nil {
		return w.Dial(ctx, id, addr)
	}
	return dialerFrom(w.Sources)(ctx, id, addr)
}

// refusal reads why the server didn't switch protocols.
func refusal(status int, resp io.Reader) *Fault {
	f := &Fault{
		Code:      string(codeOf(status)),
		Message:   fmt.Sprintf("the server answered the handshake with HTTP status %d", status),
		Retryable: status == http.StatusTooManyRequests || status >= http.StatusInternalServerError,
	}
	// read as HTTP: the connection may stay open after the body
	r, err := http.ReadResponse(bufio.NewReaderSize(resp, handshakeBuffer), nil)
	if err != nil {
		return f
	}
	defer r.Body.Close()
	var e wire.Error
	if b, err := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)); err == nil && wire.DecodeJSON(b, &e) == nil && e.Code != "" {
		f.Code, f.Message, f.Retryable = e.Code, e.Message, e.Retryable
	}
	return f
}

func codeOf(status int) wire.Code {
	switch status {
	case http.StatusUnauthorized:
		return wire.CodeUnauthenticated
	case http.StatusForbidden:
		return wire.CodeForbidden
	case http.StatusNotFound:
		return wire.CodeNotFound
	case http.StatusTooManyRequests:
		return wire.CodeOverloaded
	case http.StatusServiceUnavailable:
		return wire.CodeUnavailable
	}
	if status >= http.StatusInternalServerError {
		return wire.CodeInternal
	}
	return wire.CodeBadRequest
}

// counter counts the bytes of one connection.
type counter struct{ read, written atomic.Uint64 }

// counted is a connection whose bytes are counted below TLS.
type counted struct {
	net.Conn
	counter
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(uint64(n))
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(uint64(n))
	return n, err
}

// maskKeys makes the keys that client frames are masked with (RFC 6455 5.3):
// splitmix64 from a seed that nobody can guess.
type maskKeys uint64

func newMaskKeys() maskKeys {
	var b [8]byte
	rand.Read(b[:])
	return maskKeys(binary.LittleEndian.Uint64(b[:]))
}

func (k *maskKeys) next() uint32 {
	*k += 0x9e3779b97f4a7c15
	z := uint64(*k)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32(z >> 32)
}
