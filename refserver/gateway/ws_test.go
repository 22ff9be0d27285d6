package gateway

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func TestConversationOverEachForm(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol []string
	}{{"no subprotocol", nil}, {"binary", []string{wire.SubprotocolBinary}}, {"JSON", []string{"other", wire.SubprotocolJSON}}} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, nil)
			p := h.dial("alice", c.protocol...)
			if w := p.hello(); w.User != "alice" || w.Epoch != fakeEpoch {
				t.Errorf("welcome %v", w)
			}
			p.send(&wire.Frame{Send: &wire.Send{Ref: 5, To: "g:g1", ClientMsgId: "m1", Body: "hi"}})
			if r := p.next().SendResult; r == nil || r.Ref != 5 || r.Seq != 1 {
				t.Errorf("send result %v; want ref 5, seq 1", r)
			}
			p.write(ws.OpPing, []byte("are you there"))
			if op, payload, err := p.r.Next(); err != nil || op != ws.OpPong || string(payload) != "are you there" {
				t.Errorf("%v %q %v; want a pong", op, payload, err)
			}
			p.write(ws.OpClose, ws.NewCloseFrameBody(ws.StatusNormalClosure, "bye"))
			op, payload, err := p.r.Next()
			if code, _ := ws.ParseCloseFrameData(payload); err != nil || op != ws.OpClose || code != ws.StatusNormalClosure {
				t.Errorf("%v %q %v; want the close frame answered", op, payload, err)
			}
			p.wantEnd()
			h.stop()
			if h.svc.sessions != 1 || h.svc.closed != 1 {
				t.Errorf("%d sessions opened, %d closed; want 1, 1", h.svc.sessions, h.svc.closed)
			}
			if st := h.g.Stats(); st.Connections != 0 || st.Upgrades != 1 || st.Sends != 1 || st.BadFrames != 0 {
				t.Errorf("stats %+v", st)
			}
		})
	}
}

func TestConnectionRefuses(t *testing.T) {
	deliver, _ := wire.AppendFrame(nil, &wire.Frame{Send: &wire.Send{To: "g:g1", ClientMsgId: "panic"}})
	again, _ := wire.AppendFrame(nil, &wire.Frame{Hello: &wire.Hello{}})
	for _, c := range []struct {
		name     string
		protocol string
		noHello  bool
		op       ws.OpCode
		payload  []byte
		raw      []byte
		close    ws.StatusCode
		code     wire.Code
		message  string
	}{
		{name: "malformed frame", op: ws.OpBinary, payload: []byte{0xff, 0xff}, close: ws.StatusPolicyViolation, code: wire.CodeBadRequest},
		{name: "empty frame", op: ws.OpBinary, close: ws.StatusPolicyViolation, code: wire.CodeBadRequest},
		{name: "text on the binary subprotocol", op: ws.OpText, payload: []byte("{}"), close: ws.StatusUnsupportedData, code: wire.CodeUnsupported, message: wire.SubprotocolJSON},
		{name: "binary on the JSON subprotocol", protocol: wire.SubprotocolJSON, op: ws.OpBinary, payload: again, close: ws.StatusUnsupportedData, code: wire.CodeUnsupported, message: "text messages"},
		{name: "unknown JSON key", protocol: wire.SubprotocolJSON, op: ws.OpText, payload: []byte(`{"send":{"too":"g:g1"}}`), close: ws.StatusPolicyViolation, code: wire.CodeBadRequest, message: `"too"`},
		{name: "not UTF-8", protocol: wire.SubprotocolJSON, op: ws.OpText, payload: []byte{'"', 0xff, '"'}, close: ws.StatusInvalidFramePayloadData, code: wire.CodeBadRequest},
		{name: "too large", op: ws.OpBinary, payload: make([]byte, 8<<10+1), close: ws.StatusMessageTooBig, code: wire.CodeTooLarge, message: "8192"},
		{name: "missing hello", noHello: true, op: ws.OpBinary, payload: deliver, close: ws.StatusPolicyViolation, code: wire.CodeBadRequest, message: "has to be hello"},
		{name: "second hello", op: ws.OpBinary, payload: again, close: ws.StatusPolicyViolation, code: wire.CodeBadRequest, message: "already"},
		{name: "unmasked", raw: wire.AppendMessage(nil, ws.OpBinary, again), close: ws.StatusProtocolError, code: wire.CodeBadRequest},
		{name: "panic", op: ws.OpBinary, payload: deliver, close: ws.StatusInternalServerError, code: wire.CodeInternal, message: "the server failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, func(c *Config) { c.MaxFrame = 8 << 10 })
			var protocols []string
			if c.protocol != "" {
				protocols = []string{c.protocol}
			}
			p := h.dial("alice", protocols...)
			if !c.noHello {
				p.hello()
			}
			if c.raw != nil {
				_, _ = p.sock.Write(c.raw)
			} else {
				p.write(c.op, c.payload)
			}
			e := p.next().Error
			if e == nil || e.Code != string(c.code) || e.Ref != 0 || !strings.Contains(e.Message, c.message) {
				t.Errorf("error frame %v; want %s with %q", e, c.code, c.message)
			}
			p.wantClose(c.close, "")
		})
	}
}

