package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// A cursor that is a time (g4t) can't tell messages of the same millisecond
// apart. A page therefore begins after everything of the time of the message
// that its reader names, and what of that time the reader didn't have is lost
// (time-after); or it begins with everything of that time, and what the reader
// has comes again (time-from). Cursors that are read at login do the same, in
// the store. An ack that isn't stored yet stands as the seq it names: until it is
// written a login finds no ties (--ack-flush makes that time longer).

// timesAtOnce is how many messages are looked through at once for those of the
// same time.
const timesAtOnce = 64

// begin returns where a page begins that goes on after a seq. Where that lies
// before it, what is between comes again, on top of what the page holds else.
func (d *cursorDesign) begin(ctx context.Context, c *conversation, after uint64) (from uint64, err error) {
	if after == 0 || d.s.cfg.Cursor == CursorSeq {
		return after, nil
	}
	named, err := d.times(ctx, c, after-1, 1)
	if err != nil || len(named) == 0 || named[0].seq != after { // trimmed: nothing of its time can be told
		return after, err
	}
	if d.s.cfg.Cursor == CursorTimeAfter {
		return d.lastUntil(ctx, c, after, named[0].time)
	}
	return d.lastBefore(ctx, c, after, named[0].time)
}

// lastUntil is the last seq from a message on that isn't newer than it.
func (d *cursorDesign) lastUntil(ctx context.Context, c *conversation, seq uint64, ms int64) (uint64, error) {
	for {
		msgs, err := d.times(ctx, c, seq, timesAtOnce)
		if err != nil || len(msgs) == 0 {
			return seq, err
		}
		for _, m := range msgs {
			if m.time > ms {
				return seq, nil
			}
			seq = m.seq
		}
	}
}

// lastBefore is the last seq before a message that is older than it.
func (d *cursorDesign) lastBefore(ctx context.Context, c *conversation, seq uint64, ms int64) (uint64, error) {
	for {
		start := seq - min(seq, timesAtOnce)
		msgs, err := d.times(ctx, c, start, int(seq-start))
		if err != nil {
			return seq, err
		}
		reached := false
		for i := len(msgs) - 1; i >= 0; i-- {
			if msgs[i].seq > seq {
				continue
			}
			if msgs[i].time < ms {
				return msgs[i].seq, nil
			}
			seq, reached = msgs[i].seq-1, true
		}
		if seq == 0 || !reached {
			return seq, nil
		}
	}
}

// inOrder is a message's record as the store has it: where cursors are times they
// never go back along a log, so it gives a message at least the time of the one
// before. The first one since the conversation was opened is taken as it came:
// what lies before it isn't read for this. The caller holds c.mu.
func (d *cursorDesign) inOrder(c *conversation, a *Append) []byte {
	if d.s.cfg.Cursor == CursorSeq {
		return a.Record
	}
	var v wire.DeliverView
	if err := v.Decode(a.Record); err != nil {
		return a.Record
	}
	if v.TimeMS >= c.newest {
		c.newest = v.TimeMS
		return a.Record
	}
	return wire.AppendRecord(nil, string(v.Sender), string(v.ClientMsgID), string(v.Body), c.newest)
}

type timed struct {
	seq  uint64
	time int64
}

// times reads the times of messages after a seq.
func (d *cursorDesign) times(ctx context.Context, c *conversation, after uint64, limit int) ([]timed, error) {
	msgs, _, err := d.s.read(ctx, c, after, limit)
	if err != nil {
		return nil, err
	}
	at := make([]timed, len(msgs))
	for i := range msgs {
		if at[i], err = timeOf(c.name, &msgs[i]); err != nil {
			return nil, err
		}
	}
	return at, nil
}

func timeOf(conversation string, m *push.Message) (timed, error) {
	var v wire.DeliverView
	if err := v.Decode(m.Record); err != nil {
		return timed{}, wire.Faultf(wire.CodeInternal, "%s seq %d: the stored record can't be decoded: %v", conversation, m.Seq, err)
	}
	return timed{m.Seq, v.TimeMS}, nil
}
