package engine

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"ackmark/results"
)

// clock is a run's time: one monotonic base for everything that is measured.
type clock struct{ began time.Time }

func newClock() clock { return clock{time.Now()} }

// now is the time since the run's start.
func (c clock) now() time.Duration { return time.Since(c.began) }

// waiter waits on a clock, with one timer for all waits.
type waiter struct {
	clock clock
	timer *time.Timer
	nap   func(time.Duration) // waits more precisely than the timer; nil: the timer is good enough
}

func newWaiter(c clock) *waiter {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &waiter{clock: c, timer: t}
}

// lastPart is what a precise waiter leaves to nap. The runtime's timers wake up
// to a millisecond late, because an idle thread waits in epoll, which counts in
// milliseconds (measured: 0.8 ms at p50). nanosleep(2) is within 0.1 ms, but a
// thread sits in it, and nobody can call the wait off.
const lastPart = 2 * time.Millisecond

// newPreciseWaiter is for the pacer. At rates of some thousands per second its
// naps take a few per cent of a core.
func newPreciseWaiter(c clock) *waiter {
	w := newWaiter(c)
	w.nap = func(d time.Duration) {
		ts := unix.NsecToTimespec(d.Nanoseconds())
		_ = unix.Nanosleep(&ts, nil) // a signal cuts it short; until looks again
	}
	return w
}

// until returns at the given time; earlier, with an error, when ctx ends.
func (w *waiter) until(ctx context.Context, at time.Duration) error {
	coarse := at
	if w.nap != nil {
		coarse -= lastPart
	}
	if wait := coarse - w.clock.now(); wait > 0 {
		w.timer.Reset(wait)
		select {
		case <-w.timer.C:
		case <-ctx.Done():
			w.timer.Stop()
			return ctx.Err()
		}
	}
	for w.nap != nil {
		rest := at - w.clock.now()
		if rest <= 0 {
			break
		}
		w.nap(rest)
	}
	return ctx.Err()
}

// phases keeps the labelled stretches of a run.
type phases struct {
	list []results.Phase
	open bool // the last one hasn't ended
}

// begin ends the phase that runs and begins the next, at a time since the
// run's start.
func (p *phases) begin(name string, at time.Duration) {
	p.end(at)
	p.list = append(p.list, results.Phase{Name: name, StartMs: ms(at), EndMs: ms(at)})
	p.open = true
}

// end ends the phase that runs, if one does.
func (p *phases) end(at time.Duration) {
	if p.open {
		last := &p.list[len(p.list)-1]
		last.EndMs = max(ms(at), last.StartMs)
		p.open = false
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
