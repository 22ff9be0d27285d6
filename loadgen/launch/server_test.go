package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func startServer(t *testing.T, l *Launcher, mode string, o ServerOptions) (*Server, error) {
	t.Helper()
	o.Args = []string{"helper-server", mode}
	return l.Server(t.Context(), o)
}

func dialable(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func TestServerKillRestartStop(t *testing.T) {
	l := newLauncher(t)
	t.Setenv("ACKMARK_LISTEN", "must-not-leak")
	s, err := startServer(t, l, "good", ServerOptions{Env: []string{"ACKMARK_TOKEN_SECRET=s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	addr, first := s.Addr(), s.PID()
	if !dialable(addr) || first == 0 || !s.Ours() {
		t.Fatalf("server at %q with pid %d isn't up", addr, first)
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", first))
	if err != nil || strings.Contains(string(cmdline), "s3cret") {
		t.Errorf("command line %q, %v; it must not hold the secret", cmdline, err)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a restart of a running server was accepted")
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if pid, ended := s.Process(); pid != 0 || ended <= 0 {
		t.Errorf("after the kill: pid %d, CPU %v; want 0 and the CPU of the dead", pid, ended)
	}
	select {
	case <-s.Died():
	default:
		t.Error("Died isn't closed after Kill")
	}
	if err := s.Cause(); err == nil || !strings.Contains(err.Error(), "killed") || !strings.Contains(err.Error(), "secret in env: s3cret inherited:") {
		t.Errorf("cause: %v; want the signal and the last words, without the user's ACKMARK_LISTEN", err)
	}
	_, before := s.Process()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Addr() != addr || s.PID() == first || !dialable(addr) {
		t.Errorf("after the restart: %s pid %d; want %s and another pid than %d", s.Addr(), s.PID(), addr, first)
	}
	if _, ended := s.Process(); ended != before {
		t.Errorf("CPU of earlier incarnations is %v; want it kept at %v", ended, before)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if dialable(addr) || s.PID() != 0 {
		t.Error("still there after Stop")
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a stopped server was restarted")
	}
}

func TestServerFailsToStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	tests := []struct {
		name, mode string
		opts       ServerOptions
		want       []string
	}{
		{"crash", "crash", ServerOptions{}, []string{"ended while starting", "exit status 5", "last words", "first line", "give a reachable --redis URL"}},
		{"busy port", "good", ServerOptions{Listen: busy.Addr().String()}, []string{"exit status 5", "address already in use", busy.Addr().String()}},
		{"never ready", "never-ready", ServerOptions{StartTimeout: 300 * time.Millisecond}, []string{"wasn't ready within 300ms"}},
		{"no executable", "good", ServerOptions{Executable: "/no/such/file"}, []string{"starting the server", "/no/such/file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLauncher(t)
			s, err := startServer(t, l, tt.mode, tt.opts)
			if err == nil {
				t.Fatalf("it started, at %s", s.Addr())
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("message lacks %q:\n%v", w, err)
				}
			}
		})
	}
}

func TestServerStartCancelled(t *testing.T) {
	l := newLauncher(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Server(ctx, ServerOptions{Args: []string{"helper-server", "never-ready"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want it to be the context's", err)
	}
}

func TestServerDeafToSIGTERMIsKilled(t *testing.T) {
	l := newLauncher(t)
	s, err := startServer(t, l, "deaf", ServerOptions{StopTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	pid := s.PID()
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("Stop: %v; want it to say that the server had to be killed", err)
	}
	if !gone(pid) {
		t.Error("it still runs")
	}
	if err := s.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestServerTarget(t *testing.T) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	l := newLauncher(t)
	s, err := l.Server(t.Context(), ServerOptions{Target: "http://" + up.Addr().String() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Ours() || s.PID() != 0 || s.Addr() != up.Addr().String() || s.URL() != "http://"+up.Addr().String() || s.Died() != nil {
		t.Errorf("target: ours %v, pid %d, %s", s.Ours(), s.PID(), s.URL())
	}
	if err := s.Kill(); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Kill: %v; want ErrNotOurs", err)
	}
	if err := s.Restart(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Restart: %v; want ErrNotOurs", err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("Stop: %v", err)
	}

	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down.Close()
	for target, want := range map[string]string{
		down.Addr().String():   "nobody answers at the target",
		"127.0.0.1":            "should be host:port",
		"https://127.0.0.1:1":  "http://host:port",
		"http://127.0.0.1:1/x": "http://host:port",
		":8490":                "no port or host",
	} {
		if _, err := l.Server(t.Context(), ServerOptions{Target: target}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("target %q: %v; want %q", target, err, want)
		}
	}
}
