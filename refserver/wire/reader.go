package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// minBuffer holds any control frame with its header.
const minBuffer = ws.MaxHeaderSize + ws.MaxControlFramePayloadSize

// growFactor bounds what a peer that announces much and sends little can
// make the Reader allocate: this many times what it has sent.
const growFactor = 4

// Reader reads WebSocket messages. Between messages it holds only its small
// buffer; a message that doesn't fit makes it grow, as its bytes arrive, and
// the next call of Next lets that go. It isn't safe for concurrent use.
type Reader struct {
	src    io.Reader
	max    int
	state  ws.State
	small  []byte // the buffer that stays
	buf    []byte // small, or a larger one for the message at hand
	r, w   int    // buf[r:w] is read and not consumed
	srcErr error  // came with the last bytes, is told after them
	bad    error  // a breach of the protocol is final

	h       ws.Header // of the frame at hand
	inFrame bool      // h is valid, its payload isn't complete
	op      ws.OpCode // of the fragmented message at hand
	joined  []byte    // its fragments so far
}

// NewReader returns a Reader of src. bufSize (bytes, at least 139) is what an
// idle connection holds, and the most that one Read asks for unless a message
// is larger. maxMessage is the most bytes of a message, fragments joined.
// expectMasked is true on the server: clients mask, servers don't.
func NewReader(src io.Reader, bufSize, maxMessage int, expectMasked bool) *Reader {
	state := ws.StateClientSide
	if expectMasked {
		state = ws.StateServerSide
	}
	small := make([]byte, max(bufSize, minBuffer))
	return &Reader{src: src, max: maxMessage, state: state, small: small, buf: small}
}

// Preload hands over bytes of the connection that someone else has read
// already, such as those that came along with the handshake. Call it before
// the first Next. b is copied.
func (r *Reader) Preload(b []byte) {
	if len(b) > len(r.buf)-r.w {
		r.resize(max(len(r.buf), r.Buffered()+len(b)))
	}
	r.w += copy(r.buf[r.w:], b)
}

// Buffered returns the bytes that are read and not consumed. The message
// returned last is consumed.
func (r *Reader) Buffered() int { return r.w - r.r }

// Next returns the next message, whole and unmasked, or a control frame, which
// may come between the fragments of a message. The payload is valid until the
// next call, and may be changed.
//
// Errors: io.EOF where the stream ends between messages and
// io.ErrUnexpectedEOF where it ends inside one; a *Fault with code too_large,
// before anything of the message that is too large is buffered; a
// ws.ProtocolError (see CloseCode); what the source returns. After a timeout
// of the source Next may be called again and goes on where it was; a breach of
// the protocol is final.
func (r *Reader) Next() (op ws.OpCode, payload []byte, err error) {
	if r.bad != nil {
		return 0, nil, r.bad
	}
	r.release()
	for {
		if !r.inFrame {
			if err := r.header(); err != nil {
				return 0, nil, err
			}
		}
		payload, err := r.payload()
		if err != nil {
			return 0, nil, err
		}
		op, payload, done := r.join(payload)
		if !done {
			continue
		}
		if err := check(op, payload); err != nil {
			return 0, nil, r.breach(err)
		}
		return op, payload, nil
	}
}

// release lets go of what the last message needed beyond the small buffer.
func (r *Reader) release() {
	if !r.state.Fragmented() {
		r.joined = nil
	}
	if r.inFrame { // called again after a timeout
		return
	}
	if len(r.buf) > len(r.small) && r.Buffered() <= len(r.small) {
		r.w = copy(r.small, r.buf[r.r:r.w])
		r.r, r.buf = 0, r.small
	}
}

