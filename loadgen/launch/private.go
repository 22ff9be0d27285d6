package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// startPrivate runs redis-server with a unix socket in the run directory. No
// TCP port: nothing to collide with, and nobody else can reach it.
func (r *Redis) startPrivate(ctx context.Context) error {
	r.kind = Private
	r.url = "unix://" + r.socket()
	if err := os.MkdirAll(r.dataDir(), 0o700); err != nil {
		return fmt.Errorf("making the private Redis's directory: %w", err)
	}
	if _, err := r.args(); err != nil {
		return err
	}
	return r.run(ctx)
}

func (r *Redis) socket() string { return filepath.Join(r.launcher.Dir(), socketName) }

func (r *Redis) dataDir() string { return filepath.Join(r.launcher.Dir(), "redis") }

func (r *Redis) args() ([]string, error) {
	args := []string{
		"--port", "0",
		"--unixsocket", r.socket(), "--unixsocketperm", "700",
		"--protected-mode", "yes",
		"--save", "",
		"--maxmemory-policy", "noeviction",
		"--daemonize", "no", "--pidfile", "", "--logfile", "",
		"--dir", r.dataDir(),
	}
	switch r.opts.Fsync {
	case FsyncOff:
		args = append(args, "--appendonly", "no")
	case FsyncEverySec, FsyncAlways:
		args = append(args, "--appendonly", "yes", "--appendfsync", string(r.opts.Fsync))
	default:
		return nil, fmt.Errorf("redis fsync is %q; it should be off, everysec or always", r.opts.Fsync)
	}
	return append(args, r.opts.Args...), nil
}

// run starts one incarnation and waits until it answers PING, which it refuses
// while it loads its append-only file.
func (r *Redis) run(ctx context.Context) error {
	args, err := r.args()
	if err != nil {
		return err
	}
	c, err := startChild(r.launcher.forker, childSpec{
		what: "private Redis", path: r.path, args: args,
		env: []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")},
		dir: r.dataDir(), log: r.launcher.logPath("redis"),
	})
	if err != nil {
		return err
	}
	client, err := Connect(r.url)
	if err == nil {
		defer client.Close()
		err = c.waitReady(ctx, r.opts.StartTimeout, func() bool {
			// A bare connection first: after some failed dials the client would
			// try again only once a second.
			probe, dialErr := net.DialTimeout("unix", r.socket(), time.Second)
			if dialErr != nil {
				return false
			}
			probe.Close()
			pingCtx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return client.Ping(pingCtx).Err() == nil
		})
	}
	if err != nil {
		c.kill()
		return err
	}
	if r.version == "" {
		r.version = versionOf(ctx, client)
	}
	r.lives.begin(c)
	return nil
}

// versionOf asks for redis_version; empty when a store doesn't tell.
func versionOf(ctx context.Context, c *redis.Client) string {
	text, err := c.Info(ctx, "server").Result()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
