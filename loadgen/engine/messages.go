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
	waiting  []int             // by conversation: how many, from ordinal 0 on, are the backlog's
	backlog  int               // messages of the backlog, over all conversations
}

// newMessages walks backlog and schedule once; the backlog may be nil. Times in
// the schedule count from the begin of traffic, and are moved when that is
// known. A message of the backlog is intended when it is sent.
func newMessages(tag string, conversations int, backlog, events iter.Seq[schedule.Event]) *messages {
	m := &messages{
		tag: tag, intended: make([][]time.Duration, conversations), sent: make([][]atomic.Int64, conversations),
		waiting: make([]int, conversations),
	}
	if backlog != nil {
		for e := range backlog {
			m.intended[e.Conversation] = append(m.intended[e.Conversation], 0)
			m.waiting[e.Conversation]++
			m.backlog++
		}
	}
	for e := range events {
		if e.Kind != schedule.Login {
			m.intended[e.Conversation] = append(m.intended[e.Conversation], e.At)
		}
	}
	for c := range m.intended {
		m.sent[c] = make([]atomic.Int64, len(m.intended[c]))
	}
	return m
}

// leaves notes that a message of the backlog leaves now.
func (m *messages) leaves(conversation, ordinal int, now time.Duration) {
	m.intended[conversation][ordinal] = now
	m.sent[conversation][ordinal].Store(int64(now))
}

// begin sets when traffic begins. It's called once, after the backlog and
// before anything of the traffic is sent.
func (m *messages) begin(origin time.Duration) {
	for c, conv := range m.intended {
		for k := m.waiting[c]; k < len(conv); k++ {
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
