package launch

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	c, err := Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestPrivateRedis(t *testing.T) {
	needRedis(t)
	tests := []struct {
		fsync             Fsync
		appendonly, sync  string
		keptAfterKillNine bool
	}{
		{FsyncOff, "no", "everysec", false},
		{FsyncEverySec, "yes", "everysec", true},
		{FsyncAlways, "yes", "always", true},
	}
	for _, tt := range tests {
		t.Run(string(tt.fsync), func(t *testing.T) {
			ctx := t.Context()
			l := newLauncher(t)
			r, err := l.Redis(ctx, RedisOptions{Fsync: tt.fsync})
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind() != Private || r.PID() == 0 || r.Version() == "" || r.Banner() != "" || r.Fsync() != tt.fsync {
				t.Errorf("kind %s, pid %d, version %q, banner %q, fsync %s", r.Kind(), r.PID(), r.Version(), r.Banner(), r.Fsync())
			}
			c := client(t, r.URL())
			for setting, want := range map[string]string{
				"port": "0", "save": "", "appendonly": tt.appendonly, "appendfsync": tt.sync,
				"maxmemory-policy": "noeviction", "protected-mode": "yes", "dir": r.dataDir(),
			} {
				if got := c.ConfigGet(ctx, setting).Val()[setting]; got != want {
					t.Errorf("%s is %q; want %q", setting, got, want)
				}
			}
			if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			first := r.PID()
			if err := r.Restart(ctx); err == nil {
				t.Error("a running Redis was restarted")
			}
			if err := r.Kill(); err != nil {
				t.Fatal(err)
			}
			if pid, ended := r.Process(); pid != 0 || ended <= 0 || r.Cause() == nil {
				t.Errorf("after the kill: pid %d, CPU %v, cause %v", pid, ended, r.Cause())
			}
			if err := r.Restart(ctx); err != nil {
				t.Fatal(err)
			}
			if r.PID() == first || r.Cause() != nil {
				t.Errorf("restart: pid %d, was %d; cause %v", r.PID(), first, r.Cause())
			}
			got, err := client(t, r.URL()).Get(ctx, "k").Result()
			if kept := err == nil && got == "v"; kept != tt.keptAfterKillNine {
				t.Errorf("after kill -9 and restart: %q, %v; want kept %v", got, err, tt.keptAfterKillNine)
			}
			pid := r.PID()
			for range 2 {
				if err := r.Stop(); err != nil {
					t.Errorf("Stop: %v", err)
				}
			}
			if !gone(pid) {
				t.Error("it still runs after Stop")
			}
			if err := r.Restart(ctx); err == nil {
				t.Error("a stopped Redis was restarted")
			}
		})
	}
}

func TestPrivateRedisFailsToStart(t *testing.T) {
	needRedis(t)
	for name, tt := range map[string]struct {
		opts RedisOptions
		want []string
	}{
		"bad setting": {RedisOptions{Args: []string{"--no-such-setting", "1"}}, []string{"private Redis ended while starting", "exit status 1", "no-such-setting"}},
		"bad fsync":   {RedisOptions{Fsync: "sometimes"}, []string{`fsync is "sometimes"`, "off, everysec or always"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newLauncher(t).Redis(t.Context(), tt.opts)
			for _, w := range tt.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error lacks %q: %v", w, err)
				}
			}
		})
	}
}

func TestPrivateRedisWithALongTempPath(t *testing.T) {
	needRedis(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 90))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	l, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Redis(t.Context(), RedisOptions{})
	if err != nil {
		t.Fatalf("a long TMPDIR must not break the socket: %v", err)
	}
	if n := len(r.socket()); n > maxSocketPath {
		t.Errorf("socket path has %d bytes; at most %d work", n, maxSocketPath)
	}
}

