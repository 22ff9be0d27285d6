package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ackmark/loadgen/measure"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
	"ackmark/results"
)

// backlogAtOnce is how many messages of a backlog are on their way at the same
// time: enough for the server to join them into round trips.
const backlogAtOnce = 64

// A send of the backlog isn't measured, so it has time enough: what the profile
// says of sends is for the traffic.
const (
	backlogTimeout = 30 * time.Second
	backlogRetries = 5
)

// backlog stores what waits for users before anybody has connected: the senders
// store it by HTTP, so that no device of theirs is needed. A sender's messages to
// one conversation leave one after the other, in the order of the schedule;
// beyond that the phase is as fast as the server is, and measures what storing
// costs, not how long it takes. A message that isn't stored ends the run: a
// figure about a part of a backlog says nothing.
func (r *run) backlog(ctx context.Context) error {
	before, err := r.settledPage(ctx)
	if err != nil {
		return err
	}
	b := &storing{run: r, total: int64(r.msgs.backlog), lanes: make([]chan due, backlogAtOnce)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for i := range b.lanes {
		b.lanes[i] = make(chan due, 8)
		wg.Go(func() {
			if err := b.empty(ctx, b.lanes[i]); err != nil {
				stop(err)
			}
		})
	}
	told, stopTelling := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { b.tell(told) })
	b.deal(ctx)
	wg.Wait()
	stopTelling()
	telling.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("the backlog: %d of %d messages were stored: %w", b.stored.Load(), b.total, context.Cause(ctx))
	}
	after, err := r.settledPage(ctx)
	if err != nil {
		return err
	}
	r.storeCosts(before, after)
	if b.direct > 0 {
		r.reconciled(results.Reconciliation{
			What: "direct messages of the backlog, told to be stored for somebody offline", Ours: float64(b.direct),
			Other: "the server's answers", Theirs: float64(b.offline.Load()),
		})
	}
	return nil
}

// storing is a backlog on its way into the store.
type storing struct {
	run     *run
	total   int64 // messages
	direct  int64 // of these
	lanes   []chan due
	stored  atomic.Int64
	offline atomic.Int64 // direct ones, told to be stored for an offline receiver
}

// deal hands each message to the lane of its sender and conversation, until ctx
// ends.
func (b *storing) deal(ctx context.Context) {
	defer func() {
		for _, lane := range b.lanes {
			close(lane)
		}
	}()
	r := b.run
	bodies := newBodies(max(r.backlogBody(schedule.Direct), r.backlogBody(schedule.Group)), r.seed)
	for e := range r.backlogEvents() {
		d := r.due(e, bodies.next(r.backlogBody(e.Kind)))
		if e.Kind == schedule.Direct {
			b.direct++
		}
		select {
		case b.lanes[(e.Sender+e.Conversation)%len(b.lanes)] <- d:
		case <-ctx.Done():
			return
		}
	}
}

// empty sends a lane's messages, one at a time.
func (b *storing) empty(ctx context.Context, lane <-chan due) error {
	r := b.run
	p := &poster{addr: r.server.Addr(), timeout: backlogTimeout, retries: backlogRetries, once: r.profile.Server.Dedup == profiles.Off}
	defer p.close()
	token, owner := "", -1
	for d := range lane {
		if ctx.Err() != nil {
			continue // let deal end
		}
		if owner != d.sender {
			var err error
			if token, err = r.token(d.sender); err != nil {
				return err
			}
			owner = d.sender
		}
		r.msgs.leaves(d.conversation, d.ordinal, r.clock.now())
		r.ledger.OnSend(d.conversation, d.ordinal)
		answer, err := p.send(ctx, token, &d.message)
		if err != nil {
			r.ledger.OnUnknown(d.conversation, d.ordinal)
			return fmt.Errorf("%s to %s: %w", d.message.ClientMsgID, d.message.To, err)
		}
		r.ledger.OnAccepted(d.conversation, d.ordinal, answer.Epoch, answer.Seq)
		b.stored.Add(1)
		if answer.Offline {
			b.offline.Add(1)
		}
	}
	return nil
}

// tell tells the progress every second until ctx ends.
func (b *storing) tell(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			b.run.tell(Progress{Kind: Tick, Phase: "backlog", Done: b.stored.Load(), Total: b.total})
		}
	}
}

// quiet is how long the server must have issued no command before its counters
// are taken to be at rest: what it writes behind waits for ack_join (5 ms), and
// for ack_flush where that is set.
const quiet = 50 * time.Millisecond

// settledPage reads the server's counters when they have come to rest, or after
// the settle time. Of a foreign server it gives nothing.
func (r *run) settledPage(ctx context.Context) (measure.Metrics, error) {
	w := newWaiter(r.clock)
	pause := quiet + r.profile.Server.AckFlush.Std()
	until := r.clock.now() + settleTimeout + pause
	last := -1.0
	for {
		page, err := r.observePage(ctx)
		if errors.Is(err, errNoCounters) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the server's counters: %w", err)
		}
		issued := storeCommands(page)
		if issued == last || r.clock.now() >= until {
			return page, nil
		}
		last = issued
		if err := w.until(ctx, r.clock.now()+pause); err != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// storeCommands is what the server has issued but for what it does by the clock:
// looking at the epoch and trimming.
func storeCommands(page measure.Metrics) float64 {
	all, _ := page.Sum("ackmark_redis_commands_total")
	for _, name := range []string{"epoch", "trim"} {
		n, _ := page.Sum("ackmark_redis_commands_total", "name", name)
		all -= n
	}
	return all
}

// storeCosts is what storing one message of the backlog cost.
func (r *run) storeCosts(before, after measure.Metrics) {
	if before == nil || after == nil {
		return
	}
	stored, ok := rise(before, after, "ackmark_sends_total", "result", "stored")
	if !ok || stored == 0 {
		return
	}
	r.sendCosts(before, after, stored)
}

// backlogBody is the size of a body of the backlog, bytes.
func (r *run) backlogBody(k schedule.Kind) int {
	b := r.profile.Backlog
	switch {
	case k == schedule.Direct && b.Direct != nil:
		return int(b.Direct.Bytes)
	case k == schedule.Group && b.Group != nil:
		return int(b.Group.Bytes)
	}
	return 0
}
