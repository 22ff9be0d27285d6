package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/wire"
)

func TestHTTPRefuses(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxFrame, c.MaxAdminBody, c.MaxAdminItems = 4096, 8192, 5 })
	alice := h.token("alice")
	expired, err := NewTokens(testSecret, at(time.Now().Add(-2*time.Hour))).Mint("alice", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	send := func(body string) string {
		return fmt.Sprintf(`{"to":"g:g1","client_msg_id":"m1","body":%q}`, body)
	}
	for _, c := range []struct {
		name, method, path, credentials, body string
		header                                []string
		status                                int
		code                                  wire.Code
		message                               string
	}{
		{name: "no such path", method: "GET", path: "/v2/x", status: 404, code: wire.CodeNotFound, message: "no such path"},
		{name: "wrong method", method: "GET", path: "/v1/send", credentials: alice, status: 405, code: wire.CodeNotFound, message: "takes POST"},
		{name: "no token", method: "POST", path: "/v1/send", body: send("x"), status: 401, code: wire.CodeUnauthenticated, message: "no token"},
		{name: "expired token", method: "POST", path: "/v1/send", credentials: expired, body: send("x"), status: 401, code: wire.CodeUnauthenticated, message: "expired"},
		{name: "token in the query of a request", method: "GET", path: "/v1/counts?token=" + alice, status: 401, code: wire.CodeUnauthenticated, message: "no token"},
		{name: "unknown key", method: "POST", path: "/v1/send", credentials: alice, body: `{"to":"g:g1","client_msg_id":"m","bdy":"x"}`, status: 400, code: wire.CodeBadRequest, message: `"bdy"`},
		{name: "not JSON", method: "POST", path: "/v1/send", credentials: alice, body: `hello`, status: 400, code: wire.CodeBadRequest, message: "JSON"},
		{name: "trailing data", method: "POST", path: "/v1/send", credentials: alice, body: send("x") + "{}", status: 400, code: wire.CodeBadRequest, message: "JSON"},
		{name: "empty body", method: "POST", path: "/v1/hello", credentials: alice, header: []string{"Content-Type", contentType}, status: 400, code: wire.CodeBadRequest, message: "JSON"},
		{name: "form", method: "POST", path: "/v1/send", credentials: alice, body: send("x"), header: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 422, code: wire.CodeUnsupported, message: "--json"},
		{name: "compressed", method: "POST", path: "/v1/send", credentials: alice, body: send("x"), header: []string{"Content-Encoding", "gzip"}, status: 422, code: wire.CodeUnsupported, message: "Content-Encoding"},
		{name: "oversized body", method: "POST", path: "/v1/send", credentials: alice, body: send(strings.Repeat("x", 4096)), status: 413, code: wire.CodeTooLarge, message: "larger than 4096 bytes"},
		{name: "oversized head", method: "GET", path: "/healthz", header: []string{"X-Long", strings.Repeat("x", 9000)}, status: 431, code: wire.CodeTooLarge, message: "larger than 8192 bytes"},
		{name: "bad senders", method: "GET", path: "/v1/counts?senders=some", credentials: alice, status: 400, code: wire.CodeBadRequest, message: `senders="some"`},
		{name: "unknown query parameter", method: "GET", path: "/v1/counts?limit=1", credentials: alice, status: 400, code: wire.CodeBadRequest, message: `"limit"`},
		{name: "bad limit", method: "GET", path: "/v1/friends?limit=-1", credentials: alice, status: 400, code: wire.CodeBadRequest, message: "isn't a number"},
		{name: "bad after", method: "GET", path: "/v1/friends?after=a%20b", credentials: alice, status: 400, code: wire.CodeBadRequest, message: "after"},
		{name: "a user as admin", method: "POST", path: "/v1/admin/users", credentials: alice, body: `{"users":["x"]}`, status: 401, code: wire.CodeUnauthenticated, message: "wrong admin secret"},
		{name: "no admin secret", method: "POST", path: "/v1/admin/users", body: `{"users":["x"]}`, status: 401, code: wire.CodeUnauthenticated, message: "no admin secret"},
		{name: "nobody", method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":[]}`, status: 400, code: wire.CodeBadRequest, message: "empty"},
		{name: "too many users", method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":["a","b","c","d","e","f"]}`, status: 422, code: wire.CodeTooMany, message: "more than 5"},
		{name: "too many members in all", method: "POST", path: "/v1/admin/groups", credentials: testAdmin, body: `{"groups":[{"id":"g","members":["a","b","c"]},{"id":"h","members":["a","b","c"]}]}`, status: 422, code: wire.CodeTooMany, message: "more than 5"},
		{name: "bad user name", method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":["a b"]}`, status: 400, code: wire.CodeBadRequest, message: "a b"},
		{name: "no members", method: "POST", path: "/v1/admin/members/remove", credentials: testAdmin, body: `{"group":"g"}`, status: 400, code: wire.CodeBadRequest, message: "empty"},
		{name: "oversized admin body", method: "POST", path: "/v1/admin/users", credentials: testAdmin, body: `{"users":["` + strings.Repeat("x", 8192) + `"]}`, status: 413, code: wire.CodeTooLarge, message: "larger than 8192 bytes"},
		{name: "no handshake", method: "GET", path: "/v1/connect", credentials: alice, status: 400, code: wire.CodeBadRequest, message: "WebSocket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, body := h.do(c.method, c.path, c.credentials, c.body, c.header...)
			wantError(t, res, body, c.status, c.code, c.message)
		})
	}
	if strings.Contains(h.log.String(), alice) || strings.Contains(h.log.String(), testAdmin) {
		t.Error("the log holds a token or the admin secret")
	}
}

func TestServiceFaultsKeepTheirCode(t *testing.T) {
	h := start(t, nil)
	h.svc.setFail(&wire.Fault{Code: wire.CodeNotMember, Message: "alice isn't a member", Conversation: "g:g1"})
	res, body := h.do("POST", "/v1/send", h.token("alice"), `{"to":"g:g1","client_msg_id":"m"}`)
	wantError(t, res, body, 403, wire.CodeNotMember, "isn't a member")
	if !strings.Contains(body, `"conversation":"g:g1"`) {
		t.Errorf("no conversation in %s", body)
	}
	h.svc.setFail(errors.New("the password is xyzzy"))
	res, body = h.do("GET", "/v1/counts", h.token("alice"), "")
	wantError(t, res, body, 500, wire.CodeInternal, "")
	if strings.Contains(body, "xyzzy") || !strings.Contains(h.log.String(), "xyzzy") {
		t.Error("an internal error belongs into the log, and not into the answer")
	}
}

func TestBulkRequestSaysHowFarItCame(t *testing.T) {
	h := start(t, nil)
	h.svc.setFail(wire.Faultf(wire.CodeUnavailable, "no answer"))
	res, body := h.do("POST", "/v1/admin/groups", testAdmin, `{"groups":[{"id":"g","members":["a"]}]}`)
	wantError(t, res, body, 503, wire.CodeUnavailable, "group g: no answer (0 groups before it are done")
}

func TestAdminOff(t *testing.T) {
	h := start(t, func(c *Config) { c.AdminSecret = "" })
	for _, credentials := range []string{"", "anything"} {
		res, body := h.do("POST", "/v1/admin/users", credentials, `{"users":["x"]}`)
		wantError(t, res, body, 403, wire.CodeForbidden, "--admin-secret")
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	h := start(t, nil)
	res, body := h.do("POST", "/v1/send", h.token("alice"), `{"to":"g:g1","client_msg_id":"panic"}`)
	wantError(t, res, body, 500, wire.CodeInternal, "the server failed")
	res, _ = h.do("POST", "/v1/send", h.token("alice"), `{"to":"g:g1","client_msg_id":"m"}`)
	if res.StatusCode != 200 || h.g.Stats().Panics != 1 {
		t.Errorf("after a panic: status %d, %d panics counted", res.StatusCode, h.g.Stats().Panics)
	}
}

func TestReady(t *testing.T) {
	var down error
	h := start(t, func(c *Config) { c.Ready = func(context.Context) error { return down } })
	if res, body := h.do("GET", "/readyz", "", ""); res.StatusCode != 200 || body != `{"status":"ready"}` {
		t.Errorf("%d %s; want ready", res.StatusCode, body)
	}
	down = errors.New("no answer")
	res, body := h.do("GET", "/readyz", "", "")
	wantError(t, res, body, 503, wire.CodeUnavailable, "store")
	if res, _ := h.do("GET", "/healthz", "", ""); res.StatusCode != 200 {
		t.Errorf("healthz %d; a store that is down doesn't make the process dead", res.StatusCode)
	}
}

func TestDrainRefusesWhatIsNew(t *testing.T) {
	h := start(t, nil)
	h.g.Drain()
	res, body := h.do("GET", "/readyz", "", "")
	wantError(t, res, body, 503, wire.CodeShuttingDown, "shutting down")
	res, body = h.do("POST", "/v1/send", h.token("alice"), `{"to":"g:g1","client_msg_id":"m"}`)
	wantError(t, res, body, 503, wire.CodeShuttingDown, "connect again")
	if res, _ := h.do("GET", "/healthz", "", ""); res.StatusCode != 200 {
		t.Errorf("healthz %d while draining; want 200", res.StatusCode)
	}
}

func TestTooManyRequests(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := start(t, func(c *Config) {
		c.MaxRequests = 1
		c.Ready = func(context.Context) error { close(entered); <-leave; return nil }
	})
	done := make(chan struct{})
	go func() { defer close(done); h.do("GET", "/readyz", "", "") }()
	<-entered
	res, body := h.do("GET", "/healthz", "", "")
	wantError(t, res, body, 429, wire.CodeOverloaded, "1 requests")
	close(leave)
	<-done
}

func TestTooManyHTTPConnections(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxHTTPConnections = 1 })
	first, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	fmt.Fprint(first, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if res, err := http.ReadResponse(bufio.NewReader(first), nil); err != nil || res.StatusCode != 200 {
		t.Fatalf("first connection: %v, %v", res, err)
	}
	res, body := h.do("GET", "/healthz", "", "")
	wantError(t, res, body, 429, wire.CodeOverloaded, "HTTP connections")
	if !res.Close {
		t.Error("the connection stays open")
	}
}

// A client that sends its request byte by byte doesn't hold a connection for ever.
func TestSlowRequest(t *testing.T) {
	h := start(t, func(c *Config) { c.ReadTimeout = 50 * time.Millisecond })
	sock, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	fmt.Fprint(sock, "POST /v1/send HTTP/1.1\r\nHost: x\r\n")
	_ = sock.SetReadDeadline(time.Now().Add(patience))
	res, err := http.ReadResponse(bufio.NewReader(sock), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 408 || !res.Close {
		t.Errorf("status %d, close %v; want 408 and the end", res.StatusCode, res.Close)
	}
}

// A server that is stopped the moment it was started stops too.
func TestCloseRacesWithServe(t *testing.T) {
	for range 20 {
		h := start(t, nil)
		h.stop()
		if _, err := net.Dial("tcp", h.addr); err == nil {
			t.Fatal("the address still answers")
		}
	}
}
