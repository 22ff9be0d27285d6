package push

import (
	"context"
	"time"
)

// maxBackoff bounds how far the pause between retransmissions doubles.
const maxBackoff = 3

// readTimeout bounds one read of the log for a retransmission.
const readTimeout = 5 * time.Second

// LogReader reads the messages of a conversation that are stored for a user:
// those with seq > after, oldest first, at most limit. Where all members share
// a log, it shares one read among all who ask for the same part.
type LogReader interface {
	ReadLog(ctx context.Context, conversation, user string, epoch, after uint64, limit int) ([]Message, error)
}

func (h *Hub) addRoom(r *Room) {
	h.mu.Lock()
	h.rooms[r] = struct{}{}
	h.mu.Unlock()
}

func (h *Hub) dropRoom(r *Room) {
	h.mu.Lock()
	delete(h.rooms, r)
	h.mu.Unlock()
}

// sweepLoop looks eight times per timeout for members without progress, so a
// retransmission is at most an eighth of the timeout late.
func (h *Hub) sweepLoop(log LogReader) {
	every := max(h.cfg.Retransmit/8, 5*time.Millisecond)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case now := <-tick.C:
			h.mu.Lock()
			rooms := make([]*Room, 0, len(h.rooms))
			for r := range h.rooms {
				rooms = append(rooms, r)
			}
			h.mu.Unlock()
			for _, r := range rooms {
				r.retransmit(log, now)
			}
		}
	}
}

type overdue struct {
	member       *Member
	live, pushed uint64
}

// retransmit sends every overdue member what it has not acked, from the first
// unacked seq on. The pause restarts with each ack, as TCP's does (RFC 6298, 5.3).
func (r *Room) retransmit(log LogReader, now time.Time) {
	for _, o := range r.overdue(now) {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		limit := min(int(o.pushed-o.live), r.hub.cfg.Window)
		msgs, err := log.ReadLog(ctx, r.conversation, o.member.conn.user, r.epoch, o.live, limit)
		cancel()
		if err != nil {
			return // the store is away: the next sweep tries again
		}
		o.member.resend(msgs, o.live, now)
	}
}

func (r *Room) overdue(now time.Time) []overdue {
	r.mu.Lock()
	defer r.mu.Unlock()
	var due []overdue
	for _, m := range r.members {
		if m.state == CountOnly || m.flight() <= 0 {
			continue
		}
		if now.Sub(m.since) < r.hub.cfg.Retransmit<<m.retries {
			continue
		}
		if m.conn.idle() { // what still waits in the queue isn't late, the client is slow
			due = append(due, overdue{m, m.live, m.pushed})
		}
	}
	return due
}

func (m *Member) resend(msgs []Message, live uint64, now time.Time) {
	r, c := m.room, m.conn
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.index < 0 || m.live != live || m.state == CountOnly {
		return
	}
	m.since = now
	m.retries = min(m.retries+1, maxBackoff)
	for i := range msgs {
		msg := &msgs[i]
		if msg.Seq > m.pushed || msg.Sender == c.user {
			continue
		}
		if _, acked := m.holes[msg.Seq]; acked {
			continue
		}
		e := encodeDeliver(r.conversation, r.epoch, msg)
		if c.SendControl(e.bytes(c.form, r.conversation, r.epoch, msg)) != nil {
			return
		}
		r.hub.stats.retransmitted.Add(1)
	}
}
