package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is one process that the launcher started.
type child struct {
	what  string // for messages: redis-server, server
	cmd   *exec.Cmd
	log   string // file with its stdout and stderr
	stdin io.Closer
	done  chan struct{} // closed when it has been waited for

	// Written before done is closed, read after.
	exit error
	cpu  time.Duration

	stopOnce sync.Once
}

type childSpec struct {
	what string
	path string
	args []string
	env  []string
	dir  string
	log  string
	// holdStdin keeps a pipe open to the child's stdin until it has been
	// stopped or the generator is gone; else its stdin is empty.
	holdStdin bool
}

// startChild forks the process and the goroutine that waits for it, which ends
// when the process does.
func startChild(f *forker, s childSpec) (*child, error) {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting the %s: %w", s.what, err)
	}
	defer log.Close() // the child has its own descriptor
	cmd := exec.Command(s.path, s.args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c := &child{what: s.what, cmd: cmd, log: s.log, done: make(chan struct{})}
	if s.holdStdin {
		if c.stdin, err = cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("starting the %s: %w", s.what, err)
		}
	}
	if err := f.start(cmd); err != nil {
		if c.stdin != nil {
			c.stdin.Close()
		}
		return nil, fmt.Errorf("starting the %s: %w", s.what, err)
	}
	go func() {
		defer close(c.done)
		c.exit = cmd.Wait()
		if st := cmd.ProcessState; st != nil {
			c.cpu = st.UserTime() + st.SystemTime()
		}
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// stop ends the process: SIGTERM, then after the timeout SIGKILL. It returns
// when the process has been waited for. Only the pid is signalled, through a
// handle that can't mean another process. Stopping again does nothing.
func (c *child) stop(timeout time.Duration) error {
	var err error
	c.stopOnce.Do(func() {
		if !c.alive() {
			return
		}
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only if it's gone
		t := time.NewTimer(timeout)
		defer t.Stop()
		select {
		case <-c.done:
		case <-t.C:
			_ = c.cmd.Process.Kill()
			<-c.done
			err = fmt.Errorf("the %s (pid %d) didn't stop within %v of SIGTERM and was killed", c.what, c.pid(), timeout)
		}
	})
	<-c.done
	return err
}

// kill is kill -9; it returns when the process has been waited for.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails only if it's gone
	<-c.done
}

// waitReady asks ready, every few milliseconds, until it's true. It gives up
// when the process ends, when the timeout is over, or when ctx ends, and then
// says why, with the last lines of the log.
func (c *child) waitReady(ctx context.Context, timeout time.Duration, ready func() bool) error {
	const every = 5 * time.Millisecond
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("starting the %s: %w", c.what, context.Cause(ctx))
		case <-c.done:
			return fmt.Errorf("the %s ended while starting: %w", c.what, c.died())
		case <-deadline.C:
			return fmt.Errorf("the %s wasn't ready within %v%s", c.what, timeout, c.quote())
		case <-tick.C:
			if ready() {
				return nil
			}
		}
	}
}

// died describes the end of a process that should have lived. Only valid after done.
func (c *child) died() error {
	how := "exit code 0"
	var ee *exec.ExitError
	switch {
	case errors.As(c.exit, &ee):
		how = ee.String() // "exit status 5", "signal: killed"
	case c.exit != nil:
		how = c.exit.Error()
	}
	return fmt.Errorf("%s%s", how, c.quote())
}

// quote gives the last lines of the log, to be appended to a message.
func (c *child) quote() string {
	lines := lastLines(c.log, 5)
	if len(lines) == 0 {
		return " (it logged nothing)"
	}
	return "; its last words:\n    " + strings.Join(lines, "\n    ")
}

// lastLines reads the last n lines of a file that aren't blank, each cut at 300 bytes.
func lastLines(path string, n int) []string {
	const tail, width = 16 << 10, 300
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(st.Size()-tail, 0)
	b, err := io.ReadAll(io.NewSectionReader(f, from, tail))
	if err != nil {
		return nil
	}
	var lines []string
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l[:min(len(l), width)])
		}
	}
	return lines[max(len(lines)-n, 0):]
}
