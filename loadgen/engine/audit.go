package engine

import (
	"context"
	"fmt"
	"time"

	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
	"ackmark/results"
)

// settleTimeout is how long the counters may take to say the same as the store,
// beyond the server's own write-behind: acks are joined, logs are trimmed by a
// timer.
const settleTimeout = 3 * time.Second

// account is everything that the audit compares.
type account struct {
	report ledger.Report
	held   map[int]holding
	rows   waiting         // in designs that keep a row per recipient
	page   measure.Metrics // counters since the run's start
	acks   int64           // requests that devices sent, whole run
	stored uint64          // messages that the store ever took, by its heads

	// Of group logs, at the moment of page.
	groupHeads, groupXLen uint64
}

// audit closes the books. Devices have left; the server still runs.
func (r *run) audit() error {
	var a account
	for i := range r.obs.devices {
		a.acks += r.obs.devices[i].acks
	}
	r.out.Metrics.Set("ack_requests_total", float64(a.acks))
	r.out.Metrics.Set("ack_bytes_total", float64(r.carried().acks))
	if err := r.settle(&a); err != nil {
		return err
	}
	if r.server.Ours() {
		// Its drain writes what acks it still holds, so cursors are final.
		r.serverLife.down.Store(true)
		if err := r.server.Stop(); err != nil {
			return err
		}
	}
	if r.store != nil {
		// A log may be trimmed once more meanwhile: what was counted together
		// with the server's counters stays.
		heads, xlen := a.groupHeads, a.groupXLen
		if err := r.readStore(&a, true); err != nil {
			return err
		}
		a.groupHeads, a.groupXLen = heads, xlen
		if r.store.fansOut() {
			var err error
			if a.rows, err = r.store.rows(r.base, r.pop, r.used); err != nil {
				return err
			}
		}
	}
	a.report = r.ledger.Audit(r.view(&a))
	if err := a.report.Balance(); err != nil {
		return err
	}
	r.out.Audit = r.auditOf(&a)
	r.out.SetAuditMetrics()
	if r.out.Audit.Reduced {
		// Only the store knows cursors, and what still waits to be pulled.
		r.out.Metrics.SetNull("acked_not_received")
		r.out.Metrics.SetNull("not_shown")
	}
	if r.crashes() {
		r.out.Metrics.Set("crash_dropped", float64(a.report.Dropped))
	}
	r.reconcile(&a)
	r.stockFigures()
	r.counters(&a)
	return nil
}

// settle reads the counters until they agree with what devices did, or time is
// over: then the difference stands, and reconcile shows it.
func (r *run) settle(a *account) error {
	limit := settleTimeout + r.profile.Server.AckFlush.Std()
	if len(r.profile.Faults) > 0 || r.crashes() {
		limit = min(limit, time.Second) // they won't agree
	}
	until, w := r.clock.now()+limit, newWaiter(r.clock)
	for {
		page, err := r.observePage(r.base)
		if err != nil {
			return r.unlessForeign(err)
		}
		a.page = page
		if r.store != nil {
			if err := r.readStore(a, false); err != nil {
				return err
			}
		}
		acks, _ := page.Sum("ackmark_ack_requests_total")
		freed, counted := r.freed(page)
		open, _ := page.Sum("ackmark_connections")
		done := int64(acks) >= a.acks && (open == 0 || !r.server.Ours())
		if r.store != nil && counted {
			done = done && a.groupXLen+uint64(freed) == a.groupHeads
		}
		if done || r.clock.now() >= until {
			return nil
		}
		if err := w.until(r.base, min(r.clock.now()+20*time.Millisecond, until)); err != nil {
			return context.Cause(r.base)
		}
	}
}

func (r *run) unlessForeign(err error) error {
	if !r.server.Ours() {
		return nil
	}
	return fmt.Errorf("the server's counters at the audit: %w", err)
}

// used tells whether anything was to be sent to a conversation.
func (r *run) used(conversation int) bool { return len(r.msgs.intended[conversation]) > 0 }

func (r *run) readStore(a *account, deep bool) error {
	held, err := r.store.read(r.base, r.pop, r.used, deep)
	if err != nil {
		return err
	}
	a.held = held
	a.stored, a.groupHeads, a.groupXLen = 0, 0, 0
	for c, h := range held {
		a.stored += h.Head
		if c < len(r.pop.Groups) {
			a.groupHeads += h.Head
			a.groupXLen += h.Count
		}
	}
	return nil
}

// auditOf turns the ledger's report into the result's audit. Where the store
// can't be asked, what didn't reach somebody offline counts as pending.
func (r *run) auditOf(a *account) results.Audit {
	p := a.report
	out := results.Audit{
		Sends: int64(p.Sends), Accepted: int64(p.Accepted), Unknown: int64(p.Unknown + p.InFlight), Refused: int64(p.Refused),
		Expected: int64(p.Expected), Deliveries: int64(p.Arrived), Pending: int64(p.Pending), Lost: int64(p.Lost),
		Redelivered: int64(p.Redelivered), ShownTwice: int64(p.ShownTwice), OutOfOrder: int64(p.OutOfOrder),
		AckedNotReceived: int64(p.AckedNotReceived), SeqMismatch: int64(p.SeqMismatch), NotShown: int64(p.NotShown),
		RefusedArrived: int64(p.RefusedArrived), Foreign: int64(p.Foreign), Reduced: r.store == nil,
	}
	if r.store == nil {
		missing := int64(r.ledger.Outstanding())
		out.Pending, out.Lost = out.Lost-missing, missing
		r.warn("the store behind the target can't be asked: what didn't reach somebody offline counts as pending")
	}
	for _, x := range p.Examples {
		if x.Kind == ledger.Redelivered {
			continue // not wrong by itself
		}
		out.Examples = append(out.Examples, results.AuditSample{Kind: x.Kind.String(), Detail: r.describe(x)})
	}
	return out
}

// describe names message and recipient of an example.
func (r *run) describe(x ledger.Example) string {
	text := ""
	if x.Conversation >= 0 && x.Ordinal >= 0 {
		text = fmt.Sprintf("%s in %s ", r.msgs.id(x.Conversation, x.Ordinal), r.pop.Conversation(x.Conversation))
	}
	if x.Seq > 0 {
		text += fmt.Sprintf("(epoch %d, seq %d) ", x.Epoch, x.Seq)
	}
	if x.Recipient >= 0 && x.Recipient < len(r.pop.Users) {
		text += "for " + r.pop.Users[x.Recipient] + " "
	}
	return text + "– " + x.Detail
}
