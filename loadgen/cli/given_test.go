package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/launch"
	"ackmark/refserver/server"
	"ackmark/results"
)

// redisOf starts a Redis that a test then gives to loadgen.
func redisOf(t *testing.T) *launch.Redis {
	t.Helper()
	needRedis(t)
	t.Setenv("TMPDIR", t.TempDir())
	l, err := launch.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := l.Redis(t.Context(), launch.RedisOptions{Fsync: launch.FsyncOff})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keys lists all keys of a Redis.
func keys(t *testing.T, url string) []string {
	t.Helper()
	c, err := launch.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, url, key string) {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer c.Close()
	if err := c.Set(t.Context(), key, "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestGivenRedis leaves somebody's Redis as it was.
func TestGivenRedis(t *testing.T) {
	r := redisOf(t)
	put(t, r.URL(), "theirs")
	o := run(t, append(short(), "--redis", r.URL())...)
	res := trusted(t, o)
	if res.Redis[0].Kind != results.Given {
		t.Errorf("the Redis is called %s", res.Redis[0].Kind)
	}
	if left := keys(t, r.URL()); len(left) != 1 || left[0] != "theirs" {
		t.Errorf("keys left: %v, want theirs alone", left)
	}
	if _, ok := res.Runs[0].Value("redis_cpu_us_per_delivery"); !ok {
		t.Error("no CPU of the given Redis, which INFO tells")
	}
}

// TestTarget drives a server that runs already. Its store can't be asked, but
// its counters can.
func TestTarget(t *testing.T) {
	r := redisOf(t)
	dir := t.TempDir()
	addrFile, secretFile := filepath.Join(dir, "addr"), filepath.Join(dir, "secret")
	const token, admin = "token-secret-of-the-test", "admin-secret-of-the-test"
	if err := os.WriteFile(secretFile, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- server.Run(ctx, []string{"serve", "--redis", r.URL(), "--listen", "127.0.0.1:0", "--addr-file", addrFile,
			"--token-secret", token, "--admin-secret", admin, "--log-level", "error"}, strings.NewReader(""), io.Discard, os.Stderr)
	}()
	defer func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	}()
	var addr string
	eventually(t, "the server is ready", func() bool {
		b, err := os.ReadFile(addrFile)
		addr = strings.TrimSpace(string(b))
		return err == nil && addr != ""
	}, func() string { return "" })

	args := append(short("clients.online=75%"), "--target", addr, "--token-secret-file", secretFile, "--admin-secret", admin)
	o := run(t, args...)
	res := trusted(t, o)
	run := res.Runs[0]
	if !run.Audit.Reduced || !strings.Contains(o.out, "REDUCED AUDIT") {
		t.Error("the audit isn't called reduced")
	}
	if run.Audit.Lost != 0 || run.Audit.Pending == 0 {
		t.Errorf("%d lost, %d pending; what didn't reach somebody offline is pending", run.Audit.Lost, run.Audit.Pending)
	}
	if len(run.Health.Reconciliations) != 3 {
		t.Errorf("reconciliations %v, want sends, deliveries and acks with the server", run.Health.Reconciliations)
	}
	if _, ok := run.Value("server_cpu_us_per_delivery"); ok {
		t.Error("the CPU of a target isn't known")
	}

	bad := loadgen(append(append([]string{"run"}, args...), "--out", filepath.Join(dir, "bad"), "--admin-secret", "not the server's secret")...)
	if bad.code != 5 || !strings.Contains(bad.err, "--admin-secret") {
		t.Errorf("wrong admin secret: exit %d, %s", bad.code, bad.err)
	}
}

// TestOffline has members that are never connected: their deliveries wait in
// the store, and are counted so.
func TestOffline(t *testing.T) {
	o := run(t, short("clients.online=50%", "traffic.direct.rate=40/s")...)
	res := trusted(t, o)
	a := res.Runs[0].Audit
	if a.Pending == 0 || a.Lost != 0 || a.Deliveries+a.Pending != a.Expected {
		t.Errorf("audit %+v; half of the members are offline", a)
	}
}
