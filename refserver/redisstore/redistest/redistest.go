package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	startTimeout = 15 * time.Second
	pollEvery    = 2 * time.Millisecond
)

// Redis is one private redis-server.
type Redis struct {
	tb   testing.TB
	dir  string
	args []string

	mu      sync.Mutex
	child   *child        // guarded by mu; nil while stopped
	inspect *redis.Client // guarded by mu; of CommandStats and Client
}

// Option changes how the server is started.
type Option func(*Redis)

// AOF switches the append-only file on; fsync is always, everysec or no.
// Without it a killed server comes back empty.
func AOF(fsync string) Option {
	return Set("appendonly", "yes", "appendfsync", fsync)
}

// Set adds settings, name and value by turns, as in redis.conf.
func Set(nameValue ...string) Option {
	return func(r *Redis) {
		for i := 0; i+1 < len(nameValue); i += 2 {
			r.args = append(r.args, "--"+nameValue[i], nameValue[i+1])
		}
	}
}

// Start starts a server and stops it when the test ends.
func Start(tb testing.TB, opts ...Option) *Redis {
	tb.Helper()
	binary := find(tb)
	dir, err := os.MkdirTemp("", "amr") // short: a socket's path has 107 bytes
	if err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	r := &Redis{tb: tb, dir: dir, args: []string{binary,
		"--port", "0", "--unixsocket", filepath.Join(dir, "s"), "--dir", dir,
		"--daemonize", "no", "--save", "", "--appendonly", "no", "--loglevel", "warning"}}
	for _, o := range opts {
		o(r)
	}
	tb.Cleanup(func() {
		r.Stop()
		if tb.Failed() {
			if b, err := os.ReadFile(r.logFile()); err == nil && len(b) > 0 {
				tb.Logf("redis-server's output:\n%s", b)
			}
		}
		os.RemoveAll(dir)
	})
	r.Restart()
	return r
}

// find returns redis-server's path, or ends the test.
func find(tb testing.TB) string {
	tb.Helper()
	binary, err := exec.LookPath("redis-server")
	if err == nil {
		var out []byte
		if out, err = exec.Command(binary, "--version").Output(); err == nil {
			if major := majorVersion(string(out)); major >= 7 {
				return binary
			}
			err = fmt.Errorf("redis-server 7.0 or later is needed: %s", strings.TrimSpace(string(out)))
		}
	}
	const what = "not checked against a real Redis (scripts, epochs, restarts, command counts); install redis-server"
	if os.Getenv("CI") == "true" {
		tb.Fatalf("%v: %s", err, what)
	}
	tb.Skipf("%v: %s", err, what)
	return ""
}

func majorVersion(version string) int {
	_, v, _ := strings.Cut(version, "v=")
	major, _, _ := strings.Cut(v, ".")
	n, _ := strconv.Atoi(major)
	return n
}

// URL returns the server's address for redis clients, unix://….
func (r *Redis) URL() string { return "unix://" + r.Socket() }

// Socket returns the path of the Unix socket.
func (r *Redis) Socket() string { return filepath.Join(r.dir, "s") }

// PID returns the process id; 0 while stopped.
func (r *Redis) PID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		return 0
	}
	return r.child.cmd.Process.Pid
}

// Kill ends the server as a crash does (kill -9).
func (r *Redis) Kill() { r.end(syscall.SIGKILL) }

// Stop ends the server in good order. It does nothing when it doesn't run.
func (r *Redis) Stop() { r.end(syscall.SIGTERM) }

func (r *Redis) end(sig os.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inspect != nil {
		r.inspect.Close()
		r.inspect = nil
	}
	if r.child == nil {
		return
	}
	_ = r.child.cmd.Process.Signal(sig)
	select {
	case <-r.child.done:
	case <-time.After(startTimeout):
		_ = r.child.cmd.Process.Kill()
		<-r.child.done
	}
	r.child = nil
}

// Restart starts the server on its directory again, after Kill or Stop, and
// waits until it answers.
func (r *Redis) Restart() {
	r.tb.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		r.tb.Fatal("redistest: Restart of a running server")
	}
	_ = os.Remove(r.Socket())
	c, err := startChild(r.args, r.logFile())
	if err != nil {
		r.tb.Fatalf("redistest: %v", err)
	}
	r.child = c
	if err := r.ready(c); err != nil {
		out, _ := os.ReadFile(r.logFile())
		r.tb.Fatalf("redistest: %v\n%s", err, out)
	}
}

func (r *Redis) logFile() string { return filepath.Join(r.dir, "log") }

// ready waits until the server answers PING, if only to ask for a password; it
// doesn't while loading.
func (r *Redis) ready(c *child) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	timeout := time.After(startTimeout)
	for {
		if r.ping() {
			return nil
		}
		select {
		case <-poll.C:
		case <-c.done:
			return errors.New("redis-server ended before it was ready")
		case <-timeout:
			return fmt.Errorf("redis-server wasn't ready within %v", startTimeout)
		}
	}
}

func (r *Redis) ping() bool {
	conn, err := net.Dial("unix", r.Socket())
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	buf := make([]byte, 64)
	n, err := conn.Read(buf)
	return err == nil && (strings.HasPrefix(string(buf[:n]), "+PONG") || strings.HasPrefix(string(buf[:n]), "-NOAUTH"))
}

// Client returns a client for looking inside; it is closed with the server.
func (r *Redis) Client() *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inspect == nil {
		r.inspect = redis.NewClient(&redis.Options{
			Network: "unix", Addr: r.Socket(), Protocol: 2, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
	}
	return r.inspect
}

// CommandStats returns the calls of each command since the server started
// (INFO commandstats). What a script calls inside counts too.
func (r *Redis) CommandStats() map[string]uint64 {
	r.tb.Helper()
	info, err := r.Client().Info(context.Background(), "commandstats").Result()
	if err != nil {
		r.tb.Fatalf("redistest: %v", err)
	}
	calls := map[string]uint64{}
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		if calls[name], err = strconv.ParseUint(n, 10, 64); err != nil {
			r.tb.Fatalf("redistest: %q: %v", line, err)
		}
	}
	return calls
}

// child is a running redis-server.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
}

// startChild starts a process that the kernel kills when this one dies. The
// signal follows the thread that started the child, so that thread is kept
// until the child has ended.
func startChild(args []string, logFile string) (*child, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(args[0], args[1:]...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = out, out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(c.done)
		defer out.Close()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // killed on purpose, most of the time
		}
		runtime.UnlockOSThread()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}