func TestHelloIsAnswered(t *testing.T) {
	h := start(t, nil)
	h.svc.setFail(wire.Faultf(wire.CodeNoSuchUser, "alice was never created"))
	p := h.dial("alice")
	p.send(&wire.Frame{Hello: &wire.Hello{}})
	if e := p.next().Error; e == nil || e.Code != string(wire.CodeNoSuchUser) {
		t.Errorf("error frame %v; want no_such_user", e)
	}
	p.wantClose(ws.StatusPolicyViolation, "never created")
}

func TestHelloHasADeadline(t *testing.T) {
	h := start(t, func(c *Config) { c.HelloTimeout = 30 * time.Millisecond })
	p := h.dial("alice")
	if e := p.next().Error; e == nil || !strings.Contains(e.Message, "no hello within 30ms") {
		t.Errorf("error frame %v", e)
	}
	p.wantClose(ws.StatusPolicyViolation, "no hello")
}

// A connection that is silent is pinged, and ended when it doesn't answer.
func TestIdle(t *testing.T) {
	h := start(t, func(c *Config) { c.IdleTimeout = 30 * time.Millisecond })
	p := h.dial("alice")
	p.hello()
	for range 3 { // who answers stays
		if op, _, err := p.r.Next(); err != nil || op != ws.OpPing {
			t.Fatalf("%v %v; want a ping", op, err)
		}
		p.write(ws.OpPong, nil)
	}
	if op, _, err := p.r.Next(); err != nil || op != ws.OpPing {
		t.Fatalf("%v %v; want a ping", op, err)
	}
	p.wantEnd()
	if got := h.g.Stats().IdleClosed; got != 1 {
		t.Errorf("%d closed for silence; want 1", got)
	}
}

func TestTokenExpiresOnAnOpenConnection(t *testing.T) {
	h := start(t, func(c *Config) {
		// The gateway's clock, not the token's: an hour passes between hello and the first look.
		began := time.Now()
		c.IdleTimeout = 30 * time.Millisecond
		c.Now = func() time.Time {
			if time.Since(began) > 300*time.Millisecond {
				return began.Add(2 * time.Hour)
			}
			return time.Now()
		}
	})
	p := h.dial("alice")
	p.hello()
	for {
		op, payload, err := p.r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if op == ws.OpPing {
			p.write(ws.OpPong, nil)
			continue
		}
		var v wire.View
		if err := v.Decode(payload); err != nil {
			t.Fatal(err)
		}
		if f, _ := v.Frame(); f.GetError().GetCode() != string(wire.CodeUnauthenticated) {
			t.Errorf("frame %v; want unauthenticated", f)
		}
		break
	}
	p.wantClose(ws.StatusPolicyViolation, "expired")
}

func TestNewerConnectionReplaces(t *testing.T) {
	h := start(t, nil)
	old := h.dial("alice")
	old.hello()
	h.dial("alice").hello()
	old.wantClose(push.StatusReplaced, "replaced")
}

