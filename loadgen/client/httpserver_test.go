package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ackmark/refserver/wire"
)

// webServer is a server of the reference server's HTTP form, over pipes: one
// group or inbox per log, each message under the next seq. It writes down what
// it is asked.
type webServer struct {
	t     *testing.T
	clock func() time.Duration
	http  *http.Server
	conns chan net.Conn
	ended chan struct{}

	mu     sync.Mutex // guards all below
	lines  []string
	epoch  uint64
	names  []string // of conversations, in the order of welcome
	logs   map[string][]*wire.Deliver
	bases  map[string]uint64
	cursor map[string]uint64
	limit  int
	fail   map[string]*wire.Error // answers by path
	stall  map[string]bool        // paths that aren't answered
	onPull bool                   // what a page returns is gone
	gone   map[string]bool        // "NAME SEQ"
	slow   chan struct{}          // pulls but the next quick ones are answered once it is closed
	quick  int
	dials  int
}

func newWebServer(t *testing.T, names ...string) *webServer {
	w := &webServer{
		t: t, clock: since(time.Now()), conns: make(chan net.Conn), ended: make(chan struct{}), epoch: 1, names: names, limit: 100,
		logs: map[string][]*wire.Deliver{}, bases: map[string]uint64{}, cursor: map[string]uint64{}, fail: map[string]*wire.Error{}, stall: map[string]bool{}, gone: map[string]bool{},
	}
	w.http = &http.Server{Handler: w}
	served := make(chan struct{})
	go func() { defer close(served); _ = w.http.Serve(w) }()
	t.Cleanup(func() { w.http.Close(); <-served })
	return w
}

func since(base time.Time) func() time.Duration {
	return func() time.Duration { return time.Since(base) }
}

// Accept, Close and Addr make it a listener.
func (w *webServer) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.ended:
		return nil, net.ErrClosed
	}
}

func (w *webServer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
	default:
		close(w.ended)
	}
	return nil
}

func (w *webServer) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (w *webServer) dial(ctx context.Context, _ Identity, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dials++
		return ours, nil
	case <-w.ended:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// driver returns a driver whose devices poll every second.
func (w *webServer) driver() *HTTP {
	return &HTTP{URL: "http://server", Clock: w.clock, Poll: time.Second, Dial: w.dial}
}

// store appends messages of a sender to a log, k as its client_msg_id.
func (w *webServer) store(name, sender string, ids ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range ids {
		w.storeLocked(name, sender, fmt.Sprint(k))
	}
}

func (w *webServer) storeLocked(name, sender, id string) uint64 {
	seq := w.bases[name] + uint64(len(w.logs[name])) + 1
	w.logs[name] = append(w.logs[name], &wire.Deliver{Seq: seq, Sender: sender, ClientMsgId: id, Body: "hi", TimeMs: 1})
	return seq
}

// refuse answers a path with an error from now on.
func (w *webServer) refuse(path string, e *wire.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail[path] = e
}

// hang answers requests to these paths no more, and to all others.
func (w *webServer) hang(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.stall)
	for _, p := range paths {
		w.stall[p] = true
	}
}

// slowAfter has the next n pulls answered at once, and all others not before
// slow is closed.
func (w *webServer) slowAfter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow, w.quick = make(chan struct{}), n
}

// asked returns what was asked since the last call.
func (w *webServer) asked() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := strings.Join(w.lines, "; ")
	w.lines = nil
	return s
}

// ServeHTTP answers a request. Every one has to be authenticated, and no more
// than what the reference server knows.
func (w *webServer) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return
	}
	w.mu.Lock()
	line := strings.TrimPrefix(in.URL.RequestURI(), "/v1/")
	if len(body) > 0 {
		line += " " + string(body)
	}
	w.lines = append(w.lines, line)
	stalled, fault := w.stall[in.URL.Path], w.fail[in.URL.Path]
	var slow chan struct{}
	if in.URL.Path == "/v1/pull" {
		if w.quick--; w.quick < 0 {
			slow = w.slow
		}
	}
	w.mu.Unlock()
	if stalled {
		<-in.Context().Done()
		return
	}
	var answer any
	switch {
	case in.Header.Get("Authorization") != "Bearer token-1":
		fault = wire.Faultf(wire.CodeUnauthenticated, "who are you?").Frame(0)
	case in.Method == http.MethodPost && in.Header.Get("Content-Type") != "application/json":
		fault = wire.Faultf(wire.CodeUnsupported, "no JSON").Frame(0)
	case fault == nil:
		answer, err = w.answer(in, body)
		if err != nil {
			fault = wire.AsFault(err).Frame(0)
		}
	}
	if fault != nil {
		out.WriteHeader(wire.Code(fault.Code).HTTPStatus())
		answer = fault
	}
	b, err := wire.EncodeJSON(answer)
	if err != nil {
		w.t.Error(err)
	}
	if slow != nil {
		<-slow
	}
	_, _ = out.Write(b)
}

