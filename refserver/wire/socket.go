package wire

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// The WebSocket subprotocols of /v1/connect. The binary one is the default;
// its frames are binary messages. The JSON one has text messages.
const (
	SubprotocolBinary = "ackmark.v1"
	SubprotocolJSON   = "ackmark.v1.json"
)

// MaxHeader is the most bytes of a WebSocket frame header.
const MaxHeader = ws.MaxHeaderSize

const (
	finBit  = 0x80
	maskBit = 0x80
)

// AppendHeader appends the header of an unmasked, unfragmented message of n
// bytes, as a server sends it.
func AppendHeader(dst []byte, op ws.OpCode, n int) []byte {
	return appendHeader(dst, op, n, 0)
}

func appendHeader(dst []byte, op ws.OpCode, n int, mask byte) []byte {
	dst = append(dst, finBit|byte(op))
	switch {
	case n <= 125:
		return append(dst, mask|byte(n))
	case n <= 0xffff:
		return append(dst, mask|126, byte(n>>8), byte(n))
	}
	dst = append(dst, mask|127)
	return binary.BigEndian.AppendUint64(dst, uint64(n))
}

// AppendMessage appends header and payload, unmasked: server to client.
func AppendMessage(dst []byte, op ws.OpCode, payload []byte) []byte {
	dst = AppendHeader(dst, op, len(payload))
	return append(dst, payload...)
}

// AppendMasked appends header and payload, masked with key: client to server.
// The key should be hard to guess; the payload stays as it is.
func AppendMasked(dst []byte, op ws.OpCode, payload []byte, key uint32) []byte {
	var mask [4]byte
	binary.BigEndian.PutUint32(mask[:], key)
	dst = appendHeader(dst, op, len(payload), maskBit)
	dst = append(dst, mask[:]...)
	start := len(dst)
	dst = append(dst, payload...)
	ws.Cipher(dst[start:], mask, 0)
	return dst
}

// AppendClose appends a close frame, masked (by a random key) when a client
// sends it. The reason is cut to what fits in 123 bytes of UTF-8. A code that
// mustn't be sent (0, 1005, 1006, 1015) makes a close frame without a code.
func AppendClose(dst []byte, code ws.StatusCode, reason string, masked bool) []byte {
	var body [ws.MaxControlFramePayloadSize]byte
	n := 0
	if !code.Empty() && !code.IsProtocolReserved() {
		if len(reason) > len(body)-2 {
			cut := len(body) - 2
			for cut > 0 && !utf8.RuneStart(reason[cut]) {
				cut--
			}
			reason = reason[:cut]
		}
		ws.PutCloseFrameBody(body[:], code, reason)
		n = 2 + len(reason)
	}
	if !masked {
		return AppendMessage(dst, ws.OpClose, body[:n])
	}
	mask := ws.NewMask()
	return AppendMasked(dst, ws.OpClose, body[:n], binary.BigEndian.Uint32(mask[:]))
}

// CloseCode returns the status with which a connection is closed because of
// err, as Reader, View or a handler returned it.
func CloseCode(err error) ws.StatusCode {
	if err == nil {
		return ws.StatusNormalClosure
	}
	var protocol ws.ProtocolError
	switch {
	case errors.Is(err, errTextUTF8), errors.Is(err, ws.ErrProtocolInvalidUTF8):
		return ws.StatusInvalidFramePayloadData
	case errors.As(err, &protocol):
		return ws.StatusProtocolError
	}
	switch f := AsFault(err); f.Code {
	case CodeTooLarge:
		return ws.StatusMessageTooBig
	case CodeUnsupported:
		return ws.StatusUnsupportedData
	case CodeShuttingDown:
		return ws.StatusGoingAway
	case CodeOverloaded, CodeUnavailable:
		return StatusTryAgainLater
	case CodeInternal:
		return ws.StatusInternalServerError
	}
	return ws.StatusPolicyViolation
}

// Close codes registered after RFC 6455.
const (
	StatusServiceRestart ws.StatusCode = 1012
	StatusTryAgainLater  ws.StatusCode = 1013
	StatusBadGateway     ws.StatusCode = 1014
)

const maxStatus ws.StatusCode = 4999

// checkClose validates the payload of a close frame by RFC 6455 7.4 and the
// codes registered since.
func checkClose(payload []byte) error {
	switch len(payload) {
	case 0:
		return nil
	case 1:
		return ws.ProtocolError("close frame with half a status code")
	}
	code := ws.StatusCode(binary.BigEndian.Uint16(payload))
	switch {
	case code > maxStatus:
		return ws.ErrProtocolStatusCodeUnknown
	case !utf8.Valid(payload[2:]):
		return ws.ErrProtocolInvalidUTF8
	case code >= StatusServiceRestart && code <= StatusBadGateway:
		return nil
	}
	return ws.CheckCloseFrameData(code, "")
}

// errLengthMSB is gobwas/ws's ErrHeaderLengthMSB as the protocol error that it is.
var errLengthMSB = ws.ProtocolError("the most significant bit of a 64-bit length must be 0")

var errTextUTF8 = ws.ProtocolError("text message that isn't valid UTF-8")
