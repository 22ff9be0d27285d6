package sweep_test

import (
	"fmt"
	"math"
	"time"

	"ackmark/results"
)

// meanBatch is E[min(N, 1 + K)], K ~ Poisson(m): the mean batch of a policy of N
// or T at m deliveries per T (measuring.md, 14).
func meanBatch(n int, m float64) float64 {
	p, mean, tail := math.Exp(-m), 0.0, 1.0
	for k := range n {
		mean += tail // P(K ≥ k)
		tail -= p
		p *= m / float64(k+1)
	}
	return mean
}

// run is one run of a point that batches b deliveries and pays for its timers.
func run(variant string, repeat int, b, timers, perCrash float64, deliveries int64) results.Run {
	noise := 1 + 0.01*float64(repeat-2) // 0.99, 1, 1.01
	r := results.Run{
		Variant: variant, Repeat: repeat, Seed: uint64(repeat), Number: repeat, Metrics: results.Values{}, Histograms: map[string]results.Histogram{},
		Phases:  []results.Phase{{Name: "measure", StartMs: 1000, EndMs: 61_000}},
		Audit:   results.Audit{Deliveries: deliveries, Expected: deliveries},
		Verdict: results.Verdict{Status: results.Pass},
	}
	acks := float64(deliveries) / b
	for name, v := range map[string]float64{
		"ack_requests_per_s": acks / 60 * noise, "ack_requests_predicted_per_s": acks / 60, "acks_reduction": b / noise,
		"system_cpu_us_per_delivery": (4 + 8/b + timers) * noise, "server_cpu_us_per_delivery": (3 + 7/b) * noise, "redis_cpu_us_per_delivery": (1 + 1/b) * noise,
		"unacked_window_mean": (b - 1) / 2, "client_wakeups_per_s": 20 / b, "ack_bytes_per_delivery": 34 / b, "deliveries_per_s": float64(deliveries) / 60,
		"lost": 0, "shown_twice": 0, "redelivered": 0,
	} {
		r.Metrics.Set(name, v)
	}
	if perCrash > 0 {
		r.Metrics.Set("redelivered_per_crash", perCrash*noise)
		r.Metrics.Set("redelivered", math.Round(100*perCrash*noise))
	}
	r.Acks = results.Acks{
		Requests: int64(acks * noise), Replayed: results.Count(int64(acks * noise)), ReplayedError: results.Number(0),
		Predicted: results.Number(acks), PredictedError: results.Number(noise - 1), PredictedChance: results.Number(0.02),
		FlushCauses: map[string]int64{"count": int64(acks * 0.75), "interval": int64(acks) - int64(acks*0.75)},
	}
	us := func(v float64) *int64 { return results.Count(int64(v)) }
	live := (30_000 - 500*math.Min(b, 20)) * noise
	h := results.Histogram{Unit: results.Microseconds, Count: 1000, Min: us(500), P50: us(1500), P90: us(9000), P99: us(live), P999: us(2 * live), Max: us(3 * live)}
	r.Histograms["live"] = h
	delay := 1000 * b
	r.Histograms["ack_delay"] = results.Histogram{Unit: results.Microseconds, Count: 1000, Min: us(0), P50: us(delay), P90: us(delay), P99: us(2 * delay), P999: us(3 * delay), Max: us(4 * delay)}
	return r
}

// grid is the result of a sweep of N and T with 20 deliveries/s per client, three
// repeats, and a crash variant per point. What a crash redelivers is what a client
// held at that moment: (b − 1) ÷ 2 on average.
func grid() *results.Result {
	every, interval := []string{"1", "2", "5", "10", "20"}, []string{"50ms", "200ms", "1s", "5s"}
	r := &results.Result{
		Schema: results.SchemaCurrent, Started: time.Unix(0, 0).UTC(), Ended: time.Unix(3600, 0).UTC(),
		Profile:     results.Profile{Name: "ack-sweep"},
		Sweep:       &results.Sweep{Vary: []results.Axis{{Key: "clients.ack.every", Values: every}, {Key: "clients.ack.interval", Values: interval}}, Order: 7},
		Environment: results.FingerprintFrom(results.Facts{CPUModel: "Example CPU", Cores: 2}),
		Redis:       []results.Node{{Name: "Redis 1", Kind: results.Private, Version: "7.0.15"}},
		Verdict:     results.Verdict{Status: results.Pass},
	}
	// As measured: not in the order of the table.
	for i := len(every) - 1; i >= 0; i-- {
		for j, text := range interval {
			n := []int{1, 2, 5, 10, 20}[i]
			b := math.Round(1000*meanBatch(n, 20*[]float64{0.05, 0.2, 1, 5}[j])) / 1000
			timers := []float64{0.4, 0.2, 0.02, 0}[j]
			name := fmt.Sprintf("every=%s interval=%s", every[i], text)
			set := map[string]string{"clients.ack.every": every[i], "clients.ack.interval": text}
			pass := results.Verdict{Status: results.Pass}
			r.Variants = append(r.Variants,
				results.Variant{Name: name, Set: set, Repeats: 3, Verdict: pass},
				results.Variant{Name: name + " · crash", CrashOf: name, Set: set, Repeats: 3, Verdict: pass})
			for repeat := 1; repeat <= 3; repeat++ {
				r.Runs = append(r.Runs, run(name, repeat, b, timers, 0, 60_000), run(name+" · crash", repeat, b*1.2, timers, 0.01+(b-1)/2, 60_000))
			}
		}
	}
	return r
}
