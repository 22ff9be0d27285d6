package engine

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ackmark/loadgen/client"
	"ackmark/refserver/wire"
)

// posterTo posts to a handler.
func posterTo(t *testing.T, retries int, h http.HandlerFunc) *poster {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	p := &poster{addr: strings.TrimPrefix(s.URL, "http://"), timeout: 5 * time.Second, retries: retries}
	t.Cleanup(p.close)
	return p
}

func answerStored(w http.ResponseWriter, m *wire.Send, seq uint64) {
	b, _ := wire.EncodeJSON(&wire.SendResult{ClientMsgId: m.ClientMsgId, Conversation: m.To, Epoch: 1, Seq: seq, Offline: true})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}

func TestPoster(t *testing.T) {
	message := &client.Message{To: "u:b", ClientMsgID: "x.1.0", Body: []byte(`a "body"`)}
	fault := func(status int, code wire.Code, retryable bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%q,"message":"m","retryable":%v}`, code, retryable)
		}
	}
	for _, tt := range []struct {
		name    string
		before  []http.HandlerFunc // the first answers; then the message is stored
		retries int
		once    bool
		tries   int64
		fault   wire.Code
		fails   bool
	}{
		{name: "stored", tries: 1},
		{name: "overloaded once", before: []http.HandlerFunc{fault(503, wire.CodeOverloaded, true)}, retries: 1, tries: 2},
		{name: "a broken connection", before: []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, retries: 1, tries: 2},
		{name: "a broken connection, of a server that would store it again", before: []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, retries: 1, once: true, tries: 1, fails: true},
		{name: "overloaded once, the same server", before: []http.HandlerFunc{fault(503, wire.CodeOverloaded, true)}, retries: 1, once: true, tries: 2},
		{name: "retries used up", before: []http.HandlerFunc{fault(503, wire.CodeOverloaded, true), fault(503, wire.CodeUnavailable, true)}, retries: 1, tries: 2, fault: wire.CodeUnavailable, fails: true},
		{name: "refused for good", before: []http.HandlerFunc{fault(403, wire.CodeNotFriend, false)}, retries: 3, tries: 1, fault: wire.CodeNotFriend, fails: true},
		{name: "something else answers", before: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "nginx", http.StatusBadGateway) }}, retries: 3, tries: 1, fault: "HTTP 502", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tries atomic.Int64
			p := posterTo(t, tt.retries, func(w http.ResponseWriter, r *http.Request) {
				n := tries.Add(1)
				if int(n) <= len(tt.before) {
					tt.before[n-1](w, r)
					return
				}
				var m wire.Send
				b := make([]byte, r.ContentLength)
				_, _ = r.Body.Read(b)
				if err := wire.DecodeJSON(b, &m); err != nil || m.Body != `a "body"` || m.ClientMsgId != "x.1.0" || m.To != "u:b" {
					t.Errorf("the server got %s: %v", b, err)
				}
				if r.URL.Path != "/v1/send" || r.Header.Get("Authorization") != "Bearer token" {
					t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
				}
				answerStored(w, &m, 7)
			})
			p.once = tt.once
			answer, err := p.send(t.Context(), "token", message)
			if (err != nil) != tt.fails {
				t.Fatalf("%v", err)
			}
			if err == nil && (answer.Seq != 7 || !answer.Offline) {
				t.Errorf("answer %+v", answer)
			}
			var f *client.Fault
			if tt.fault != "" && (!errors.As(err, &f) || f.Code != string(tt.fault)) {
				t.Errorf("%v, want %s", err, tt.fault)
			}
			if n := tries.Load(); n != tt.tries {
				t.Errorf("%d attempts, want %d", n, tt.tries)
			}
		})
	}
}
