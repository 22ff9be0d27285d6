package gate

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"ackmark/results"
)

// aa reads the A/A pairs: for each pair both sides' runs.
func aa(t testing.TB) [][2]*results.Run {
	t.Helper()
	f, err := os.Open("testdata/aa.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.Comment = '#'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var out [][2]*results.Run
	for i, row := range rows[1:] {
		run := &results.Run{Variant: "10 or 500ms", Repeat: int(number(row[0])), Metrics: results.Values{}, Histograms: map[string]results.Histogram{},
			Verdict: results.Verdict{Status: results.Pass}}
		live := results.Histogram{Count: 1000}
		for k, name := range rows[0] {
			switch {
			case k < 2:
			case name == "seed":
				run.Seed, _ = strconv.ParseUint(row[k], 10, 64)
			case name == "live.p50":
				live.P50 = results.Count(int64(number(row[k])))
			case name == "live.p99":
				live.P99 = results.Count(int64(number(row[k])))
			case strings.Contains(name, "."):
				t.Fatal(name)
			default:
				run.Metrics.Set(name, number(row[k]))
			}
		}
		run.Histograms["live"] = live
		if i%2 == 0 {
			out = append(out, [2]*results.Run{})
		}
		out[len(out)-1][i%2] = run
	}
	return out
}

// slower is a run whose metrics are multiplied.
func slower(run *results.Run, factors map[string]float64) *results.Run {
	c := *run
	c.Metrics = results.Values{}
	for name, x := range run.Metrics {
		c.Metrics.Set(name, *x)
		if f, ok := factors[name]; ok {
			c.Metrics.Set(name, *x*f)
		}
	}
	return &c
}

// draw gates pairs drawn at random from the A/A pairs, sides exchanged at
// random, the candidate made worse by the factors; looks included.
func draw(from [][2]*results.Run, factors map[string]float64, r *rand.Rand) Report {
	o := DefaultPairOptions()
	p := NewPairs(o)
	for range o.cap() {
		pr := from[r.IntN(len(from))]
		a, b := pr[0], pr[1]
		if r.IntN(2) == 1 {
			a, b = b, a
		}
		p.Add("10 or 500ms", "count-or-interval", slower(a, factors), b)
		if p.Look() {
			break
		}
	}
	return p.report(nil)
}

// TestErrorRates holds the gate's own error rates on measured A/A pairs, the
// stopping rule included: few false alarms, real regressions found, counts
// always.
func TestErrorRates(t *testing.T) {
	from := aa(t)
	if len(from) != 26 {
		t.Fatalf("%d pairs", len(from))
	}
	const draws = 200
	for _, tt := range []struct {
		name           string
		factors        map[string]float64
		failsAtLeast   int // of draws
		failsAtMost    int
		passesAtLeast  int
		pairsOnAverage float64 // at most
	}{
		{"A/A", nil, 0, 17, 150, 16},
		{"15 % more server CPU", map[string]float64{"server_cpu_us_per_delivery": 1.15}, draws * 80 / 100, draws, 0, 16},
		{"30 % more server CPU", map[string]float64{"server_cpu_us_per_delivery": 1.30}, draws * 99 / 100, draws, 0, 9},
		{"5 % more commands per send", map[string]float64{"redis_commands_per_send": 1.05}, draws, draws, 0, firstLook},
		{"5 % fewer deliveries", map[string]float64{"deliveries": 0.95}, draws, draws, 0, firstLook},
		{"2 % less server CPU", map[string]float64{"server_cpu_us_per_delivery": 0.98}, 0, 17, 150, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(26, 11))
			count := map[results.ExitCode]int{}
			pairs := 0
			for range draws {
				rep := draw(from, tt.factors, r)
				count[rep.ExitCode]++
				pairs += rep.Pairs
			}
			mean := float64(pairs) / draws
			t.Logf("of %d: %d fail, %d pass, %d inconclusive, %d invalid; %.1f pairs on average", draws,
				count[results.ExitFail], count[results.ExitPass], count[results.ExitInconclusive], count[results.ExitInvalid], mean)
			if n := count[results.ExitFail]; n < tt.failsAtLeast || n > tt.failsAtMost {
				t.Errorf("%d of %d fail, want %d to %d", n, draws, tt.failsAtLeast, tt.failsAtMost)
			}
			if n := count[results.ExitPass]; n < tt.passesAtLeast {
				t.Errorf("%d of %d pass, want %d or more", n, draws, tt.passesAtLeast)
			}
			if count[results.ExitInvalid] > 0 || mean > tt.pairsOnAverage {
				t.Errorf("%d invalid, %.1f pairs on average, want at most %.1f", count[results.ExitInvalid], mean, tt.pairsOnAverage)
			}
		})
	}
}
