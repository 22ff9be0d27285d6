package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"ackmark/loadgen/client"
	"ackmark/loadgen/launch"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/population"
	"ackmark/loadgen/schedule"
	"ackmark/profiles"
	"ackmark/results"
)

// run is one measurement of one variant.
type run struct {
	engine  *engine
	setting profiles.Setting
	profile *profiles.Profile
	repeat  int
	number  int // 1, 2, … in the order of measuring
	of      int
	seed    uint64
	ns      string // of its keys
	clock   clock
	phases  phases

	pop    *population.Population
	msgs   *messages
	obs    *observer
	ledger *ledger.Ledger
	fleet  *client.Fleet
	seats  []seat // by user
	lives  *lives // nil before devices connect
	polls  *polls // over HTTP only

	plannedLogins int // of the schedule

	http   *http.Client
	server *launch.Server
	store  *store // nil with a target

	// base is what the run lives in: it outlives an interrupt, and ends when a
	// child dies.
	base                  context.Context
	serverLife, redisLife life
	damage                damage // what faults did
	stock                 stock  // what was stored at one moment

	pages       pages           // the server's counters
	trafficPage measure.Metrics // when traffic began
	marks       [2]mark
	sampler     *measure.Sampler
	health      *measure.HealthMonitor
	healthIn    measure.Health
	measured    bool              // the measure phase has begun
	leftBadly   bool              // devices could not ack or leave in order
	cut         *measure.Snapshot // when an interrupt ended the measure phase

	pacer   pacerCost // set when the pacer has ended
	fanout  [measure.NumNames]*measure.Histogram
	entries []measure.LogEntry

	warnMu sync.Mutex // guards out.Warnings
	out    results.Run
}

func newRun(e *engine, s profiles.Setting, repeat, number, of int) (*run, error) {
	r := &run{
		engine: e, setting: s, profile: s.Profile, repeat: repeat, number: number, of: of,
		seed: schedule.RepeatSeed(s.Profile.Seed, repeat-1), serverLife: newLife(), redisLife: newLife(),
		http: httpClient(),
	}
	// Of one length for all runs: names are part of what is counted in bytes.
	tag := fmt.Sprintf("%sr%04d", e.tag, number)
	r.ns = fmt.Sprintf("%s.r%04d", e.namespace(), number)
	var err error
	if r.pop, err = population.Build(r.profile, r.seed, tag); err != nil {
		return nil, usage(fmt.Errorf("variant %s: %w", s.Name, err))
	}
	if err := r.books(tag); err != nil {
		return nil, err
	}
	r.out = results.Run{
		Variant: s.Name, Repeat: repeat, Seed: r.seed, Number: number, Metrics: results.Values{},
		Histograms: map[string]results.Histogram{}, Warnings: append([]string(nil), s.Warnings...),
	}
	return r, nil
}

