package measure

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// burn uses CPU until the process has used d more of it.
func burn(t *testing.T, d time.Duration) {
	t.Helper()
	start, err := CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for {
		if now, err := CPUTime(os.Getpid()); err != nil || now-start >= d {
			return
		}
	}
}

func TestCPUTimeAgreesWithGetrusage(t *testing.T) {
	burn(t, 30*ms)
	rusage := func() time.Duration {
		var ru syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	// Ours lies between two readings of getrusage, which is in µs.
	before := rusage()
	got, err := CPUTime(os.Getpid())
	after := rusage()
	if err != nil || got < before-10*time.Microsecond || got > after+10*time.Microsecond {
		t.Errorf("CPU time %v, %v; getrusage says %v before and %v after", got, err, before, after)
	}
}

func TestCPUTimeOfAnotherProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo; read x")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	got, err := CPUTime(cmd.Process.Pid)
	in.Close()
	_ = cmd.Wait() // read fails at the end of input: the exit code says nothing
	told := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil || got <= 0 || got > told+10*time.Microsecond {
		t.Errorf("CPU time %v, %v; at its end the kernel says %v", got, err, told)
	}
	if _, err := CPUTime(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone has CPU time")
	}
	if _, err := CPUTime(0); err == nil {
		t.Error("process 0 has CPU time; it would mean this thread's clock")
	}
}

func syntheticProc(t *testing.T) procReader {
	t.Helper()
	r, err := newProcReader("testdata/proc")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The fixture: utime 123, stime 77 ticks; 2,560 resident pages; two threads
// with run-queue delays of 5 and 7 ms in 10 and 20 slices, and one that exits while it's read.
func TestSyntheticProcess(t *testing.T) {
	r := syntheticProc(t)
	r.cpu = func(int) (time.Duration, error) { return 0, errors.New("no such clock") }
	cpu, rss, err := r.read(42)
	if err != nil || cpu != 2*time.Second || rss != 2560*uint64(os.Getpagesize()) {
		t.Errorf("CPU %v, RSS %d, %v; want 2 s of ticks, 2560 pages", cpu, rss, err)
	}
	if q := waited(r.queues(42), nil); q != (queued{12 * ms, 30}) {
		t.Errorf("waited %+v; want 12 ms in 30 slices", q)
	}
	before := map[int]queued{42: {4 * ms, 9}, 99: {time.Hour, 1000}} // 99 has exited since, the other one is new
	if q := waited(r.queues(42), before); q != (queued{8 * ms, 21}) {
		t.Errorf("waited %+v since; want 1 + 7 ms in 1 + 20 slices", q)
	}
	if _, _, err := r.read(43); err == nil {
		t.Error("a process that isn't there was read")
	}
	if q := r.queues(43); q != nil {
		t.Errorf("a process that isn't there waits: %v", q)
	}
	if _, err := newProcReader("testdata/none"); err == nil {
		t.Error("a directory that isn't there is a procfs")
	}
}

// A watched process runs as 42, is killed after 3 s of CPU and comes back; what
// the dead used stays counted, exactly.
func TestSamplerThroughARestart(t *testing.T) {
	r := syntheticProc(t)
	var pid int
	var ended, clock time.Duration
	r.cpu = func(int) (time.Duration, error) { return clock, nil }
	s := newSampler(r, []Watched{{Role: "server", Now: func() (int, time.Duration) { return pid, ended }}})
	mark := func(at time.Duration, p int, dead, cpu time.Duration) int {
		t.Helper()
		pid, ended, clock = p, dead, cpu
		n, err := s.Mark(at)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	mark(0, 42, 0, time.Second)
	from := mark(2*time.Second, 42, 0, 1500*ms)
	mark(3*time.Second, 42, 0, 2500*ms)
	mark(4*time.Second, 0, 3*time.Second, 0) // killed: its exit status says 3 s
	mark(5*time.Second, 42, 3*time.Second, 100*ms)
	to := mark(12*time.Second, 42, 3*time.Second, 3500*ms)
	u, err := s.Between(from, to)
	if err != nil {
		t.Fatal(err)
	}
	// 3 + 3.5 − 1.5 = 5 s of CPU in 10 s.
	if got := u[0]; got.Role != "server" || got.CPU != 5*time.Second || got.Wall != 10*time.Second || got.Cores() != 0.5 || got.Incarnations != 1 || len(got.Series) != 5 {
		t.Errorf("usage %+v; want 5 s of CPU in 10 s", got)
	}
	if got := u[0].PerOp(1_000_000); got == nil || *got != 5 {
		t.Errorf("per operation %v; want 5 µs", got)
	}
	if u[0].PerOp(0) != nil || (Usage{}).Cores() != 0 {
		t.Error("no operations have a cost, or no time has cores")
	}
	for _, bad := range [][2]int{{to, from}, {from, from}, {-1, to}, {from, to + 1}} {
		if _, err := s.Between(bad[0], bad[1]); err == nil {
			t.Errorf("marks %v were accepted", bad)
		}
	}
}

func TestSamplerErrors(t *testing.T) {
	r := syntheticProc(t)
	r.cpu = func(int) (time.Duration, error) { return time.Second, nil }
	pids := []int{7777, 0}
	s := newSampler(r, []Watched{{Role: "redis", Now: func() (int, time.Duration) {
		p := pids[0]
		if len(pids) > 1 {
			pids = pids[1:]
		}
		return p, 2 * time.Second
	}}})
	if _, err := s.Mark(0); err != nil {
		t.Errorf("a process that ended while it was read: %v; want no error", err)
	}
	pids = []int{7777}
	if _, err := s.Mark(time.Second); err == nil {
		t.Error("a process that can't be read gave no error")
	}
}

func TestSamplerOfThisProcess(t *testing.T) {
	s, err := NewSampler(Watched{Role: "generator", Now: func() (int, time.Duration) { return os.Getpid(), 0 }})
	if err != nil {
		t.Fatal(err)
	}
	from, err := s.Mark(0)
	if err != nil {
		t.Fatal(err)
	}
	burn(t, 20*ms)
	to, err := s.Mark(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.Between(from, to)
	if err != nil || u[0].CPU < 20*ms || u[0].RSSMax < 1<<20 {
		t.Errorf("%+v, %v; want 20 ms of CPU or more, and memory", u[0], err)
	}
}

func TestSamplerRunsEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler(procReader{}, []Watched{{Role: "none", Now: func() (int, time.Duration) { return 0, 0 }}})
		ctx, cancel := context.WithTimeout(t.Context(), 5500*ms)
		defer cancel()
		began := time.Now()
		s.Run(ctx, time.Second, func() time.Duration { return time.Since(began) })
		u, err := s.Between(0, 4)
		if err != nil || u[0].Wall != 4*time.Second || len(u[0].Series) != 5 {
			t.Errorf("%+v, %v; want 5 readings a second apart", u, err)
		}
	})
}

func BenchmarkCPUTime(b *testing.B) {
	for b.Loop() {
		_, _ = CPUTime(os.Getpid())
	}
}
