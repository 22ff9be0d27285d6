package stub

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"
)

// event is something to do at a time.
type event struct {
	due   int64  // nanoseconds since the base
	order uint64 // of adding; equal deadlines keep it
	fire  func(*event)

	// What a delivery or answer needs; nil or zero elsewhere.
	m    *member
	msg  *message
	what fault
	ref  uint64
}

type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return e
}

// alarm carries out events at absolute deadlines, one after the other, on a
// thread of its own. It sleeps in ppoll with the least timer slack: woken
// within some 10 µs on an idle machine, where a goroutine's timer takes 0.5 to
// 1 ms. An eventfd interrupts the sleep when an earlier event comes.
type alarm struct {
	now  func() int64
	gate *gate
	wake int // eventfd
	done chan struct{}

	mu     sync.Mutex // guards all below
	q      queue
	order  uint64
	until  int64 // what the thread sleeps for; 0 = it is awake
	late   *hdr.Histogram
	closed bool
}

const never = int64(1)<<62 - 1

func newAlarm(now func() int64, g *gate) (*alarm, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("stub: eventfd: %w", err)
	}
	a := &alarm{now: now, gate: g, wake: fd, done: make(chan struct{}), late: hdr.New(1, time.Hour.Microseconds(), 2)}
	go a.run()
	return a, nil
}

// add takes an event. Events with one deadline are carried out in the order in
// which they were added.
func (a *alarm) add(e *event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.order++
	e.order = a.order
	heap.Push(&a.q, e)
	if a.until > e.due {
		a.rouse()
	}
}

func (a *alarm) rouse() {
	a.until = 0
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(a.wake, one[:]) // fails only when it is signalled already
}

// close drops what is left and waits for the thread.
func (a *alarm) close() {
	a.mu.Lock()
	a.closed = true
	a.rouse()
	a.mu.Unlock()
	<-a.done
	_ = unix.Close(a.wake)
}

// lateness says how late events were carried out; the time of a stall isn't lateness.
func (a *alarm) lateness(p float64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Duration(a.late.ValueAtPercentile(p)) * time.Microsecond
}

func (a *alarm) run() {
	defer close(a.done)
	runtime.LockOSThread() // for good: the thread, with its slack, ends with the goroutine
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for {
		a.mu.Lock()
		if a.closed {
			a.mu.Unlock()
			return
		}
		next := never
		now := a.now()
		if len(a.q) > 0 {
			next = a.gate.openAt(a.q[0].due)
			if open := a.gate.openAt(now); open > now {
				next = max(next, open)
			}
		}
		if next <= now {
			e := heap.Pop(&a.q).(*event)
			_ = a.late.RecordValue((now - next) / 1000) // over an hour: as good as an hour
			a.mu.Unlock()
			a.gate.passed(now)
			e.fire(e)
			continue
		}
		a.until = next
		a.mu.Unlock()
		a.sleep(next - now)
		a.mu.Lock()
		a.until = 0
		a.mu.Unlock()
	}
}

// sleep returns after d nanoseconds, or when roused, or early for no reason.
func (a *alarm) sleep(d int64) {
	ts := unix.NsecToTimespec(min(d, int64(time.Hour)))
	fds := []unix.PollFd{{Fd: int32(a.wake), Events: unix.POLLIN}}
	if n, _ := unix.Ppoll(fds, &ts, nil); n > 0 {
		var b [8]byte
		_, _ = unix.Read(a.wake, b[:])
	}
}
