package wire

import (
	"fmt"

	"github.com/gobwas/ws"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// AppendFrame appends any frame, encoded by the generated code. A frame
// without exactly one field set, or with a string that isn't UTF-8, is an
// error.
func AppendFrame(dst []byte, f *Frame) ([]byte, error) {
	if _, err := f.Kind(); err != nil {
		return dst, err
	}
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, f)
	if err != nil {
		return dst, fmt.Errorf("encode frame: %w", err)
	}
	return out, nil
}

// appendFrameHead appends tag and length of the one field of a Frame; kinds
// with Append functions have numbers below 16.
func appendFrameHead(dst []byte, kind FrameKind, size int) []byte {
	dst = append(dst, byte(kind)<<3|byte(protowire.BytesType))
	return protowire.AppendVarint(dst, uint64(size))
}

func sizeFrame(size int) int { return 1 + protowire.SizeBytes(size) }

func sizeDeliver(conversation string, epoch, seq uint64, record []byte) int {
	return sizeString(len(conversation)) + sizeUint(epoch) + sizeUint(seq) + len(record)
}

// AppendDeliver appends Frame{deliver} with a record as the log stores it.
func AppendDeliver(dst []byte, conversation string, epoch, seq uint64, record []byte) []byte {
	return appendDeliver(dst, sizeDeliver(conversation, epoch, seq, record), conversation, epoch, seq, record)
}

func appendDeliver(dst []byte, size int, conversation string, epoch, seq uint64, record []byte) []byte {
	dst = appendFrameHead(dst, FrameDeliver, size)
	dst = appendString(dst, deliverConversation, conversation)
	dst = appendUint(dst, deliverEpoch, epoch)
	dst = appendUint(dst, deliverSeq, seq)
	return append(dst, record...)
}

// AppendDeliverMessage appends Frame{deliver} as a whole unmasked binary
// WebSocket message: built once, written to every recipient.
func AppendDeliverMessage(dst []byte, conversation string, epoch, seq uint64, record []byte) []byte {
	size := sizeDeliver(conversation, epoch, seq, record)
	dst = AppendHeader(dst, ws.OpBinary, sizeFrame(size))
	return appendDeliver(dst, size, conversation, epoch, seq, record)
}

// AppendSend appends Frame{send}. The strings and body must be UTF-8.
func AppendSend(dst []byte, ref uint64, to, clientMsgID string, body []byte) []byte {
	size := sizeUint(ref) + sizeString(len(to)) + sizeString(len(clientMsgID)) + sizeString(len(body))
	dst = appendFrameHead(dst, FrameSend, size)
	dst = appendUint(dst, 1, ref)
	dst = appendString(dst, 2, to)
	dst = appendString(dst, 3, clientMsgID)
	return appendString(dst, 4, body)
}

// AppendAck appends Frame{ack}, cumulative. With ref 0 the server doesn't answer.
func AppendAck(dst []byte, ref uint64, conversation string, epoch, upTo uint64) []byte {
	size := sizeUint(ref) + sizeString(len(conversation)) + sizeUint(epoch) + sizeUint(upTo)
	dst = appendFrameHead(dst, FrameAck, size)
	dst = appendUint(dst, 1, ref)
	dst = appendString(dst, 2, conversation)
	dst = appendUint(dst, 3, epoch)
	return appendUint(dst, 4, upTo)
}

// AppendSendResult appends Frame{send_result}. The strings must be UTF-8.
func AppendSendResult(dst []byte, r *SendResultView) []byte {
	size := sizeUint(r.Ref) + sizeString(len(r.ClientMsgID)) + sizeString(len(r.Conversation)) +
		sizeUint(r.Epoch) + sizeUint(r.Seq) + sizeBool(r.Duplicate) + sizeBool(r.Offline)
	dst = appendFrameHead(dst, FrameSendResult, size)
	dst = appendUint(dst, 1, r.Ref)
	dst = appendString(dst, 2, r.ClientMsgID)
	dst = appendString(dst, 3, r.Conversation)
	dst = appendUint(dst, 4, r.Epoch)
	dst = appendUint(dst, 5, r.Seq)
	dst = appendBool(dst, 6, r.Duplicate)
	return appendBool(dst, 7, r.Offline)
}
