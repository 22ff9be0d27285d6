package engine

import (
	"maps"
	"time"

	"ackmark/loadgen/measure"
	"ackmark/results"
)

// figures computes the metrics of the measure phase. Costs are divided by the
// deliveries that were completed in it.
func (r *run) figures() {
	w := r.obs.window.Load()
	snap := w.recorder.Snapshot()
	seconds := (w.to - w.from).Seconds()
	deliveries := float64(snap.Completed(measure.Deliveries))
	if r.cut != nil {
		deliveries = float64(r.cut.Completed(measure.Deliveries))
	}
	m := r.out.Metrics
	m.Set("deliveries_per_s", deliveries/seconds)
	r.load(w, seconds)
	r.loginFigures()
	r.dedupFigures()
	r.acks(w, seconds, deliveries)
	r.costs(deliveries)
	r.battery(seconds, deliveries)
	r.redeliveries()
	r.healthOf()
	r.out.Series = series(snap, r.usage())
	r.out.Phases = r.phases.list
	for _, line := range r.obs.trouble.sentences() {
		r.warn("%s", line)
	}
}

// load compares what was offered with what left.
func (r *run) load(w *window, seconds float64) {
	offered := 0.0
	for _, conversation := range r.msgs.intended {
		for _, at := range conversation {
			if w.holds(at) {
				offered++
			}
		}
	}
	t, m := &r.obs.tallies, r.out.Metrics
	offered -= float64(t.nobody.Load()) // nobody was there to send them
	m.Set("offered_per_s", offered/seconds)
	offered += float64(r.plannedLogins)
	left := float64(t.leftInPhase.Load())
	refused := 0.0
	if a := r.out.Audit; a.Sends > 0 { // results adds the refused share itself
		refused = left * float64(a.Refused) / float64(a.Sends)
	}
	m.Set("achieved_percent", 100*(left-refused)/offered)
	m.Set("late_sends_percent", 100*float64(t.lateSends.Load())/offered)
}

// costs divides what processes, Redis and the wire took by the deliveries.
func (r *run) costs(deliveries float64) {
	m := r.out.Metrics
	from, to := &r.marks[0], &r.marks[1]
	for _, u := range r.usage() {
		m.Set(u.Role+"_cpu_us_per_delivery", float64(u.CPU.Nanoseconds())/1e3/deliveries)
		m.Set(u.Role+"_rss_bytes", float64(u.RSSMax))
	}
	for _, role := range []string{roleServer, roleRedis} { // what has no process here
		if _, ok := m[role+"_cpu_us_per_delivery"]; !ok {
			m.SetNull(role + "_cpu_us_per_delivery")
		}
	}
	if _, watched := m.Get("redis_cpu_us_per_delivery"); !watched && from.hasRedis && to.hasRedis {
		if u := measure.DiffRedis(from.redis, to.redis); u.HasCPU {
			m.Set("redis_cpu_us_per_delivery", float64(u.CPU.Nanoseconds())/1e3/deliveries)
			m.Set("redis_rss_bytes", float64(u.RSS))
		}
	}
	system, ok := m.Get("redis_cpu_us_per_delivery")
	if server, known := m.Get("server_cpu_us_per_delivery"); ok && known {
		m.Set("system_cpu_us_per_delivery", server+system)
	} else {
		m.SetNull("system_cpu_us_per_delivery")
	}
	in, out := float64(to.carried.read-from.carried.read), float64(to.carried.wrote-from.carried.wrote)
	m.Set("wire_bytes_in", in)
	m.Set("wire_bytes_out", out)
	m.Set("wire_bytes_per_delivery", (in+out)/deliveries)
	if from.page == nil || to.page == nil {
		return
	}
	if n, ok := rise(from.page, to.page, "ackmark_redis_commands_total"); ok {
		m.Set("redis_commands_per_delivery", n/deliveries)
	}
	if n, ok := rise(from.page, to.page, "ackmark_redis_round_trips_total"); ok {
		m.Set("redis_round_trips_per_delivery", n/deliveries)
	}
	if n, ok := rise(from.page, to.page, "ackmark_redis_commands_total", "name", "move"); ok {
		m.Set("cursor_commands_per_delivery", n/deliveries)
	}
	for metric, counter := range map[string]string{
		"server_allocations_per_delivery": "go_memstats_mallocs_total", "server_allocated_bytes_per_delivery": "go_memstats_alloc_bytes_total",
	} {
		if n, ok := rise(from.page, to.page, counter); ok {
			m.Set(metric, n/deliveries)
		}
	}
	if n, ok := rise(from.page, to.page, "ackmark_writes_total"); ok {
		m.Set("writes_per_delivery", n/deliveries)
	}
}

// usage is what the watched processes cost in the measure phase.
func (r *run) usage() []measure.Usage {
	u, err := r.sampler.Between(r.marks[0].sample, r.marks[1].sample)
	if err != nil {
		r.warn("the cost of processes isn't known: %v", err)
	}
	return u
}

