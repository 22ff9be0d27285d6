package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/gateway"
	"ackmark/refserver/push"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

const patience = 10 * time.Second

// node is a server that runs in this process by its command line.
type node struct {
	t        *testing.T
	addr     string
	addrFile string
	stop     context.CancelFunc
	done     chan int
	stderr   *lockedBuffer
	client   *http.Client
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

func serve(t *testing.T, redis string, stdin io.Reader, args ...string) *node {
	t.Helper()
	n := &node{t: t, addrFile: filepath.Join(t.TempDir(), "addr"), done: make(chan int, 1), stderr: &lockedBuffer{},
		client: &http.Client{Timeout: patience, Transport: &http.Transport{}}}
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--redis", redis, "--addr-file", n.addrFile,
		"--token-secret", testToken, "--admin-secret", testAdmin}, args...)
	go func() { n.done <- Run(ctx, all, stdin, io.Discard, n.stderr) }()
	t.Cleanup(func() {
		n.client.CloseIdleConnections()
		cancel()
		n.wait()
		if t.Failed() {
			t.Logf("server:\n%s", n.stderr.String())
		}
	})
	deadline, tick := time.After(patience), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for n.addr == "" {
		select {
		case <-tick.C:
			b, _ := os.ReadFile(n.addrFile)
			n.addr = strings.TrimSpace(string(b))
		case code := <-n.done:
			n.done <- code
			t.Fatalf("exit %d: %s", code, n.stderr.String())
		case <-deadline:
			t.Fatalf("no address: %s", n.stderr.String())
		}
	}
	return n
}

// wait returns the exit code.
func (n *node) wait() int {
	n.t.Helper()
	select {
	case code := <-n.done:
		n.done <- code
		return code
	case <-time.After(patience):
		n.t.Fatalf("the server doesn't stop:\n%s", n.stderr.String())
		return -1
	}
}

func (n *node) call(method, path, credentials string, body, into any) int {
	n.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		n.t.Fatal(err)
	}
	req, err := http.NewRequest(method, "http://"+n.addr+path, bytes.NewReader(b))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+credentials)
	res, err := n.client.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	if into != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(answer, into); err != nil {
			n.t.Fatalf("%s: %v", answer, err)
		}
	} else if res.StatusCode != http.StatusOK {
		n.t.Logf("%s %s: %d %s", method, path, res.StatusCode, answer)
	}
	return res.StatusCode
}

