package engine

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// sourceEnv makes the test binary the process that writes frames, so that
// writing them isn't part of what is measured.
const sourceEnv = "ACKMARK_PERF_SOURCE"

// TestFrameSource is that process, and no test: it takes connections on
// loopback and writes frames to all of one side when told to on its input,
// "SIDE FROM TO JOINED": ordinals [FROM, TO), JOINED frames in each write.
func TestFrameSource(t *testing.T) {
	if os.Getenv(sourceEnv) == "" {
		t.Skip("a helper process of the benchmarks")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &frameSource{sides: map[string][]net.Conn{}}
	go s.accept(l)
	fmt.Printf("listening %s\n", l.Addr())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var side string
		var from, to, joined int
		if _, err := fmt.Sscan(in.Text(), &side, &from, &to, &joined); err != nil {
			t.Fatal(err)
		}
		s.write("/"+side, from, to, joined)
		fmt.Println("written")
	}
	os.Exit(0) // its readers are blocked
}

type frameSource struct {
	mu    sync.Mutex
	sides map[string][]net.Conn // by path
}

func (s *frameSource) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.serve(c)
	}
}

// serve welcomes one connection; of what comes then nothing is wanted.
func (s *frameSource) serve(c net.Conn) {
	var path string
	up := ws.Upgrader{
		Protocol:  func(b []byte) bool { return string(b) == wire.SubprotocolBinary },
		OnRequest: func(uri []byte) error { path = string(uri); return nil },
	}
	if _, err := up.Upgrade(c); err != nil {
		return
	}
	welcome, err := wire.AppendFrame(nil, &wire.Frame{Welcome: &wire.Welcome{Window: 1 << 16, Conversations: []*wire.Conversation{
		{Conversation: perfGroup, Epoch: 1, Cursor: firstOrdinal, Head: firstOrdinal},
	}}})
	if err != nil {
		panic(err)
	}
	if _, _, err := wire.NewReader(c, 512, 1<<16, true).Next(); err != nil { // hello
		return
	}
	s.mu.Lock()
	s.sides[path] = append(s.sides[path], c)
	s.mu.Unlock()
	if _, err := c.Write(wire.AppendMessage(nil, ws.OpBinary, welcome)); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c)
}

func (s *frameSource) write(path string, from, to, joined int) {
	s.mu.Lock()
	conns := s.sides[path]
	s.mu.Unlock()
	var frames []byte
	for k := from; k < to; k += joined {
		frames = frames[:0]
		for j := k; j < k+joined; j++ {
			frames = appendPerfFrame(frames, j)
		}
		for _, c := range conns {
			if _, err := c.Write(frames); err != nil {
				panic(err)
			}
		}
	}
}

// The messages of the benchmarks: all frames are of one size.
const (
	perfGroup    = "g:storm"
	perfTag      = "r1"
	firstOrdinal = 20_000 // seqs of three bytes from here on
	lastOrdinal  = 99_999
)

var perfBody = strings.Repeat("x", 200)

// appendPerfFrame appends message k as it comes from the server. Its seq is
// k + 1, so that the device's watermark stands right before the first.
func appendPerfFrame(b []byte, k int) []byte {
	record := wire.AppendRecord(nil, "u500", fmt.Sprintf("%s.0.%d", perfTag, k), perfBody, 1<<40)
	return wire.AppendDeliverMessage(b, perfGroup, 1, uint64(k+1), record)
}

// source is a frame source that runs.
type source struct {
	addr string
	in   io.WriteCloser
	out  *bufio.Scanner
}

func startSource(b testing.TB) *source {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFrameSource$")
	cmd.Env = append(os.Environ(), sourceEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	s := &source{in: in, out: bufio.NewScanner(out)}
	if !s.out.Scan() || !strings.HasPrefix(s.out.Text(), "listening ") {
		b.Fatalf("the frame source said %q", s.out.Text())
	}
	s.addr = strings.TrimPrefix(s.out.Text(), "listening ")
	return s
}

// write has frames written to all connections of a side, and waits for that.
func (s *source) write(side string, from, to, joined int) {
	if _, err := fmt.Fprintln(s.in, side, from, to, joined); err != nil {
		panic(err)
	}
	if !s.out.Scan() || s.out.Text() != "written" {
		panic("the frame source said " + s.out.Text())
	}
}
