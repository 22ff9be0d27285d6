package client

import (
	"encoding/binary"
	"io"

	"github.com/gobwas/ws"
)

// frames is what was read from a connection and not taken yet. Frames of the
// usual form – whole messages in binary, as the reference server writes them –
// are taken out of it in place; wire.Reader reads all others. That leaves the
// goroutine that waits for years in a read with a stack of 2 KiB and the
// connection with one small buffer.
type frames struct {
	buf   []byte // small, or a larger one for the message at hand
	small []byte // the buffer that stays
	r, w  int    // buf[r:w] is read and not taken
	want  int    // bytes from r on that the next frame needs, as far as is known
	err   error  // came with the last bytes, is told after them

	pushed bool // the last frame was a delivery
	joined bool // deliveries filled a whole read: more of them come at once than small holds
}

// form is what the bytes after r are.
type form uint8

const (
	partial form = iota // the begin of a usual frame, or nothing
	usual
	unusual
)

const finalBinary = 0x80 | byte(ws.OpBinary)

// growFactor bounds what a server that announces much and sends little can make
// the buffer grow: to this many times what it has sent.
const growFactor = 4

// next looks at the next frame: whether it is a usual one, and where its payload
// lies in buf. What is larger than limit is for the reader to refuse.
func (f *frames) next(limit int) (kind form, begin, end int) {
	b := f.buf[f.r:f.w]
	f.want = 2
	if len(b) < 2 {
		if len(b) == 1 && b[0] != finalBinary {
			return unusual, 0, 0
		}
		return partial, 0, 0
	}
	if b[0] != finalBinary {
		return unusual, 0, 0
	}
	head, size := 2, int(b[1])
	switch {
	case size > 127: // masked
		return unusual, 0, 0
	case size == 126:
		if head = 4; len(b) >= head {
			size = int(binary.BigEndian.Uint16(b[2:]))
		}
	case size == 127:
		if head = 10; len(b) >= head {
			n := binary.BigEndian.Uint64(b[2:])
			if n > uint64(limit) {
				return unusual, 0, 0
			}
			size = int(n)
		}
	}
	if f.want = head; len(b) < head {
		return partial, 0, 0
	}
	if size > limit {
		return unusual, 0, 0
	}
	if f.want = head + size; len(b) < f.want {
		return partial, 0, 0
	}
	return usual, f.r + head, f.r + head + size
}

// room makes space after buf[w], towards the bytes that are wanted from r on.
func (f *frames) room() {
	switch {
	case f.joined && len(f.small) < joinedReadBuffer:
		f.small = make([]byte, joinedReadBuffer)
		f.move(f.small)
	case f.r == f.w:
		f.r, f.w = 0, 0
		f.buf = f.small
	case f.w < len(f.buf) && f.r+f.want <= len(f.buf):
	default:
		f.move(f.buf)
	}
	if f.w == len(f.buf) { // all of it is one frame that isn't complete
		f.move(make([]byte, min(f.want, growFactor*len(f.buf))))
	}
}

// move moves what isn't taken to the begin of a buffer, unless it is too small.
func (f *frames) move(to []byte) {
	if f.w-f.r > len(to) {
		return
	}
	f.w = copy(to, f.buf[f.r:f.w])
	f.r, f.buf = 0, to
}

// preload takes what was read already, together with the handshake.
func (f *frames) preload(b []byte) {
	if len(b) > len(f.buf) {
		f.buf = make([]byte, len(b))
	}
	f.w = copy(f.buf, b)
}

// ended tells an end inside a frame from one between frames.
func (f *frames) ended() error {
	if f.err == io.EOF && f.r < f.w {
		return io.ErrUnexpectedEOF
	}
	return f.err
}
