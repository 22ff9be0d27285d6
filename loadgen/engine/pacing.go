package engine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Precise pacing needs two things: to wake when the time has come, and to get a
// core then. The first is nanosleep(2) with no timer slack. The second is what
// counts where server, Redis and generator share the cores: the kernel lets a
// thread that has just woken wait behind whoever computes, and the scheduler of
// Go lets a goroutine wait behind hundreds of readers while a fan-out is being
// received. So the pacer has a thread of its own, locked to its goroutine, with
// a real-time priority where the user may set one, else a better nice level
// where that may be set; and it writes the send itself (sendNow).
//
// It takes no core from what is measured: it runs for some 30 µs per send, and
// its CPU time is in the result (pacer_cpu_percent).
//
// Measured with ack-storm --variant each on two cores that other work shared,
// three turns each (p50/p99 of the schedule lag, ms): a goroutine per send
// 0.7–4.8/8–117, pacing: sleep 0.9–1.1/7–12, pacing: precise 0.12–0.20/4–27. The
// median is what the thread and its priority win; at p99 the turns don't tell
// the two apart. One P more (GOMAXPROCS) gave no clear difference.

// pacerCost is what a pacer's thread used.
type pacerCost struct {
	percent  float64 // CPU ÷ wall time
	priority string  // "real-time", "nice" or "none"
	known    bool
}

// ownThread locks the goroutine to a thread that wakes in time, and returns
// what to call at the end. The thread isn't unlocked: it ends with its
// goroutine, since others should not inherit its priority.
func (r *run) ownThread() (done func()) {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns; the default, 50 µs, is no harm
	priority := prefer()
	began, cpu := r.clock.now(), threadCPU()
	return func() {
		if wall := r.clock.now() - began; wall > 0 {
			r.pacer = pacerCost{100 * float64(threadCPU()-cpu) / float64(wall.Nanoseconds()), priority, true}
		}
	}
}

// pacing publishes what precise pacing cost, and says so where late sends may
// come of a priority that the user may not set.
func (r *run) pacing() {
	if !r.pacer.known {
		return
	}
	m := r.out.Metrics
	m.Set("pacer_cpu_percent", r.pacer.percent)
	if late, ok := m.Get("late_sends_percent"); ok && late >= 1 && r.pacer.priority == "none" {
		r.warn("the thread that paces has no priority over server and readers, since the user may set none (CAP_SYS_NICE): sends are late where the cores are busy")
	}
}

// niceLevel is 11 steps below that at which a thread of level 0 has hardly any
// weight beside it.
const niceLevel = -15

// prefer gives the thread the best priority that the user may set. The lowest
// of the real-time ones is above everything that has none.
func prefer() string {
	fifo := unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}
	if unix.SchedSetAttr(0, &fifo, 0) == nil {
		return "real-time"
	}
	if unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceLevel) == nil {
		return "nice"
	}
	return "none"
}

// threadCPU is the CPU time of this thread, ns.
func threadCPU() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
