package measure

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const ms = time.Millisecond

func newRecorder(t testing.TB, c Config) *Recorder {
	t.Helper()
	r, err := NewRecorder(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConfigIsChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"no shards":      {Config{MeasureEnd: time.Second}, "0 shards"},
		"empty phase":    {Config{Shards: 1, MeasureStart: time.Second, MeasureEnd: time.Second}, "end must lie after"},
		"negative start": {Config{Shards: 1, MeasureStart: -1, MeasureEnd: time.Second}, "measure phase"},
		"short horizon":  {Config{Shards: 1, MeasureEnd: 2 * time.Second, Horizon: time.Second}, "horizon"},
		"long horizon":   {Config{Shards: 1, MeasureEnd: 1000 * time.Hour}, "longest run"},
		"bad series":     {Config{Shards: 1, MeasureEnd: time.Second, SeriesOf: []Name{200}}, "no such histogram"},
	} {
		if _, err := NewRecorder(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
}

// The intended time decides the phase and the second of a latency; the time of
// completion decides those of a count.
func TestPhasesAndSeconds(t *testing.T) {
	r := newRecorder(t, Config{Shards: 2, MeasureStart: 1500 * ms, MeasureEnd: 3500 * ms, Horizon: 5 * time.Second, SeriesOf: []Name{Live}})
	for i, s := range []struct{ intended, d time.Duration }{
		{0, 1 * ms},                       // warm-up
		{1500*ms - 1, 2 * ms},             // the last moment of warm-up
		{1500 * ms, 3 * ms},               // the first of the measure phase
		{3500*ms - 1, 4 * ms},             // the last
		{3500 * ms, 5 * ms},               // drain
		{2200 * ms, 60 * time.Second},     // arrives after the end: still its intended second's
		{7 * time.Second, 6 * ms},         // past the horizon
		{2 * time.Second, 25 * time.Hour}, // overflow
	} {
		r.Shard(i).Record(Live, s.intended, s.d)
	}
	r.Shard(0).Count(Deliveries, 1499*ms, 1)
	r.Shard(1).Count(Deliveries, 1500*ms, 10)
	r.Shard(2).Count(Deliveries, 3499*ms, 100)
	r.Shard(3).Count(Deliveries, 3500*ms, 1000)
	r.Shard(3).Count(Deliveries, 5*time.Second, 10000)

	s := r.Snapshot()
	h := s.Histogram(Live)
	if h.Count() != 4 || h.Before != 2 || h.After != 2 || h.Overflow != 1 {
		t.Errorf("count %d, before %d, after %d, overflow %d; want 4, 2, 2, 1", h.Count(), h.Before, h.After, h.Overflow)
	}
	var counts []int64
	for _, sec := range s.Latency(Live) {
		counts = append(counts, sec.Count)
	}
	if want := []int64{1, 2, 2, 2, 0}; !slices.Equal(counts, want) {
		t.Errorf("samples by intended second %v; want %v", counts, want)
	}
	sec2 := s.Latency(Live)[2] // 60 s and an overflow
	if got := value(t, "p50 of second 2", sec2.P50); !within(float64(got), 60e6, 0.01) || sec2.Max != nil {
		t.Errorf("second 2: p50 %d, max %v; want 60e6 and null", got, sec2.Max)
	}
	if sec4 := s.Latency(Live)[4]; sec4.P50 != nil || sec4.Second != 4 {
		t.Errorf("an empty second: %+v; want nulls", sec4)
	}
	if got, want := s.Throughput(Deliveries), []int64{0, 11, 0, 1100, 0}; !slices.Equal(got, want) {
		t.Errorf("deliveries by second %v; want %v", got, want)
	}
	if got := s.Completed(Deliveries); got != 110 || s.PerSecond(Deliveries) != 55 {
		t.Errorf("completed in the measure phase: %d, %v/s; want 110, 55", got, s.PerSecond(Deliveries))
	}
	if s.Beyond != 2 {
		t.Errorf("beyond the horizon: %d; want 2", s.Beyond)
	}
	if s.Latency(Page) != nil || s.Histogram(Page) != nil || s.Percentiles(Page).P50 != nil {
		t.Error("a name without samples has figures")
	}
	r.Shard(0).Record(Live, 2*time.Second, ms)
	if h.Count() != 4 {
		t.Error("a snapshot changed after it was taken")
	}
}

// A delivery is what its parts are one by one.
func TestDeliverIsItsParts(t *testing.T) {
	cfg := Config{Shards: 1, MeasureStart: time.Second, MeasureEnd: 3 * time.Second, SeriesOf: []Name{Live}}
	whole, parts := newRecorder(t, cfg), newRecorder(t, cfg)
	for _, d := range []struct{ at, intended, sent time.Duration }{
		{1500 * ms, 1400 * ms, 1410 * ms}, // in the measure phase
		{1010 * ms, 990 * ms, 1000 * ms},  // intended in the warm-up
		{3010 * ms, 2990 * ms, 0},         // nobody knows when it left
		{9 * time.Second, 2 * time.Second, 2 * time.Second},
	} {
		whole.Shard(0).Deliver(d.at, d.intended, d.sent)
		s := parts.Shard(0)
		s.Count(Deliveries, d.at, 1)
		s.Record(Live, d.intended, d.at-d.intended)
		if d.sent > 0 {
			s.Record(LiveService, d.intended, d.at-d.sent)
		}
	}
	if got, want := whole.Snapshot(), parts.Snapshot(); !reflect.DeepEqual(got, want) {
		t.Errorf("deliveries give %+v, their parts %+v", got, want)
	}
}

func TestSecondsOfSeriesKeepTwoDigits(t *testing.T) {
	r := newRecorder(t, Config{Shards: 3, MeasureEnd: time.Second, SeriesOf: []Name{SendResponse}})
	for i := 1; i <= 10_000; i++ {
		r.Shard(i).Record(SendResponse, 0, time.Duration(i)*time.Microsecond)
	}
	s := r.Snapshot().Latency(SendResponse)[0]
	for _, c := range []struct {
		name string
		got  *int64
		want float64
	}{{"p50", s.P50, 5000}, {"p99", s.P99, 9900}, {"max", s.Max, 10000}} {
		if got := value(t, c.name, c.got); !within(float64(got), c.want, 0.01) {
			t.Errorf("%s is %d; want %v within 1 %%", c.name, got, c.want)
		}
	}
}

func TestConcurrentRecordingAndSnapshots(t *testing.T) {
	const workers, each = 8, 5000
	r := newRecorder(t, Config{Shards: 3, MeasureEnd: 10 * time.Second, SeriesOf: []Name{Live}})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				at := time.Duration(i) * 2 * ms
				r.Shard(w).Record(Live, at, time.Duration(i)*time.Microsecond)
				r.Shard(w).Count(Deliveries, at, 1)
			}
		})
	}
	for range 20 {
		s := r.Snapshot()
		if got := s.Percentiles(Live).Count; got > workers*each {
			t.Errorf("%d samples in a snapshot of at most %d", got, workers*each)
		}
	}
	wg.Wait()
	s := r.Snapshot()
	var inSeries int64
	for _, sec := range s.Latency(Live) {
		inSeries += sec.Count
	}
	if got := s.Percentiles(Live).Count; got != workers*each || inSeries != got || s.Completed(Deliveries) != got {
		t.Errorf("histogram %d, series %d, count %d; want %d each", got, inSeries, s.Completed(Deliveries), workers*each)
	}
}

