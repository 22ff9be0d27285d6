package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ackmark/loadgen/launch"
	"ackmark/profiles"
	"ackmark/results"
)

// errInterrupted ends a run because the caller's context did.
var errInterrupted = errors.New("interrupted")

// engine is one command: all runs of a profile.
type engine struct {
	cfg         Config
	launcher    *launch.Launcher
	machine     launch.Report
	redis       *launch.Redis // nil with a target
	tag         string
	tokenSecret string
	adminSecret string
	began       time.Time
	rules       results.Rules
	result      *results.Result

	progressMu sync.Mutex // held while Progress is told
}

// Run measures every variant as often as the profile says and judges what came
// out. When ctx ends, what was measured so far is in the result, which says
// that it was interrupted; that is no error. An error that is ErrUsage lies in
// the request, any other in the infrastructure; the result then holds the runs
// that were complete before, nil if none began.
func Run(ctx context.Context, cfg Config) (res *results.Result, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	rules, err := RulesOf(cfg.Settings)
	if err != nil {
		return nil, usage(err)
	}
	if err := cfg.otherServer(ctx); err != nil {
		return nil, usage(err)
	}
	e := &engine{cfg: cfg, tag: newTag(), began: time.Now(), rules: rules, tokenSecret: cfg.TokenSecret, adminSecret: cfg.AdminSecret}
	if !cfg.Started.IsZero() {
		e.began = cfg.Started
	}
	if cfg.Target == "" {
		e.tokenSecret, e.adminSecret = secret(), secret()
	}
	e.result = e.newResult()
	if len(cfg.order()) == 0 {
		e.finish(nil)
		return e.result, nil
	}
	if err := e.preflight(); err != nil {
		return nil, err
	}
	if e.launcher, err = launch.New(); err != nil {
		return nil, err
	}
	err = e.measure(ctx)
	if err != nil {
		err = errors.Join(err, e.saveLogs())
	}
	// On every path: children end, keys and the run directory go.
	err = errors.Join(err, e.launcher.Close())
	e.finish(err)
	return e.result, err
}

// measure carries out the runs in their order.
func (e *engine) measure(ctx context.Context) error {
	order := e.cfg.order()
	_, last := e.cfg.earlier()
	for i, t := range order {
		if ctx.Err() != nil {
			e.result.Interrupted = true
			return nil
		}
		setting := e.cfg.Settings[t.Setting]
		if err := e.store(ctx, setting.Profile); err != nil {
			return e.unlessInterrupted(ctx, err)
		}
		number, of := last+i+1, last+len(order)
		r, err := newRun(e, setting, t.Repeat, number, of)
		if err != nil {
			return err
		}
		err = r.carryOut(ctx)
		if r.measured && (err == nil || errors.Is(err, errInterrupted)) {
			e.result.Runs = append(e.result.Runs, r.out)
		}
		if err != nil {
			return e.unlessInterrupted(ctx, err)
		}
		e.progress(Progress{Kind: RunEnded, Run: number, Runs: of, Variant: setting.Name, Repeat: t.Repeat, Note: r.summary()})
		if e.cfg.RunEnded == nil {
			continue
		}
		if err := e.cfg.RunEnded(judgedAlone(r.out, e.rules)); err != nil {
			return fmt.Errorf("keeping run %d: %w", number, err)
		}
	}
	return nil
}

// unlessInterrupted turns what failed because the caller gave up into an
// interrupted result.
func (e *engine) unlessInterrupted(ctx context.Context, err error) error {
	if errors.Is(err, errInterrupted) || (ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		e.result.Interrupted = true
		return nil
	}
	return err
}

