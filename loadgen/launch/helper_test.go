package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the processes that it tests with: its first argument
// says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "helper-server":
			os.Exit(helperServer(os.Args[2:]))
		case "helper-generator":
			os.Exit(helperGenerator())
		}
	}
	goleak.VerifyTestMain(m)
}

// helperServer behaves like the server's serve command, or misbehaves.
func helperServer(args []string) int {
	mode, listen, addrFile := args[0], "", ""
	for i, a := range args {
		switch a {
		case "--listen":
			listen = args[i+1]
		case "--addr-file":
			addrFile = args[i+1]
		}
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	switch mode {
	case "crash":
		fmt.Fprintln(os.Stderr, "first line\n\nredis: no such host; give a reachable --redis URL")
		return 5
	case "never-ready":
		fmt.Println("thinking about it")
		<-term
		return 0
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot listen:", err)
		return 5
	}
	defer l.Close()
	fmt.Println("secret in env:", os.Getenv("ACKMARK_TOKEN_SECRET"), "inherited:", os.Getenv("ACKMARK_LISTEN"))
	if err := os.WriteFile(addrFile+".tmp", []byte(l.Addr().String()+"\n"), 0o600); err != nil {
		return 5
	}
	if err := os.Rename(addrFile+".tmp", addrFile); err != nil {
		return 5
	}
	if mode == "deaf" {
		signal.Ignore(syscall.SIGTERM)
		io.Copy(io.Discard, os.Stdin)
		return 0
	}
	gone := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	select {
	case <-term:
	case <-gone:
	}
	return 0
}

type helperState struct {
	Dir      string
	Children []int
}

// helperGenerator starts what a run starts, says so on stdout, and lives until
// SIGINT, which it answers the way the program does: cancel, clean up, exit 130.
func helperGenerator() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
	defer stop()
	l, err := New()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	defer l.Close()
	state := helperState{Dir: l.Dir()}
	r, err := l.Redis(ctx, RedisOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	if r.Kind() == Private {
		state.Children = append(state.Children, r.PID())
	}
	s, err := l.Server(ctx, ServerOptions{Args: []string{"helper-server", "good"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	state.Children = append(state.Children, s.PID())
	if err := json.NewEncoder(os.Stdout).Encode(state); err != nil {
		return 5
	}
	<-ctx.Done()
	if err := l.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	return 130
}

// startGenerator runs helperGenerator in its own process and returns when it
// has started its children.
func startGenerator(t *testing.T) (*exec.Cmd, helperState) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "helper-generator")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var st helperState
	if err := json.NewDecoder(out).Decode(&st); err != nil {
		t.Fatalf("the helper generator said nothing useful: %v", err)
	}
	return cmd, st
}

// ownTemp gives the test a temporary directory of its own for run directories.
func ownTemp(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "am")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
}

func newLauncher(t *testing.T) *Launcher {
	t.Helper()
	ownTemp(t)
	l, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// needRedis skips where there is no redis-server, except in CI, where that's a failure.
func needRedis(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true and there is no redis-server in PATH")
		}
		t.Skip("no redis-server in PATH: a private Redis isn't tested")
	}
}

// gone says whether a process has ended; one that only its parent has yet to
// notice has ended too.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// eventually polls until ok, for ten seconds at most.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}