func TestSnapshotMerge(t *testing.T) {
	cfg := Config{Shards: 1, MeasureEnd: 2 * time.Second, SeriesOf: []Name{Live}}
	a, b := newRecorder(t, cfg), newRecorder(t, cfg)
	a.Shard(0).Record(Live, 0, 1*ms)
	b.Shard(0).Record(Live, 0, 3*ms)
	b.Shard(0).Record(Page, time.Second, 5*ms)
	b.Shard(0).Count(Pages, time.Second, 7)
	s := a.Snapshot()
	if err := s.Merge(b.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if s.Percentiles(Live).Count != 2 || s.Percentiles(Page).Count != 1 || s.Latency(Live)[0].Count != 2 || s.Completed(Pages) != 7 {
		t.Errorf("merged: live %d, page %d, pages %d", s.Percentiles(Live).Count, s.Percentiles(Page).Count, s.Completed(Pages))
	}
	cfg.MeasureEnd = 3 * time.Second
	if err := s.Merge(newRecorder(t, cfg).Snapshot()); err == nil {
		t.Error("figures of another phase were merged")
	}
	if err := s.Merge(newRecorder(t, Config{Shards: 1, MeasureEnd: 2 * time.Second}).Snapshot()); err == nil {
		t.Error("figures without the series were merged")
	}
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	r := newRecorder(t, Config{Shards: 2, MeasureEnd: 10 * time.Second, SeriesOf: []Name{Live}})
	s := r.Shard(1)
	var i int64
	one := func() {
		i++
		s.Record(Live, time.Duration(i%10)*time.Second, time.Duration(i%512)*time.Microsecond)
		s.Record(AckDelay, 0, 25*time.Hour) // overflow too
		s.Count(Deliveries, 5*time.Second, 1)
	}
	for range 10 * 512 { // every second and cell once
		one()
	}
	if n := testing.AllocsPerRun(5120, one); n != 0 {
		t.Errorf("%v allocations per sample; want 0", n)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for i := range NumNames {
		s := Name(i).String()
		if got, err := ParseName(s); err != nil || got != Name(i) || seen[s] || s == "" {
			t.Errorf("%d is called %q and read back as %v, %v", i, s, got, err)
		}
		seen[s] = true
	}
	for i := range NumCounters {
		if s := Counter(i).String(); s == "" || seen[s] {
			t.Errorf("counter %d is called %q", i, s)
		}
	}
	if _, err := ParseName("latency"); err == nil {
		t.Error("an unknown name was accepted")
	}
}

func BenchmarkRecord(b *testing.B) {
	for name, series := range map[string][]Name{"histogram": nil, "histogram and series": {Live}} {
		b.Run(name, func(b *testing.B) {
			r := newRecorder(b, Config{Shards: 2, MeasureEnd: time.Minute, SeriesOf: series})
			s := r.Shard(0)
			b.ReportAllocs()
			var i int64
			for b.Loop() {
				i++
				s.Record(Live, time.Duration(i/100_000)*time.Second%time.Minute, time.Duration(300+(i*7919)%4000)*time.Microsecond)
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	s := newRecorder(b, Config{Shards: 1, MeasureEnd: time.Minute}).Shard(0)
	for b.Loop() {
		s.Count(Deliveries, time.Second, 1)
	}
}
