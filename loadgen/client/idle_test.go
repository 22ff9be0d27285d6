package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// idleConn is a connection on which nothing comes: what it takes isn't the
// device's.
type idleConn struct {
	net.Conn
	over chan struct{}
}

func (c idleConn) Read([]byte) (int, error)         { <-c.over; return 0, io.EOF }
func (c idleConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c idleConn) SetWriteDeadline(time.Time) error { return nil }
func (c idleConn) Close() error                     { return nil }

// idleDriver makes sessions of the WebSocket driver without a handshake.
type idleDriver struct {
	ws   *WebSocket
	over chan struct{}
}

func (d idleDriver) Connect(_ context.Context, _ Identity, _ Hello, h Handler) (Session, error) {
	conn := &counted{Conn: idleConn{over: d.over}}
	s := d.ws.session(conn, &conn.counter, h)
	h.(link).OnWelcome(0, &Welcome{Window: 256, Conversations: []Standing{{Conversation: "g:storm-7", Epoch: 1, Cursor: 9, Head: 9}, {Conversation: "u:someone", Epoch: 1}}})
	return s, nil
}

// idle starts n idle devices and returns the memory, stacks included, that
// each takes once what starting left is collected.
func idle(tb testing.TB, n int) (heap, stack, rss float64) {
	tb.Helper()
	clock := func() time.Duration { return time.Second }
	d := idleDriver{ws: &WebSocket{Clock: clock}, over: make(chan struct{})}
	fleet, err := NewFleet(Config{Driver: d, Clock: clock, Ack: ackpolicy.Policy{Kind: ackpolicy.Each}})
	if err != nil {
		tb.Fatal(err)
	}
	devices := make([]*Device, n)
	read := func() (runtime.MemStats, int) {
		debug.FreeOSMemory()
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m, resident(tb)
	}
	before, rss0 := read()
	for i := range devices {
		devices[i] = fleet.Device(Identity{Index: i, User: fmt.Sprintf("user-%d", i)})
		go devices[i].run(context.Background())
	}
	for _, d := range devices {
		<-d.ready
	}
	after, rss1 := read()
	close(d.over)
	for _, d := range devices {
		d.mu.Lock()
		d.closing = true
		d.mu.Unlock()
	}
	for _, d := range devices {
		<-d.done
	}
	per := func(a, b uint64) float64 { return (float64(b) - float64(a)) / float64(n) }
	return per(before.HeapAlloc, after.HeapAlloc), per(before.StackInuse, after.StackInuse), float64(rss1-rss0) / float64(n)
}

// resident is the resident memory of this process, bytes.
func resident(tb testing.TB) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Skip(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(strings.TrimSpace(string(b)), &size, &pages); err != nil {
		tb.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestIdleDeviceIsSmall holds the heap of an idle device and its session below
// 4 KiB, an eighth of it the read buffer.
func TestIdleDeviceIsSmall(t *testing.T) {
	if heap, _, _ := idle(t, 500); heap > 4<<10 {
		t.Errorf("an idle device takes %.0f bytes of heap, want at most 4 KiB", heap)
	}
}

// BenchmarkIdleDevice reports what an idle device takes, without its socket.
func BenchmarkIdleDevice(b *testing.B) {
	for b.Loop() {
		heap, stack, rss := idle(b, 5000)
		b.ReportMetric(heap, "heap-B/device")
		b.ReportMetric(stack, "stack-B/device")
		b.ReportMetric(rss, "rss-B/device")
	}
	b.ReportMetric(0, "ns/op")
}
