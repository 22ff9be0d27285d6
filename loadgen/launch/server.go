package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ServerOptions say which server a run drives.
type ServerOptions struct {
	// Target is the address of a running server, host:port or http://host:port.
	// When set, nothing is started and the rest but StartTimeout is ignored.
	Target string

	// Executable to run; empty means the generator's own.
	Executable string
	// Args for it, such as {"refserver", "serve", "--redis", url}. --listen,
	// --addr-file and --exit-with-stdin are added. Secrets belong in Env: any
	// user of the machine can read a command line.
	Args []string
	// Env is added to the generator's environment, from which ACKMARK_* is left out.
	Env []string
	// Listen is the address to listen on; empty means a free port of 127.0.0.1.
	// A restart listens on the port that the first start got.
	Listen string

	// StartTimeout bounds the time until the server is ready; 0 means 15 s.
	StartTimeout time.Duration
	// StopTimeout is the time between SIGTERM and SIGKILL; 0 means 15 s, more
	// than the server takes to drain.
	StopTimeout time.Duration
}

// Server is the server under load: a child, or one that was running already.
type Server struct {
	launcher *Launcher
	opts     ServerOptions

	lives lives // has no child with a target

	mu      sync.Mutex // held through Kill, Restart and Stop; guards what follows
	stopped bool

	addr atomic.Value // string; set before Server returns, then the same for good
}

// Server starts the server, or checks that somebody listens at the target.
func (l *Launcher) Server(ctx context.Context, o ServerOptions) (*Server, error) {
	if o.StartTimeout == 0 {
		o.StartTimeout = 15 * time.Second
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 15 * time.Second
	}
	s := &Server{launcher: l, opts: o}
	if o.Target != "" {
		return s, s.find(ctx)
	}
	if o.Listen == "" {
		s.opts.Listen = "127.0.0.1:0"
	}
	if o.Executable == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding the generator's own executable: %w", err)
		}
		s.opts.Executable = exe
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if err := l.own(s.Stop); err != nil {
		s.lives.current().kill()
		return nil, err
	}
	return s, nil
}

// find checks a target by connecting to it.
func (s *Server) find(ctx context.Context) error {
	addr, err := targetAddr(s.opts.Target)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("nobody answers at the target %s: %w; start a server there or leave the target out to have one started", s.opts.Target, err)
	}
	c.Close()
	s.addr.Store(addr)
	return nil
}

func targetAddr(target string) (string, error) {
	addr := target
	if strings.Contains(target, "://") {
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return "", fmt.Errorf("target %q isn't an address; it should be host:port or http://host:port", target)
		}
		addr = u.Host
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" {
		return "", fmt.Errorf("target %q has no port or host; it should be host:port, such as 127.0.0.1:8490", target)
	}
	return addr, nil
}

// start runs a child and waits for its address.
func (s *Server) start(ctx context.Context) error {
	listen := s.opts.Listen
	if addr := s.Addr(); addr != "" {
		listen = addr
	}
	dir := s.launcher.Dir()
	addrFile := filepath.Join(dir, fmt.Sprintf("server-%d.addr", s.launcher.next()))
	args := append(append([]string(nil), s.opts.Args...),
		"--listen", listen, "--addr-file", addrFile, "--exit-with-stdin")
	c, err := startChild(s.launcher.forker, childSpec{
		what: "server", path: s.opts.Executable, args: args, env: childEnv(s.opts.Env),
		dir: dir, log: s.launcher.logPath("server"), holdStdin: true,
	})
	if err != nil {
		return err
	}
	var addr string
	err = c.waitReady(ctx, s.opts.StartTimeout, func() bool {
		b, readErr := os.ReadFile(addrFile)
		addr = strings.TrimSpace(string(b))
		return readErr == nil && addr != ""
	})
	if err == nil {
		if _, _, splitErr := net.SplitHostPort(addr); splitErr != nil {
			err = fmt.Errorf("the server wrote %q as its address; it should be host:port", addr)
		}
	}
	if err != nil {
		c.kill()
		return err
	}
	s.addr.Store(addr)
	s.lives.begin(c)
	return nil
}

// Addr is host:port. It stays the same through restarts.
func (s *Server) Addr() string {
	addr, _ := s.addr.Load().(string)
	return addr
}

// URL is http://host:port.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Ours says whether the server is a child of this run.
func (s *Server) Ours() bool { return s.opts.Target == "" }

// PID of the child; 0 with a target, and while there is no process.
func (s *Server) PID() int {
	pid, _ := s.lives.process()
	return pid
}

// Process gives the pid, and the CPU time of earlier incarnations as the kernel
// told it when they ended: what measure.Watched asks for.
func (s *Server) Process() (pid int, ended time.Duration) { return s.lives.process() }

// Died is closed when the current process ends, for whatever reason; nil with a
// target. Cause then says how, with the last lines of its log.
func (s *Server) Died() <-chan struct{} { return s.lives.died() }

// Cause describes the end of the current process; nil while it lives.
func (s *Server) Cause() error { return s.lives.cause() }

// Kill is kill -9: the server gets no chance to flush or to say goodbye. It
// returns when the process is gone.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.lives.current()
	if c == nil {
		return fmt.Errorf("killing the server at %s: %w", s.Addr(), ErrNotOurs)
	}
	c.kill()
	return nil
}

// Restart starts the server again on the same port, after Kill or a crash.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.lives.current()
	switch {
	case c == nil:
		return fmt.Errorf("restarting the server at %s: %w", s.Addr(), ErrNotOurs)
	case s.stopped:
		return errors.New("the server was stopped for good; it can't be restarted")
	case c.alive():
		return fmt.Errorf("the server (pid %d) still runs; kill it before a restart", c.pid())
	}
	return s.start(ctx)
}

// Stop ends the server for good: SIGTERM so that it drains, SIGKILL after the
// timeout, which is an error. With a target it does nothing. Idempotent.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if c := s.lives.current(); c != nil {
		return c.stop(s.opts.StopTimeout)
	}
	return nil
}