func token(t *testing.T, user string) string {
	t.Helper()
	s, err := gateway.NewTokens(testToken, time.Now).Mint(user, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// populate creates alice, bob and their group g1.
func (n *node) populate() {
	n.t.Helper()
	n.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": []string{"alice", "bob"}}, nil)
	n.call("POST", "/v1/admin/groups", testAdmin, map[string]any{"groups": []any{map[string]any{"id": "g1", "members": []string{"alice", "bob"}}}}, nil)
}

type peer struct {
	t    *testing.T
	sock net.Conn
	r    *wire.Reader
}

func (n *node) dial(user string) *peer {
	n.t.Helper()
	d := ws.Dialer{Timeout: patience, Header: ws.HandshakeHeaderHTTP{"Authorization": {"Bearer " + token(n.t, user)}}}
	sock, br, _, err := d.Dial(context.Background(), "ws://"+n.addr+"/v1/connect")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { sock.Close() })
	_ = sock.SetDeadline(time.Now().Add(patience))
	p := &peer{n.t, sock, wire.NewReader(sock, 512, 1<<20, false)}
	if br != nil {
		early, _ := br.Peek(br.Buffered())
		p.r.Preload(early)
	}
	p.send(&wire.Frame{Hello: &wire.Hello{}})
	if p.next().Welcome == nil {
		n.t.Fatal("no welcome")
	}
	return p
}

func (p *peer) send(f *wire.Frame) {
	p.t.Helper()
	b, err := wire.AppendFrame(nil, f)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.sock.Write(wire.AppendMasked(nil, ws.OpBinary, b, 1)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) next() *wire.Frame {
	p.t.Helper()
	_, payload, err := p.r.Next()
	if err != nil {
		p.t.Fatal(err)
	}
	var v wire.View
	if err := v.Decode(payload); err != nil {
		p.t.Fatal(err)
	}
	f, err := v.Frame()
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// settled returns once the server is through with everything that was sent to it.
func (p *peer) settled() {
	p.t.Helper()
	if _, err := p.sock.Write(wire.AppendMasked(nil, ws.OpPing, nil, 1)); err != nil {
		p.t.Fatal(err)
	}
	if op, payload, err := p.r.Next(); err != nil || op != ws.OpPong {
		p.t.Fatalf("%v %q, %v; want a pong", op, payload, err)
	}
}

func (p *peer) wantClose(code ws.StatusCode, reason string) {
	p.t.Helper()
	op, payload, err := p.r.Next()
	if err != nil || op != ws.OpClose {
		p.t.Fatalf("%v %q %v; want a close frame", op, payload, err)
	}
	got, why := ws.ParseCloseFrameData(payload)
	if got != code || !strings.Contains(why, reason) {
		p.t.Errorf("closed with %d %q; want %d with %q", got, why, code, reason)
	}
	_, _ = p.sock.Write(wire.AppendClose(nil, code, "", true))
}

// A message goes from one client to another; the server stops while the ack
// waits for its write-behind: the client is told why, the ack isn't lost.
func TestDrainFlushesAcks(t *testing.T) {
	redis := redistest.Start(t)
	n := serve(t, redis.URL(), strings.NewReader(""), "--ack-flush", "10s")
	n.populate()
	alice, bob := n.dial("alice"), n.dial("bob")
	alice.send(&wire.Frame{Send: &wire.Send{Ref: 1, To: "g:g1", ClientMsgId: "m1", Body: "hi"}})
	if r := alice.next().SendResult; r == nil || r.Seq != 1 {
		t.Fatalf("send result %v; want seq 1", r)
	}
	d := bob.next().Deliver
	if d == nil || d.Seq != 1 || d.Body != "hi" || d.Sender != "alice" {
		t.Fatalf("delivery %v; want alice's message", d)
	}
	bob.send(&wire.Frame{Ack: &wire.Ack{Ref: 2, Conversation: "g:g1", Epoch: d.Epoch, UpTo: 1}})
	if r := bob.next().AckResult; r == nil || r.Cursor != 1 {
		t.Fatalf("ack result %v; want cursor 1", r)
	}
	n.stop()
	alice.wantClose(ws.StatusGoingAway, "shutting down")
	bob.wantClose(ws.StatusGoingAway, "shutting down")
	if code := n.wait(); code != ExitOK {
		t.Fatalf("exit %d; want 0", code)
	}
	if _, err := os.Stat(n.addrFile); !os.IsNotExist(err) {
		t.Errorf("the address file is still there: %v", err)
	}

	again := serve(t, redis.URL(), strings.NewReader(""))
	var counts wire.Counts
	again.call("GET", "/v1/counts", token(t, "bob"), nil, &counts)
	for _, c := range counts.Counts {
		if c.Conversation == "g:g1" && (c.Cursor != 1 || c.Unread != 0) {
			t.Errorf("after the restart: %v; want cursor 1, nothing unread", c)
		}
	}
}

func TestReconnectReplacesTheOlderConnection(t *testing.T) {
	n := serve(t, redistest.Start(t).URL(), strings.NewReader(""))
	n.populate()
	old := n.dial("alice")
	n.dial("alice")
	old.wantClose(push.StatusReplaced, "replaced")
}

func TestNonMember(t *testing.T) {
	n := serve(t, redistest.Start(t).URL(), strings.NewReader(""))
	n.populate()
	n.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": []string{"eve"}}, nil)
	send := map[string]any{"to": "g:g1", "client_msg_id": "m1", "body": "hi"}
	if got := n.call("POST", "/v1/send", token(t, "eve"), send, nil); got != http.StatusForbidden {
		t.Errorf("send by a non-member: %d; want 403", got)
	}
	if got := n.call("POST", "/v1/ack", token(t, "eve"), map[string]any{"conversation": "g:g1", "epoch": 1, "up_to": 1}, nil); got != http.StatusForbidden {
		t.Errorf("ack by a non-member: %d; want 403", got)
	}
	if got := n.call("POST", "/v1/pull", token(t, "eve"), map[string]any{"conversation": "g:g1"}, nil); got != http.StatusForbidden {
		t.Errorf("pull by a non-member: %d; want 403", got)
	}
	eve := n.dial("eve")
	eve.send(&wire.Frame{Send: &wire.Send{Ref: 9, To: "g:g1", ClientMsgId: "m2"}})
	if e := eve.next().Error; e == nil || e.Ref != 9 || e.Code != string(wire.CodeNotMember) {
		t.Errorf("send by a non-member over WebSocket: %v; want not_member for ref 9", e)
	}
}

func TestStopsWithStdin(t *testing.T) {
	stdin, starter := io.Pipe()
	n := serve(t, redistest.Start(t).URL(), stdin, "--exit-with-stdin")
	_ = starter.Close()
	if code := n.wait(); code != ExitOK || !strings.Contains(n.stderr.String(), "standard input ended") {
		t.Errorf("exit %d: %s", code, n.stderr.String())
	}
}

func TestStopsOnSIGTERM(t *testing.T) {
	n := serve(t, redistest.Start(t).URL(), strings.NewReader(""), "--log-format", "json")
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := n.wait(); code != ExitOK || !strings.Contains(n.stderr.String(), `"why":"terminated"`) {
		t.Errorf("exit %d: %s", code, n.stderr.String())
	}
}

func TestCannotRun(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := redistest.Start(t)
	evicting := redistest.Start(t, redistest.Set("maxmemory", "10mb", "maxmemory-policy", "allkeys-lru"))
	free := "127.0.0.1:0"
	for _, c := range []struct{ name, listen, redis, message, more string }{
		{"busy port", taken.Addr().String(), good.URL(), "is in use", "--listen"},
		{"no such address", "192.0.2.1:0", good.URL(), "can't listen on 192.0.2.1:0", ""},
		{"unreachable Redis", free, "redis://user:hidden@" + closedPort(t), "redis://user:xxxxx@", "refused"},
		{"no such socket", free, "unix:///nonexistent/redis.sock", "/nonexistent/redis.sock", ""},
		{"evicting Redis", free, evicting.URL(), "maxmemory-policy allkeys-lru", "noeviction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "addr")
			code, stdout, stderr := run("serve", "--listen", c.listen, "--redis", c.redis, "--addr-file", file,
				"--token-secret", testToken, "--admin-secret", testAdmin)
			if code != ExitCannotRun || !strings.Contains(stderr, c.message) || !strings.Contains(stderr, c.more) || stdout != "" {
				t.Errorf("exit %d: %q; want 5 with %q and %q", code, stderr, c.message, c.more)
			}
			if strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "hidden") {
				t.Errorf("%q; want one line without the password", stderr)
			}
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Error("an address was written")
			}
		})
	}
}

