package measure

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// CPUTime is the CPU time of a process of this machine since it started, all
// its threads, user and system, those that have exited too.
//
// It asks the kernel for the process's CPU clock (clock_getcpuclockid(3)),
// which is in nanoseconds and takes half a microsecond. The other sources are
// worse: utime and stime in /proc/PID/stat come in ticks of 10 ms and take
// 18 µs; the sum of /proc/PID/task/*/schedstat is in nanoseconds too, but takes
// 20 µs per thread and forgets threads that have exited. The clock can be read
// until the process has been waited for.
func CPUTime(pid int) (time.Duration, error) {
	if pid <= 0 {
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	// The kernel's encoding of "CPU time of process pid, by the scheduler":
	// the complement of the pid above three bits, CPUCLOCK_SCHED = 2 below.
	const cpuClockSched = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|cpuClockSched), &ts); err != nil {
		return 0, fmt.Errorf("CPU time of process %d (is it gone?): %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// userHZ is the unit of the times in /proc/PID/stat, 1/100 s on every Linux
// architecture that Go runs on (sysconf(_SC_CLK_TCK)). Only the fallback uses it.
const userHZ = 100

// procReader reads processes of one procfs; tests give it a synthetic one.
type procReader struct {
	fs  procfs.FS
	cpu func(pid int) (time.Duration, error) // CPUTime, except in tests
}

func newProcReader(root string) (procReader, error) {
	fs, err := procfs.NewFS(root)
	if err != nil {
		return procReader{}, fmt.Errorf("%s isn't a procfs: %w", root, err)
	}
	return procReader{fs: fs, cpu: CPUTime}, nil
}

// read gives CPU time and resident memory in bytes.
func (r procReader) read(pid int) (cpu time.Duration, rss uint64, err error) {
	p, err := r.fs.Proc(pid)
	if err != nil {
		return 0, 0, fmt.Errorf("process %d isn't there: %w", pid, err)
	}
	stat, err := p.Stat()
	if err != nil {
		return 0, 0, fmt.Errorf("process %d: %w", pid, err)
	}
	cpu, err = r.cpu(pid)
	if err != nil {
		// A kernel that refuses the clock: ticks of 10 ms are better than nothing.
		cpu = time.Duration(stat.UTime+stat.STime) * (time.Second / userHZ)
	}
	return cpu, uint64(stat.ResidentMemory()), nil
}

// queued is how long a thread has waited for a core while it was ready to run,
// and how many slices of time on one it got for it.
type queued struct {
	delay  time.Duration
	slices uint64
}

// queues reads what the threads of a process that live now have waited, by
// thread; nil where the kernel doesn't tell (no CONFIG_SCHED_INFO).
func (r procReader) queues(pid int) map[int]queued {
	threads, err := r.fs.AllThreads(pid)
	if err != nil {
		return nil
	}
	var out map[int]queued
	for _, t := range threads {
		s, err := t.Schedstat()
		if err != nil {
			continue // it has exited since, or isn't told
		}
		if out == nil {
			out = make(map[int]queued, len(threads))
		}
		out[t.PID] = queued{time.Duration(s.WaitingNanoseconds), s.RunTimeslices}
	}
	return out
}

// waited sums what threads have waited since an earlier reading. One that has
// exited meanwhile takes what it waited along; one that is new counts in whole.
func waited(now, earlier map[int]queued) (sum queued) {
	for tid, q := range now {
		if was, ok := earlier[tid]; ok && was.slices <= q.slices && was.delay <= q.delay {
			q.delay, q.slices = q.delay-was.delay, q.slices-was.slices
		}
		sum.delay += q.delay
		sum.slices += q.slices
	}
	return sum
}
