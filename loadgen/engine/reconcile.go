package engine

import (
	"ackmark/results"
)

// reconcile compares what was counted twice. After a fault the server's
// counters lack what its dead incarnation did since they were last read, so
// only the store's count is compared then; what the fault explains is said.
func (r *run) reconcile(a *account) {
	if r.store != nil {
		r.reconcileStore(a)
	}
	if a.page == nil {
		return
	}
	if r.faultsDone > 0 {
		r.warn("kills of the server: %d; its counters from the last reading to its death are lost, so sends, deliveries and acks can't be reconciled with them", r.faultsDone)
		return
	}
	add := func(what string, ours float64, theirs func() (float64, bool)) {
		if x, ok := theirs(); ok {
			r.reconciled(results.Reconciliation{What: what, Ours: ours, Other: "server", Theirs: x})
			return
		}
		r.warn("%s can't be reconciled: the server doesn't count them", what)
	}
	sum := func(name string, labels ...string) func() (float64, bool) {
		return func() (float64, bool) { return a.page.Sum(name, labels...) }
	}
	p := a.report
	stored, _ := a.page.Sum("ackmark_sends_total", "result", "stored")
	add("accepted sends", within(float64(p.Accepted), float64(p.Unknown+p.InFlight), stored), sum("ackmark_sends_total", "result", "stored"))
	add("deliveries received, redelivered ones included", float64(r.received()), sum("ackmark_deliveries_total"))
	add("ack requests", float64(a.acks), sum("ackmark_ack_requests_total"))
}

// reconcileStore compares accepted sends with what the store took: the heads of
// all logs, and for groups its XLEN and what was trimmed.
func (r *run) reconcileStore(a *account) {
	p := a.report
	r.reconciled(results.Reconciliation{
		What: "accepted sends", Ours: within(float64(p.Accepted), float64(p.Unknown+p.InFlight), float64(a.stored)),
		Other: "Redis, by the last seq of each log", Theirs: float64(a.stored),
	})
	if trimmed, ok := a.page.Sum("ackmark_log_trimmed_total"); ok && r.faultsDone == 0 {
		r.reconciled(results.Reconciliation{
			What: "messages stored in groups", Ours: float64(a.groupHeads),
			Other: "Redis XLEN + trimmed", Theirs: float64(a.groupXLen) + trimmed,
		})
	}
}

func (r *run) reconciled(c results.Reconciliation) {
	r.out.Health.Reconciliations = append(r.out.Health.Reconciliations, c)
}

// within is theirs where the sends without an answer, which may have been
// stored or not, explain the difference, else ours.
func within(ours, unknown, theirs float64) float64 {
	if theirs > ours && theirs <= ours+unknown {
		return theirs
	}
	return ours
}

// received is every delivery that reached a device, again ones included.
func (r *run) received() int64 {
	var n int64
	for i := range r.obs.devices {
		n += r.obs.devices[i].arrivals
	}
	return n
}