func TestEmbeddedWithoutRedisInPath(t *testing.T) {
	l := newLauncher(t)
	t.Setenv("PATH", t.TempDir())
	r, err := l.Redis(t.Context(), RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind() != Embedded || r.PID() != 0 || r.Fsync() != "" || !strings.HasPrefix(r.Version(), "miniredis") || r.Died() != nil {
		t.Errorf("kind %s, pid %d, version %q", r.Kind(), r.PID(), r.Version())
	}
	for _, w := range []string{"apt-get install redis-server", "not those of a Redis", "miniredis"} {
		if !strings.Contains(r.Banner(), w) {
			t.Errorf("banner lacks %q:\n%s", w, r.Banner())
		}
	}
	if err := client(t, r.URL()).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	if err := r.Kill(); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Kill: %v; want ErrNotOurs", err)
	}
	if err := r.Restart(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Restart: %v; want ErrNotOurs", err)
	}
	for range 2 {
		if err := r.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
}

// The embedded store has no clock; ours makes keys expire.
func TestEmbeddedKeysExpire(t *testing.T) {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	e := &embedded{m: m, quit: make(chan struct{}), done: make(chan struct{})}
	if err := m.Set("k", "v"); err != nil {
		t.Fatal(err)
	}
	m.SetTTL("k", 20*time.Millisecond)
	go e.age(time.Millisecond)
	defer e.close()
	eventually(t, "key expires", func() bool { return !m.Exists("k") })
}

// The generator was killed: the next run's sweep removes its keys too.
func TestSweepPurgesTheNamespaceOfAKilledRun(t *testing.T) {
	needRedis(t)
	ctx := t.Context()
	host, err := newLauncher(t).Redis(ctx, RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := noteGiven(dir, host.URL(), "am:killed."); err != nil {
		t.Fatal(err)
	}
	c := client(t, host.URL())
	for _, key := range []string{"am:killed.r1:{g:1}:log", "am:killed.r2:epoch", "am:alive.r1:epoch"} {
		if err := c.Set(ctx, key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := sweepRun(dir); !gone || err != nil {
		t.Fatalf("swept %v, %v", gone, err)
	}
	if keys := c.Keys(ctx, "*").Val(); len(keys) != 1 || keys[0] != "am:alive.r1:epoch" {
		t.Errorf("left: %v, want the other run's key alone", keys)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the run directory stayed: %v", err)
	}
}

func TestGivenRedisIsPurged(t *testing.T) {
	needRedis(t)
	ctx := t.Context()
	l := newLauncher(t)
	host, err := l.Redis(ctx, RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const ns = `am:r*1:`
	given, err := l.Redis(ctx, RedisOptions{URL: host.URL(), Namespace: ns})
	if err != nil {
		t.Fatal(err)
	}
	if given.Kind() != Given || given.PID() != 0 || given.Version() != host.Version() || given.Banner() != "" {
		t.Errorf("kind %s, pid %d, version %q; want given, 0, %q", given.Kind(), given.PID(), given.Version(), host.Version())
	}
	if err := given.Kill(); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Kill: %v; want ErrNotOurs", err)
	}
	c := client(t, host.URL())
	pipe := c.Pipeline()
	for i := range 2500 {
		pipe.Set(ctx, ns+"{u:"+string(rune('a'+i%26))+"}:"+strings.Repeat("x", i/26), "v", 0)
	}
	pipe.Set(ctx, "am:rx1:other", "a key that the namespace's * would match as a pattern", 0)
	pipe.Set(ctx, "somebody else's", "v", 0)
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := given.Stop(); err != nil {
			t.Fatalf("Stop: %v", err)
		}
	}
	if n := c.DBSize(ctx).Val(); n != 2 {
		t.Errorf("%d keys are left; want the 2 that aren't the run's", n)
	}
	if _, err := Purge(ctx, host.URL(), ""); err == nil {
		t.Error("purging an empty namespace was accepted")
	}
	if n, err := Purge(ctx, host.URL(), "somebody"); err != nil || n != 1 {
		t.Errorf("Purge removed %d, %v; want 1", n, err)
	}
}

func TestGivenRedisThatCannotBeUsed(t *testing.T) {
	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down.Close()
	l := newLauncher(t)
	for _, tt := range []struct{ name, url, want string }{
		{"unreachable", "redis://user:s3cret@" + down.Addr().String(), "doesn't answer"},
		{"not a URL", "redis://user:s3cret@%zz", "can't be used"},
		{"other scheme", "http://user:s3cret@127.0.0.1", "should be like redis://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := l.Redis(t.Context(), RedisOptions{URL: tt.url})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the message shows the password: %v", err)
			}
		})
	}
}
