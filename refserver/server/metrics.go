package server

import (
	"io"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"ackmark/refserver/delivery"
	"ackmark/refserver/gateway"
	"ackmark/refserver/push"
	"ackmark/refserver/redisstore"
)

// snapshot is every room's counters at about one moment.
type snapshot struct {
	delivery delivery.Stats
	push     push.Stats
	gateway  gateway.Stats
	store    redisstore.Stats
	epoch    uint64
}

// metrics turns snapshots into Prometheus' text format.
type metrics struct{ registry *prometheus.Registry }

func newMetrics(take func() snapshot) *metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{take}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &metrics{r}
}

func (m *metrics) write(w io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return err
	}
	enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// collector reads the rooms when it is asked, so counting costs the rooms
// nothing but their own counters.
type collector struct{ take func() snapshot }

// Describe sends nothing: the families are known once they are collected.
func (c collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.take()
	for _, f := range families {
		d := prometheus.NewDesc("ackmark_"+f.name, f.help, f.labels(), nil)
		kind := prometheus.CounterValue
		if f.gauge {
			kind = prometheus.GaugeValue
		}
		values := f.values(&s)
		for _, label := range slices.Sorted(maps.Keys(values)) {
			if f.label == "" {
				out <- prometheus.MustNewConstMetric(d, kind, float64(values[label]))
				continue
			}
			out <- prometheus.MustNewConstMetric(d, kind, float64(values[label]), label)
		}
	}
}

// family is one metric: values by label, or by "" without one.
type family struct {
	name, help string
	label      string
	gauge      bool
	values     func(s *snapshot) map[string]uint64
}

func (f family) labels() []string {
	if f.label == "" {
		return nil
	}
	return []string{f.label}
}

func one(get func(s *snapshot) uint64) func(*snapshot) map[string]uint64 {
	return func(s *snapshot) map[string]uint64 { return map[string]uint64{"": get(s)} }
}
