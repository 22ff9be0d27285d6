package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// request is one HTTP request that is queued or under way.
type request struct {
	method, path string
	body         []byte // JSON; nil for GET

	ref   uint64
	ack   bool
	poll  *place   // that it polls
	pulls []*place // that it pulls, for the device
	// take decodes the body of an answer with status 200 and returns what hands
	// it to the Handler; nil for nothing.
	take func(body []byte, now time.Duration) (func(), error)
}

// places are the conversations of which it asks for messages. Two requests about
// one are never under way at once.
func (r *request) places() []*place {
	if r.poll != nil {
		return []*place{r.poll}
	}
	return r.pulls
}

// lane is one connection, kept between requests. fasthttp writes and reads
// them; its HostClient isn't used, since it starts a goroutine per client that
// outlives it by seconds, and can neither count a device's bytes nor break its
// connections off.
type lane struct {
	session *httpSession
	conn    net.Conn
	used    time.Duration // when it was last answered on
}

// buffers of the requests at hand: an idle connection has none.
var (
	laneReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, joinedReadBuffer) }}
	laneWriters = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, joinedReadBuffer) }}
)

// do writes a request and hands the answer to use, before anything else is read.
// It is bounded by ctx; errTimeout when that was a deadline.
func (l *lane) do(ctx context.Context, r *request, use func(status int, body []byte) error) (err error) {
	s := l.session
	if l.conn != nil && s.clock()-l.used > keepAlive {
		l.close()
	}
	if l.conn == nil {
		if l.conn, err = s.dial(ctx); err != nil {
			return explained(ctx, fmt.Errorf("connect to %s: %w", s.host, err))
		}
	}
	conn := l.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	keep := false
	defer func() {
		if l.used = s.clock(); !stop() || !keep {
			l.close()
		}
	}()
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	s.write(req, r)
	if err := l.exchange(req, resp); err != nil {
		return explained(ctx, err)
	}
	if r.ack { // the header is complete once it is written
		s.ackBytes.Add(uint64(len(req.Header.Header()) + len(r.body)))
	}
	keep = !resp.ConnectionClose()
	return use(resp.StatusCode(), resp.Body())
}

// explained says why something on the network failed: because its time was up,
// or its session over, where that is so.
func explained(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return errTimeout
	case cause != nil:
		return cause
	}
	return err
}

func (s *httpSession) write(req *fasthttp.Request, r *request) {
	req.Header.SetMethod(r.method)
	req.Header.SetRequestURI(r.path)
	req.Header.SetHost(s.host)
	req.Header.Set(fasthttp.HeaderAuthorization, "Bearer "+s.id.Token)
	if r.method == http.MethodPost {
		req.Header.SetContentType("application/json")
		req.SetBodyRaw(r.body)
	}
	s.requests.Add(1)
	if r.poll != nil {
		s.polls.Add(1)
	}
}

func (l *lane) exchange(req *fasthttp.Request, resp *fasthttp.Response) error {
	w, _ := laneWriters.Get().(*bufio.Writer)
	w.Reset(l.conn)
	err := req.Write(w)
	if err == nil {
		err = w.Flush()
	}
	w.Reset(nil)
	laneWriters.Put(w)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	r, _ := laneReaders.Get().(*bufio.Reader)
	r.Reset(l.conn)
	err = resp.ReadLimitBody(r, l.session.maxAnswer)
	left := r.Buffered()
	r.Reset(nil)
	laneReaders.Put(r)
	switch {
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case left > 0:
		return fmt.Errorf("%d bytes follow the server's answer", left)
	}
	return nil
}

func (l *lane) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// Requests returns how many requests were written, and how many were polls.
func (s *httpSession) Requests() (all, polls uint64) { return s.requests.Load(), s.polls.Load() }

// AckBytes returns the bytes of ack requests, headers included.
func (s *httpSession) AckBytes() uint64 { return s.ackBytes.Load() }

// Wakeups returns the answers to requests other than acks.
func (s *httpSession) Wakeups() uint64 { return s.wakeups.Load() }
