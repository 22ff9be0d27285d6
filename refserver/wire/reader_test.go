package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gobwas/ws"
)

// frame builds one frame bit by bit; mask is nil for an unmasked one.
func frame(fin bool, op ws.OpCode, mask []byte, payload string) []byte {
	h := ws.Header{Fin: fin, OpCode: op, Length: int64(len(payload)), Masked: mask != nil}
	copy(h.Mask[:], mask)
	var buf bytes.Buffer
	ws.MustWriteFrame(&buf, ws.Frame{Header: h, Payload: xor([]byte(payload), h.Mask)})
	return buf.Bytes()
}

func join(frames ...[]byte) []byte { return bytes.Join(frames, nil) }

type got struct {
	op      ws.OpCode
	payload string
}

// readAll reads until an error.
func readAll(r *Reader) (all []got, err error) {
	for {
		op, p, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, got{op, string(p)})
	}
}

var testMask = []byte{0x11, 0xf2, 0x33, 0xa4}

func TestReader(t *testing.T) {
	m := testMask
	big := strings.Repeat("0123456789", 1000) // needs a larger buffer, and a 16-bit length
	huge := strings.Repeat("x", 70_000)       // 64-bit length
	for _, tc := range []struct {
		name string
		in   []byte
		want []got
		err  error
	}{
		{"nothing", nil, nil, io.EOF},
		{"one", frame(true, ws.OpBinary, m, "hello"), []got{{ws.OpBinary, "hello"}}, io.EOF},
		{"empty", frame(true, ws.OpBinary, m, ""), []got{{ws.OpBinary, ""}}, io.EOF},
		{"text", frame(true, ws.OpText, m, "grüß"), []got{{ws.OpText, "grüß"}}, io.EOF},
		{
			"several in one read",
			join(frame(true, ws.OpBinary, m, "a"), frame(true, ws.OpBinary, m, "b"), frame(true, ws.OpBinary, m, "c")),
			[]got{{ws.OpBinary, "a"}, {ws.OpBinary, "b"}, {ws.OpBinary, "c"}}, io.EOF,
		},
		{
			"larger than the buffer, and back",
			join(frame(true, ws.OpBinary, m, "a"), frame(true, ws.OpBinary, m, big), frame(true, ws.OpBinary, m, "c"), frame(true, ws.OpBinary, m, huge)),
			[]got{{ws.OpBinary, "a"}, {ws.OpBinary, big}, {ws.OpBinary, "c"}, {ws.OpBinary, huge}}, io.EOF,
		},
		{
			"fragments",
			join(frame(false, ws.OpText, m, "gr\xc3"), frame(false, ws.OpContinuation, m, ""), frame(true, ws.OpContinuation, m, "\xbc\xc3\x9f")),
			[]got{{ws.OpText, "grüß"}}, io.EOF,
		},
		{
			"control frames between fragments",
			join(
				frame(false, ws.OpBinary, m, "a"), frame(true, ws.OpPing, m, "p1"), frame(false, ws.OpContinuation, m, "b"),
				frame(true, ws.OpPong, m, "p2"), frame(true, ws.OpContinuation, m, big), frame(true, ws.OpBinary, m, "next"),
			),
			[]got{{ws.OpPing, "p1"}, {ws.OpPong, "p2"}, {ws.OpBinary, "ab" + big}, {ws.OpBinary, "next"}}, io.EOF,
		},
		{"ping of 125", frame(true, ws.OpPing, m, big[:125]), []got{{ws.OpPing, big[:125]}}, io.EOF},
		{"close, no code", frame(true, ws.OpClose, m, ""), []got{{ws.OpClose, ""}}, io.EOF},
		{"close", frame(true, ws.OpClose, m, "\x03\xe8bye"), []got{{ws.OpClose, "\x03\xe8bye"}}, io.EOF},
		{"close, service restart", frame(true, ws.OpClose, m, "\x03\xf4"), []got{{ws.OpClose, "\x03\xf4"}}, io.EOF},
		{"close, own code", frame(true, ws.OpClose, m, "\x0f\xa0"), []got{{ws.OpClose, "\x0f\xa0"}}, io.EOF},

		{"half a header", frame(true, ws.OpBinary, m, "a")[:1], nil, io.ErrUnexpectedEOF},
		{"half a mask", frame(true, ws.OpBinary, m, "a")[:4], nil, io.ErrUnexpectedEOF},
		{"half a payload", frame(true, ws.OpBinary, m, "abc")[:7], nil, io.ErrUnexpectedEOF},
		{"no payload", frame(true, ws.OpBinary, m, "abc")[:6], nil, io.ErrUnexpectedEOF},
		{"half a message", frame(false, ws.OpBinary, m, "abc"), nil, io.ErrUnexpectedEOF},

		{"not masked", frame(true, ws.OpBinary, nil, "a"), nil, ws.ErrProtocolMaskRequired},
		{"RSV1", []byte{0xc2, 0x80, 0, 0, 0, 0}, nil, ws.ErrProtocolNonZeroRsv},
		{"RSV2", []byte{0xa2, 0x80, 0, 0, 0, 0}, nil, ws.ErrProtocolNonZeroRsv},
		{"RSV3", []byte{0x92, 0x80, 0, 0, 0, 0}, nil, ws.ErrProtocolNonZeroRsv},
		{"reserved data opcode", frame(true, 0x3, m, ""), nil, ws.ErrProtocolOpCodeReserved},
		{"reserved control opcode", frame(true, 0xb, m, ""), nil, ws.ErrProtocolOpCodeReserved},
		{"ping of 126", frame(true, ws.OpPing, m, big[:126]), nil, ws.ErrProtocolControlPayloadOverflow},
		{"fragmented ping", frame(false, ws.OpPing, m, ""), nil, ws.ErrProtocolControlNotFinal},
		{"continuation of nothing", frame(true, ws.OpContinuation, m, "a"), nil, ws.ErrProtocolContinuationUnexpected},
		{
			"a message inside a message",
			join(frame(false, ws.OpBinary, m, "a"), frame(true, ws.OpBinary, m, "b")),
			nil, ws.ErrProtocolContinuationExpected,
		},
		{
			"continuation after the last",
			join(frame(false, ws.OpBinary, m, "a"), frame(true, ws.OpContinuation, m, "b"), frame(true, ws.OpContinuation, m, "c")),
			[]got{{ws.OpBinary, "ab"}}, ws.ErrProtocolContinuationUnexpected,
		},
		{"length with the top bit", []byte{0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, nil, errLengthMSB},
		{"text not UTF-8", frame(true, ws.OpText, m, "\xff"), nil, errTextUTF8},
		{"fragmented text not UTF-8", join(frame(false, ws.OpText, m, "\xc3"), frame(true, ws.OpContinuation, m, "a")), nil, errTextUTF8},
		{"close with half a code", frame(true, ws.OpClose, m, "\x03"), nil, ws.ProtocolError("close frame with half a status code")},
		{"close 999", frame(true, ws.OpClose, m, "\x03\xe7"), nil, ws.ErrProtocolStatusCodeNotInUse},
		{"close 1004", frame(true, ws.OpClose, m, "\x03\xec"), nil, ws.ErrProtocolStatusCodeNoMeaning},
		{"close 1005", frame(true, ws.OpClose, m, "\x03\xed"), nil, ws.ErrProtocolStatusCodeApplicationLevel},
		{"close 1006", frame(true, ws.OpClose, m, "\x03\xee"), nil, ws.ErrProtocolStatusCodeApplicationLevel},
		{"close 1016", frame(true, ws.OpClose, m, "\x03\xf8"), nil, ws.ErrProtocolStatusCodeUnknown},
		{"close 5000", frame(true, ws.OpClose, m, "\x13\x88"), nil, ws.ErrProtocolStatusCodeUnknown},
		{"close reason not UTF-8", frame(true, ws.OpClose, m, "\x03\xe8\xff"), nil, ws.ErrProtocolInvalidUTF8},
	} {
		for name, src := range map[string]io.Reader{
			"at once":      bytes.NewReader(tc.in),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(tc.in)),
			"with the EOF": iotest.DataErrReader(bytes.NewReader(tc.in)),
		} {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				r := NewReader(src, 512, 1<<20, true)
				all, err := readAll(r)
				if !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if len(all) != len(tc.want) {
					t.Fatalf("%d messages, want %d", len(all), len(tc.want))
				}
				for i := range all {
					if all[i] != tc.want[i] {
						t.Errorf("message %d: %v %.40q, want %v %.40q", i, all[i].op, all[i].payload, tc.want[i].op, tc.want[i].payload)
					}
				}
				if _, _, again := r.Next(); !errors.Is(again, tc.err) {
					t.Errorf("the error isn't final: %v", again)
				}
			})
		}
	}
}

func TestReaderOnAClient(t *testing.T) {
	r := NewReader(bytes.NewReader(frame(true, ws.OpBinary, nil, "a")), 512, 10, false)
	if all, err := readAll(r); err != io.EOF || len(all) != 1 || all[0].payload != "a" {
		t.Errorf("%v, %v", all, err)
	}
	r = NewReader(bytes.NewReader(frame(true, ws.OpBinary, testMask, "a")), 512, 10, false)
	if _, _, err := r.Next(); !errors.Is(err, ws.ErrProtocolMaskUnexpected) {
		t.Errorf("a masked frame of a server: %v", err)
	}
}
