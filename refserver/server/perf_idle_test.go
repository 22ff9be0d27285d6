package server

import (
	"context"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"ackmark/refserver/redisstore/redistest"
)

// Limits of what one idle connection costs the server's process, in bytes. Its
// user is in one group of 500 and has an inbox, with all that belongs to them.
const (
	idleRSSLimit  = 10 << 10
	idleLiveLimit = 8 << 10 // live objects and stacks: no garbage, no fragments, the same on every machine
)

// idleCost connects groups of stormSize users to a server and returns what
// each connection costs.
func idleCost(tb testing.TB, groups int) (rss, heap, stack float64, goroutines float64) {
	c := startChild(tb, "server", redistest.Start(tb).URL(), groups)
	// One user connects first, so that what is made once is there.
	first, err := dialWelcome(context.Background(), c.addr, perfUser(0, 0))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = unix.Close(first) }()
	before := c.memory()
	var mu sync.Mutex
	var wg sync.WaitGroup
	fds := []int{}
	for g := range groups {
		wg.Go(func() {
			for i := range stormSize {
				if g == 0 && i == 0 {
					continue
				}
				fd, err := dialWelcome(context.Background(), c.addr, perfUser(g, i))
				if err != nil {
					tb.Error(err)
					return
				}
				mu.Lock()
				fds = append(fds, fd)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	after := c.memory()
	if path := os.Getenv("ACKMARK_PERF_HEAP"); path != "" {
		c.ask("heap " + path)
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	per := func(before, after uint64) float64 { return (float64(after) - float64(before)) / float64(len(fds)) }
	return per(before.RSS, after.RSS), per(before.Heap, after.Heap), per(before.Stack, after.Stack),
		per(uint64(before.Goroutines), uint64(after.Goroutines))
}

// BenchmarkIdleConnection reports what 5,000 idle connections cost the
// server's process, each. RSS is as it stands when the last has connected.
func BenchmarkIdleConnection(b *testing.B) {
	for b.Loop() {
		rss, heap, stack, goroutines := idleCost(b, 10)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(rss, "rss-B/conn")
		b.ReportMetric(idleRSSLimit, "rss-limit-B/conn")
		b.ReportMetric(heap, "heap-B/conn")
		b.ReportMetric(stack, "stack-B/conn")
		b.ReportMetric(goroutines, "goroutines/conn")
	}
}
