package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ackmark/loadgen/ledger"
	"ackmark/profiles"
)

// damage is what faults did to a run. The goroutine that injects them writes
// it, and has ended when it is read.
type damage struct {
	serverKills int
	inFanout    int // of these, with a fan-out half-way
	redisKills  int
	resets      int // connections broken
	crashed     int // clients
	tails       []lostTail
	noted       map[string][]ledger.Base // by conversation: of epochs that Redis has ended by dying
}

// any tells whether there was a fault.
func (d *damage) any() bool { return d.serverKills+d.redisKills+d.resets+d.crashed > 0 }

// dueFault is one occurrence of a fault.
type dueFault struct {
	at time.Duration // into measure
	profiles.Fault
}

// timeline unrolls what is repeated, in order of time.
func timeline(faults []profiles.Fault, measure profiles.Duration) []dueFault {
	var all []dueFault
	for _, f := range faults {
		for _, at := range f.Times(measure) {
			all = append(all, dueFault{at.Std(), f})
		}
	}
	slices.SortStableFunc(all, func(a, b dueFault) int { return int(a.at - b.at) })
	return all
}

// killsRedis tells whether a variant has a fault that only a Redis of the run's
// own can suffer.
func killsRedis(s profiles.Setting) bool {
	return slices.ContainsFunc(s.Profile.Faults, func(f profiles.Fault) bool { return f.Kind == profiles.FaultKillRedis })
}

// injectFaults breaks what the profile asks for, one after another: one that is
// due while another lasts follows it. begin is when measure begins. It returns
// early when ctx ends.
func (r *run) injectFaults(ctx context.Context, begin time.Duration) error {
	w := newWaiter(r.clock)
	for i, f := range timeline(r.profile.Faults, r.profile.Phases.Measure) {
		if w.until(ctx, begin+f.at) != nil {
			return nil
		}
		var err error
		switch f.Kind {
		case profiles.FaultKillServer:
			err = r.killServer(ctx, w, f.Fault)
		case profiles.FaultKillRedis:
			err = r.killRedis(ctx, w, f.Fault)
		case profiles.FaultReset:
			r.reset(f.Fault, i)
		case profiles.FaultCrashClients:
			r.damage.crashed += r.lives.crash(r.hit(f.Share, i), f.Down.Std())
		default:
			err = usage(fmt.Errorf("there is no fault %q", f.Kind))
		}
		if err != nil {
			return fmt.Errorf("fault %s at %v: %w", f.Kind, f.at, err)
		}
	}
	return nil
}

// killServer is kill -9 and a restart on the same port. Counters are read just
// before, so that only what happened since is missing from them. In designs that
// write to many inboxes the kill waits a moment for a fan-out to be half-way:
// that is what it has to survive.
func (r *run) killServer(ctx context.Context, w *waiter, f profiles.Fault) error {
	_, _ = r.observePage(ctx) // a page missed: the reconciliation says what it can't compare
	if r.store != nil && r.store.fansOut() {
		_ = r.store.awaitFanout(ctx, r.pop) // none seen: it dies between two
	}
	r.serverLife.down.Store(true)
	if err := r.server.Kill(); err != nil {
		return err
	}
	r.damage.serverKills++
	down := r.clock.now()
	if r.store != nil && r.store.fansOut() {
		if left, err := r.store.unfinished(ctx, r.pop); err == nil && left > 0 {
			r.damage.inFanout++
		}
	}
	// An interrupt doesn't leave the server down: devices still have to ack.
	_ = w.until(ctx, down+f.Down.Std())
	if err := r.server.Restart(r.base); err != nil {
		return fmt.Errorf("restarting the server: %w", err)
	}
	r.serverLife.back()
	_, _ = r.observePage(ctx) // a page missed: the reconciliation says what it can't compare
	return nil
}

// killRedis is kill -9 of the private Redis and a restart on the same socket and
// data, from whose tail the given number of messages may be cut before. Under
// fsync everysec the kill alone may lose a tail: while a sync is under way, Redis
// keeps what it should write for up to 2 s. The bases that conversations have
// noted tell what was lost so, each until the next epoch notes its own, so they
// are read before each kill.
func (r *run) killRedis(ctx context.Context, w *waiter, f profiles.Fault) error {
	epoch, err := r.store.epoch(ctx)
	if err != nil {
		return err
	}
	if err := r.damage.note(ctx, r.store, r.pop, r.used); err != nil {
		return err
	}
	redis := r.engine.redis
	r.redisLife.down.Store(true)
	if err := redis.Kill(); err != nil {
		return err
	}
	r.damage.redisKills++
	down := r.clock.now()
	tail := lostTail{epoch: epoch, all: r.profile.Redis.Fsync == profiles.FsyncOff}
	if f.Cut > 0 {
		entries, others, err := redis.CutTail(f.Cut, r.store.isMessage)
		if err != nil {
			return err
		}
		tail.take(r.store, entries)
		if n := len(tail.messages); n < f.Cut {
			r.warn("the append-only file held %d messages to be cut, not %d", n, f.Cut)
		}
		r.tell(Progress{Kind: Note, Note: fmt.Sprintf("cut %d messages, and %d writes of other things, from the tail of Redis's append-only file", len(tail.messages), others)})
	}
	r.damage.tails = append(r.damage.tails, tail)
	_ = w.until(ctx, down+f.Down.Std())
	if err := redis.Restart(r.base); err != nil {
		return fmt.Errorf("restarting Redis: %w", err)
	}
	r.redisLife.back()
	return nil
}

// reset breaks the connections of a share of the devices that have one, chosen
// by the run's seed. They reconnect as after any loss of the network.
func (r *run) reset(f profiles.Fault, serial int) {
	for _, u := range r.hit(f.Share, serial) {
		if d := r.device(u); d != nil {
			d.Drop()
			r.damage.resets++
		}
	}
}

// hit chooses a share of the users who have a device, by the run's seed and
// which failure of the run it is.
func (r *run) hit(share profiles.Percent, serial int) []int {
	var present []int
	for u := range r.seats {
		if r.device(u) != nil {
			present = append(present, u)
		}
	}
	rng := rand.New(rand.NewPCG(r.seed, uint64(serial)))
	n := min(share.Of(len(present)), len(present))
	for i := range n {
		j := i + rng.IntN(len(present)-i)
		present[i], present[j] = present[j], present[i]
	}
	return present[:n]
}

// crashesClients tells whether a fault of the run does.
func (r *run) crashesClients() bool {
	return slices.ContainsFunc(r.profile.Faults, func(f profiles.Fault) bool { return f.Kind == profiles.FaultCrashClients })
}
