package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"ackmark/loadgen/measure"
)

// lead is the time between the begin of warm-up and everything being ready for it.
const lead = 20 * time.Millisecond

// mark is what the processes, connections and counters stood at, at one end of
// the measure phase.
type mark struct {
	at       time.Duration
	sample   int // of the sampler
	page     measure.Metrics
	redis    measure.RedisInfo
	hasRedis bool
	carried  carried // by all connections
}

// traffic walks the schedule through warm-up and measure. It returns when both
// are over, or early, with an error, when ctx ends; measured then says whether
// there is anything to report.
func (r *run) traffic(ctx context.Context, fail context.CancelCauseFunc) error {
	p := r.profile.Phases
	var err error
	if r.trafficPage, err = r.observePage(ctx); err != nil && r.server.Ours() {
		return err
	}
	origin := r.clock.now() + lead
	from := origin + p.Warmup.Std()
	to := from + p.Measure.Std()
	rec, err := measure.NewRecorder(measure.Config{
		Shards: 2 * runtime.GOMAXPROCS(0), MeasureStart: from, MeasureEnd: to,
		Horizon: to + p.Drain.Std() + time.Minute, SeriesOf: []measure.Name{measure.Live, measure.SendResponse},
	})
	if err != nil {
		return err
	}
	r.msgs.begin(origin)
	r.obs.window.Store(&window{from: from, to: to, recorder: rec})

	side, stopSide := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stopSide()
	wg.Go(func() { newPacer(r).walk(ctx, origin, r.events()) })
	wg.Go(func() {
		if err := r.injectFaults(ctx, from); err != nil {
			fail(err)
		}
	})
	wg.Go(func() { r.sampler.Run(side, time.Second, r.clock.now) })
	wg.Go(func() { r.tick(side, from, to) })
	wg.Go(func() { r.hiccups(side, from, to) })

	w := newWaiter(r.clock)
	r.phase("warmup")
	r.beforeLogins(ctx, w, from)
	if err := w.until(ctx, from); err != nil {
		return context.Cause(ctx)
	}
	if err := r.markStart(ctx); err != nil {
		return err
	}
	r.measured = true
	r.phases.begin("measure", from)
	r.tell(Progress{Kind: PhaseBegan, Phase: "measure", Planned: p.Measure.Std()})
	interrupted := w.until(ctx, to)
	r.lives.endVisits()
	if interrupted != nil {
		// What follows is no part of the measurement.
		to = r.clock.now()
		r.cut = rec.Snapshot()
		r.obs.window.Store(&window{from: from, to: to, recorder: rec})
	}
	if err := r.markEnd(); err != nil {
		return err
	}
	r.phases.end(to)
	if interrupted != nil {
		return context.Cause(ctx)
	}
	return nil
}

// watchProcesses prepares the CPU and memory readings. A given or embedded
// Redis has no process of its own to read.
func (r *run) watchProcesses() error {
	watched := []measure.Watched{{Role: roleGenerator, Now: ownProcess}}
	if r.server.Ours() {
		watched = append(watched, measure.Watched{Role: roleServer, Now: r.server.Process})
	}
	if r.engine.redis != nil && r.engine.redis.PID() != 0 {
		watched = append(watched, measure.Watched{Role: roleRedis, Now: r.engine.redis.Process})
	}
	var err error
	if r.sampler, err = measure.NewSampler(watched...); err != nil {
		return err
	}
	r.health, err = measure.NewHealthMonitor()
	return err
}

// The roles of watched processes.
const (
	roleGenerator = "generator"
	roleServer    = "server"
	roleRedis     = "redis"
)

// markStart reads counters first and CPU last, markEnd the other way round, so
// that reading them isn't part of what is measured.
func (r *run) markStart(ctx context.Context) error {
	m := &r.marks[0]
	r.readCounters(ctx, m)
	var err error
	m.at = r.clock.now()
	if m.sample, err = r.sampler.Mark(m.at); err != nil {
		return err
	}
	return r.health.Start(m.at)
}

func (r *run) markEnd() error {
	m := &r.marks[1]
	m.at = r.clock.now()
	sample, err := r.sampler.Mark(m.at)
	if err != nil {
		return err
	}
	m.sample = sample
	if r.healthIn, err = r.health.Read(m.at); err != nil {
		return err
	}
	r.readCounters(r.base, m)
	return nil
}

func (r *run) readCounters(ctx context.Context, m *mark) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m.carried = r.carried()
	if page, err := r.observePage(ctx); err == nil {
		m.page = page
	} else {
		r.warn("the server's counters couldn't be read at one end of the measure phase: %v", err)
	}
	if r.store == nil {
		return
	}
	info, err := measure.ReadRedis(ctx, r.store.client)
	if err != nil {
		r.warn("Redis couldn't be asked for INFO at one end of the measure phase: %v", err)
		return
	}
	m.redis, m.hasRedis = info, true
}

// tick tells the progress of warm-up and measure every second.
func (r *run) tick(ctx context.Context, from, to time.Duration) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			p := Progress{Kind: Tick, Phase: "warmup", Elapsed: r.clock.now() - from + r.profile.Phases.Warmup.Std(), Planned: r.profile.Phases.Warmup.Std()}
			if now := r.clock.now(); now >= from {
				p.Phase, p.Elapsed, p.Planned = "measure", now-from, to-from
			}
			r.tell(p)
		}
	}
}

// summary is one line about a run that has ended.
func (r *run) summary() string {
	a := r.out.Audit
	text := fmt.Sprintf("%d sends, %d deliveries, %d lost, %d shown twice", a.Sends, a.Deliveries, a.Lost, a.ShownTwice)
	if a.Pending > 0 {
		text += fmt.Sprintf(", %d pending", a.Pending)
	}
	return text
}
