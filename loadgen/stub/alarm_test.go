package stub

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// TestAlarmKeepsOrder: by deadline, then by adding; never before the deadline.
func TestAlarmKeepsOrder(t *testing.T) {
	began := time.Now()
	now := func() int64 { return int64(time.Since(began)) }
	a, err := newAlarm(now, &gate{now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	var mu sync.Mutex
	var got []uint64
	done := make(chan struct{})
	base := now() + int64(20*time.Millisecond)
	// as they are added: deadlines of 3, 1, 2, 1 and 0 ms
	for i, at := range []int64{3, 1, 2, 1, 0} {
		a.add(&event{due: base + at*1e6, ref: uint64(i), fire: func(e *event) {
			mu.Lock()
			defer mu.Unlock()
			if early := e.due - now(); early > 0 {
				t.Errorf("%d came %v early", e.ref, time.Duration(early))
			}
			if got = append(got, e.ref); len(got) == 5 {
				close(done)
			}
		}})
	}
	<-done
	if want := []uint64{4, 1, 3, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// BenchmarkAlarmLateness reports how late events come, beside time.Sleep.
func BenchmarkAlarmLateness(b *testing.B) {
	began := time.Now()
	now := func() int64 { return int64(time.Since(began)) }
	report := func(b *testing.B, late []time.Duration) {
		d := sorted(late)
		b.ReportMetric(float64(d.Percentile(50).Nanoseconds())/1e3, "p50-µs-late")
		b.ReportMetric(float64(d.Percentile(99).Nanoseconds())/1e3, "p99-µs-late")
	}
	b.Run("alarm", func(b *testing.B) {
		a, err := newAlarm(now, &gate{now: now})
		if err != nil {
			b.Fatal(err)
		}
		defer a.close()
		var late []time.Duration
		fired := make(chan int64)
		for b.Loop() {
			due := now() + int64(3*time.Millisecond)
			a.add(&event{due: due, fire: func(*event) { fired <- now() }})
			late = append(late, time.Duration(<-fired-due))
		}
		report(b, late)
	})
	b.Run("sleep", func(b *testing.B) {
		var late []time.Duration
		for b.Loop() {
			due := now() + int64(3*time.Millisecond)
			time.Sleep(3 * time.Millisecond)
			late = append(late, time.Duration(now()-due))
		}
		report(b, late)
	})
}
