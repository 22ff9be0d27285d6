package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// seqsOf reads what Redis holds for a user of a conversation where it has rows
// of its own.
func (w *ladder) seqsOf(u *modelUser, conversation string) (seqs []uint64) {
	ctx, prefix := context.Background(), w.cfg.Namespace+":{"+wire.Inbox(u.name)+"}:"
	if conversation[0] == 'u' {
		entries, err := w.redis.Client().XRange(ctx, prefix+"inbox", "-", "+").Result()
		w.must(err)
		for _, e := range entries {
			seqs = append(seqs, w.number(strings.TrimPrefix(e.ID, "0-")))
		}
		return seqs
	}
	table := "copies"
	if w.rung.group == delivery.GroupIDs {
		table = "pending"
	}
	rows, err := w.redis.Client().ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: prefix + table, Start: "[" + conversation + " ", Stop: "(" + conversation + "!", ByLex: true,
	}).Result()
	w.must(err)
	for _, row := range rows {
		seqs = append(seqs, w.number(row[len(conversation)+1:len(conversation)+17]))
	}
	return seqs
}

func (w *ladder) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	w.must(err)
	return n
}

// logOf reads the seqs of the bodies of a group.
func (w *ladder) logOf(group string) (seqs []uint64) {
	entries, err := w.redis.Client().XRange(context.Background(), w.cfg.Namespace+":{"+group+"}:log", "-", "+").Result()
	w.must(err)
	for _, e := range entries {
		seqs = append(seqs, w.number(strings.TrimPrefix(e.ID, "0-")))
	}
	return seqs
}

// check holds what Redis has against the model: what has to be there is there
// at any time, and nothing else is as soon as acks on their way are written.
func (w *ladder) check() {
	for _, u := range w.users {
		for _, name := range u.conversations() {
			if w.rung.rows(name) {
				w.checkRows(u, name)
			} else {
				w.checkCursor(u, name)
			}
		}
	}
	for name, c := range w.convs {
		if name[0] == 'u' {
			continue
		}
		switch w.rung.group {
		case delivery.GroupIDs:
			w.checkBodies(c)
		case delivery.GroupCursor:
			w.checkLog(c)
		}
	}
}

func (w *ladder) checkRows(u *modelUser, name string) {
	w.agrees(func() string {
		stored := w.seqsOf(u, name)
		for _, seq := range u.sure(name) {
			if !slices.Contains(stored, seq) {
				w.rt.Fatalf("%s: %s %d is gone: stored %v, want %v", u, name, seq, stored, u.rows[name])
			}
		}
		for i, seq := range stored {
			if u.rows[name][seq] == 0 || i > 0 && stored[i-1] == seq {
				return fmt.Sprintf("%s: %s: stored %v, want %v", u, name, stored, u.rows[name])
			}
		}
		return ""
	})
}

// modelPatience bounds how long the store may differ from the model: acks on
// their way are there within milliseconds.
const modelPatience = 5 * time.Second

// agrees waits until there is no reason why not.
func (w *ladder) agrees(why func() string) {
	for deadline := time.Now().Add(modelPatience); ; time.Sleep(200 * time.Microsecond) {
		reason := why()
		if reason == "" {
			return
		}
		if time.Now().After(deadline) {
			w.rt.Fatalf("not within %v: %s", modelPatience, reason)
		}
	}
}

// checkCursor: whatever the cursor has passed was taken in.
func (w *ladder) checkCursor(u *modelUser, name string) {
	cursor, err := w.srv.store.Cursor(context.Background(), name, u.name)
	w.must(err)
	if head := w.convs[name].head; cursor > head {
		w.rt.Fatalf("%s: the cursor in %s is %d, past the head %d", u, name, cursor, head)
	}
	if !w.rung.times() {
		u.gone(name, 0, cursor, "the stored cursor is past it")
	}
}

// checkBodies: a body is there as long as somebody has its id, and no longer.
func (w *ladder) checkBodies(c *modelConv) {
	w.agrees(func() string {
		bodies, ids := w.logOf(c.name), map[uint64]bool{}
		for _, name := range c.members {
			for _, seq := range w.seqsOf(w.user(name), c.name) {
				ids[seq] = true
			}
		}
		for seq := range ids {
			if !slices.Contains(bodies, seq) {
				w.rt.Fatalf("%s: the body of %d is gone: bodies %v, ids %v", c.name, seq, bodies, ids)
			}
		}
		if len(bodies) != len(ids) {
			return fmt.Sprintf("%s: bodies %v, ids %v", c.name, bodies, ids)
		}
		return ""
	})
}

// checkLog: the log holds everything that the slowest member lacks, except past
// the retention limit.
func (w *ladder) checkLog(c *modelConv) {
	log := w.logOf(c.name)
	slowest := c.head
	for _, name := range c.members {
		cursor, err := w.srv.store.Cursor(context.Background(), c.name, name)
		w.must(err)
		slowest = min(slowest, cursor)
	}
	if keep := uint64(w.cfg.Retention); keep > 0 && c.head > keep {
		slowest = max(slowest, c.head-keep)
	}
	for seq := slowest + 1; seq <= c.head; seq++ {
		if !slices.Contains(log, seq) {
			w.rt.Fatalf("%s: %d is trimmed, and the slowest member is at %d: log %v", c.name, seq, slowest, log)
		}
	}
}

// trim removes what everybody has acked, as another server might do.
func (w *ladder) trim() {
	for name := range w.convs {
		if name[0] == 'g' && w.rung.group == delivery.GroupCursor {
			_, err := w.srv.store.Trim(context.Background(), name, w.srv.store.Epoch(), w.cfg.Retention)
			w.must(err)
		}
	}
}

// timeOf is a message's time, which is read from the log where nobody got it.
func (w *ladder) timeOf(group string, m *modelMessage) int64 {
	if m.time == 0 {
		entries, err := w.srv.store.Read(context.Background(), group, w.srv.store.Epoch(), m.seq-1, 1)
		w.must(err)
		if len(entries) == 1 && entries[0].Seq == m.seq {
			var v wire.DeliverView
			w.must(v.Decode(entries[0].Record))
			m.time = v.TimeMS
		}
	}
	return m.time
}
