package redisstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestNewRefuses(t *testing.T) {
	ok := Config{URL: "redis://h:1"}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"URL", func(c *Config) { c.URL = "http://u:secret@h" }, "want redis://HOST:PORT"},
		{"no URL", func(c *Config) { c.URL = "" }, "want redis://HOST:PORT"},
		{"no path", func(c *Config) { c.URL = "unix://" }, "unix:///PATH"},
		{"namespace", func(c *Config) { c.Namespace = "a{b" }, "namespace"},
		{"long namespace", func(c *Config) { c.Namespace = strings.Repeat("a", 65) }, "namespace"},
		{"dedup", func(c *Config) { c.DedupFor = time.Millisecond }, "at least 1s"},
		{"queue", func(c *Config) { c.QueueLen = -1 }, "queue length"},
		{"pool", func(c *Config) { c.PoolSize, c.Shards = 2, 2 }, "pool size"},
		{"timeout", func(c *Config) { c.CallTimeout = -1 }, "call timeout"},
	} {
		cfg := ok
		c.change(&cfg)
		_, err := New(cfg, quiet())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := New(ok, quiet()); err != nil {
		t.Fatal(err)
	}
}

// fakeRedis answers INFO with a text and everything else with an error.
func fakeRedis(t *testing.T, info string) (url string) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serveFake(c, info)
		}
	}()
	return "unix://" + l.Addr().String()
}

func serveFake(c net.Conn, info string) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		words := []string{}
		for range n {
			size, _ := in.ReadString('\n')
			k, _ := strconv.Atoi(strings.TrimSpace(size[1:]))
			b := make([]byte, k+2)
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			words = append(words, strings.ToLower(string(b[:k])))
		}
		if words[0] == "info" {
			fmt.Fprintf(c, "$%d\r\n%s\r\n", len(info), info)
		} else {
			fmt.Fprintf(c, "-ERR unknown command '%s'\r\n", words[0])
		}
	}
}

func TestStartRefuses(t *testing.T) {
	const secret = "pssst"
	evicting := redistest.Start(t, redistest.Set("maxmemory-policy", "allkeys-lru", "maxmemory", "100mb"))
	closed := redistest.Start(t, redistest.Set("requirepass", secret))
	_, socket, _ := strings.Cut(closed.URL(), "unix://")
	for _, c := range []struct{ name, url, want string }{
		{"evicting", evicting.URL(), "maxmemory-policy allkeys-lru may evict messages; set it to noeviction"},
		{"too old", fakeRedis(t, "redis_version:6.2.14\r\nmaxmemory_policy:noeviction\r\n"), `version "6.2.14" is too old; want Redis 7.0 or later`},
		{"no version", fakeRedis(t, "maxmemory_policy:noeviction\r\n"), "too old"},
		{"nobody there", "unix://:" + secret + "@" + t.TempDir() + "/none", "is a Redis running there?"},
		{"unknown host", "redis://:" + secret + "@host.invalid:1", "unknown host"},
		{"no password", closed.URL(), "put user and password into the URL"},
		{"wrong password", "unix://:" + secret + "wrong@" + socket, "put user and password into the URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := New(Config{URL: c.url}, quiet())
			if err != nil {
				t.Fatal(err)
			}
			err = s.Start(context.Background(), &recorder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: want one line without the password", err)
			}
			if !strings.Contains(err.Error(), "redis unix://") && !strings.Contains(err.Error(), "redis redis://") {
				t.Fatalf("%q doesn't name the Redis", err)
			}
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
	f := startStore(t, Config{URL: "unix://:" + secret + "@" + socket})
	if v := f.Server(); v.Embedded || !strings.HasPrefix(v.Version, "7.") && !strings.HasPrefix(v.Version, "8.") {
		t.Fatalf("%+v", v)
	}
	if f.Start(f.ctx, f.sink) == nil {
		t.Fatal("started twice")
	}
}

func TestBeforeStart(t *testing.T) {
	s, err := New(Config{URL: "redis://h:1"}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := newAppend("g:g", "alice", "1")
	wantCode(t, s.Append(a), wire.CodeUnavailable)
	_, err = s.Open(context.Background(), "g:g")
	wantCode(t, err, wire.CodeUnavailable)
	if s.Epoch() != 0 || s.Server() != (Server{}) {
		t.Fatal("knows a Redis that it never saw")
	}
	if _, err := s.PurgeNamespace(context.Background()); err == nil {
		t.Fatal("purged before the start")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
