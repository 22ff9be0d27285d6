package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Kind says where the Redis of a run comes from.
type Kind string

// The kinds of Redis.
const (
	// Private is a redis-server child on a unix socket in the run directory.
	Private Kind = "private"
	// Given is a Redis that the user named by URL.
	Given Kind = "given"
	// Embedded is miniredis inside the generator: enough to try things, never a
	// baseline.
	Embedded Kind = "embedded"
)

// Fsync says when a private Redis makes writes durable.
type Fsync string

// The settings of a profile's redis.fsync.
const (
	// FsyncOff: no append-only file; a killed Redis comes back empty.
	FsyncOff Fsync = "off"
	// FsyncEverySec: append-only file, synced each second.
	FsyncEverySec Fsync = "everysec"
	// FsyncAlways: append-only file, synced before every answer.
	FsyncAlways Fsync = "always"
)

// RedisOptions say which Redis a run uses.
type RedisOptions struct {
	// URL of a Redis that runs already (redis://, rediss://, unix://). When set,
	// nothing is started and Fsync is its owner's business.
	URL string
	// Embedded asks for the embedded store even where there is a redis-server.
	Embedded bool
	// Namespace that all keys of the run begin with. On a given Redis, Close
	// removes them; empty leaves the keys alone.
	Namespace string
	// Fsync of a private Redis; empty means FsyncEverySec.
	Fsync Fsync
	// Args are more settings for a private redis-server, such as
	// {"--hash-max-listpack-entries", "64"}.
	Args []string
	// StartTimeout bounds the time until PING is answered; 0 means 15 s.
	StartTimeout time.Duration
	// StopTimeout is the time between SIGTERM and SIGKILL; 0 means 10 s.
	StopTimeout time.Duration
}

// Redis is the store of a run.
type Redis struct {
	launcher *Launcher
	opts     RedisOptions
	kind     Kind
	url      string
	version  string
	path     string // of redis-server

	lives    lives // private only
	embedded *embedded

	mu      sync.Mutex // held through Kill, Restart and Stop; guards what follows
	stopped bool
}

// Redis gives the run its store: the one at o.URL, else a private redis-server
// from PATH, else the embedded one, whose Banner must be shown.
func (l *Launcher) Redis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if o.StartTimeout == 0 {
		o.StartTimeout = 15 * time.Second
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 10 * time.Second
	}
	if o.Fsync == "" {
		o.Fsync = FsyncEverySec
	}
	r := &Redis{launcher: l, opts: o}
	var err error
	if o.URL != "" {
		err = r.find(ctx)
	} else if r.path, err = exec.LookPath("redis-server"); err == nil && !o.Embedded {
		err = r.startPrivate(ctx)
	} else {
		err = r.startEmbedded()
	}
	if err != nil {
		return nil, err
	}
	if err := l.own(r.Stop); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// find checks that a given Redis answers.
func (r *Redis) find(ctx context.Context) error {
	r.kind, r.url = Given, r.opts.URL
	c, err := Connect(r.url)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, r.opts.StartTimeout)
	defer cancel()
	// A bare connection first: the client writes a failed dial to stderr by itself.
	var d net.Dialer
	probe, err := d.DialContext(ctx, c.Options().Network, c.Options().Addr)
	if err == nil {
		probe.Close()
		err = c.Ping(ctx).Err()
	}
	if err != nil {
		return fmt.Errorf("the Redis at %s doesn't answer: %w; check the URL, or leave it out to have a private one started", Redacted(r.url), err)
	}
	r.version = versionOf(ctx, c)
	if r.opts.Namespace == "" {
		return nil
	}
	return noteGiven(r.launcher.Dir(), r.url, r.opts.Namespace)
}

// Connect makes a client for a Redis URL, which must be closed. It doesn't
// connect yet. Retries are off: whoever waits for a Redis does so on purpose.
func Connect(redisURL string) (*redis.Client, error) {
	o, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, fmt.Errorf("Redis URL %s can't be used: %w; it should be like redis://127.0.0.1:6379/0 or unix:///run/redis.sock", Redacted(redisURL), redactedError(err))
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DisableIdentity = true // CLIENT SETINFO would count as commands of the run
	return redis.NewClient(o), nil
}

// Redacted is a URL without its password.
func Redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}

// redactedError drops the URL that url.Parse puts into its errors.
func redactedError(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// Kind says where this Redis comes from.
func (r *Redis) Kind() Kind { return r.kind }

// URL is what clients connect to; it may hold a password (see Redacted).
func (r *Redis) URL() string { return r.url }

// Version as Redis tells it, such as 7.0.15; for the embedded store the name
// and version of its library.
func (r *Redis) Version() string { return r.version }

// Fsync is what the private Redis was started with; empty for the other kinds.
func (r *Redis) Fsync() Fsync {
	if r.kind == Private {
		return r.opts.Fsync
	}
	return ""
}

// PID of a private Redis, 0 while there is no process. It's 0 for the others:
// a given Redis tells its CPU time by INFO, the embedded one's is the generator's.
func (r *Redis) PID() int {
	pid, _ := r.lives.process()
	return pid
}

// Process gives the pid, and the CPU time of earlier incarnations.
func (r *Redis) Process() (pid int, ended time.Duration) { return r.lives.process() }

// Died is closed when a private Redis ends, for whatever reason; nil for others.
func (r *Redis) Died() <-chan struct{} { return r.lives.died() }

// Cause describes the end of a private Redis; nil while it lives.
func (r *Redis) Cause() error { return r.lives.cause() }

// Kill is kill -9 of a private Redis. It returns when the process is gone. What
// was written since the last fsync stays in the kernel's cache and survives
// this; a power cut it wouldn't. With FsyncEverySec not all that was answered is
// written: while a sync is under way Redis holds its writes back, for up to 2 s.
func (r *Redis) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.lives.current()
	if c == nil {
		return fmt.Errorf("killing the %s Redis: %w", r.kind, ErrNotOurs)
	}
	c.kill()
	return nil
}

// Restart starts a private Redis again on the same socket and data, after Kill
// or a crash, and waits until it has loaded them.
func (r *Redis) Restart(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.lives.current()
	switch {
	case c == nil:
		return fmt.Errorf("restarting the %s Redis: %w", r.kind, ErrNotOurs)
	case r.stopped:
		return errors.New("the private Redis was stopped for good; it can't be restarted")
	case c.alive():
		return fmt.Errorf("the private Redis (pid %d) still runs; kill it before a restart", c.pid())
	}
	return r.run(ctx)
}

// Stop ends the store for good: a private Redis by SIGTERM, then SIGKILL; on a
// given one the run's namespace is purged. Idempotent.
func (r *Redis) Stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	r.stopped = true
	switch r.kind {
	case Private:
		if c := r.lives.current(); c != nil {
			return c.stop(r.opts.StopTimeout)
		}
	case Embedded:
		r.embedded.close()
	case Given:
		if r.opts.Namespace == "" {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), purgeTimeout)
		defer cancel()
		_, err := Purge(ctx, r.url, r.opts.Namespace)
		return err
	}
	return nil
}
