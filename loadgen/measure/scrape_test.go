package measure

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const page = `# TYPE ackmark_sends_total counter
ackmark_sends_total{result="stored"} 100
ackmark_sends_total{result="duplicate"} 3
# TYPE ackmark_connections gauge
ackmark_connections 500
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e+09
# TYPE write_seconds histogram
write_seconds_bucket{le="0.1"} 4
write_seconds_bucket{le="+Inf"} 5
write_seconds_sum 0.7
write_seconds_count 5
# TYPE gc_seconds summary
gc_seconds{quantile="0.5"} 0.001
gc_seconds_sum 2
gc_seconds_count 9
plain 1
`

func parse(t testing.TB, text string) Metrics {
	t.Helper()
	m, err := ParseMetrics(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParseMetrics(t *testing.T) {
	m := parse(t, page)
	for key, want := range map[string]struct {
		v       float64
		counter bool
	}{
		`ackmark_sends_total{result="stored"}`: {100, true}, "ackmark_connections": {500, false}, "plain": {1, false},
		`write_seconds_bucket{le="0.1"}`: {4, true}, `write_seconds_bucket{le="+Inf"}`: {5, true}, "write_seconds_sum": {0.7, true}, "write_seconds_count": {5, true},
		`gc_seconds{quantile="0.5"}`: {0.001, false}, "gc_seconds_count": {9, true},
	} {
		if s, ok := m[key]; !ok || s.Value != want.v || s.Counter != want.counter {
			t.Errorf("%s is %+v, %v; want %v", key, s, ok, want)
		}
	}
	if v, ok := m.Sum("ackmark_sends_total"); !ok || v != 103 {
		t.Errorf("sum over labels is %v, %v; want 103", v, ok)
	}
	if v, ok := m.Sum("ackmark_sends_total", "result", "duplicate"); !ok || v != 3 {
		t.Errorf("one label's sum is %v, %v; want 3", v, ok)
	}
	if _, ok := m.Sum("ackmark_sends_total", "result", "lost"); ok {
		t.Error("a metric that isn't there was found")
	}
	if got := metricKey("n", map[string]string{"b": `q"`, "a": "1"}); got != `n{a="1",b="q\""}` {
		t.Errorf("key %s; want labels sorted and quoted", got)
	}
}

func TestDiffMetrics(t *testing.T) {
	head := "# TYPE c counter\n# TYPE g gauge\n# TYPE process_start_time_seconds gauge\n"
	for name, tt := range map[string]struct {
		before, after string
		c, g          float64
	}{
		"rose":                        {"c 5\ng 7\nprocess_start_time_seconds 1\n", "c 8\ng 2\nprocess_start_time_seconds 1\n", 3, 2},
		"appeared":                    {"process_start_time_seconds 1\n", "c 8\ng 2\nprocess_start_time_seconds 1\n", 8, 2},
		"went back, no start time":    {"c 5\ng 7\n", "c 4\ng 7\n", 4, 7},
		"restarted and overtook":      {"c 5\ng 1\nprocess_start_time_seconds 1\n", "c 8\ng 1\nprocess_start_time_seconds 2\n", 8, 1},
		"nothing happened in between": {"c 5\ng 1\n", "c 5\ng 1\n", 0, 1},
	} {
		d := DiffMetrics(parse(t, head+tt.before), parse(t, head+tt.after))
		if d["c"].Value != tt.c || d["g"].Value != tt.g {
			t.Errorf("%s: counter %v, gauge %v; want %v, %v", name, d["c"].Value, d["g"].Value, tt.c, tt.g)
		}
	}
}

func TestTallyOverRestarts(t *testing.T) {
	at := func(start, c string) Metrics {
		return parse(t, "# TYPE c counter\n# TYPE process_start_time_seconds gauge\nc "+c+"\nprocess_start_time_seconds "+start+"\n")
	}
	tally := NewTally(at("1", "100"))
	for _, m := range []Metrics{at("1", "130"), at("2", "5"), at("2", "9"), at("3", "10")} {
		tally.Observe(m)
	}
	// 30 + 5 + 4 + 10
	if got, ok := tally.Since().Sum("c"); !ok || got != 49 || tally.Restarts != 2 {
		t.Errorf("sum %v with %d restarts; want 49 with 2", got, tally.Restarts)
	}
}

func TestScrape(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			_, _ = w.Write([]byte(page))
		case "/nonsense":
			_, _ = w.Write([]byte("{not metrics"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	defer srv.Client().CloseIdleConnections()
	m, err := Scrape(t.Context(), srv.Client(), srv.URL+"/metrics")
	if err != nil || m["ackmark_connections"].Value != 500 {
		t.Errorf("%v, %v", m["ackmark_connections"], err)
	}
	for path, want := range map[string]string{"/none": "404", "/nonsense": "not a Prometheus text page"} {
		if _, err := Scrape(t.Context(), srv.Client(), srv.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
	if _, err := Scrape(t.Context(), srv.Client(), ":"); err == nil {
		t.Error("a bad URL was accepted")
	}
}

// Whatever two pages say, a counter's rise is never negative, and never more
// than the second page's value.
func FuzzDiffMetrics(f *testing.F) {
	f.Add(page, page)
	f.Add("# TYPE c counter\nc 5\n", "# TYPE c counter\nc 4\n")
	f.Add("c{le=\"NaN\"} +Inf\n", "# TYPE c histogram\nc_bucket{le=\"1\"} 2\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		before, err := ParseMetrics(strings.NewReader(a))
		if err != nil {
			return
		}
		after, err := ParseMetrics(strings.NewReader(b))
		if err != nil {
			return
		}
		for k, d := range DiffMetrics(before, after) {
			was, is := before[k].Value, after[k].Value
			if !d.Counter || math.IsNaN(is) || math.IsInf(is, 0) || math.IsNaN(was) || was < 0 || is < 0 {
				continue
			}
			if d.Value < 0 || d.Value > is {
				t.Errorf("%s rose by %v from %v to %v", k, d.Value, was, is)
			}
		}
	})
}
