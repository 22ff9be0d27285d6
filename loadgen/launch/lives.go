package launch

import (
	"fmt"
	"sync"
	"time"
)

// lives are the incarnations of one child through restarts. It's apart from the
// lock that Kill, Restart and Stop hold, so that a sampler never waits for them.
type lives struct {
	mu    sync.Mutex // guards what follows
	child *child     // the current one; it may have ended; nil before the first
	ended time.Duration
}

// begin makes c the current incarnation.
func (l *lives) begin(c *child) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.child != nil {
		l.ended += l.child.cpu // it has ended: restarts see to that
	}
	l.child = c
}

func (l *lives) current() *child {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.child
}

// process gives the pid, 0 while there is no process, and the CPU time of the
// incarnations that have ended.
func (l *lives) process() (pid int, ended time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.child == nil:
		return 0, l.ended
	case l.child.alive():
		return l.child.pid(), l.ended
	default:
		return 0, l.ended + l.child.cpu
	}
}

func (l *lives) died() <-chan struct{} {
	if c := l.current(); c != nil {
		return c.done
	}
	return nil
}

func (l *lives) cause() error {
	c := l.current()
	if c == nil || c.alive() {
		return nil
	}
	return fmt.Errorf("the %s ended: %w", c.what, c.died())
}
