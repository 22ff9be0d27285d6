// Package pair compares two ways of doing the same work, for benchmarks: a
// floor that can't be beaten and what the project does. The two take turns in
// one run (floor, ours, ours, floor), so a machine that swings swings for
// both, and what counts is the ratio of CPU time, not of wall time: a write
// that wakes another thread costs what it costs in all of them.
//
// The package may read the process's CPU time. It starts nothing.
package pair

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Side is one way of doing the work.
type Side struct {
	Name string
	// Run does n operations and returns once all of their work is done, in
	// whatever goroutines.
	Run func(n int)
	// Reset, unless nil, tidies up between turns, off the clock.
	Reset func()
	// CPU and Mallocs, unless nil, read what was used so far where the work is
	// done, when that isn't this process: in a child, whose client this process
	// is. See ProcessCPU.
	CPU     func() time.Duration
	Mallocs func() uint64
}

// Cost is what one side has used.
type Cost struct {
	CPU    time.Duration // per operation, median over the turns
	Allocs float64       // heap allocations per operation, over all turns
}

// Result is the outcome of a comparison.
type Result struct {
	Floor, Ours Cost
	Ratio       float64 // CPU of ours ÷ floor, median over the rounds
	Spread      float64 // half the range between the quartiles of the ratios, relative to the median
	Low         float64 // lower quartile of the ratios
	Rounds      int
}

// warmUp is how much of a turn each side runs first, off the record.
const warmUp = 4

// Compare runs rounds of four turns (ABBA) of n operations each.
func Compare(rounds, n int, floor, ours Side) Result {
	for _, s := range []Side{floor, ours} {
		s.Run(max(n/warmUp, 1))
		s.reset()
	}
	var a, b []float64
	var ratios []float64
	var allocsA, allocsB uint64
	for range rounds {
		a1, x1 := floor.turn(n)
		b1, y1 := ours.turn(n)
		b2, y2 := ours.turn(n)
		a2, x2 := floor.turn(n)
		a = append(a, a1, a2)
		b = append(b, b1, b2)
		allocsA += x1 + x2
		allocsB += y1 + y2
		ratios = append(ratios, (b1+b2)/(a1+a2))
	}
	turns := float64(2 * rounds * n)
	slices.Sort(ratios)
	med := median(ratios)
	return Result{
		Floor:  Cost{time.Duration(median(a)), float64(allocsA) / turns},
		Ours:   Cost{time.Duration(median(b)), float64(allocsB) / turns},
		Ratio:  med,
		Spread: (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / 2 / med,
		Low:    quantile(ratios, 0.25),
		Rounds: rounds,
	}
}

// Bench reports a comparison as a benchmark: nanoseconds of CPU per operation
// of both sides, their ratio ("x-floor"), its spread in percent, and what ours
// allocates. perTurn is the operations in one turn; b.N is the rounds. Limit
// adds what the ratio may be.
func Bench(b *testing.B, perTurn int, floor, ours Side) Result {
	b.Helper()
	return BenchPer(b, "delivery", perTurn, floor, ours)
}

// BenchPer is Bench for operations of another name.
func BenchPer(b *testing.B, op string, perTurn int, floor, ours Side) Result {
	b.Helper()
	r := Compare(b.N, perTurn, floor, ours)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(r.Floor.CPU.Nanoseconds()), "floor-cpu-ns/"+op)
	b.ReportMetric(float64(r.Ours.CPU.Nanoseconds()), "cpu-ns/"+op)
	b.ReportMetric(r.Ratio, "x-floor")
	b.ReportMetric(100*r.Spread, "±%")
	b.ReportMetric(r.Ours.Allocs, "allocs/"+op)
	return r
}

// Limit reports the highest ratio that is wanted ("x-limit"), for the table of
// `make perf`.
func Limit(b *testing.B, limit float64) { b.ReportMetric(limit, "x-limit") }

// Require reports a limit and fails the benchmark when three quarters of the
// rounds lie above it. It is for floors, which have to be honest for any ratio
// over them to mean something.
func Require(b *testing.B, r Result, limit float64) {
	b.Helper()
	Limit(b, limit)
	if r.Low > limit {
		b.Errorf("the floor costs %.2f times what it stands on, at most %.2f is honest", r.Ratio, limit)
	}
}

func (s Side) reset() {
	if s.Reset != nil {
		s.Reset()
	}
}

// turn returns the CPU nanoseconds and the allocations of n operations.
func (s Side) turn(n int) (perOp float64, allocs uint64) {
	readCPU, readMallocs := CPU, MallocCount
	if s.CPU != nil {
		readCPU = s.CPU
	}
	if s.Mallocs != nil {
		readMallocs = s.Mallocs
	}
	mallocs := readMallocs()
	cpu := readCPU()
	s.Run(n)
	cpu = readCPU() - cpu
	allocs = readMallocs() - mallocs
	s.reset()
	return float64(cpu) / float64(n), allocs
}

// CPU returns the CPU time of this process so far, user and system, of all threads.
func CPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// ProcessCPU returns the CPU time of another process so far, all its threads,
// those that ended included; 0 for one that is gone. It reads the process's CPU
// clock, as clock_getcpuclockid(3) does: /proc counts in ticks of 10 ms.
func ProcessCPU(pid int) time.Duration {
	const cpuClockSched = 2 // linux/posix-timers.h
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|cpuClockSched), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

func median(values []float64) float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return quantile(s, 0.5)
}

// quantile interpolates between the neighbours of a rank, in sorted values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