// store starts or finds the Redis of the next run: one for all, unless a
// variant asks for another durability.
func (e *engine) store(ctx context.Context, p *profiles.Profile) error {
	fsync := launch.Fsync(p.Redis.Fsync)
	if e.cfg.Target != "" {
		return nil
	}
	if e.redis != nil {
		if e.redis.Kind() != launch.Private || e.redis.Fsync() == fsync {
			return nil
		}
		if err := e.redis.Stop(); err != nil {
			return err
		}
		e.redis = nil
	}
	redis, err := e.launcher.Redis(ctx, launch.RedisOptions{
		URL: e.cfg.RedisURL, Embedded: e.cfg.Embedded, Namespace: e.namespace(), Fsync: fsync,
	})
	if err != nil {
		return err
	}
	e.redis = redis
	if redis.Kind() != launch.Private && slices.ContainsFunc(e.cfg.Settings, killsRedis) {
		return fmt.Errorf("the fault %s needs a private Redis, and there is no redis-server in PATH", profiles.FaultKillRedis)
	}
	if b := redis.Banner(); b != "" {
		e.note("%s", b)
	}
	if len(e.result.Redis) == 0 {
		e.result.Redis = []results.Node{{Name: "Redis 1", Kind: results.NodeKind(redis.Kind()), Version: redis.Version()}}
		e.result.Environment = results.FingerprintFrom(results.Collect(redis.Version()))
	}
	return nil
}

// namespace stands before the keys of all runs of this command.
func (e *engine) namespace() string { return "am:" + e.tag }

func (e *engine) progress(p Progress) {
	e.progressMu.Lock()
	defer e.progressMu.Unlock()
	e.cfg.Progress(p)
}

func (e *engine) note(format string, args ...any) {
	e.progress(Progress{Kind: Note, Note: fmt.Sprintf(format, args...)})
}

// preflight checks that the machine can carry the largest variant.
func (e *engine) preflight() error {
	var needs launch.Needs
	needs.LocalServer = e.cfg.Target == ""
	for _, s := range e.cfg.Settings {
		needs.Connections = max(needs.Connections, connections(s.Profile))
		needs.Bytes = max(needs.Bytes, footprint(s.Profile))
	}
	report, err := launch.Preflight(needs)
	if err != nil {
		return err
	}
	e.machine = report
	var problems error
	for _, p := range report.Problems {
		problems = errors.Join(problems, fmt.Errorf("this machine can't carry the profile: %s", p))
	}
	return problems
}

// connections is the most that devices have open at the same time.
func connections(p *profiles.Profile) int {
	if p.Clients.Transport == profiles.TransportHTTP {
		return httpParallel * p.MaxOnline()
	}
	return p.MaxOnline()
}

// footprint estimates the generator's memory for messages, ledger and
// population, in bytes: 120 per message, 200 per member or inbox, 150 per user.
func footprint(p *profiles.Profile) uint64 {
	seconds := (p.Phases.Warmup + p.Phases.Measure).Std().Seconds()
	rate := 0.0
	for _, f := range []*profiles.Flow{p.Traffic.Group, p.Traffic.Direct} {
		if f != nil {
			rate += f.Rate.PerSecond()
		}
	}
	waiting := 0
	if b := p.Backlog.Direct; b != nil {
		lists := p.Population.FriendsOf
		if lists == 0 {
			lists = p.Population.Users
		}
		waiting += lists * b.Share.Of(p.Population.Friends) * b.Messages
	}
	if b := p.Backlog.Group; b != nil {
		waiting += p.Population.Groups.Count * b.Messages
	}
	members := p.Population.Groups.Count * p.Population.Groups.Members
	return uint64(120*waiting) + uint64(120*rate*seconds) + uint64(200*(members+p.Population.Users)) + uint64(150*p.Population.Users)
}

// saveLogs copies the children's logs to where the caller can look at them.
func (e *engine) saveLogs() error {
	if e.cfg.LogDir == "" {
		return nil
	}
	logs, err := filepath.Glob(filepath.Join(e.launcher.Dir(), "*.log"))
	if err != nil {
		return err
	}
	var failed error
	for _, from := range logs {
		failed = errors.Join(failed, copyFile(filepath.Join(e.cfg.LogDir, filepath.Base(from)), from))
	}
	return failed
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("keeping a log: %w", err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("keeping a log: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("keeping the log %s: %w", filepath.Base(from), err)
	}
	return nil
}