// header reads and checks the next frame header into r.h.
func (r *Reader) header() error {
	if err := r.need(2); err != nil {
		return r.eof(err, r.state.Fragmented())
	}
	b := r.buf[r.r:]
	size, ext := 2, 0
	switch b[1] &^ maskBit {
	case 126:
		ext = 2
	case 127:
		ext = 8
	}
	size += ext
	masked := b[1]&maskBit != 0
	if masked {
		size += 4
	}
	if err := r.need(size); err != nil {
		return r.eof(err, true)
	}
	b = r.buf[r.r : r.r+size]
	h := ws.Header{
		Fin: b[0]&finBit != 0, Rsv: b[0] >> 4 & 7, OpCode: ws.OpCode(b[0] & 0xf),
		Masked: masked, Length: int64(b[1] &^ maskBit),
	}
	switch ext {
	case 2:
		h.Length = int64(binary.BigEndian.Uint16(b[2:]))
	case 8:
		if b[2]&0x80 != 0 {
			return r.breach(errLengthMSB)
		}
		h.Length = int64(binary.BigEndian.Uint64(b[2:]))
	}
	if masked {
		copy(h.Mask[:], b[size-4:])
	}
	if err := ws.CheckHeader(h, r.state); err != nil {
		return r.breach(err)
	}
	if h.OpCode.IsData() && h.Length > int64(r.max-len(r.joined)) {
		r.bad = Faultf(CodeTooLarge, "the message is larger than the limit of %d bytes", r.max)
		return r.bad
	}
	r.h, r.inFrame = h, true
	r.r += size
	return nil
}

// payload reads the whole payload of the frame at hand, unmasked in place.
func (r *Reader) payload() ([]byte, error) {
	n := int(r.h.Length)
	if err := r.need(n); err != nil {
		return nil, r.eof(err, true)
	}
	r.inFrame = false
	p := r.buf[r.r : r.r+n : r.r+n]
	r.r += n
	if r.h.Masked {
		ws.Cipher(p, r.h.Mask, 0)
	}
	return p, nil
}

// join adds a frame's payload to its message; done when that is complete.
func (r *Reader) join(p []byte) (op ws.OpCode, message []byte, done bool) {
	switch {
	case r.h.OpCode.IsControl():
		return r.h.OpCode, p, true
	case r.h.OpCode != ws.OpContinuation:
		if r.h.Fin {
			return r.h.OpCode, p, true
		}
		r.op = r.h.OpCode
		r.state = r.state.Set(ws.StateFragmented)
		r.joined = append(r.joined[:0], p...)
		return 0, nil, false
	}
	r.joined = append(r.joined, p...)
	if !r.h.Fin {
		return 0, nil, false
	}
	r.state = r.state.Clear(ws.StateFragmented)
	return r.op, r.joined, true
}

func check(op ws.OpCode, payload []byte) error {
	switch op {
	case ws.OpText:
		if !utf8.Valid(payload) {
			return errTextUTF8
		}
	case ws.OpClose:
		return checkClose(payload)
	}
	return nil
}

// need makes n bytes available at buf[r:].
func (r *Reader) need(n int) error {
	for empty := 0; r.w-r.r < n; {
		if r.srcErr != nil {
			err := r.srcErr
			r.srcErr = nil
			return err
		}
		r.room(n)
		got, err := r.src.Read(r.buf[r.w:])
		r.w += got
		r.srcErr = err
		if got > 0 || err != nil {
			empty = 0
		} else if empty++; empty == 100 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// room makes space after buf[w], towards n bytes from buf[r].
func (r *Reader) room(n int) {
	switch {
	case r.r == r.w:
		r.r, r.w = 0, 0
	case r.r+n > len(r.buf):
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	if r.w == len(r.buf) {
		r.resize(min(n, growFactor*len(r.buf)))
	}
}

func (r *Reader) resize(n int) {
	buf := make([]byte, n)
	r.w = copy(buf, r.buf[r.r:r.w])
	r.r, r.buf = 0, buf
}

// breach makes an error final.
func (r *Reader) breach(err error) error {
	r.bad = fmt.Errorf("websocket: %w", err)
	return r.bad
}

// eof tells an end inside a message from one between messages.
func (r *Reader) eof(err error, inside bool) error {
	if err == io.EOF && (inside || r.Buffered() > 0) {
		return io.ErrUnexpectedEOF
	}
	return err
}
