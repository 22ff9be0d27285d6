package ackpolicy

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestPublishedPoints holds the closed form to every row of the case table:
// the mean batch of one member and the ack requests of the whole group.
func TestPublishedPoints(t *testing.T) {
	f, err := os.Open("testdata/ack-rate.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 11 {
		t.Fatalf("%d rows, want the header and 10 points", len(rows))
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	for i, row := range rows[1:] {
		num := func(name string) float64 {
			s := row[col[name]]
			if s == "" {
				return 0
			}
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatalf("row %d, %s: %v", i+2, name, err)
			}
			return v
		}
		group, perSecond := num("group_size"), num("messages_per_s")
		n, T := int(num("N")), time.Duration(num("T_s")*float64(time.Second))
		p := Policy{Kind: Count, Every: n, Interval: T}
		switch {
		case n == 0:
			p.Kind = Interval
		case T > 0:
			p.Kind = CountOrInterval
		case n == 1:
			p = Policy{Kind: Each}
		}
		a := map[string]Arrivals{"poisson": Poisson, "uniform": Uniform}[row[col["arrivals"]]]
		r := perSecond * (group - 1) / group // random senders don't receive what they send
		near(t, "deliveries/s per member", r, num("deliveries_per_s_per_member"), 1e-5)
		b := MeanBatch(p, r, a)
		near(t, "mean batch", b, num("mean_batch"), 1e-5)
		near(t, "deliveries/s", r*group, num("deliveries_per_s"), 1e-5)
		near(t, "ack requests/s", r*group/b, num("ack_requests_per_s"), 1e-5)
		near(t, "ack requests/s from Predict", group*Predict(p, r, a, time.Minute).AckRate, num("ack_requests_per_s"), 1e-5)
	}
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %.9g, want %.9g within %g", what, got, want, rel)
	}
}

func TestMeanBatchByHand(t *testing.T) {
	e := math.Exp
	for _, tt := range []struct {
		name string
		p    Policy
		rate float64
		a    Arrivals
		want float64
	}{
		{"each", Policy{Kind: Each}, 7, Poisson, 1},
		{"count", Policy{Kind: Count, Every: 12}, 7, Poisson, 12},
		{"interval 1+rT", Policy{Kind: Interval, Interval: 2 * time.Second}, 3, Poisson, 7},
		{"N=1 is each", Policy{Kind: CountOrInterval, Every: 1, Interval: time.Second}, 3, Poisson, 1},
		{"N=2: 1 + P(K≥1)", Policy{Kind: CountOrInterval, Every: 2, Interval: time.Second}, 1, Poisson, 2 - e(-1)},
		{"N=3: 1 + P(K≥1) + P(K≥2)", Policy{Kind: CountOrInterval, Every: 3, Interval: time.Second}, 1, Poisson, 3 - 3*e(-1)},
		{"huge rT fills N", Policy{Kind: CountOrInterval, Every: 50, Interval: time.Hour}, 1e6, Poisson, 50},
		{"N out of reach", Policy{Kind: CountOrInterval, Every: 1 << 40, Interval: time.Second}, 1000, Poisson, 1001},
		// N = rT+1 with a large rT: N − E(N−1−K)⁺, and E|K−m|/2 ≈ √(m/2π)
		{"N at a large rT", Policy{Kind: CountOrInterval, Every: 1_000_001, Interval: time.Second}, 1e6, Poisson, 1_000_001 - math.Sqrt(1e6/(2*math.Pi))},
		{"uniform count", Policy{Kind: Count, Every: 4}, 10, Uniform, 4},
		{"uniform ⌊RT⌋ = 3", Policy{Kind: Interval, Interval: 350 * time.Millisecond}, 10, Uniform, 4},
		{"uniform N first", Policy{Kind: CountOrInterval, Every: 3, Interval: 350 * time.Millisecond}, 10, Uniform, 3},
		{"uniform T first", Policy{Kind: CountOrInterval, Every: 9, Interval: 350 * time.Millisecond}, 10, Uniform, 4},
	} {
		t.Run(tt.name, func(t *testing.T) { near(t, "MeanBatch", MeanBatch(tt.p, tt.rate, tt.a), tt.want, 1e-7) })
	}
}

func TestNoClosedForm(t *testing.T) {
	for name, b := range map[string]float64{
		"none":          MeanBatch(Policy{Kind: None}, 1, Poisson),
		"idle":          MeanBatch(Policy{Kind: Each, Idle: 1}, 1, Poisson),
		"no rate":       MeanBatch(Policy{Kind: Each}, 0, Poisson),
		"rate NaN":      MeanBatch(Policy{Kind: Each}, math.NaN(), Poisson),
		"no N":          MeanBatch(Policy{Kind: Count}, 1, Poisson),
		"other spacing": MeanBatch(Policy{Kind: Each}, 1, 0),
		"no time":       Predict(Policy{Kind: Each}, 1, Poisson, 0).RateError,
	} {
		if !math.IsNaN(b) {
			t.Errorf("%s: %v, want NaN", name, b)
		}
	}
}

// TestExpectedErrorIsWhatRunsShow replays many seeded runs and holds their
// scatter to the stated standard errors. 4,000 runs know their own standard
// deviation to 1.2 %, and the formula is asymptotic in the number of cycles.
func TestExpectedErrorIsWhatRunsShow(t *testing.T) {
	const runs = 4000
	for _, tt := range []struct {
		name string
		p    Policy
		rate float64
		d    time.Duration
	}{
		{"each", Policy{Kind: Each}, 20, 10 * time.Second},
		{"every 10", Policy{Kind: Count, Every: 10}, 19.96, 15 * time.Second},
		{"every 500ms", Policy{Kind: Interval, Interval: 500 * time.Millisecond}, 19.96, 15 * time.Second},
		{"10 or 500ms", Policy{Kind: CountOrInterval, Every: 10, Interval: 500 * time.Millisecond}, 19.96, 15 * time.Second},
		{"50 or 200ms", Policy{Kind: CountOrInterval, Every: 50, Interval: 200 * time.Millisecond}, 9.98, 60 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := Predict(tt.p, tt.rate, Poisson, tt.d)
			rng := rand.New(rand.NewPCG(1, 2))
			var rateSq, batchSq, mean float64
			for range runs {
				warm := 10 * time.Second
				rp := NewReplay(&tt.p, warm, warm+tt.d)
				seen, at := 0, 0.0
				for {
					at += rng.ExpFloat64() / tt.rate
					now := time.Duration(at * float64(time.Second))
					if now >= warm+tt.d {
						rp.expire(warm + tt.d)
						break
					}
					if now >= warm {
						seen++
					}
					rp.Arrive(now)
				}
				n := float64(rp.Acks())
				mean += n / runs
				rateErr := n/(want.AckRate*tt.d.Seconds()) - 1
				batchErr := float64(seen)/n/want.MeanBatch - 1
				rateSq += rateErr * rateErr / runs
				batchSq += batchErr * batchErr / runs
			}
			near(t, "mean acks", mean, want.AckRate*tt.d.Seconds(), 0.01)
			near(t, "rate error", math.Sqrt(rateSq), want.RateError, 0.06)
			if tt.p.Kind != Each { // exactly 0 there: deliveries and acks are the same events
				near(t, "batch error", math.Sqrt(batchSq), want.BatchError, 0.15)
			}
		})
	}
}
