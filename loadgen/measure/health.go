package measure

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Health is how the generator itself fared over an interval. It answers "is the
// generator to blame?" before anybody looks at the system's figures.
type Health struct {
	Wall time.Duration `json:"wall"`
	// CPU time the generator used, and the cores it may use (GOMAXPROCS, which
	// honours the control group's limit).
	CPU      time.Duration `json:"cpu"`
	CoresMax int           `json:"cores_max"`

	// GC pauses: everything stopped. Total is exact; Max is the upper bound of
	// the longest pause's bucket in the runtime's histogram (about 12 % wide).
	GCs          uint64        `json:"gcs"`
	GCPauseTotal time.Duration `json:"gc_pause_total"`
	GCPauseMax   time.Duration `json:"gc_pause_max"`

	// How long goroutines that were ready waited for a thread, upper bounds of
	// the runtime's buckets.
	SchedP99 time.Duration `json:"sched_p99"`
	SchedMax time.Duration `json:"sched_max"`

	// RunQueue is how long the generator's threads that were ready waited for a
	// core, and Slices how often they got one, summed over threads. HasRunQueue
	// is false where the kernel doesn't say.
	HasRunQueue bool          `json:"has_run_queue"`
	RunQueue    time.Duration `json:"run_queue"`
	Slices      uint64        `json:"slices"`

	// Heap is the live heap at the end, in bytes, as the last GC found it.
	Heap uint64 `json:"heap"`
}

// Cores is how many cores the generator kept busy.
func (h Health) Cores() float64 {
	if h.Wall <= 0 {
		return 0
	}
	return float64(h.CPU) / float64(h.Wall)
}

// CPUShare is Cores as a share of the cores it may use.
func (h Health) CPUShare() float64 {
	if h.CoresMax <= 0 {
		return 0
	}
	return h.Cores() / float64(h.CoresMax)
}

// WaitShare is the part of the time that the generator's threads wanted a core
// in which they had to wait for one: wait ÷ (wait + CPU).
func (h Health) WaitShare() float64 {
	if h.RunQueue <= 0 {
		return 0
	}
	return float64(h.RunQueue) / float64(h.RunQueue+h.CPU)
}

// MeanWait is how long a thread that was ready waited for a core, on average.
func (h Health) MeanWait() time.Duration {
	if h.Slices == 0 {
		return 0
	}
	return h.RunQueue / time.Duration(h.Slices)
}

const (
	metricPauses = "/sched/pauses/total/gc:seconds"
	metricSched  = "/sched/latencies:seconds"
	metricHeap   = "/gc/heap/live:bytes"
)

// HealthMonitor reads the generator's health between Start and Stop.
type HealthMonitor struct {
	proc   procReader
	pid    int
	began  time.Duration
	cpu    time.Duration
	queues map[int]queued
	gc     debug.GCStats
	pauses []uint64
	sched  []uint64
}

// NewHealthMonitor watches this process.
func NewHealthMonitor() (*HealthMonitor, error) {
	r, err := newProcReader("/proc")
	if err != nil {
		return nil, err
	}
	return &HealthMonitor{proc: r, pid: os.Getpid()}, nil
}

// Start begins an interval at the time at since the run's start. A started
// monitor may be started again, which begins anew.
func (m *HealthMonitor) Start(at time.Duration) error {
	cpu, err := CPUTime(m.pid)
	if err != nil {
		return err
	}
	m.began, m.cpu = at, cpu
	m.queues = m.proc.queues(m.pid)
	debug.ReadGCStats(&m.gc)
	pauses, sched, _ := readRuntime()
	m.pauses, m.sched = pauses.Counts, sched.Counts
	return nil
}

// Read gives the health from Start to the time at. It may be called repeatedly.
func (m *HealthMonitor) Read(at time.Duration) (Health, error) {
	cpu, err := CPUTime(m.pid)
	if err != nil {
		return Health{}, err
	}
	h := Health{Wall: at - m.began, CPU: cpu - m.cpu, CoresMax: runtime.GOMAXPROCS(0)}
	queues := m.proc.queues(m.pid)
	if h.HasRunQueue = queues != nil && m.queues != nil; h.HasRunQueue {
		q := waited(queues, m.queues)
		h.RunQueue, h.Slices = q.delay, q.slices
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	h.GCs = uint64(gc.NumGC - m.gc.NumGC)
	h.GCPauseTotal = gc.PauseTotal - m.gc.PauseTotal
	pauses, sched, heap := readRuntime()
	h.GCPauseMax = boundAt(pauses, m.pauses, 1)
	h.SchedP99 = boundAt(sched, m.sched, 0.99)
	h.SchedMax = boundAt(sched, m.sched, 1)
	h.Heap = heap
	return h, nil
}

func readRuntime() (pauses, sched *metrics.Float64Histogram, heap uint64) {
	s := []metrics.Sample{{Name: metricPauses}, {Name: metricSched}, {Name: metricHeap}}
	metrics.Read(s)
	pauses, sched = &metrics.Float64Histogram{}, &metrics.Float64Histogram{}
	if s[0].Value.Kind() == metrics.KindFloat64Histogram {
		pauses = s[0].Value.Float64Histogram()
	}
	if s[1].Value.Kind() == metrics.KindFloat64Histogram {
		sched = s[1].Value.Float64Histogram()
	}
	if s[2].Value.Kind() == metrics.KindUint64 {
		heap = s[2].Value.Uint64()
	}
	return pauses, sched, heap
}

// boundAt is the upper bound of the bucket that holds quantile q of what a
// runtime histogram gained over its earlier counts; 0 when it gained nothing.
// The last bucket has no upper bound: its lower one is given.
func boundAt(h *metrics.Float64Histogram, earlier []uint64, q float64) time.Duration {
	gained := make([]uint64, len(h.Counts))
	var total uint64
	for i, n := range h.Counts {
		if i < len(earlier) {
			n -= earlier[i]
		}
		gained[i] = n
		total += n
	}
	if total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(total)))
	rank = min(max(rank, 1), total)
	var seen uint64
	for i, n := range gained {
		if seen += n; seen >= rank {
			bound := h.Buckets[i+1]
			if math.IsInf(bound, 1) {
				bound = h.Buckets[i]
			}
			return time.Duration(math.Round(bound * 1e9))
		}
	}
	return 0
}
