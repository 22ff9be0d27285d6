package results

import (
	"fmt"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// histogramOf records values, in µs.
func histogramOf(t testing.TB, values ...int64) Histogram {
	t.Helper()
	h := hdr.New(1, (24 * time.Hour).Microseconds(), 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	out := Histogram{Unit: Microseconds, Count: h.TotalCount()}
	if out.Count == 0 {
		return out
	}
	encoded, err := h.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	at := func(p float64) *int64 { return Count(h.ValueAtPercentile(p)) }
	out.Min, out.P50, out.P90, out.P99, out.P999, out.Max = Count(h.Min()), at(50), at(90), at(99), at(99.9), at(100)
	out.Mean, out.HDR = Number(h.Mean()), string(encoded)
	return out
}

// figures is a histogram of which only the printed figures matter.
func figures(p50, p99, p999 int64) Histogram {
	return Histogram{Unit: Microseconds, Count: 1000, Min: Count(p50), P50: Count(p50), P90: Count(p50),
		P99: Count(p99), P999: Count(p999), Max: Count(p999), Mean: Number(float64(p50))}
}

func testEnvironment() Environment {
	return FingerprintFrom(Facts{
		CPUModel: "Example CPU @ 2.50GHz", Cores: 2, RAMBytes: 8_201_482_240, Kernel: "6.1.0-13-amd64",
		OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", GoVersion: "go1.26.0", RedisVersion: "7.0.15", GOMAXPROCS: 2,
	})
}

// stormRun is a run of the ack-storm profile: 20 messages/s for 15 s into a
// group of 500, so 300 messages and 300 × 499 = 149,700 deliveries.
func stormRun(variant string, repeat int, ackRequests int64, meanBatch, swing float64) Run {
	const seconds, sends, deliveries = 15, 300, 149_700
	predicted := deliveries / meanBatch
	r := Run{
		Variant: variant, Repeat: repeat, Seed: uint64(repeat), StartedMs: int64(repeat) * 20_000,
		Phases: []Phase{{"start", 0, 300}, {"seed", 300, 900}, {"warmup", 900, 2900}, {"measure", 2900, 17_900}, {"drain", 17_900, 18_200}, {"audit", 18_200, 18_260}},
		Audit:  Audit{Sends: sends, Accepted: sends, Expected: deliveries, Deliveries: deliveries},
		Acks: Acks{
			Requests: ackRequests, Replayed: Count(ackRequests), ReplayedError: Number(0),
			Predicted: Number(predicted), PredictedError: Number(float64(ackRequests)/predicted - 1), PredictedChance: Number(0.058),
			FlushCauses: map[string]int64{"count": ackRequests},
		},
		Redis: RedisCommands{Issued: map[string]int64{"evalsha": sends, "zadd": 3000}, Commandstats: map[string]int64{"xadd": sends, "zadd": 3000}, RoundTrips: Count(3300)},
		Health: Health{GeneratorCPUCores: Number(0.6), GeneratorCores: Number(2), GCPauseMaxUs: Number(180), GCPauseTotalUs: Number(900),
			RunQueueMeanUs: Number(95), RunQueuePercent: Number(12),
			Reconciliations: []Reconciliation{{What: "deliveries", Ours: deliveries, Other: "server", Theirs: deliveries}}},
		Metrics: Values{},
		Series:  Series{StartMs: 900, StepMs: 1000, Points: map[string][]*float64{"deliveries": {Number(9980), nil, Number(9975)}}},
	}
	r.SetAuditMetrics()
	scale := 1 + swing
	batch := deliveries / float64(ackRequests)
	for name, v := range map[string]float64{
		"deliveries_per_s": deliveries / seconds * (1 + swing/20), "offered_per_s": 20, "achieved_percent": 100, "late_sends_percent": 1.2,
		"ack_requests": float64(ackRequests), "ack_requests_per_s": float64(ackRequests) / seconds,
		"ack_requests_replayed": float64(ackRequests), "ack_requests_replayed_error": 0,
		"ack_requests_predicted_per_s": predicted / seconds, "ack_requests_predicted_error": float64(ackRequests)/predicted - 1,
		"acks_reduction": batch, "ack_requests_per_delivery": 1 / batch,
		"redis_commands_per_delivery": 0.0020 + 0.02/batch*scale, "cursor_commands_per_delivery": 0.0182 / batch, "redis_commands_per_send": 1,
		"server_cpu_us_per_delivery": (3.1 + 8.2/batch) * scale, "redis_cpu_us_per_delivery": (0.04 + 0.7/batch) * scale,
		"generator_cpu_us_per_delivery": (9.3 + 6.1/batch) * scale,
		"unacked_window_mean":           (batch - 1) / 2, "unacked_window_max": batch + 1,
	} {
		r.Metrics.Set(name, v)
	}
	us := func(v float64) int64 { return int64(v * scale) }
	r.Histograms = map[string]Histogram{
		"send": figures(us(900), us(4100), us(9800)), "live": figures(us(3400+9000/batch), us(14_200+33_000/batch), us(22_800+61_000/batch)),
		"schedule_lag": figures(70, 410, 1300), "hiccup": figures(570, 4400, 7400),
	}
	return r
}

// stormVariants are the four of ack-storm with the mean batches of
// measuring.md (14): 1, 10, 10.98 and 9.20015.
func stormVariants() []VariantRule {
	return []VariantRule{{Name: "each", AckPolicy: "each"}, {Name: "every 10", AckPolicy: "count"},
		{Name: "every 500ms", AckPolicy: "interval"}, {Name: "10 or 500ms", AckPolicy: "count-or-interval"}}
}

func storm(t testing.TB) (*Result, Rules) {
	t.Helper()
	r := &Result{
		Schema: SchemaCurrent, ToolVersion: "0.1.0", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ended: time.Date(2026, 1, 2, 3, 7, 1, 0, time.UTC),
		Profile:     Profile{Name: "ack-storm", Hash: fmt.Sprintf("%064x", 0xabc), Source: "profile: ackmark/v1\nname: ack-storm\n", Thresholds: []string{"lost == 0", "live.p99 < 250ms"}},
		Environment: testEnvironment(),
		Servers:     []Node{{Name: "server 1", Kind: Private, Version: "0.1.0", PinnedCores: []int{0}}},
		Redis:       []Node{{Name: "Redis 1", Kind: Private, Version: "7.0.15"}},
		Generators:  []Node{{Name: "generator 1", Kind: Private, Version: "0.1.0", PinnedCores: []int{1}}},
	}
	for repeat, swing := range []float64{-0.04, 0.05} {
		for i, acks := range []int64{149_700, 14_970, 13_402, 16_210} {
			extra := int64(repeat * 31 * min(i, 1)) // "each" is exact
			r.Runs = append(r.Runs, stormRun(stormVariants()[i].Name, repeat+1, acks+extra, []float64{1, 10, 10.98, 9.20015}[i], swing))
		}
	}
	thresholds, err := Conditions(r.Profile.Thresholds, FromThreshold)
	if err != nil {
		t.Fatal(err)
	}
	return r, Rules{Limits: DefaultLimits(), Thresholds: thresholds, Variants: stormVariants(), Repeats: 2}
}
