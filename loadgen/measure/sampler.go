package measure

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Watched is a process whose cost is measured, through restarts.
type Watched struct {
	// Role names it in results: generator, server, redis.
	Role string
	// Now gives the process as it is at this moment: its pid (0 while there is
	// none), and the CPU time of its earlier incarnations, which package launch
	// knows exactly from their exit status.
	Now func() (pid int, ended time.Duration)
}

// Reading is the state of one watched process at one time.
type Reading struct {
	At  time.Duration // since the run's start
	CPU time.Duration // of all incarnations so far
	RSS uint64        // resident memory in bytes; 0 while there is no process
	PID int
}

// Usage is what a process cost between two marks.
type Usage struct {
	Role string
	// CPU time used, user and system, and the wall time it was used in.
	CPU, Wall time.Duration
	// RSSMax is the largest resident memory seen by a sample, RSSEnd the last,
	// in bytes. Samples are a second apart: a shorter peak may be missed.
	RSSMax, RSSEnd uint64
	// Incarnations is how many different processes were seen.
	Incarnations int
	// Series has the readings from mark to mark, marks included.
	Series []Reading
}

// Cores is how many cores the process kept busy on average.
func (u Usage) Cores() float64 {
	if u.Wall <= 0 {
		return 0
	}
	return float64(u.CPU) / float64(u.Wall)
}

// PerOp is the CPU time, in microseconds, per each of n operations; nil when
// there were none.
func (u Usage) PerOp(n int64) *float64 {
	if n <= 0 {
		return nil
	}
	v := float64(u.CPU.Nanoseconds()) / 1e3 / float64(n)
	return &v
}

// Sampler reads the CPU time and memory of processes: exactly at the marks that
// the caller sets at the ends of the measure phase, and once per second between
// for the series.
type Sampler struct {
	proc    procReader
	watched []Watched

	mu       sync.Mutex // guards what follows
	readings [][]Reading
}

// NewSampler watches processes of this machine.
func NewSampler(watched ...Watched) (*Sampler, error) {
	r, err := newProcReader("/proc")
	if err != nil {
		return nil, err
	}
	return newSampler(r, watched), nil
}

func newSampler(r procReader, watched []Watched) *Sampler {
	return &Sampler{proc: r, watched: watched, readings: make([][]Reading, len(watched))}
}

// Mark reads every process now, at the time at, and returns the mark's number
// for Between. A process that can't be read is an error, unless it has no pid
// at the moment or is between two incarnations; the others are still read.
func (s *Sampler) Mark(at time.Duration) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for i, w := range s.watched {
		r, err := s.readOne(w, at)
		if err != nil {
			failed = fmt.Errorf("measuring the %s: %w", w.Role, err)
		}
		if n := len(s.readings[i]); n > 0 {
			// CPU time can't go back. It would for the moment between a
			// process's end and its being waited for.
			r.CPU = max(r.CPU, s.readings[i][n-1].CPU)
		}
		s.readings[i] = append(s.readings[i], r)
	}
	if len(s.watched) == 0 {
		return 0, nil
	}
	return len(s.readings[0]) - 1, failed
}

func (s *Sampler) readOne(w Watched, at time.Duration) (Reading, error) {
	pid, ended := w.Now()
	r := Reading{At: at, CPU: ended, PID: pid}
	if pid == 0 {
		return r, nil
	}
	cpu, rss, err := s.proc.read(pid)
	if err != nil {
		if again, endedNow := w.Now(); again != pid {
			return Reading{At: at, CPU: endedNow, PID: again}, nil // it ended meanwhile
		}
		return r, err
	}
	r.CPU += cpu
	r.RSS = rss
	return r, nil
}

// Run marks every interval until ctx ends; now tells the time since the run's
// start. Errors are left to the marks at the ends, which are what counts.
func (s *Sampler) Run(ctx context.Context, every time.Duration, now func() time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_, _ = s.Mark(now())
		}
	}
}

// Between gives what every process cost between two marks, in the order they
// are watched.
func (s *Sampler) Between(from, to int) ([]Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Usage, len(s.watched))
	for i, w := range s.watched {
		all := s.readings[i]
		if from < 0 || to <= from || to >= len(all) {
			return nil, fmt.Errorf("marks %d and %d of %d; two marks in order are needed", from, to, len(all))
		}
		series := append([]Reading(nil), all[from:to+1]...)
		u := Usage{Role: w.Role, Series: series}
		first, last := series[0], series[len(series)-1]
		u.CPU, u.Wall, u.RSSEnd = last.CPU-first.CPU, last.At-first.At, last.RSS
		pid := 0
		for _, r := range series {
			u.RSSMax = max(u.RSSMax, r.RSS)
			if r.PID != 0 && r.PID != pid {
				u.Incarnations++
				pid = r.PID
			}
		}
		out[i] = u
	}
	return out, nil
}
