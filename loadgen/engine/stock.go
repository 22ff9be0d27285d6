package engine

import (
	"context"
	"time"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/measure"
	"ackmark/profiles"
	"ackmark/results"
)

// stock is what the store holds at one stated moment: after the backlog and
// before anybody logs in; without a backlog at the end of warm-up, when the
// first logins are to come; without logins when the drain has ended, so that
// reading it disturbs no delivery that is measured.
type stock struct {
	empty    uint64 // used_memory with the population, before any message
	hasEmpty bool

	taken    bool
	messages int64           // accepted until then
	accepted []int64         // of these, by conversation
	page     measure.Metrics // the server's counters
	held     map[string]kindHeld
	used     uint64 // used_memory
	hasUsed  bool
}

// beforeMessages notes what Redis needs for the population alone.
func (r *run) beforeMessages(ctx context.Context) {
	if r.store != nil {
		r.stock.empty, r.stock.hasEmpty = r.store.usedMemory(ctx)
	}
}

// backlogged tells whether messages wait before anybody is online.
func (r *run) backlogged() bool {
	return r.profile.Backlog.Direct != nil || r.profile.Backlog.Group != nil
}

// afterBacklog takes stock while everybody is offline, and holds what is stored
// against what the design says.
func (r *run) afterBacklog(ctx context.Context) error {
	if r.store == nil || !r.backlogged() {
		return nil
	}
	if _, err := r.takeStock(ctx); err != nil {
		return err
	}
	if written, ok := r.stock.page.Sum("ackmark_rows_written_total"); ok && r.store.fansOut() {
		r.reconciled(results.Reconciliation{
			What: "rows written for members by the backlog", Ours: written, Other: "Redis ZCARD", Theirs: float64(r.stock.shares().rows),
		})
	}
	if rows := r.rowsOfBacklog(); r.ledger.Unanswered() == 0 && r.profile.Server.Dedup != profiles.Off {
		r.reconciled(results.Reconciliation{
			What: "rows that the backlog should have left", Ours: float64(rows), Other: "Redis XLEN + ZCARD", Theirs: float64(r.stock.rows()),
		})
	}
	return nil
}

// rowsOfBacklog is how many rows the design stores of what was accepted while
// everybody was offline: one per message, one per recipient, or both.
func (r *run) rowsOfBacklog() int64 {
	var n int64
	for c := range r.pop.Conversations() {
		accepted := int64(r.ledger.Accepted(c))
		if c >= len(r.pop.Groups) {
			n += accepted // a direct message
			continue
		}
		recipients := int64(len(r.pop.Groups[c].Members) - 1) // all but the sender
		switch r.profile.Server.Group {
		case profiles.GroupCopies:
			n += accepted * recipients
		case profiles.GroupIDs:
			n += accepted * (1 + recipients)
		default:
			n += accepted
		}
	}
	return n
}

// stockLead is how long before the first login a stock is taken at the earliest.
const stockLead = time.Second

// beforeLogins takes stock at the end of warm-up, between two sends if there is
// such a moment, so that what is counted belongs to whole messages.
func (r *run) beforeLogins(ctx context.Context, w *waiter, from time.Duration) {
	if r.store == nil || r.backlogged() || r.profile.Traffic.Login == nil || r.profile.Phases.Warmup.Std() < stockLead {
		return
	}
	if w.until(ctx, from-stockLead) != nil {
		return // the caller notices
	}
	const gap, reserve = 20 * time.Millisecond, 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, from-reserve-r.clock.now())
	defer cancel()
	for {
		whole, err := r.takeStock(ctx)
		if err != nil {
			r.warn("what is stored per message isn't known: %v", err)
		}
		if whole || err != nil || w.until(ctx, r.clock.now()+gap) != nil {
			return
		}
	}
}

// afterDrain takes stock where it hasn't been taken and where somebody has been
// offline all along: of who was online everything is acked and gone.
func (r *run) afterDrain(ctx context.Context) error {
	if r.store == nil || r.stock.taken || r.pop.OnlineCount() == len(r.pop.Users) || r.profile.Traffic.Login != nil {
		return nil
	}
	_, err := r.takeStock(ctx)
	return err
}