// closedPort returns an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func TestAddrFileThatCannotBeWritten(t *testing.T) {
	redis := redistest.Start(t)
	code, _, stderr := run("serve", "--listen", "127.0.0.1:0", "--redis", redis.URL(), "--insecure-dev", "--addr-file", "/nonexistent/dir/addr")
	if code != ExitCannotRun || !strings.Contains(stderr, "--addr-file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestReadyzFollowsTheStore(t *testing.T) {
	redis := redistest.Start(t)
	n := serve(t, redis.URL(), strings.NewReader(""))
	if got := n.call("GET", "/readyz", "", nil, nil); got != http.StatusOK {
		t.Errorf("readyz %d; want 200", got)
	}
	redis.Kill()
	if got := n.call("GET", "/readyz", "", nil, nil); got != http.StatusServiceUnavailable {
		t.Errorf("readyz %d without a store; want 503", got)
	}
	if got := n.call("GET", "/healthz", "", nil, nil); got != http.StatusOK {
		t.Errorf("healthz %d without a store; want 200", got)
	}
}

func TestMetricsNames(t *testing.T) {
	n := serve(t, redistest.Start(t).URL(), strings.NewReader(""))
	n.populate()
	n.call("POST", "/v1/send", token(t, "alice"), map[string]any{"to": "g:g1", "client_msg_id": "m1"}, nil)
	n.call("POST", "/v1/send", token(t, "alice"), map[string]any{"to": "g:g1", "client_msg_id": "m1"}, nil)
	res, err := n.client.Get("http://" + n.addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`ackmark_sends_total{result="stored"} 1`, `ackmark_sends_total{result="duplicate"} 1`, `ackmark_sends_total{result="refused"} 0`, `ackmark_sends_total{result="failed"} 0`,
		`ackmark_deliveries_total{how="pushed"} 0`, `ackmark_deliveries_total{how="paged"} 0`, `ackmark_deliveries_total{how="retransmitted"} 0`,
		"ackmark_ack_requests_total 0", "ackmark_acks_ignored_total 0", "ackmark_pull_now_total 0", "ackmark_pages_total 0", "ackmark_connections 0",
		"ackmark_frames_written_total 0", "ackmark_writes_total 0", "ackmark_bytes_written_total 0", "ackmark_bytes_read_total 0",
		`ackmark_redis_commands_total{name="append"} 2`, "ackmark_redis_round_trips_total ", "ackmark_log_reads_total ", "ackmark_log_trimmed_total ",
		"ackmark_log_truncated_total 0", "ackmark_epoch ", "ackmark_cursors_moved_total ", "go_goroutines ", "process_cpu_seconds_total ",
	} {
		if !strings.Contains(string(b), "\n"+want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestProfiles(t *testing.T) {
	pprof := closedPort(t)
	n := serve(t, redistest.Start(t).URL(), strings.NewReader(""), "--pprof", pprof)
	res, err := n.client.Get(fmt.Sprintf("http://%s/debug/pprof/cmdline", pprof))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
	if got := n.call("GET", "/debug/pprof/", "", nil, nil); got != http.StatusNotFound {
		t.Errorf("profiles on the service's address: %d; want 404", got)
	}
}
