package pair

import (
	"os"
	"testing"
	"time"
)

var sink int

func spin(n int) func(int) {
	return func(ops int) {
		for range ops {
			x := sink
			for i := range n {
				x = x*31 + i
			}
			sink = x
		}
	}
}

// Three times the work is three times the CPU, within what a busy machine
// leaves of it.
func TestRatio(t *testing.T) {
	r := Compare(5, 200, Side{Name: "one", Run: spin(20_000)}, Side{Name: "three", Run: spin(60_000)})
	if r.Ratio < 2.4 || r.Ratio > 3.6 {
		t.Errorf("ratio %.2f, want 3", r.Ratio)
	}
}

// Waiting is not CPU.
func TestWaitingCostsNothing(t *testing.T) {
	before := CPU()
	timer := time.NewTimer(50 * time.Millisecond)
	<-timer.C
	if used := CPU() - before; used > 25*time.Millisecond {
		t.Errorf("50 ms of waiting cost %v of CPU", used)
	}
}

func TestAllocs(t *testing.T) {
	var keep *[64]byte
	r := Compare(3, 1000, Side{Run: spin(1)}, Side{Run: func(n int) {
		for range n {
			keep = new([64]byte)
		}
	}})
	_ = keep
	if r.Ours.Allocs < 0.95 || r.Ours.Allocs > 1.1 || r.Floor.Allocs > 0.1 {
		t.Errorf("allocs %.3f and %.3f per operation, want 1 and 0", r.Ours.Allocs, r.Floor.Allocs)
	}
}

func TestSidesMayBeElsewhere(t *testing.T) {
	elsewhere := func(perOp time.Duration, mallocs uint64) Side {
		var cpu time.Duration
		var count uint64
		return Side{
			Run:     func(n int) { cpu += time.Duration(n) * perOp; count += uint64(n) * mallocs },
			CPU:     func() time.Duration { return cpu },
			Mallocs: func() uint64 { return count },
		}
	}
	r := Compare(3, 10, elsewhere(4*time.Microsecond, 1), elsewhere(5*time.Microsecond, 2))
	if r.Ratio != 1.25 || r.Low != 1.25 || r.Spread != 0 || r.Floor.CPU != 4*time.Microsecond || r.Ours.Allocs != 2 || r.Floor.Allocs != 1 {
		t.Errorf("%+v", r)
	}
}

func TestProcessCPU(t *testing.T) {
	spin(1000)(1000)
	own, byPID := CPU(), ProcessCPU(os.Getpid())
	if byPID < own || byPID > own+time.Second {
		t.Errorf("%v by pid, %v of its own a moment before", byPID, own)
	}
	// Pids end at 2^22.
	if got := ProcessCPU(1<<22 + 1); got != 0 {
		t.Errorf("a process that isn't there has used %v", got)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{{[]float64{1, 2, 3}, 0.5, 2}, {[]float64{1, 2, 3, 4}, 0.5, 2.5}, {[]float64{5}, 0.75, 5}, {nil, 0.5, 0}, {[]float64{0, 10}, 0.25, 2.5}} {
		if got := quantile(c.values, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
}
