package launch

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is miniredis inside the generator.
type embedded struct {
	m    *miniredis.Miniredis
	quit chan struct{}
	done chan struct{}
}

func (r *Redis) startEmbedded() error {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return fmt.Errorf("starting the embedded store: %w", err)
	}
	r.kind, r.url = Embedded, "redis://"+m.Addr()+"/0"
	r.version = "miniredis"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/alicebob/miniredis/v2" {
				r.version += " " + d.Version
			}
		}
	}
	e := &embedded{m: m, quit: make(chan struct{}), done: make(chan struct{})}
	go e.age(time.Second)
	r.embedded = e
	return nil
}

// age lets keys expire: miniredis has no clock of its own, so without this the
// server's idempotency records would stay for ever.
func (e *embedded) age(every time.Duration) {
	defer close(e.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-e.quit:
			return
		case <-t.C:
			e.m.FastForward(every)
		}
	}
}

func (e *embedded) close() {
	close(e.quit)
	<-e.done
	e.m.Close()
}

// Banner is what to print above any figure of this Redis: empty for a real one.
func (r *Redis) Banner() string {
	if r.kind != Embedded {
		return ""
	}
	why := "there is no redis-server in PATH"
	if r.opts.Embedded {
		why = "it was asked for"
	}
	return "EMBEDDED STORE: " + why + ", so this run uses " + r.version + " inside the generator.\n" +
		"Its figures for Redis, and the latencies above it, are not those of a Redis; no baseline is made from them.\n" +
		"For real ones: apt-get install redis-server, or name a running one with --redis URL."
}
