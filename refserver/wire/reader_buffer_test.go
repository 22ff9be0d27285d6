package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gobwas/ws"
)

// Too large a message is refused by its header.
func TestReaderRefusesBeforeBuffering(t *testing.T) {
	header := func(op ws.OpCode, fin bool, n int64) []byte {
		var buf bytes.Buffer
		_ = ws.WriteHeader(&buf, ws.Header{Fin: fin, OpCode: op, Length: n})
		return buf.Bytes()
	}
	for _, tc := range []struct {
		name string
		in   []byte
	}{
		{"one over", header(ws.OpBinary, true, 1001)},
		{"64-bit length", header(ws.OpBinary, true, math.MaxInt64)},
		{"fragments that add up", join(frame(false, ws.OpBinary, nil, strings.Repeat("x", 600)), header(ws.OpContinuation, true, 401))},
		{"a fragment of nearly 2^63", join(frame(false, ws.OpBinary, nil, "x"), header(ws.OpContinuation, false, math.MaxInt64))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// After the header nothing comes: waiting for the payload would be an unexpected EOF.
			r := NewReader(bytes.NewReader(tc.in), 1024, 1000, false)
			for range 2 {
				_, _, err := r.Next()
				wantCode(t, err, CodeTooLarge)
			}
			if len(r.buf) > 1024 {
				t.Errorf("the buffer grew to %d", len(r.buf))
			}
		})
	}
	exact := join(frame(false, ws.OpBinary, nil, strings.Repeat("x", 600)), frame(true, ws.OpContinuation, nil, strings.Repeat("y", 400)))
	if _, p, err := NewReader(bytes.NewReader(exact), 512, 1000, false).Next(); err != nil || len(p) != 1000 {
		t.Errorf("exactly the limit: %d, %v", len(p), err)
	}
}

// A peer that announces much and sends little costs a multiple of what it sent.
func TestReaderGrowsAsBytesArrive(t *testing.T) {
	const sent = 2000
	in := AppendHeader(nil, ws.OpBinary, 1<<20)
	in = append(in, make([]byte, sent)...)
	r := NewReader(bytes.NewReader(in), 512, 1<<20, false)
	if _, _, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if len(r.buf) > growFactor*sent {
		t.Errorf("%d bytes for %d sent", len(r.buf), sent)
	}
}

func TestReaderShrinksBack(t *testing.T) {
	in := join(
		frame(true, ws.OpBinary, nil, strings.Repeat("x", 50_000)),
		frame(false, ws.OpBinary, nil, strings.Repeat("x", 50_000)), frame(true, ws.OpContinuation, nil, "y"),
		frame(true, ws.OpBinary, nil, "small"),
	)
	r := NewReader(bytes.NewReader(in), 512, 1<<20, false)
	for range 3 {
		if _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buf) != 512 || r.joined != nil {
		t.Errorf("buffer of %d, joined %d, after a small message", len(r.buf), cap(r.joined))
	}
	// Idle after a large one: nothing arrives, and yet it is let go.
	r = NewReader(bytes.NewReader(in[:50_004]), 512, 1<<20, false)
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Next(); err != io.EOF || len(r.buf) != 512 {
		t.Errorf("buffer of %d while waiting, %v", len(r.buf), err)
	}
}

// timeouts gives one byte between two timeouts.
type timeouts struct {
	src  io.Reader
	turn int
}

func (s *timeouts) Read(p []byte) (int, error) {
	if s.turn++; s.turn%2 == 1 {
		return 0, os.ErrDeadlineExceeded
	}
	return s.src.Read(p[:1])
}

func TestReaderGoesOnAfterATimeout(t *testing.T) {
	want := strings.Repeat("0123456789", 200)
	in := join(
		frame(false, ws.OpBinary, testMask, want[:1500]), frame(true, ws.OpPing, testMask, "p"), frame(true, ws.OpContinuation, testMask, want[1500:]),
		frame(true, ws.OpBinary, testMask, "last"),
	)
	r := NewReader(&timeouts{src: bytes.NewReader(in)}, 512, 1<<20, true)
	var all []got
	var waits int
	for {
		op, p, err := r.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			waits++
			continue
		}
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
		all = append(all, got{op, string(p)})
	}
	if waits != len(in)+1 {
		t.Errorf("%d timeouts for %d bytes", waits, len(in))
	}
	if len(all) != 3 || all[0].payload != "p" || all[1].payload != want || all[2].payload != "last" {
		t.Errorf("%d messages: %.100v", len(all), all)
	}
}

func TestReaderPreload(t *testing.T) {
	large := strings.Repeat("x", 3000)
	in := join(frame(true, ws.OpBinary, testMask, "first"), frame(true, ws.OpBinary, testMask, large), frame(true, ws.OpBinary, testMask, "last"))
	for cut := 0; cut <= len(in); cut += 7 {
		r := NewReader(bytes.NewReader(in[cut:]), 512, 1<<20, true)
		r.Preload(in[:cut/2])
		r.Preload(in[cut/2 : cut])
		if r.Buffered() != cut {
			t.Fatalf("%d buffered, want %d", r.Buffered(), cut)
		}
		all, err := readAll(r)
		if err != io.EOF || len(all) != 3 || all[0].payload != "first" || all[1].payload != large || all[2].payload != "last" {
			t.Fatalf("cut at %d: %d messages, %v", cut, len(all), err)
		}
		if len(r.buf) != 512 {
			t.Fatalf("cut at %d: the buffer stays at %d", cut, len(r.buf))
		}
	}
}

func TestReaderBuffered(t *testing.T) {
	in := join(frame(true, ws.OpBinary, testMask, "one"), frame(true, ws.OpBinary, testMask, "two"))
	r := NewReader(bytes.NewReader(in), 512, 1<<20, true)
	for _, want := range []int{len(in) / 2, 0} {
		if _, _, err := r.Next(); err != nil || r.Buffered() != want {
			t.Fatalf("%d buffered, want %d (%v)", r.Buffered(), want, err)
		}
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestReaderGivesUpOnASilentSource(t *testing.T) {
	if _, _, err := NewReader(silent{}, 512, 10, true).Next(); err != io.ErrNoProgress {
		t.Error(err)
	}
}
