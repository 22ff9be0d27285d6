package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// xor masks byte by byte, as RFC 6455 5.3 writes it down.
func xor(p []byte, key [4]byte) []byte {
	out := make([]byte, len(p))
	for i := range p {
		out[i] = p[i] ^ key[i%4]
	}
	return out
}

func TestHeaderSizes(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want []byte
	}{
		{0, []byte{0x82, 0}},
		{125, []byte{0x82, 125}},
		{126, []byte{0x82, 126, 0, 126}},
		{65535, []byte{0x82, 126, 0xff, 0xff}},
		{65536, []byte{0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}},
	} {
		if got := AppendHeader(nil, ws.OpBinary, tc.n); !bytes.Equal(got, tc.want) {
			t.Errorf("%d: % x, want % x", tc.n, got, tc.want)
		}
	}
}

// FuzzMessage: the library reads what the Append functions wrote.
func FuzzMessage(f *testing.F) {
	for _, n := range []int{0, 1, 15, 16, 17, 125, 126, 1000, 65535, 65536} {
		f.Add(uint8(2), bytes.Repeat([]byte("x"), n), uint32(0x01020304))
	}
	f.Fuzz(func(t *testing.T, op uint8, payload []byte, key uint32) {
		op &= 0xf
		before := bytes.Clone(payload)
		var mask [4]byte
		binary.BigEndian.PutUint32(mask[:], key)
		for _, masked := range []bool{false, true} {
			b, want := AppendMessage(nil, ws.OpCode(op), payload), before
			if masked {
				b, want = AppendMasked(nil, ws.OpCode(op), payload, key), xor(before, mask)
			}
			r := bytes.NewReader(b)
			h, err := ws.ReadHeader(r)
			if err != nil {
				t.Fatal(err)
			}
			if !h.Fin || h.Rsv != 0 || h.OpCode != ws.OpCode(op) || h.Masked != masked || masked && h.Mask != mask || h.Length != int64(len(payload)) {
				t.Fatalf("header %+v", h)
			}
			if got, _ := io.ReadAll(r); !bytes.Equal(got, want) {
				t.Fatalf("payload %x, want %x", got, want)
			}
		}
		if !bytes.Equal(payload, before) {
			t.Fatal("the payload was changed")
		}
	})
}

func TestAppendClose(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		code         ws.StatusCode
		wantCode     ws.StatusCode
		wantReason   string
	}{
		{"plain", "drained", 1001, 1001, "drained"},
		{"no reason", "", 1000, 1000, ""},
		{"own code", "x", 4001, 4001, "x"},
		{"no code", "dropped with it", 0, 0, ""},
		{"not to be sent", "", ws.StatusNoStatusRcvd, 0, ""},
		{"123 bytes fit", strings.Repeat("a", 123), 1000, 1000, strings.Repeat("a", 123)},
		{"124 are cut", strings.Repeat("a", 124), 1000, 1000, strings.Repeat("a", 123)},
		{"cut between characters", strings.Repeat("a", 122) + "é", 1000, 1000, strings.Repeat("a", 122)},
	} {
		for _, masked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s masked %v", tc.name, masked), func(t *testing.T) {
				b := AppendClose(nil, tc.code, tc.reason, masked)
				op, p, err := NewReader(bytes.NewReader(b), 0, 0, masked).Next()
				if err != nil || op != ws.OpClose {
					t.Fatal(op, err)
				}
				code, reason := ws.ParseCloseFrameData(p)
				if code != tc.wantCode || reason != tc.wantReason || !utf8.ValidString(reason) {
					t.Errorf("got %d %q", code, reason)
				}
			})
		}
	}
}

func TestCloseCode(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want ws.StatusCode
	}{
		{"none", nil, 1000},
		{"protocol", fmt.Errorf("websocket: %w", ws.ErrProtocolMaskRequired), 1002},
		{"length bit", fmt.Errorf("websocket: %w", errLengthMSB), 1002},
		{"text", errTextUTF8, 1007},
		{"reason", ws.ErrProtocolInvalidUTF8, 1007},
		{"too large", Faultf(CodeTooLarge, "x"), 1009},
		{"malformed frame", Faultf(CodeBadRequest, "x"), 1008},
		{"unauthenticated", Faultf(CodeUnauthenticated, "x"), 1008},
		{"replaced", Faultf(CodeReplaced, "x"), 1008},
		{"unsupported", Faultf(CodeUnsupported, "x"), 1003},
		{"drain", Faultf(CodeShuttingDown, "x"), 1001},
		{"overloaded", Faultf(CodeOverloaded, "x"), 1013},
		{"unavailable", Faultf(CodeUnavailable, "x"), 1013},
		{"defect", io.ErrShortWrite, 1011},
	} {
		if got := CloseCode(tc.err); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
