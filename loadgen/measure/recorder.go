package measure

import (
	"fmt"
	"sync"
	"time"
)

// Config of a Recorder. Times are since the run's start.
type Config struct {
	// Shards is how many independent recorders there are. Each has its own
	// mutex and histograms, at most NumNames × 229 KB of them, so a few are
	// enough: one per core that records at the same time.
	Shards int
	// A sample is in the histograms when its intended time lies in
	// [MeasureStart, MeasureEnd).
	MeasureStart, MeasureEnd time.Duration
	// Horizon is the latest time that per-second series can hold, usually the
	// end of the drain phase; zero means MeasureEnd. Events after it are
	// counted as Beyond.
	Horizon time.Duration
	// SeriesOf lists the latencies that also get a series by second.
	SeriesOf []Name
}

// maxSeconds bounds the memory of the series: a week.
const maxSeconds = 7 * 24 * 3600

func (c *Config) check() error {
	if c.Horizon == 0 {
		c.Horizon = c.MeasureEnd
	}
	switch {
	case c.Shards < 1:
		return fmt.Errorf("recorder has %d shards; it needs 1 or more", c.Shards)
	case c.MeasureStart < 0 || c.MeasureEnd <= c.MeasureStart:
		return fmt.Errorf("measure phase is [%v, %v); its end must lie after its start", c.MeasureStart, c.MeasureEnd)
	case c.Horizon < c.MeasureEnd:
		return fmt.Errorf("horizon %v lies before the end of the measure phase, %v", c.Horizon, c.MeasureEnd)
	case c.Horizon > maxSeconds*time.Second:
		return fmt.Errorf("horizon %v is past %v, the longest run whose series are kept", c.Horizon, maxSeconds*time.Second)
	}
	for _, n := range c.SeriesOf {
		if int(n) >= NumNames {
			return fmt.Errorf("series of %v; there is no such histogram", n)
		}
	}
	return nil
}

// seconds is the length of every series: a part of a second counts as one.
func (c *Config) seconds() int {
	return int((c.Horizon + time.Second - 1) / time.Second)
}

// Recorder collects the samples of one run in shards.
type Recorder struct {
	cfg    Config
	shards []*Shard
}

// NewRecorder checks the configuration and allocates what doesn't depend on
// which names are used; a histogram is allocated with its first sample.
func NewRecorder(cfg Config) (*Recorder, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, shards: make([]*Shard, cfg.Shards)}
	for i := range r.shards {
		r.shards[i] = newShard(&r.cfg)
	}
	return r, nil
}

// Shard gives the shard that device i records into; any i ≥ 0 is fine.
func (r *Recorder) Shard(i int) *Shard { return r.shards[i%len(r.shards)] }

// Snapshot merges the shards into figures of their own. It may be taken while
// samples are being recorded: each shard is then seen at a slightly different
// moment, never in the middle of a sample.
func (r *Recorder) Snapshot() *Snapshot {
	s := newSnapshot(r.cfg)
	for _, shard := range r.shards {
		shard.addTo(s)
	}
	return s
}

// Shard records samples; a device is bound to one. Safe for concurrent use.
type Shard struct {
	cfg *Config

	mu     sync.Mutex // guards what follows
	hist   [NumNames]*Histogram
	series [NumNames][]*secondHistogram // nil where no series is kept
	counts [NumCounters][]int64         // by second of completion
	within [NumCounters]int64           // completed inside the measure phase
	beyond int64                        // events past the horizon or before 0
}

func newShard(cfg *Config) *Shard {
	s := &Shard{cfg: cfg}
	n := cfg.seconds()
	for _, name := range cfg.SeriesOf {
		s.series[name] = make([]*secondHistogram, n)
	}
	cells := make([]int64, NumCounters*n)
	for c := range s.counts {
		s.counts[c] = cells[c*n : (c+1)*n : (c+1)*n]
	}
	return s
}

// Record adds a latency of d to the histogram n. Its intended time decides the
// phase: samples outside the measure phase are only counted, and every sample
// goes into the series of its intended second. The first sample of a name, or
// of a second that has a series, allocates; others don't.
func (s *Shard) Record(n Name, intended, d time.Duration) {
	s.mu.Lock()
	s.record(n, intended, d)
	s.mu.Unlock()
}

// Deliver records a first live arrival of a message at a time, all under one
// lock: what Count of Deliveries, Record of Live and, where it is known when the
// send left (above 0), Record of LiveService do.
func (s *Shard) Deliver(at, intended, sent time.Duration) {
	s.mu.Lock()
	s.count(Deliveries, at, 1)
	s.record(Live, intended, at-intended)
	if sent > 0 {
		s.record(LiveService, intended, at-sent)
	}
	s.mu.Unlock()
}

// record is Record; the lock is held.
func (s *Shard) record(n Name, intended, d time.Duration) {
	h := s.hist[n]
	if h == nil {
		h = NewHistogram()
		s.hist[n] = h
	}
	switch {
	case intended < s.cfg.MeasureStart:
		h.Before++
	case intended >= s.cfg.MeasureEnd:
		h.After++
	default:
		h.Record(d)
	}
	if series := s.series[n]; series != nil {
		if i, ok := s.second(intended, len(series)); ok {
			if series[i] == nil {
				series[i] = newSecondHistogram()
			}
			series[i].record(d)
		}
	}
}

// Count adds n events of kind c that completed at the time at.
func (s *Shard) Count(c Counter, at time.Duration, n int64) {
	s.mu.Lock()
	s.count(c, at, n)
	s.mu.Unlock()
}

// count is Count; the lock is held.
func (s *Shard) count(c Counter, at time.Duration, n int64) {
	if i, ok := s.second(at, len(s.counts[c])); ok {
		s.counts[c][i] += n
	}
	if at >= s.cfg.MeasureStart && at < s.cfg.MeasureEnd {
		s.within[c] += n
	}
}

// second is the index of the second that at lies in. What lies outside the
// series is counted, so that it isn't missed in silence.
func (s *Shard) second(at time.Duration, n int) (int, bool) {
	if i := at / time.Second; at >= 0 && int(i) < n {
		return int(i), true
	}
	s.beyond++
	return 0, false
}

func (s *Shard) addTo(t *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, h := range s.hist {
		t.addHistogram(n, h)
	}
	for n, series := range s.series {
		for i, sec := range series {
			t.addSecond(n, i, sec)
		}
	}
	for c := range s.counts {
		for i, v := range s.counts[c] {
			t.counts[c][i] += v
		}
		t.within[c] += s.within[c]
	}
	t.Beyond += s.beyond
}