func TestDrainClosesWithAReason(t *testing.T) {
	h := start(t, nil)
	p := h.dial("alice")
	p.hello()
	h.g.Drain()
	p.send(&wire.Frame{Send: &wire.Send{Ref: 3, To: "g:g1", ClientMsgId: "m"}})
	if e := p.next().Error; e == nil || e.Ref != 3 || e.Code != string(wire.CodeShuttingDown) || !e.Retryable {
		t.Errorf("a send while draining: %v; want shutting_down for ref 3", e)
	}
	p.send(&wire.Frame{Ack: &wire.Ack{Conversation: "g:g1", Epoch: fakeEpoch, UpTo: 9}})
	p.write(ws.OpPing, nil)
	if op, _, err := p.r.Next(); err != nil || op != ws.OpPong {
		t.Fatalf("%v %v; want a pong", op, err)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); h.stop() }()
	p.wantClose(ws.StatusGoingAway, "shutting down")
	<-stopped
	if len(h.svc.acks) != 1 || h.svc.acks[0] != 9 {
		t.Errorf("acks %v; want the one sent while draining", h.svc.acks)
	}
}

func TestHandshakeRefuses(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxConnections = 1 })
	base := map[string]string{"Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	for _, c := range []struct {
		name, header, value, message string
		code                         wire.Code
	}{
		{"no upgrade", "Upgrade", "", "Upgrade: websocket", wire.CodeBadRequest},
		{"connection", "Connection", "close", "Connection: Upgrade", wire.CodeBadRequest},
		{"version", "Sec-WebSocket-Version", "8", "13", wire.CodeBadRequest},
		{"short key", "Sec-WebSocket-Key", "AAAA", "16 bytes", wire.CodeBadRequest},
		{"subprotocol", "Sec-WebSocket-Protocol", "mqtt, xmpp", wire.SubprotocolBinary, wire.CodeBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			var header []string
			for k, v := range base {
				if k != c.header {
					header = append(header, k, v)
				}
			}
			header = append(header, c.header, c.value)
			res, body := h.do("GET", "/v1/connect", h.token("alice"), "", header...)
			wantError(t, res, body, c.code.HTTPStatus(), c.code, c.message)
		})
	}
	t.Run("too many connections", func(t *testing.T) {
		h.dial("alice").hello()
		var header []string
		for k, v := range base {
			header = append(header, k, v)
		}
		res, body := h.do("GET", "/v1/connect", h.token("bob"), "", header...)
		wantError(t, res, body, 429, wire.CodeOverloaded, "1 connections")
	})
}

// What a client sends in the same packet as its handshake isn't lost.
func TestBytesBehindTheHandshake(t *testing.T) {
	h := start(t, nil)
	sock, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	hello, _ := wire.AppendFrame(nil, &wire.Frame{Hello: &wire.Hello{}})
	send, _ := wire.AppendFrame(nil, &wire.Frame{Send: &wire.Send{Ref: 1, To: "g:g1", ClientMsgId: "m", Body: strings.Repeat("x", 1000)}})
	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef"))
	out := fmt.Appendf(nil, "GET /v1/connect?token=%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", h.token("alice"), key)
	out = wire.AppendMasked(out, ws.OpBinary, hello, 1)
	out = wire.AppendMasked(out, ws.OpBinary, send, 2)
	if _, err := sock.Write(out); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(sock)
	res, err := http.ReadResponse(br, &http.Request{Method: "GET"})
	if err != nil || res.StatusCode != 101 {
		t.Fatalf("%v %v; want 101", res, err)
	}
	p := h.peer(sock, br, "")
	if w := p.next().Welcome; w == nil {
		t.Error("the hello was lost")
	}
	if r := p.next().SendResult; r == nil || r.Ref != 1 {
		t.Errorf("send result %v; want ref 1", r)
	}
	if strings.Contains(h.log.String(), "token") {
		t.Errorf("the log speaks of tokens:\n%s", h.log.String())
	}
}

func TestDialWithExpiredToken(t *testing.T) {
	h := start(t, nil)
	expired, err := NewTokens(testSecret, at(time.Now().Add(-2*time.Hour))).Mint("alice", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = ws.Dial(context.Background(), "ws://"+h.addr+"/v1/connect?token="+expired)
	var status ws.StatusError
	if !errors.As(err, &status) || int(status) != 401 {
		t.Errorf("%v; want 401", err)
	}
}