// takeStock reads what is stored. Whole says that no message came meanwhile and
// none was on its way.
func (r *run) takeStock(ctx context.Context) (whole bool, err error) {
	s := &r.stock
	before, _ := r.acceptedSoFar()
	way := r.ledger.Unanswered()
	held, err := r.store.held(ctx, r.engine.redis.Kind() == launch.Embedded)
	if err != nil {
		return false, err // what an earlier try has found stands
	}
	s.held = held
	s.page, _ = r.observePage(ctx) // without it what stands is what there was
	s.used, s.hasUsed = r.store.usedMemory(ctx)
	s.messages, s.accepted = r.acceptedSoFar()
	s.taken = true
	return way == 0 && s.messages == before, nil
}

// acceptedSoFar counts the messages that were accepted, in all and by conversation.
func (r *run) acceptedSoFar() (n int64, by []int64) {
	by = make([]int64, r.pop.Conversations())
	for c := range by {
		by[c] = int64(r.ledger.Accepted(c))
		n += by[c]
	}
	return n, by
}

// bodies are rows that are there once per message, shares those per recipient.
func (s *stock) bodies() kindHeld { return s.sum("log", "inbox") }
func (s *stock) shares() kindHeld { return s.sum("copies", "pending") }
func (s *stock) rows() int64      { return s.bodies().rows + s.shares().rows }

func (s *stock) sum(names ...string) (h kindHeld) {
	for _, n := range names {
		k := s.held[n]
		h.keys += k.keys
		h.rows += k.rows
		h.content += k.content
		h.memory += k.memory
	}
	return h
}

// written is how many rows of each table were written for the messages of a
// stock. What online recipients have acked by then is gone, so it isn't what
// stands but, where that is known, what the design writes of each message, and
// what the server counted for members.
func (r *run) written() map[string]float64 {
	s := &r.stock
	out := map[string]float64{}
	for _, t := range []string{"log", "inbox", "copies", "pending"} {
		out[t] = float64(s.held[t].rows)
	}
	if r.backlogged() {
		return out // nobody has acked yet
	}
	groups := 0.0
	for g := range r.pop.Groups {
		groups += float64(s.accepted[g])
	}
	if r.profile.Server.Group != profiles.GroupCopies {
		out["log"] = groups
	}
	if r.profile.Server.StoreFor != profiles.StoreForOffline {
		out["inbox"] = float64(s.messages) - groups
	}
	if rows, ok := rise(r.trafficPage, s.page, "ackmark_rows_written_total"); ok && r.store.fansOut() {
		out[r.store.rowsTable()] = rows
	}
	return out
}

// stockFigures gives rows and bytes per message: as many rows as were written,
// each of the mean size of those that still stand.
func (r *run) stockFigures() {
	s, m := &r.stock, r.out.Metrics
	if !s.taken || s.messages == 0 {
		return
	}
	n := float64(s.messages)
	rows, content, memory := 0.0, 0.0, 0.0
	for name, written := range r.written() {
		if h := s.held[name]; written > 0 {
			rows += written
			content += float64(h.content) / float64(h.rows) * written // none stands: NaN, which is null
			memory += float64(h.memory) / float64(h.rows) * written
		}
	}
	m.Set("rows_per_message", rows/n)
	m.Set("stored_bytes_per_message", content/n)
	for _, metric := range []string{"memory_bytes_per_message", "used_memory_bytes_per_message", "dedup_memory_bytes_per_message"} {
		m.SetNull(metric)
	}
	if r.engine.redis.Kind() == launch.Embedded {
		return // what it says of memory isn't Redis's
	}
	m.Set("memory_bytes_per_message", (memory+float64(s.sum("senders", "refs", "storing", "fanned").memory))/n)
	m.Set("dedup_memory_bytes_per_message", float64(s.sum("sent").memory)/n)
	if s.hasEmpty && s.hasUsed {
		m.Set("used_memory_bytes_per_message", (float64(s.used)-float64(s.empty))/n)
	}
}
