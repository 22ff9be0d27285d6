package measure

import (
	"fmt"
	"time"
)

// Snapshot holds the figures of a run, merged over the shards. It's a copy:
// nothing that is recorded later changes it. Not safe for concurrent use.
type Snapshot struct {
	cfg    Config
	hist   [NumNames]*Histogram
	series [NumNames][]*secondHistogram
	counts [NumCounters][]int64
	within [NumCounters]int64
	// Beyond counts events that no series could hold: past the horizon, or
	// before the run's start. They're in histograms and totals all the same.
	Beyond int64
}

func newSnapshot(cfg Config) *Snapshot {
	s := &Snapshot{cfg: cfg}
	n := cfg.seconds()
	for _, name := range cfg.SeriesOf {
		s.series[name] = make([]*secondHistogram, n)
	}
	for c := range s.counts {
		s.counts[c] = make([]int64, n)
	}
	return s
}

func (s *Snapshot) addHistogram(n int, h *Histogram) {
	if h == nil {
		return
	}
	if s.hist[n] == nil {
		s.hist[n] = NewHistogram()
	}
	s.hist[n].Merge(h)
}

func (s *Snapshot) addSecond(n, i int, h *secondHistogram) {
	if h == nil {
		return
	}
	if s.series[n][i] == nil {
		s.series[n][i] = newSecondHistogram()
	}
	s.series[n][i].merge(h)
}

// Merge adds the figures of another generator of the same run, or of a repeat.
// The phases must be the same, since else a second would mean two things.
func (s *Snapshot) Merge(o *Snapshot) error {
	if s.cfg.MeasureStart != o.cfg.MeasureStart || s.cfg.MeasureEnd != o.cfg.MeasureEnd || s.cfg.Horizon != o.cfg.Horizon {
		return fmt.Errorf("phases differ: measure [%v, %v) up to %v, and measure [%v, %v) up to %v; only figures of equal phases can be merged",
			s.cfg.MeasureStart, s.cfg.MeasureEnd, s.cfg.Horizon, o.cfg.MeasureStart, o.cfg.MeasureEnd, o.cfg.Horizon)
	}
	for n := range s.series {
		if (s.series[n] == nil) != (o.series[n] == nil) {
			return fmt.Errorf("one side has a series of %v and the other has none", Name(n))
		}
	}
	for n, h := range o.hist {
		s.addHistogram(n, h)
	}
	for n, series := range o.series {
		for i, h := range series {
			s.addSecond(n, i, h)
		}
	}
	for c := range s.counts {
		for i, v := range o.counts[c] {
			s.counts[c][i] += v
		}
		s.within[c] += o.within[c]
	}
	s.Beyond += o.Beyond
	return nil
}

// Histogram of one latency; nil when no sample was recorded.
func (s *Snapshot) Histogram(n Name) *Histogram { return s.hist[n] }

// Percentiles of one latency; its Count is 0 and its figures nil when there is
// no sample.
func (s *Snapshot) Percentiles(n Name) Percentiles { return s.hist[n].Percentiles() }

// Latency is the series of one latency by intended second, with a point for
// every second of the run; nil when no series was asked for.
func (s *Snapshot) Latency(n Name) []Second {
	if s.series[n] == nil {
		return nil
	}
	out := make([]Second, len(s.series[n]))
	for i, h := range s.series[n] {
		out[i] = h.second(i)
	}
	return out
}

// Throughput is how many events of kind c completed in each second of the run.
func (s *Snapshot) Throughput(c Counter) []int64 { return s.counts[c] }

// Completed is how many events of kind c completed inside the measure phase,
// exactly, also where the phase doesn't begin on a full second.
func (s *Snapshot) Completed(c Counter) int64 { return s.within[c] }

// PerSecond is Completed divided by the length of the measure phase.
func (s *Snapshot) PerSecond(c Counter) float64 {
	return float64(s.within[c]) / (s.cfg.MeasureEnd - s.cfg.MeasureStart).Seconds()
}

// Phase gives the measure phase that the figures belong to.
func (s *Snapshot) Phase() (start, end time.Duration) {
	return s.cfg.MeasureStart, s.cfg.MeasureEnd
}
