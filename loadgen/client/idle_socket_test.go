package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

// welcomerEnv makes the test binary the process at the other end of idle
// connections, so that its memory isn't measured.
const welcomerEnv = "ACKMARK_IDLE_WELCOMER"

// TestWelcomer is that process, and no test: it welcomes whoever connects and
// never says anything more, until its input ends.
func TestWelcomer(t *testing.T) {
	if os.Getenv(welcomerEnv) == "" {
		t.Skip("a helper process of the benchmark")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	welcome, err := wire.AppendFrame(nil, &wire.Frame{Welcome: &wire.Welcome{Window: 256, Conversations: []*wire.Conversation{
		{Conversation: "g:storm-7", Epoch: 1, Cursor: 9, Head: 9}, {Conversation: "u:someone", Epoch: 1},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				up := ws.Upgrader{Protocol: func(b []byte) bool { return string(b) == wire.SubprotocolBinary }}
				if _, err := up.Upgrade(c); err == nil {
					_, _ = c.Write(wire.AppendMessage(nil, ws.OpBinary, welcome))
				}
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	fmt.Printf("listening %s\n", l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// startWelcomer starts it and returns its address.
func startWelcomer(tb testing.TB) string {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWelcomer$")
	cmd.Env = append(os.Environ(), welcomerEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "listening ") {
		tb.Fatalf("the helper said %q", lines.Text())
	}
	return strings.TrimPrefix(lines.Text(), "listening ")
}

// memory is what one idle connection takes of this process, bytes.
type memory struct{ heap, stack, resident float64 }

// connected connects n devices to a process that welcomes them, as many at a
// time as the engine does, and weighs them as the engine does.
func connected(tb testing.TB, n int, weigh func()) memory {
	tb.Helper()
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	fleet, err := NewFleet(Config{
		Driver: &WebSocket{URL: "ws://" + startWelcomer(tb) + "/v1/connect", Clock: clock},
		Clock:  clock, Ack: ackpolicy.Policy{Kind: ackpolicy.Each},
	})
	if err != nil {
		tb.Fatal(err)
	}
	devices := make([]*Device, n)
	read := func() (runtime.MemStats, int) {
		for range 3 {
			debug.FreeOSMemory()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m, resident(tb)
	}
	before, rss0 := read()
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := w; i < n; i += 64 {
				devices[i] = fleet.Device(Identity{Index: i, User: fmt.Sprintf("user-%d", i), Token: strings.Repeat(fmt.Sprint(i%10), 160)})
				if err := devices[i].Start(context.Background()); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	after, rss1 := read()
	if weigh != nil {
		weigh()
	}
	for _, d := range devices {
		if d != nil {
			d.Crash()
		}
	}
	per := func(a, b float64) float64 { return (b - a) / float64(n) }
	return memory{
		heap: per(float64(before.HeapAlloc), float64(after.HeapAlloc)), stack: per(float64(before.StackInuse), float64(after.StackInuse)),
		resident: per(float64(rss0), float64(rss1)),
	}
}

// TestIdleConnectionIsSmall holds what an idle connection takes, its socket
// included: 10 KiB of resident memory is the target, of which the heap and the
// stack are what a program decides.
func TestIdleConnectionIsSmall(t *testing.T) {
	if raced {
		t.Skip("the race detector makes stacks larger")
	}
	m := connected(t, 1000, nil)
	t.Logf("heap %.0f B, stack %.0f B", m.heap, m.stack)
	if m.heap+m.stack > 8<<10 {
		t.Errorf("an idle connection takes %.0f bytes of heap and %.0f of stack, together at most 8 KiB are wanted", m.heap, m.stack)
	}
}

// BenchmarkIdleConnection reports what an idle connection takes.
func BenchmarkIdleConnection(b *testing.B) {
	for b.Loop() {
		m := connected(b, 5000, nil)
		b.ReportMetric(m.heap, "heap-B/connection")
		b.ReportMetric(m.stack, "stack-B/connection")
		b.ReportMetric(m.resident, "rss-B/connection")
	}
	b.ReportMetric(0, "ns/op")
}
