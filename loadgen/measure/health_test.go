package measure

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHealthOfThisProcess(t *testing.T) {
	m, err := NewHealthMonitor()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(time.Second); err != nil {
		t.Fatal(err)
	}
	burn(t, 20*ms)
	runtime.GC()
	h, err := m.Read(3 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if h.Wall != 2*time.Second || h.CPU < 20*ms || h.CoresMax != runtime.GOMAXPROCS(0) || h.Heap == 0 {
		t.Errorf("%+v; want 2 s of wall, 20 ms of CPU or more", h)
	}
	if h.GCs < 1 || h.GCPauseTotal <= 0 || h.GCPauseMax <= 0 {
		t.Errorf("%d collections with a longest pause of %v; one was forced", h.GCs, h.GCPauseMax)
	}
	if got, want := h.CPUShare(), h.CPU.Seconds()/2/float64(h.CoresMax); !within(got, want, 1e-9) {
		t.Errorf("CPU share %v; want %v", got, want)
	}
}

func TestBoundAt(t *testing.T) {
	h := &metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0, 0.001, 0.002, math.Inf(1)}, Counts: []uint64{0, 100, 9, 1}}
	for name, tt := range map[string]struct {
		earlier []uint64
		q       float64
		want    time.Duration
	}{
		"maximum in the open bucket: its lower bound": {nil, 1, 2 * ms},
		"rank ⌈0.99·110⌉ = 109 is the last of 2 ms":   {nil, 0.99, 2 * ms},
		"median": {nil, 0.5, 1 * ms},
		"only what was gained: the rank 3 of 3 is 2 ms": {[]uint64{0, 100, 6, 1}, 1, 2 * ms},
		"only what was gained, in the first bucket":     {[]uint64{0, 90, 9, 1}, 1, 1 * ms},
		"nothing gained": {h.Counts, 1, 0},
	} {
		if got := boundAt(h, tt.earlier, tt.q); got != tt.want {
			t.Errorf("%s: %v; want %v", name, got, tt.want)
		}
	}
}

func TestHealthReasons(t *testing.T) {
	well := Health{Wall: 10 * time.Second, CPU: 5 * time.Second, CoresMax: 2, HasRunQueue: true, RunQueue: time.Second, GCPauseMax: ms, SchedP99: ms}
	for name, tt := range map[string]struct {
		change func(*Health)
		want   string
	}{
		"well":       {func(*Health) {}, ""},
		"CPU":        {func(h *Health) { h.CPU = 19 * time.Second }, "used 95 % of its 2 cores (limit 90 %)"},
		"run queue":  {func(h *Health) { h.RunQueue = 15 * time.Second }, "waited for a core 75 % of the time"},
		"GC":         {func(h *Health) { h.GCPauseMax = 30 * ms }, "paused 30ms"},
		"scheduling": {func(h *Health) { h.SchedP99 = 60 * ms }, "waited 60ms for a thread"},
		"unmeasured": {func(h *Health) { *h = Health{} }, "wasn't measured"},
		"not told":   {func(h *Health) { h.RunQueue, h.HasRunQueue = time.Hour, false }, ""},
	} {
		h := well
		tt.change(&h)
		got := h.Reasons(DefaultLimits())
		if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s: reasons %q; want %q", name, got, tt.want)
		}
	}
}

func TestLagReasons(t *testing.T) {
	of := func(us ...int64) Percentiles { // p50, p90, p99, p99.9, max
		return Percentiles{Count: 1, P50: &us[0], P90: &us[1], P99: &us[2], P999: &us[3], Max: &us[4]}
	}
	live := of(4000, 5000, 8000, 9000, 10000)
	for name, tt := range map[string]struct {
		latency, lag Percentiles
		want         []string
	}{
		"small":                     {live, of(100, 500, 1000, 2000, 3000), nil},
		"at the limit":              {live, of(100, 500, 1000, 2000, 5000), nil},
		"maximum against maximum":   {live, of(100, 500, 1000, 2000, 5001), []string{"schedule lag max is 5.001ms, more than 50 % of live max, 10ms"}},
		"p99.9 against p99.9":       {live, of(100, 500, 1000, 4600, 4900), []string{"schedule lag p99.9 is 4.6ms, more than 50 % of live p99.9, 9ms"}},
		"below the grain of timers": {of(200, 300, 400, 500, 600), of(100, 500, 1000, 1400, 1500), nil},
		"no latency":                {Percentiles{}, of(1e6, 1e6, 1e6, 1e6, 1e6), nil},
		"past a day":                {live, Percentiles{Count: 1, Overflow: 1}, []string{"1 sends left more than 24h0m0s late"}},
	} {
		if got := DefaultLimits().LagReasons("live", tt.latency, tt.lag); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}

func TestAchievedReasons(t *testing.T) {
	for name, tt := range map[string]struct {
		offered, sent, refused int64
		want                   string
	}{
		"all":               {1000, 1000, 0, ""},
		"99 % exactly":      {1000, 990, 0, ""},
		"less":              {1000, 989, 0, "989 of 1000 offered sends left (98.9 %, limit 99 %)"},
		"refused by system": {1000, 900, 100, ""},
		"nothing offered":   {0, 0, 0, "no load was offered"},
	} {
		got := DefaultLimits().AchievedReasons(tt.offered, tt.sent, tt.refused)
		if tt.want == "" && got != nil || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}
