package engine

import (
	"bytes"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"ackmark/loadgen/schedule"
)

// messages knows when each message of a run was to leave and when it left:
// 16 bytes per message.
type messages struct {
	tag string
	// By conversation and ordinal.
	intended [][]time.Duration // since the run's start
	sent     [][]atomic.Int64  // nanoseconds since the run's start, 0 = not yet
}

// newMessages walks the schedule once. Times in it count from the begin of
// traffic, and are moved when that is known.
func newMessages(tag string, conversations int, events iter.Seq[schedule.Event]) *messages {
	m := &messages{tag: tag, intended: make([][]time.Duration, conversations), sent: make([][]atomic.Int64, conversations)}
	for e := range events {
		m.intended[e.Conversation] = append(m.intended[e.Conversation], e.At)
	}
	for c := range m.intended {
		m.sent[c] = make([]atomic.Int64, len(m.intended[c]))
	}
	return m
}

// begin sets when traffic begins. It's called once, before anything is sent.
func (m *messages) begin(origin time.Duration) {
	for _, conv := range m.intended {
		for k := range conv {
			conv[k] += origin
		}
	}
}

// id is the client_msg_id of a message: TAG.CONVERSATION.ORDINAL.
func (m *messages) id(conversation, ordinal int) string {
	b := make([]byte, 0, len(m.tag)+22)
	b = append(b, m.tag...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(conversation), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(ordinal), 10)
	return string(b)
}

// parse is the inverse of id; false for an id that isn't of this run.
func (m *messages) parse(id []byte) (conversation, ordinal int, ok bool) {
	if len(id) <= len(m.tag) || id[len(m.tag)] != '.' || string(id[:len(m.tag)]) != m.tag {
		return 0, 0, false
	}
	rest := id[len(m.tag)+1:]
	dot := bytes.IndexByte(rest, '.')
	if dot < 0 {
		return 0, 0, false
	}
	conversation, ok1 := decimal(rest[:dot])
	ordinal, ok2 := decimal(rest[dot+1:])
	if !ok1 || !ok2 || conversation >= len(m.intended) || ordinal >= len(m.intended[conversation]) {
		return 0, 0, false
	}
	return conversation, ordinal, true
}

// decimal reads a number as id writes it: no sign, no leading zero.
func decimal(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > 15 || (b[0] == '0' && len(b) > 1) {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
