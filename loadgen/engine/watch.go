package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"ackmark/loadgen/launch"
)

// life is what is known of a child whose death ends the run, unless it is on
// purpose.
type life struct {
	down     atomic.Bool   // on purpose: killed and not restarted yet, or stopped
	restored chan struct{} // after a fault
}

func newLife() life { return life{restored: make(chan struct{}, 1)} }

// back says that the child lives again.
func (l *life) back() {
	l.down.Store(false)
	select {
	case l.restored <- struct{}{}:
	default: // the watcher hasn't taken the last one, it will look again anyway
	}
}

// mortal is a child, by what launch tells of it.
type mortal interface {
	Died() <-chan struct{}
	Cause() error
}

var _, _ mortal = (*launch.Server)(nil), (*launch.Redis)(nil)

// watch ends the run when a child dies that should live. It returns when stop
// is closed.
func (r *run) watch(stop <-chan struct{}, fail context.CancelCauseFunc) {
	var both sync.WaitGroup
	both.Go(func() { r.redisLife.watch(r.engine.redis, "private Redis", stop, fail) })
	both.Go(func() { r.serverLife.watch(r.server, "server", stop, fail) })
	both.Wait()
}

func (l *life) watch(m mortal, what string, stop <-chan struct{}, fail context.CancelCauseFunc) {
	for {
		select {
		case <-stop:
			return
		case <-m.Died():
		}
		if !l.down.Load() {
			cause := m.Cause()
			if cause == nil {
				continue // a fault killed and restarted it before this goroutine got to look
			}
			fail(fmt.Errorf("the run was broken off: %w", orUnknown(cause, what)))
			return
		}
		select {
		case <-stop:
			return
		case <-l.restored:
		}
	}
}

func orUnknown(cause error, what string) error {
	if cause == nil {
		return errors.New("the " + what + " ended")
	}
	return cause
}
