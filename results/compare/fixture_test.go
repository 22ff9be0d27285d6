package compare

import (
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"ackmark/results"
)

func machine(cores int, redis string) results.Environment {
	return results.FingerprintFrom(results.Facts{CPUModel: "Example CPU @ 2.50GHz", Cores: cores, RAMBytes: 8 << 30, Kernel: "6.1.0-13-amd64",
		OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", GoVersion: "go1.26.0", RedisVersion: redis, GOMAXPROCS: cores})
}

// histogram records values in µs.
func histogram(t testing.TB, values ...int64) results.Histogram {
	t.Helper()
	span := time.Minute // of small histograms, which are quick
	for _, v := range values {
		if v > span.Microseconds() {
			span = 24 * time.Hour
		}
	}
	h := hdr.New(1, span.Microseconds(), 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	return encodedHistogram(t, h)
}

func encodedHistogram(t testing.TB, h *hdr.Histogram) results.Histogram {
	t.Helper()
	out := results.Histogram{Unit: results.Microseconds, Count: h.TotalCount()}
	if out.Count == 0 {
		return out
	}
	text, err := h.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	at := func(p float64) *int64 { return results.Count(h.ValueAtPercentile(p)) }
	out.Min, out.P50, out.P90, out.P99, out.P999, out.Max = results.Count(h.Min()), at(50), at(90), at(99), at(99.9), at(100)
	out.Mean, out.HDR = results.Number(h.Mean()), string(text)
	return out
}

// measured is a result of variants "each" and "every 10" with a run per number:
// server CPU per delivery in µs, the same for both, and live latencies of 100
// and 200 times as much.
func measured(t testing.TB, cpu ...float64) *results.Result {
	t.Helper()
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &results.Result{Schema: results.SchemaCurrent, ToolVersion: "0.2.0", Started: started, Ended: started.Add(time.Minute),
		Profile:     results.Profile{Name: "ack-storm", Hash: "aaaa0000", Seed: 7, Source: "profile: ack-storm\ntraffic:\n  group: {rate: 20/s}\n"},
		Environment: machine(2, "7.0.15"),
		Servers:     []results.Node{{Name: "server 1", Kind: results.Private, Version: "0.2.0"}},
		Redis:       []results.Node{{Name: "Redis 1", Kind: results.Private, Version: "7.0.15"}},
		Generators:  []results.Node{{Name: "generator 1", Kind: results.Private, Version: "0.2.0"}},
		Verdict:     results.Verdict{Status: results.Pass},
		Variants: []results.Variant{
			{Name: "each", AckPolicy: "each", Hash: "e1", Set: map[string]string{"clients.ack.policy": "each"}},
			{Name: "every 10", AckPolicy: "count", Hash: "e10", Set: map[string]string{"clients.ack.policy": "count", "clients.ack.every": "10"}},
		}}
	for i, us := range cpu {
		live := histogram(t, int64(100*us), int64(100*us), int64(200*us))
		for k, variant := range r.Variants {
			acks := []float64{149_700, 14_970}[k]
			run := results.Run{Variant: variant.Name, Repeat: i + 1, Seed: uint64(100 + i), Number: 2*i + k + 1,
				Phases: []results.Phase{{Name: "measure", StartMs: 0, EndMs: 15_000}},
				Audit:  results.Audit{Sends: 300, Accepted: 300, Expected: 149_700, Deliveries: 149_700},
				Histograms: map[string]results.Histogram{
					"live": live,
					"page": {Unit: results.Microseconds},
				},
				Verdict: results.Verdict{Status: results.Pass}}
			run.SetAuditMetrics()
			for name, x := range map[string]float64{
				"server_cpu_us_per_delivery": us, "redis_cpu_us_per_delivery": 0.74, "ack_requests": acks, "ack_requests_total": acks, "ack_requests_per_delivery": acks / 149_700,
				"redis_commands_per_send": 1, "memory_bytes_per_message": 312, "deliveries_per_s": 9980,
			} {
				run.Metrics.Set(name, x)
			}
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

func side(label string, all ...*results.Result) Side { return Side{Label: label, Results: all} }

func compared(t testing.TB, o Options, sides ...Side) *Comparison {
	t.Helper()
	c, err := New(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cell finds a metric of the last side; nil when it isn't shown.
func cell(t testing.TB, c *Comparison, variant, metric string) *Cell {
	t.Helper()
	for _, v := range c.Variants {
		for i, m := range v.Metrics {
			if v.Name == variant && m.Name == metric {
				return &v.Metrics[i].Cells[len(c.sides)-1]
			}
		}
	}
	return nil
}

// outcomeOf is that of one metric that was asked for, for the variant "each".
func outcomeOf(t testing.TB, o Options, metric string, sides ...Side) Outcome {
	t.Helper()
	o.Metrics, o.Variants = []string{metric}, []string{"each"}
	return cell(t, compared(t, o, sides...), "each", metric).Outcome
}

// each changes every run.
func each(r *results.Result, change func(*results.Run)) *results.Result {
	for i := range r.Runs {
		change(&r.Runs[i])
	}
	return r
}

var (
	slow = []float64{10, 11, 12, 13, 14, 15}
	fast = []float64{5, 5.5, 6, 6.5, 7, 7.5}
)
