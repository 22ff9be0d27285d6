package gate

import (
	"slices"
	"testing"
	"time"

	"ackmark/results"
)

var (
	written = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later   = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
)

func machine(redis string, cores int) results.Environment {
	return results.FingerprintFrom(results.Facts{CPUModel: "Example CPU @ 2.50GHz", Cores: cores, RAMBytes: 8 << 30, Kernel: "6.1.0-13-amd64",
		OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", GoVersion: "go1.26.0", RedisVersion: redis, GOMAXPROCS: cores})
}

// percentiles is a histogram of which only the figures matter.
func percentiles(p50, p99 int64) results.Histogram {
	n := results.Count
	return results.Histogram{Unit: results.Microseconds, Count: 1000, Min: n(p50), P50: n(p50), P90: n(p50), P99: n(p99), P999: n(p99), Max: n(p99),
		Mean: results.Number(float64(p50))}
}

// wobble moves timings from repeat to repeat by up to ±2 %.
func wobble(repeat int) float64 { return 1 + float64(repeat%5-2)/100 }

func sampleRun(variant string, repeat int) results.Run {
	const sends, deliveries = 300, 149_700 // 20 messages/s for 15 s to 499 others
	acks, f := 149_700.0, wobble(repeat)
	if variant == "every 10" {
		acks = 14_970
	}
	r := results.Run{Variant: variant, Repeat: repeat, Seed: uint64(repeat), Number: repeat,
		Phases: []results.Phase{{Name: "measure", StartMs: 0, EndMs: 15_000}},
		Audit:  results.Audit{Sends: sends, Accepted: sends, Expected: deliveries, Deliveries: deliveries},
		Acks:   results.Acks{Requests: int64(acks), FlushCauses: map[string]int64{"count": int64(acks)}},
		Redis:  results.RedisCommands{Issued: map[string]int64{"evalsha": sends}, Commandstats: map[string]int64{}},
		Histograms: map[string]results.Histogram{
			"send": percentiles(int64(900*f), int64(4100*f)), "live": percentiles(int64(3400*f), int64(14_200*f)),
			"schedule_lag": percentiles(70, 410), "hiccup": percentiles(170, 440),
		}}
	r.SetAuditMetrics()
	for name, x := range map[string]float64{
		"deliveries_per_s": deliveries / 15 * f, "offered_per_s": 20, "achieved_percent": 100, "ack_requests": acks, "ack_requests_total": acks, "ack_requests_per_delivery": acks / deliveries,
		"redis_commands_per_send": 1, "rows_per_message": 1, "stored_bytes_per_message": 214, "memory_bytes_per_message": 312,
		"server_cpu_us_per_delivery": 11.3 * f, "redis_cpu_us_per_delivery": 0.74 * f,
	} {
		r.Metrics.Set(name, x)
	}
	return r
}

// sample is a valid result of two variants.
func sample(t testing.TB, repeats int) *results.Result {
	t.Helper()
	r := &results.Result{Schema: results.SchemaCurrent, ToolVersion: "0.2.0", Started: written, Ended: written.Add(time.Minute),
		Profile:     results.Profile{Name: "ci", Hash: "abc0123456789def", Seed: 7, Source: "name: ci\n"},
		Environment: machine("7.0.15", 2),
		Servers:     []results.Node{{Name: "server 1", Kind: results.Private, Version: "0.2.0"}},
		Redis:       []results.Node{{Name: "Redis 1", Kind: results.Private, Version: "7.0.15"}},
	}
	for repeat := 1; repeat <= repeats; repeat++ {
		r.Runs = append(r.Runs, sampleRun("each", repeat), sampleRun("every 10", repeat))
	}
	rejudge(t, r, repeats)
	if r.Verdict.Status != results.Pass {
		t.Fatalf("the sample is no pass: %+v", r.Verdict)
	}
	return r
}

func rejudge(t testing.TB, r *results.Result, repeats int) {
	t.Helper()
	results.Judge(r, sampleRules(t, repeats))
}

// sampleRules are those that the sample is judged by.
func sampleRules(t testing.TB, repeats int) results.Rules {
	t.Helper()
	thresholds, err := results.Conditions([]string{"live.p99 < 250ms"}, results.FromThreshold)
	if err != nil {
		t.Fatal(err)
	}
	return results.Rules{Limits: results.DefaultLimits(), Thresholds: thresholds, Repeats: repeats,
		Variants: []results.VariantRule{{Name: "each", AckPolicy: "each", Hash: "1111"}, {Name: "every 10", AckPolicy: "count", Hash: "2222"}}}
}

func baselineOf(t testing.TB, r *results.Result) *Baseline {
	t.Helper()
	b, err := NewBaseline(r, written)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scale multiplies a metric of a variant in every repeat.
func scale(r *results.Result, variant, metric string, factor float64) {
	for i := range r.Runs {
		if x, ok := r.Runs[i].Metrics.Get(metric); ok && r.Runs[i].Variant == variant {
			r.Runs[i].Metrics.Set(metric, x*factor)
		}
	}
}

func find(t testing.TB, rep Report, variant, metric string) Check {
	t.Helper()
	i := slices.IndexFunc(rep.Checks, func(c Check) bool { return c.Variant == variant && c.Metric == metric })
	if i < 0 {
		t.Fatalf("no check of %s, %s", variant, metric)
	}
	return rep.Checks[i]
}

var reportOnly = BaselineOptions{Timings: ReportTimings}
