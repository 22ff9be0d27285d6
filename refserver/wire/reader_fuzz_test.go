package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// reference reads as RFC 6455 is written, with the library's header reader
// and no buffer of its own.
func reference(src *bytes.Reader, limit int, masked bool) (all []got, ok bool) {
	state := ws.StateClientSide
	if masked {
		state = ws.StateServerSide
	}
	var op ws.OpCode
	var joined []byte
	for {
		// The library says io.EOF in the middle of a header too.
		if src.Len() == 0 {
			return all, !state.Fragmented()
		}
		h, err := ws.ReadHeader(src)
		if err != nil {
			return all, false
		}
		if ws.CheckHeader(h, state) != nil || h.OpCode.IsData() && (h.Length > int64(limit) || len(joined)+int(h.Length) > limit) {
			return all, false
		}
		p := make([]byte, h.Length)
		if _, err := io.ReadFull(src, p); err != nil {
			return all, false
		}
		p = xor(p, h.Mask)
		switch {
		case h.OpCode == ws.OpClose:
			if checkClose(p) != nil {
				return all, false
			}
			all = append(all, got{h.OpCode, string(p)})
			continue
		case h.OpCode.IsControl():
			all = append(all, got{h.OpCode, string(p)})
			continue
		case h.OpCode != ws.OpContinuation:
			op = h.OpCode
		}
		joined = append(joined, p...)
		state = state.Set(ws.StateFragmented)
		if h.Fin {
			if op == ws.OpText && !utf8.Valid(joined) {
				return all, false
			}
			all = append(all, got{op, string(joined)})
			joined, state = nil, state.Clear(ws.StateFragmented)
		}
	}
}

// chunks gives 1 to 8 bytes a time, by a pattern.
type chunks struct {
	b []byte
	n uint8
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	c.n = c.n*5 + 1
	n := copy(p, c.b[:min(len(c.b), int(c.n>>5)+1)])
	c.b = c.b[n:]
	return n, nil
}

func FuzzReader(f *testing.F) {
	m := testMask
	f.Add(frame(true, ws.OpBinary, m, "hello"), uint8(0), true)
	f.Add(frame(true, ws.OpBinary, nil, strings.Repeat("x", 300)), uint8(1), false)
	f.Add(join(frame(false, ws.OpText, m, "a"), frame(true, ws.OpPing, m, "p"), frame(true, ws.OpContinuation, m, strings.Repeat("y", 200))), uint8(9), true)
	f.Add(frame(true, ws.OpClose, m, "\x03\xe8bye"), uint8(3), true)
	f.Add([]byte{0x82, 0x84}, uint8(0), true) // ends before the mask
	f.Add(append(AppendHeader(nil, ws.OpBinary, 1<<40), 1, 2, 3), uint8(3), false)
	f.Fuzz(func(t *testing.T, in []byte, pattern uint8, masked bool) {
		const limit = 1000
		want, ok := reference(bytes.NewReader(in), limit, masked)
		for _, src := range []io.Reader{bytes.NewReader(in), &chunks{in, pattern}} {
			r := NewReader(src, 0, limit, masked)
			all, err := readAll(r)
			if (err == io.EOF) != ok {
				t.Fatalf("%x: %v, the reference says %v", in, err, ok)
			}
			if len(all) != len(want) {
				t.Fatalf("%x: %d messages, want %d", in, len(all), len(want))
			}
			for i := range all {
				if all[i] != want[i] {
					t.Fatalf("%x: message %d is %v, want %v", in, i, all[i], want[i])
				}
			}
			if len(r.buf) > growFactor*max(limit, minBuffer) {
				t.Fatalf("buffer of %d", len(r.buf))
			}
		}
	})
}
