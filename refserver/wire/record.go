package wire

import "google.golang.org/protobuf/encoding/protowire"

// Field numbers of Deliver. Fields 4 to 7 are the record: what the log stores.
const (
	deliverConversation = 1
	deliverEpoch        = 2
	deliverSeq          = 3
	deliverSender       = 4
	deliverClientMsgID  = 5
	deliverBody         = 6
	deliverTime         = 7
)

// AppendRecord appends what the log stores of a message: fields 4 to 7 of
// Deliver. Concatenated protobuf fields are one message, so a record with
// conversation, epoch and seq before it is a Deliver, without decoding it.
// timeMS is in Unix milliseconds. The strings must be UTF-8.
func AppendRecord(dst []byte, sender, clientMsgID, body string, timeMS int64) []byte {
	dst = appendString(dst, deliverSender, sender)
	dst = appendString(dst, deliverClientMsgID, clientMsgID)
	dst = appendString(dst, deliverBody, body)
	return appendUint(dst, deliverTime, uint64(timeMS))
}

// RecordSize returns the bytes that AppendRecord appends.
func RecordSize(sender, clientMsgID, body string, timeMS int64) int {
	return sizeString(len(sender)) + sizeString(len(clientMsgID)) + sizeString(len(body)) + sizeUint(uint64(timeMS))
}

// NewDeliver decodes a stored record into the generated type, for the JSON
// form. Inside a page conversation is "" and epoch 0.
func NewDeliver(conversation string, epoch, seq uint64, record []byte) (*Deliver, error) {
	var v DeliverView
	if err := v.Decode(record); err != nil {
		return nil, err
	}
	return &Deliver{
		Conversation: conversation,
		Epoch:        epoch,
		Seq:          seq,
		Sender:       string(v.Sender),
		ClientMsgId:  string(v.ClientMsgID),
		Body:         string(v.Body),
		TimeMs:       v.TimeMS,
	}, nil
}

// All fields of the hot messages have numbers below 16, so a tag is one byte;
// proto3 leaves out what is zero.

func appendString[T string | []byte](dst []byte, num protowire.Number, s T) []byte {
	if len(s) == 0 {
		return dst
	}
	dst = append(dst, byte(num)<<3|byte(protowire.BytesType))
	dst = protowire.AppendVarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendUint(dst []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	dst = append(dst, byte(num)<<3|byte(protowire.VarintType))
	return protowire.AppendVarint(dst, v)
}

func appendBool(dst []byte, num protowire.Number, v bool) []byte {
	if !v {
		return dst
	}
	return append(dst, byte(num)<<3|byte(protowire.VarintType), 1)
}

func sizeString(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + protowire.SizeBytes(n)
}

func sizeUint(v uint64) int {
	if v == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(v)
}

func sizeBool(v bool) int {
	if !v {
		return 0
	}
	return 2
}