func (r *run) healthOf() {
	r.pacing()
	h, out := r.healthIn, &r.out.Health
	out.GeneratorCPUCores = results.Number(h.Cores())
	out.GeneratorCores = results.Number(float64(h.CoresMax))
	out.GCPauseMaxUs = results.Number(us(h.GCPauseMax))
	out.GCPauseTotalUs = results.Number(us(h.GCPauseTotal))
	if h.HasRunQueue {
		out.RunQueuePercent = results.Number(100 * h.WaitShare())
		out.RunQueueMeanUs = results.Number(us(h.MeanWait()))
	}
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// histograms turns the recorders' histograms into those of the result, and
// hands them out for the .hlog file.
func (r *run) histograms() error {
	w := r.obs.window.Load()
	main, setup := w.recorder.Snapshot(), r.obs.setup.Snapshot()
	r.fanouts(w)
	for n := range measure.NumNames {
		name := measure.Name(n)
		h := main.Histogram(name)
		if h == nil {
			h = setup.Histogram(name)
		}
		if fan := r.fanout[n]; fan != nil {
			h = fan
		}
		converted, err := histogramOf(h)
		if err != nil {
			return err
		}
		r.out.Histograms[name.String()] = converted
		if h.Count() > 0 {
			r.entries = append(r.entries, measure.LogEntry{Tag: name.String(), Start: w.from, End: w.to, Histogram: h})
		}
	}
	if r.engine.cfg.Histograms == nil {
		return nil
	}
	return r.engine.cfg.Histograms(RunHistograms{
		Number: r.number, Variant: r.setting.Name, Repeat: r.repeat, Began: r.clock.began, Entries: r.entries,
	})
}

// fanouts makes histograms of the fan-out of each message that was intended in
// the measure phase.
func (r *run) fanouts(w *window) {
	record := func(n measure.Name, d time.Duration) {
		if r.fanout[n] == nil {
			r.fanout[n] = measure.NewHistogram()
		}
		r.fanout[n].Record(max(d, 0))
	}
	for f := range r.ledger.Fanouts {
		intended := r.msgs.intended[f.Conversation][f.Ordinal]
		if !w.holds(intended) {
			continue
		}
		record(measure.FanoutFirst, f.First-intended)
		if f.Median > 0 {
			record(measure.FanoutMedian, f.Median-intended)
		}
		if f.Last > 0 {
			record(measure.FanoutLast, f.Last-intended)
		}
	}
}

func histogramOf(h *measure.Histogram) (results.Histogram, error) {
	out := results.Histogram{Unit: results.Microseconds}
	if h.Count() == 0 {
		return out, nil
	}
	p := h.Percentiles()
	out.Count, out.Overflow = p.Count, p.Overflow
	out.Min, out.P50, out.P90, out.P99, out.P999, out.Max, out.Mean = p.Min, p.P50, p.P90, p.P99, p.P999, p.Max, p.Mean
	var err error
	out.HDR, err = h.Encode()
	return out, err
}

// series gives a point per second from the run's start.
func series(s *measure.Snapshot, usage []measure.Usage) results.Series {
	out := results.Series{StepMs: 1000, Points: map[string][]*float64{}}
	length := 0
	for _, c := range []measure.Counter{measure.Sends, measure.Deliveries, measure.AckRequests, measure.Redeliveries, measure.Errors} {
		values := s.Throughput(c)
		last := len(values)
		for last > 0 && values[last-1] == 0 {
			last--
		}
		length = max(length, last)
	}
	cut := func(name string, at func(i int) *float64) {
		points := make([]*float64, length)
		for i := range points {
			points[i] = at(i)
		}
		out.Points[name] = points
	}
	for _, c := range []measure.Counter{measure.Sends, measure.Deliveries, measure.AckRequests, measure.Redeliveries, measure.Reconnects, measure.Errors} {
		values := s.Throughput(c)
		cut(c.String()+"_per_s", func(i int) *float64 { return results.Number(float64(values[i])) })
	}
	for _, n := range []measure.Name{measure.Live, measure.SendResponse} {
		seconds := s.Latency(n)
		for stat, get := range map[string]func(measure.Second) *int64{
			"p50": func(x measure.Second) *int64 { return x.P50 }, "p99": func(x measure.Second) *int64 { return x.P99 },
			"max": func(x measure.Second) *int64 { return x.Max },
		} {
			cut(n.String()+"."+stat, func(i int) *float64 {
				if v := get(seconds[i]); v != nil {
					return results.Number(float64(*v))
				}
				return nil
			})
		}
	}
	maps.Copy(out.Points, processSeries(usage, length))
	return out
}

// processSeries puts CPU (cores) and memory of each process at the second in
// which it was read.
func processSeries(usage []measure.Usage, length int) map[string][]*float64 {
	out := map[string][]*float64{}
	for _, u := range usage {
		cores, rss := make([]*float64, length), make([]*float64, length)
		for i := 1; i < len(u.Series); i++ {
			a, b := u.Series[i-1], u.Series[i]
			second := int(b.At / time.Second)
			if wall := b.At - a.At; second < length && wall > 0 {
				cores[second] = results.Number(float64(b.CPU-a.CPU) / float64(wall))
				rss[second] = results.Number(float64(b.RSS))
			}
		}
		out[u.Role+"_cpu_cores"], out[u.Role+"_rss_bytes"] = cores, rss
	}
	return out
}
