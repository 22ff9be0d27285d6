package engine

import (
	"slices"

	"ackmark/loadgen/measure"
	"ackmark/profiles"
	"ackmark/results"
)

// reconcile compares what was counted twice. After a kill of the server its
// counters lack what its dead incarnation did since they were last read, so only
// the store's counts are compared then; what the fault explains is said.
func (r *run) reconcile(a *account) {
	if r.store != nil {
		r.reconcileStore(a)
		r.reconcileCrashes(a)
		r.reconcileAcks(a)
		r.reconcileTails(a)
	}
	r.tellDamage(a)
	if a.page == nil || r.damage.serverKills > 0 {
		return
	}
	add := func(what string, ours float64, name string, labels ...string) {
		if x, ok := a.page.Sum(name, labels...); ok {
			r.reconciled(results.Reconciliation{What: what, Ours: ours, Other: "server", Theirs: x})
			return
		}
		r.warn("%s can't be reconciled: the server doesn't count them", what)
	}
	stored, _ := a.page.Sum("ackmark_sends_total", "result", "stored")
	add("accepted sends", r.answered(a, r.accepted(a, stored), stored), "ackmark_sends_total", "result", "stored")
	delivered, _ := a.page.Sum("ackmark_deliveries_total")
	add("deliveries received, redelivered ones included", r.underWay(float64(r.received()), delivered, +1), "ackmark_deliveries_total")
	acked, _ := a.page.Sum("ackmark_ack_requests_total")
	add("ack requests", r.underWay(float64(a.acks), acked, -1), "ackmark_ack_requests_total")
}

// crashes tells whether clients die on purpose in this run.
func (r *run) crashes() bool {
	c := r.profile.Clients.Crash.Between
	return c != "" && c != profiles.CrashOff
}

// underWay is theirs where connections ended in mid-run, by a fault, a crash or
// because a session was over, and what was under way then explains the
// difference: the server had sent more than devices got (sign +1), or devices
// more than the server got (−1).
func (r *run) underWay(ours, theirs float64, sign float64) float64 {
	ended := r.damage.any() || r.crashes() || r.profile.Clients.Session > 0
	if ended && sign*(theirs-ours) > 0 {
		return theirs
	}
	return ours
}

// accepted is theirs, the number of messages that were stored, where it is
// explained: by the sends that were accepted, by those without an answer, which
// may have been stored or not, and, with idempotent sends off, by attempts that
// were stored as messages of their own.
func (r *run) accepted(a *account, theirs float64) float64 {
	return within(float64(a.report.Accepted), r.unsure(a), theirs)
}

func (r *run) unsure(a *account) float64 {
	slack := a.report.Unknown + a.report.InFlight
	if r.profile.Server.Dedup == profiles.Off {
		for _, n := range r.obs.window.Load().recorder.Snapshot().Throughput(measure.Retries) {
			slack += int(n)
		}
	}
	return float64(slack)
}

// answered is theirs where sends that the server gave up, not knowing whether
// they were stored, and then answered as duplicates explain the difference. Where
// rows are written per recipient the server answers so by itself when Redis died
// on it in mid-send, and whoever opened the group then has finished the send.
func (r *run) answered(a *account, ours, stored float64) float64 {
	failed, _ := a.page.Sum("ackmark_sends_total", "result", "failed")
	duplicate, _ := a.page.Sum("ackmark_sends_total", "result", "duplicate")
	twice := min(failed, duplicate)
	if r.damage.redisKills > 0 && r.store != nil && r.store.fansOut() {
		twice = duplicate
	}
	if ours > stored && ours <= stored+twice {
		return stored
	}
	return ours
}

// reconcileStore compares accepted sends with what the store took: the heads of
// all logs. What it lost again, with a tail, it has given to others; a direct
// message that was to be pushed only and missed its receiver has a second seq.
func (r *run) reconcileStore(a *account) {
	theirs := float64(a.stored + uint64(a.report.CutAccepted))
	missed, _ := a.page.Sum("ackmark_pushes_missed_total")
	if r.damage.serverKills > 0 && r.profile.Server.StoreFor == profiles.StoreForOffline {
		missed = theirs // its count is lost
	}
	r.reconciled(results.Reconciliation{
		What: "accepted sends", Ours: within(float64(a.report.Accepted), r.unsure(a)+missed, theirs),
		Other: "Redis, by the last seq of each log", Theirs: theirs,
	})
	if freed, ok := r.freed(a.page); ok && !r.damage.any() {
		r.reconciled(results.Reconciliation{
			What: "messages stored in groups", Ours: float64(a.groupHeads),
			Other: "Redis XLEN + those that went", Theirs: float64(a.groupXLen) + freed,
		})
	}
	if r.store.fansOut() {
		r.reconcileRows(a)
	}
	if r.profile.Server.SenderIndex == profiles.On {
		left, indexed := uint64(0), uint64(0)
		for c, h := range a.held {
			if c >= len(r.pop.Groups) {
				left += h.Count
				indexed += h.senders
			}
		}
		r.reconciled(results.Reconciliation{What: "direct messages left in inboxes", Ours: float64(left), Other: "Redis, by sender", Theirs: float64(indexed)})
	}
}