// carryOut runs all phases. Whatever happens, what this run started is ended
// and its keys are gone when it returns.
func (r *run) carryOut(ctx context.Context) (err error) {
	r.clock = newClock()
	r.out.StartedMs = time.Since(r.engine.began).Milliseconds()
	base, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	defer fail(nil)
	r.base = base
	// work ends with an interrupt and with the death of a child.
	work, stopWork := context.WithCancelCause(ctx)
	defer stopWork(nil)
	defer context.AfterFunc(base, func() { stopWork(context.Cause(base)) })()
	defer func() { err = errors.Join(err, r.clean()) }()

	r.phase("start")
	if err := r.start(work); err != nil {
		return r.why(ctx, err)
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	if r.engine.redis != nil && r.server.Ours() {
		watching.Go(func() { r.watch(stop, fail) })
	}
	defer watching.Wait()
	defer close(stop)

	r.phase("seed")
	if err := r.seedAndConnect(work); err != nil {
		return r.why(ctx, err)
	}
	if err := r.traffic(work, fail); err != nil {
		// An interrupt in the measure phase leaves something to report.
		if partial := r.measured && ctx.Err() != nil && base.Err() == nil; !partial {
			return r.why(ctx, err)
		}
	}
	if base.Err() != nil {
		return context.Cause(base)
	}
	r.phase("drain")
	r.drain(ctx)
	if err := r.afterDrain(base); err != nil {
		return r.why(ctx, err)
	}
	r.phase("audit")
	r.leave(base)
	if err := r.audit(); err != nil {
		return r.why(ctx, err)
	}
	r.phases.end(r.clock.now())
	r.figures()
	if err := r.histograms(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// why prefers the death of a child, then an interrupt, over what they caused.
func (r *run) why(ctx context.Context, err error) error {
	switch {
	case r.base.Err() != nil:
		return context.Cause(r.base)
	case ctx.Err() != nil:
		return errInterrupted
	}
	return err
}

// start starts the server, or finds it.
func (r *run) start(ctx context.Context) error {
	e := r.engine
	o := launch.ServerOptions{Target: e.cfg.Target}
	if o.Target == "" {
		o.Executable = e.cfg.Executable
		o.Args = append(append([]string(nil), e.cfg.ServerArgs...), r.serverFlags()...)
		// The URL may hold a password, and any user can read a command line.
		o.Env = []string{"ACKMARK_REDIS=" + e.redis.URL(), "ACKMARK_TOKEN_SECRET=" + e.tokenSecret, "ACKMARK_ADMIN_SECRET=" + e.adminSecret}
	}
	var err error
	if r.server, err = e.launcher.Server(ctx, o); err != nil {
		return err
	}
	if e.redis != nil {
		if r.store, err = openStore(e.redis.URL(), r.ns, r.profile.Server); err != nil {
			return err
		}
	}
	return r.firstPage(ctx)
}

// serverFlags turns a profile into the server's settings.
func (r *run) serverFlags() []string {
	s, users := r.profile.Server, len(r.pop.Users)
	flags := []string{
		"--namespace", r.ns,
		"--ack-join", s.AckJoin.String(), "--ack-flush", s.AckFlush.String(), "--retransmit", s.Retransmit.String(),
		"--retention", fmt.Sprint(s.Retention), "--dedup-for", s.DedupFor.String(),
		"--window", fmt.Sprint(r.profile.Clients.Window),
		"--max-connections", fmt.Sprint(max(users+1000, 1000)), "--max-http-connections", fmt.Sprint(max(users+1000, 16<<10)),
		"--log-level", "warn",
	}
	return append(flags, designFlags(s)...)
}

func (r *run) seedAndConnect(ctx context.Context) error {
	s := &seeder{http: r.http, base: r.server.URL(), secret: r.engine.adminSecret}
	if err := s.population(ctx, r.pop); err != nil {
		return err
	}
	r.beforeMessages(ctx)
	if r.msgs.backlog > 0 {
		r.phase("backlog")
		if err := r.backlog(ctx); err != nil {
			return err
		}
		if err := r.afterBacklog(ctx); err != nil {
			return err
		}
		r.phase("connect")
	}
	r.lives = newLives(r, r.base)
	if err := r.newFleet(); err != nil {
		return err
	}
	if err := r.watchProcesses(); err != nil {
		return err
	}
	return r.connectWeighed(ctx)
}

// clean ends what the run started. Devices that left in order take no notice.
func (r *run) clean() error {
	r.crash()
	var err error
	if r.server != nil {
		if r.base.Err() != nil && r.server.Ours() {
			_ = r.server.Kill() // without its store, or already dead, it can't drain
		}
		err = r.server.Stop()
	}
	if r.store != nil {
		err = errors.Join(err, r.store.close())
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.base), 30*time.Second)
		defer cancel()
		if r.engine.redis.Cause() == nil { // a store that died holds nothing
			_, purgeErr := launch.Purge(ctx, r.engine.redis.URL(), r.ns+":")
			err = errors.Join(err, purgeErr)
		}
	}
	r.http.CloseIdleConnections()
	return err
}

func (r *run) phase(name string) {
	r.phases.begin(name, r.clock.now())
	r.tell(Progress{Kind: PhaseBegan, Phase: name})
}

// tell adds what every progress of this run has in common.
func (r *run) tell(p Progress) {
	p.Run, p.Runs, p.Variant, p.Repeat = r.number, r.of, r.setting.Name, r.repeat
	p.Deliveries = r.obs.tallies.arrived.Load()
	r.engine.progress(p)
}

func (r *run) warn(format string, args ...any) {
	r.warnMu.Lock()
	defer r.warnMu.Unlock()
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}
