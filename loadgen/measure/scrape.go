package measure

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is one value of a metrics page.
type Sample struct {
	Name    string
	Labels  map[string]string
	Value   float64
	Counter bool // only rises while its process lives; else a state
}

// Metrics is a metrics page, by canonical key: the name, then the labels sorted
// by name, as in ackmark_sends_total{result="stored"}.
type Metrics map[string]Sample

// maxPage bounds what is read of a metrics page.
const maxPage = 16 << 20

// Scrape reads the Prometheus page at url.
func Scrape(ctx context.Context, c *http.Client, url string) (Metrics, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("scraping %s: %w", url, err)
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	res, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("scraping: %w", err) // the client names the URL
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("scraping %s: the answer is %s, not 200 OK", url, res.Status)
	}
	m, err := ParseMetrics(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return nil, fmt.Errorf("scraping %s: %w", url, err)
	}
	return m, nil
}

// ParseMetrics reads the Prometheus text format. A histogram becomes its
// _bucket, _sum and _count counters, a summary its _sum, _count and quantiles.
func ParseMetrics(r io.Reader) (Metrics, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(r)
	if err != nil {
		return nil, fmt.Errorf("not a Prometheus text page: %w", err)
	}
	out := make(Metrics)
	for name, f := range families {
		for _, m := range f.GetMetric() {
			out.add(name, f.GetType(), m)
		}
	}
	return out, nil
}

func (m Metrics) add(name string, kind dto.MetricType, d *dto.Metric) {
	labels := make(map[string]string, len(d.GetLabel()))
	for _, l := range d.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	put := func(name string, labels map[string]string, v float64, counter bool) {
		m[metricKey(name, labels)] = Sample{Name: name, Labels: labels, Value: v, Counter: counter}
	}
	with := func(k, v string) map[string]string {
		more := map[string]string{k: v}
		for k, v := range labels {
			more[k] = v
		}
		return more
	}
	switch kind {
	case dto.MetricType_COUNTER:
		put(name, labels, d.GetCounter().GetValue(), true)
	case dto.MetricType_GAUGE:
		put(name, labels, d.GetGauge().GetValue(), false)
	case dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM:
		h, rises := d.GetHistogram(), kind == dto.MetricType_HISTOGRAM
		for _, b := range h.GetBucket() {
			put(name+"_bucket", with("le", formatFloat(b.GetUpperBound())), float64(b.GetCumulativeCount()), rises)
		}
		put(name+"_sum", labels, h.GetSampleSum(), rises)
		put(name+"_count", labels, float64(h.GetSampleCount()), rises)
	case dto.MetricType_SUMMARY:
		s := d.GetSummary()
		for _, q := range s.GetQuantile() {
			put(name, with("quantile", formatFloat(q.GetQuantile())), q.GetValue(), false)
		}
		put(name+"_sum", labels, s.GetSampleSum(), true)
		put(name+"_count", labels, float64(s.GetSampleCount()), true)
	default:
		put(name, labels, d.GetUntyped().GetValue(), false)
	}
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func metricKey(name string, labels map[string]string) string {
	if len(labels) == 0 {
		return name
	}
	keys := make([]string, 0, len(labels))
	for k := range labels {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	b.WriteString(name)
	for i, k := range keys {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(k + "=" + strconv.Quote(labels[k]))
	}
	b.WriteByte('}')
	return b.String()
}

// Sum adds every sample called name whose labels include all of those given as
// name, value, name, value…; found is false when there is none, which isn't 0.
func (m Metrics) Sum(name string, labels ...string) (sum float64, found bool) {
next:
	for _, s := range m {
		if s.Name != name {
			continue
		}
		for i := 0; i+1 < len(labels); i += 2 {
			if s.Labels[labels[i]] != labels[i+1] {
				continue next
			}
		}
		sum += s.Value
		found = true
	}
	return sum, found
}

// startKey is the process collector's gauge that tells incarnations apart.
const startKey = "process_start_time_seconds"

// DiffMetrics gives what counters rose by between two pages, and states as they
// are in the second. When the process was started anew in between (its start
// time differs, or a counter went back where there is none), counters count
// from zero; what the earlier incarnation did after the first page isn't known.
func DiffMetrics(before, after Metrics) Metrics {
	anew := before[startKey].Value != after[startKey].Value
	out := make(Metrics, len(after))
	for k, a := range after {
		if a.Counter {
			a.Value = since(anew, before[k].Value, a.Value)
		}
		out[k] = a
	}
	return out
}

// Tally adds up a server's counters over many pages, so that only what happened
// between the last page and a crash is missing.
type Tally struct {
	last, sum Metrics
	// Restarts is how often a page came from another incarnation.
	Restarts int
}

// NewTally starts from a first page.
func NewTally(first Metrics) *Tally { return &Tally{last: first, sum: make(Metrics)} }

// Observe takes the next page.
func (t *Tally) Observe(page Metrics) {
	if t.last[startKey].Value != page[startKey].Value {
		t.Restarts++
	}
	for k, d := range DiffMetrics(t.last, page) {
		if d.Counter {
			d.Value += t.sum[k].Value
		}
		t.sum[k] = d
	}
	t.last = page
}

// Since gives what counters rose by since the first page, and the states of the
// last page seen. It stays valid only until the next Observe.
func (t *Tally) Since() Metrics { return t.sum }
