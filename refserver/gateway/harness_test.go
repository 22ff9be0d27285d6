package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

const (
	testSecret  = "a token secret of 32 bytes......"
	testAdmin   = "an admin secret of 32 bytes....."
	patience    = 5 * time.Second // a test that waits longer has failed
	contentType = "application/json"
)

// harness is a gateway that serves on a loopback port, in front of a fake.
type harness struct {
	t      *testing.T
	g      *Gateway
	svc    *fake
	hub    *push.Hub
	tokens *Tokens
	addr   string
	log    *lockedBuffer
	client *http.Client
	stop   func()
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	h := &harness{t: t, log: &lockedBuffer{}, tokens: NewTokens(testSecret, time.Now)}
	h.hub = push.New(push.Config{Retransmit: -1})
	h.hub.Start(nil)
	h.svc = &fake{hub: h.hub}
	cfg := Config{
		Tokens: h.tokens, AdminSecret: testAdmin,
		Log:     slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: func(w io.Writer) error { _, err := io.WriteString(w, "ackmark_x 1\n"); return err },
	}
	if change != nil {
		change(&cfg)
	}
	h.g = New(cfg, h.svc, h.hub)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- h.g.Serve(ln) }()
	h.client = &http.Client{Timeout: patience, Transport: &http.Transport{}}
	h.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		h.client.CloseIdleConnections()
		h.g.Drain()
		h.hub.CloseAll(ws.StatusGoingAway, "server is shutting down")
		if err := h.g.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		h.hub.Close(ctx, ws.StatusGoingAway, "")
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

func (h *harness) token(user string) string {
	h.t.Helper()
	token, err := h.tokens.Mint(user, time.Hour)
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

// do sends a request with credentials and returns the answer with its body.
func (h *harness) do(method, path, credentials, body string, header ...string) (*http.Response, string) {
	h.t.Helper()
	req, err := http.NewRequest(method, "http://"+h.addr+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if credentials != "" {
		req.Header.Set("Authorization", "Bearer "+credentials)
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res, string(b)
}

// wantError checks an error's status, code and a part of its message.
func wantError(t *testing.T, res *http.Response, body string, status int, code wire.Code, message string) {
	t.Helper()
	var e struct {
		Code      wire.Code
		Message   string
		Retryable *bool
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("status %d, body %q: %v", res.StatusCode, body, err)
	}
	if res.StatusCode != status || e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("%d %s %q; want %d %s with %q", res.StatusCode, e.Code, e.Message, status, code, message)
	}
	if e.Retryable == nil || *e.Retryable != code.Retryable() {
		t.Errorf("retryable %v; want %v", e.Retryable, code.Retryable())
	}
	if got := res.Header.Get("Retry-After") != ""; got != code.Retryable() {
		t.Errorf("Retry-After present: %v; want %v", got, code.Retryable())
	}
}

// peer is a WebSocket client.
type peer struct {
	t    *testing.T
	sock net.Conn
	r    *wire.Reader
	json bool
}

func (h *harness) dial(user string, protocols ...string) *peer {
	h.t.Helper()
	d := ws.Dialer{Protocols: protocols, Timeout: patience, Header: ws.HandshakeHeaderHTTP{"Authorization": {"Bearer " + h.token(user)}}}
	sock, br, hs, err := d.Dial(context.Background(), "ws://"+h.addr+"/v1/connect")
	if err != nil {
		h.t.Fatal(err)
	}
	return h.peer(sock, br, hs.Protocol)
}

func (h *harness) peer(sock net.Conn, buffered *bufio.Reader, protocol string) *peer {
	h.t.Helper()
	h.t.Cleanup(func() { sock.Close() })
	if err := sock.SetDeadline(time.Now().Add(patience)); err != nil {
		h.t.Fatal(err)
	}
	p := &peer{t: h.t, sock: sock, json: protocol == wire.SubprotocolJSON}
	p.r = wire.NewReader(sock, 512, 1<<20, false)
	if buffered != nil {
		early, _ := buffered.Peek(buffered.Buffered())
		p.r.Preload(early)
	}
	return p
}

func (p *peer) write(op ws.OpCode, payload []byte) {
	p.t.Helper()
	if _, err := p.sock.Write(wire.AppendMasked(nil, op, payload, 0x01020304)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) send(f *wire.Frame) {
	p.t.Helper()
	if p.json {
		b, err := wire.EncodeJSON(f)
		if err != nil {
			p.t.Fatal(err)
		}
		p.write(ws.OpText, b)
		return
	}
	b, err := wire.AppendFrame(nil, f)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(ws.OpBinary, b)
}

// next returns the next frame.
func (p *peer) next() *wire.Frame {
	p.t.Helper()
	op, payload, err := p.r.Next()
	if err != nil {
		p.t.Fatal(err)
	}
	var f wire.Frame
	switch op {
	case ws.OpText:
		err = wire.DecodeJSON(payload, &f)
	case ws.OpBinary:
		var v wire.View
		if err = v.Decode(payload); err == nil {
			frame, ferr := v.Frame()
			if ferr != nil {
				p.t.Fatal(ferr)
			}
			return frame
		}
	default:
		p.t.Fatalf("op %v %q; want a frame", op, payload)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return &f
}

func (p *peer) hello() *wire.Welcome {
	p.t.Helper()
	p.send(&wire.Frame{Hello: &wire.Hello{}})
	w := p.next().Welcome
	if w == nil {
		p.t.Fatal("no welcome")
	}
	return w
}

// wantClose reads the close frame, answers it, and waits for the end of the stream.
func (p *peer) wantClose(code ws.StatusCode, reason string) {
	p.t.Helper()
	for {
		op, payload, err := p.r.Next()
		if err != nil {
			p.t.Fatalf("%v; want a close frame", err)
		}
		if op != ws.OpClose {
			continue
		}
		got, why := ws.ParseCloseFrameData(payload)
		if got != code || !strings.Contains(why, reason) {
			p.t.Errorf("closed with %d %q; want %d with %q", got, why, code, reason)
		}
		break
	}
	_, _ = p.sock.Write(wire.AppendClose(nil, code, "", true))
	p.wantEnd()
}

func (p *peer) wantEnd() {
	p.t.Helper()
	if _, _, err := p.r.Next(); !errors.Is(err, io.EOF) {
		p.t.Errorf("%v; want the end of the stream", err)
	}
}
