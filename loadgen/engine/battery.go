package engine

// battery is what receiving and acking costs a phone: bytes for acks, and how
// often it wakes. What a device does per second is the mean over those that were
// online at some time of the run.
func (r *run) battery(seconds, deliveries float64) {
	from, to, m := &r.marks[0].carried, &r.marks[1].carried, r.out.Metrics
	online := 0
	for i := range r.obs.devices {
		if r.obs.devices[i].used {
			online++
		}
	}
	perDevice := func(n uint64) float64 { return float64(n) / seconds / float64(online) }
	m.Set("ack_bytes_per_delivery", float64(to.acks-from.acks)/deliveries)
	m.Set("ack_bytes_per_s", perDevice(to.acks-from.acks))
	m.Set("client_wakeups_per_s", perDevice(to.wakeups-from.wakeups))
	m.Set("ack_wakeups_per_s", perDevice(to.ackWakeups-from.ackWakeups))
}

// redeliveries divides what came again by what made it come: clients that
// crashed, and connections that were reset.
func (r *run) redeliveries() {
	l := &r.obs.logins
	l.mu.Lock()
	causes := l.crashes + int64(r.damage.resets)
	l.mu.Unlock()
	if causes == 0 {
		r.out.Metrics.SetNull("redelivered_per_crash")
		return
	}
	r.out.Metrics.Set("redelivered_per_crash", float64(r.out.Audit.Redelivered)/float64(causes))
}