// freed is how many messages the server took out of groups' logs: trimmed under
// cursors, or bodies that nobody's id names any more. Copies have no log.
func (r *run) freed(page measure.Metrics) (float64, bool) {
	switch r.profile.Server.Group {
	case profiles.GroupCopies:
		return 0, false
	case profiles.GroupIDs:
		return page.Sum("ackmark_bodies_freed_total")
	}
	return page.Sum("ackmark_log_trimmed_total")
}

// reconcileRows checks rows per recipient: none twice, no id without its body,
// and no body that nobody needs. The last may be freed late where something was
// interrupted, so it is checked where nothing was.
func (r *run) reconcileRows(a *account) {
	r.reconciled(results.Reconciliation{What: "rows that are in an inbox twice", Ours: 0, Other: "Redis", Theirs: float64(a.rows.doubled)})
	if r.profile.Server.Group != profiles.GroupIDs {
		return
	}
	var orphans, needed, bodies uint64
	for g := range r.pop.Groups {
		h, name := a.held[g], r.pop.Conversation(g)
		bodies += h.left.count()
		var ids runs
		for _, u := range r.pop.Groups[g].Members {
			mine := a.rows.of[u][name]
			orphans += mine.count() - mine.in(h.left)
			ids = ids.with(mine)
		}
		needed += ids.in(h.left)
	}
	r.reconciled(results.Reconciliation{What: "ids without a body", Ours: 0, Other: "Redis", Theirs: float64(orphans)})
	if !r.damage.any() && !r.crashes() {
		r.reconciled(results.Reconciliation{What: "bodies that somebody's id names", Ours: float64(needed), Other: "Redis XLEN", Theirs: float64(bodies)})
	}
}

// reconcileCrashes holds what was lost against the crash injector's own log.
// Where a pull removes, all that a crash took is gone; and nothing else is
// without faults and without what dies with its connection: live pushes, and
// pages of a session that was over.
func (r *run) reconcileCrashes(a *account) {
	if !r.crashes() || r.profile.Server.Remove != profiles.RemoveOnPull || r.damage.any() {
		return
	}
	p := &a.report
	r.reconciled(results.Reconciliation{
		What: "deliveries that crashes took", Ours: float64(p.Dropped), Other: "lost, of these", Theirs: float64(p.LostDropped),
	})
	if r.profile.Traffic.Group == nil && r.profile.Traffic.Direct == nil && r.profile.Clients.Session == 0 {
		r.reconciled(results.Reconciliation{
			What: "deliveries that crashes took", Ours: float64(p.Dropped), Other: "lost, all", Theirs: float64(p.Lost),
		})
	}
}

// reconcileAcks holds what devices acked before they left against the store: the
// server has stopped in order and written what acks it held, so nothing that
// arrived and was acked may still wait. Where acks may be lost on their way, by a
// fault, a crash or a session that was over, or aren't sent at all, it isn't so.
func (r *run) reconcileAcks(a *account) {
	c, s := &r.profile.Clients, &r.profile.Server
	switch {
	case !r.server.Ours(), r.damage.any(), r.crashes(), c.Session > 0, r.leftBadly:
		return
	case s.Remove != profiles.RemoveOnAck, s.Cursor == profiles.CursorTimeFrom, c.Ack.Policy == profiles.AckNone, c.Pull.Ack == profiles.PullAckNone:
		return
	}
	r.reconciled(results.Reconciliation{
		What: "deliveries that were acked and still wait", Ours: 0, Other: "Redis", Theirs: float64(a.report.ArrivedWaiting),
	})
}

// reconcileTails holds what was lost against what Redis has lost, where its kills
// may take a tail with them and nothing else can be lost: whatever else is
// missing, no fault explains.
func (r *run) reconcileTails(a *account) {
	d, s := &r.damage, &r.profile.Server
	cut := slices.ContainsFunc(d.tails, func(t lostTail) bool { return t.all || len(t.messages) > 0 })
	switch {
	case d.redisKills == 0, !cut && r.profile.Redis.Fsync == profiles.FsyncAlways:
		return
	case s.Remove == profiles.RemoveOnPull, s.StoreFor == profiles.StoreForOffline, s.Cursor == profiles.CursorTimeAfter:
		return // loses by itself
	}
	r.reconciled(results.Reconciliation{
		What: "deliveries that are lost", Ours: float64(a.report.Lost), Other: "of messages that Redis has lost", Theirs: float64(a.report.LostWithTail),
	})
}

// tellDamage says what faults did, and what can't be compared because of them.
func (r *run) tellDamage(a *account) {
	d := &r.damage
	if d.serverKills > 0 {
		r.warn("kills of the server: %d; its counters from the last reading to its death are lost, so sends, deliveries and acks can't be reconciled with them", d.serverKills)
		if r.store != nil && r.store.fansOut() {
			r.warn("kills of the server with a fan-out half-way: %d of %d", d.inFanout, d.serverKills)
		}
	}
	if d.redisKills > 0 {
		r.warn("kills of Redis: %d; it lost %d accepted messages, of them %d deliveries that nobody had yet", d.redisKills, a.report.CutAccepted, a.report.LostWithTail)
	}
	if d.resets > 0 {
		r.warn("connections reset: %d; what was under way on them isn't reconciled", d.resets)
	}
	if d.crashed > 0 {
		r.warn("clients crashed: %d; what was under way to and from them isn't reconciled", d.crashed)
	}
	if n := a.report.StoredAgain; n > 0 {
		r.warn("messages that were stored more than once, seen at two seqs: %d", n)
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