func decodeTo[T any](body []byte) (*T, error) {
	in := new(T)
	return in, wire.DecodeJSON(body, in)
}

func (w *webServer) answer(in *http.Request, body []byte) (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch in.URL.Path {
	case "/v1/hello":
		out := &wire.Welcome{User: "al", Epoch: w.epoch, Window: 4}
		for _, name := range w.names {
			head := w.bases[name] + uint64(len(w.logs[name]))
			out.Conversations = append(out.Conversations, &wire.Conversation{
				Conversation: name, Epoch: w.epoch, Cursor: w.cursor[name], Head: head, Base: w.bases[name], State: "live",
			})
		}
		_, err := decodeTo[wire.Hello](body)
		return out, err
	case "/v1/send":
		m, err := decodeTo[wire.Send](body)
		if err != nil {
			return nil, err
		}
		seq := w.storeLocked(m.To, "al", m.ClientMsgId)
		return &wire.SendResult{ClientMsgId: m.ClientMsgId, Conversation: m.To, Epoch: w.epoch, Seq: seq, Offline: m.To == "u:bo"}, nil
	case "/v1/pull":
		r, err := decodeTo[wire.PageRequest](body)
		if err != nil {
			return nil, err
		}
		return w.page(r), nil
	case "/v1/sync":
		r, err := decodeTo[wire.SyncRequest](body)
		if err != nil {
			return nil, err
		}
		out := &wire.Sync{Epoch: w.epoch}
		for _, a := range r.After {
			out.Pages = append(out.Pages, w.page(&wire.PageRequest{Conversation: a.Conversation, Epoch: a.Epoch, After: a.Cursor}))
		}
		return out, nil
	case "/v1/ack":
		a, err := decodeTo[wire.Ack](body)
		if err != nil {
			return nil, err
		}
		w.cursor[a.Conversation] = max(w.cursor[a.Conversation], a.UpTo)
		return &wire.AckResult{Conversation: a.Conversation, Epoch: w.epoch, Cursor: w.cursor[a.Conversation]}, nil
	case "/v1/counts":
		out := &wire.Counts{Epoch: w.epoch}
		if in.URL.Query().Has("senders") {
			out.Counts = append(out.Counts, &wire.Count{Conversation: "u:al", Sender: "bo", Unread: 3, Head: 5})
		}
		for _, name := range w.names {
			head := w.bases[name] + uint64(len(w.logs[name]))
			out.Counts = append(out.Counts, &wire.Count{Conversation: name, Unread: head - w.cursor[name], Cursor: w.cursor[name], Head: head})
		}
		return out, nil
	case "/v1/friends":
		return &wire.Friends{Friends: []string{"bo", "cy"}, More: true}, nil
	}
	return nil, wire.Faultf(wire.CodeNotFound, "no %s", in.URL.Path)
}

// page answers oldest first, without the user's own messages.
func (w *webServer) page(r *wire.PageRequest) *wire.Page {
	log, base := w.logs[r.Conversation], w.bases[r.Conversation]
	head := base + uint64(len(log))
	p := &wire.Page{Conversation: r.Conversation, Epoch: w.epoch, After: r.After, UpTo: head, Head: head, Sender: r.Sender}
	if r.Epoch < w.epoch {
		p.After = min(p.After, base)
	}
	for _, m := range log {
		key := fmt.Sprint(r.Conversation, " ", m.Seq)
		switch {
		case w.gone[key], m.Seq <= p.After || m.Sender == "al" || r.Sender != "" && r.Sender != m.Sender:
		case len(p.Messages) == w.limit:
			p.More, p.UpTo = true, p.Messages[w.limit-1].Seq
			return p
		default:
			p.Messages = append(p.Messages, m)
			w.gone[key] = w.onPull
		}
	}
	return p
}
