package client

import (
	"unicode/utf8"

	"ackmark/refserver/wire"
)

// Tags of a delivery's fields as the reference server writes them: all of them,
// each once, in the order of their numbers.
const (
	tagDeliver      = byte(wire.FrameDeliver)<<3 | 2
	tagConversation = 1<<3 | 2
	tagEpoch        = 2 << 3
	tagSeq          = 3 << 3
	tagSender       = 4<<3 | 2
	tagClientMsgID  = 5<<3 | 2
	tagBody         = 6<<3 | 2
	tagTime         = 7 << 3
)

// decodeDelivery reads a delivery that comes in the usual form, with short
// names, in a third of the time that a decoder for all that is allowed takes.
// It returns false for anything else, which is then for that decoder to read,
// or to refuse. A conversation that has the name of the last one was checked
// with that.
func decodeDelivery(b []byte, m *Delivery, last string) bool {
	if len(b) < 2 || b[0] != tagDeliver {
		return false
	}
	size, at := varint(b, 1)
	if at < 0 || size != uint64(len(b)-at) {
		return false
	}
	var epoch, seq, time uint64
	var conversation, sender, id, body []byte
	if conversation, at = field(b, at, tagConversation); at < 0 {
		return false
	}
	if string(conversation) != last && !utf8.Valid(conversation) {
		return false
	}
	if epoch, at = number(b, at, tagEpoch); at < 0 {
		return false
	}
	if seq, at = number(b, at, tagSeq); at < 0 {
		return false
	}
	if sender, at = field(b, at, tagSender); at < 0 || !utf8.Valid(sender) {
		return false
	}
	if id, at = field(b, at, tagClientMsgID); at < 0 || !utf8.Valid(id) {
		return false
	}
	if at >= len(b) || b[at] != tagBody {
		return false
	}
	if size, at = varint(b, at+1); at < 0 || size > uint64(len(b)-at) {
		return false
	}
	end := at + int(size)
	body = b[at:end:end]
	if time, at = number(b, end, tagTime); at != len(b) || !utf8.Valid(body) {
		return false
	}
	m.Conversation, m.Sender, m.ClientMsgID, m.Body = conversation, sender, id, body
	m.Epoch, m.Seq, m.TimeMS = epoch, seq, int64(time)
	return true
}

// field reads a field of less than 128 bytes at b[at:] and returns where the
// next begins, or a negative place.
func field(b []byte, at int, tag byte) ([]byte, int) {
	if at+2 > len(b) || b[at] != tag {
		return nil, -1
	}
	begin := at + 2
	end := begin + int(b[at+1])
	if b[at+1] >= 0x80 || end > len(b) {
		return nil, -1
	}
	return b[begin:end:end], end
}

// number reads a varint field at b[at:] likewise.
func number(b []byte, at int, tag byte) (uint64, int) {
	if at+2 > len(b) || b[at] != tag {
		return 0, -1
	}
	if v := b[at+1]; v < 0x80 {
		return uint64(v), at + 2
	}
	return varint(b, at+1)
}

// varint reads a varint of up to nine bytes, so 63 bits.
func varint(b []byte, at int) (uint64, int) {
	var v uint64
	for shift := 0; shift < 63 && at < len(b); shift += 7 {
		c := b[at]
		at++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, at
		}
	}
	return 0, -1
}
