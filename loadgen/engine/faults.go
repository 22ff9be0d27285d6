package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ackmark/profiles"
)

// injectFaults breaks what the profile asks for, in order of time. begin is
// when measure begins. It returns early when ctx ends.
func (r *run) injectFaults(ctx context.Context, begin time.Duration) error {
	w := newWaiter(r.clock)
	for _, f := range r.profile.Faults {
		if w.until(ctx, begin+f.At.Std()) != nil {
			return nil
		}
		if err := r.killServer(ctx, w, f); err != nil {
			return err
		}
	}
	return nil
}

// killServer is kill -9 and a restart on the same port. Counters are read just
// before, so that only what happened since is missing from them.
func (r *run) killServer(ctx context.Context, w *waiter, f profiles.Fault) error {
	_, _ = r.observePage(ctx) // a page missed: the reconciliation says what it can't compare
	r.serverDown.Store(true)
	if err := r.server.Kill(); err != nil {
		return fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	r.faultsDone++
	down := r.clock.now()
	// An interrupt doesn't leave the server down: devices still have to ack.
	_ = w.until(ctx, down+f.Down.Std())
	if err := r.server.Restart(r.base); err != nil {
		return fmt.Errorf("fault %s: restarting the server: %w", f.Kind, err)
	}
	r.serverDown.Store(false)
	select {
	case r.restarted <- struct{}{}:
	default: // the watcher hasn't taken the last one, it will look again anyway
	}
	_, _ = r.observePage(ctx) // a page missed: the reconciliation says what it can't compare
	return nil
}

// watch ends the run when a child dies that should live. It returns when stop
// is closed.
func (r *run) watch(stop <-chan struct{}, fail context.CancelCauseFunc) {
	for {
		select {
		case <-stop:
			return
		case <-r.engine.redis.Died():
			fail(fmt.Errorf("the run was broken off: %w", orUnknown(r.engine.redis.Cause(), "private Redis")))
			return
		case <-r.server.Died():
			if !r.serverDown.Load() {
				if cause := r.server.Cause(); cause != nil {
					fail(fmt.Errorf("the run was broken off: %w", cause))
					return
				}
				continue // a fault killed and restarted it before this goroutine got to look
			}
			select {
			case <-stop:
				return
			case <-r.restarted:
			}
		}
	}
}

func orUnknown(cause error, what string) error {
	if cause == nil {
		return errors.New("the " + what + " ended")
	}
	return cause
}
