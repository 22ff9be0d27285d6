package ledger

import (
	"sync/atomic"
	"time"
)

// spread is the fan-out of one message in constant memory: when it reached the
// first, the median and the last recipient.
//
// The median is the arrival that makes half of the recipients (rounded up) have
// it. Arrivals are counted in the order in which they are reported, which is
// that of time except among those of one moment on several cores; the first is
// the earliest and the last the latest whatever that order.
type spread struct {
	n           atomic.Int32
	first, last atomic.Int64 // time + 1, so that 0 is none
	median      atomic.Int64
}

func (s *spread) add(at time.Duration, of int32) {
	v := int64(at) + 1
	for old := s.first.Load(); old == 0 || v < old; old = s.first.Load() {
		if s.first.CompareAndSwap(old, v) {
			break
		}
	}
	for old := s.last.Load(); v > old; old = s.last.Load() {
		if s.last.CompareAndSwap(old, v) {
			break
		}
	}
	if s.n.Add(1) == (of+1)/2 {
		s.median.Store(v)
	}
}

// Fanout is the spread of one message over its recipients that are online.
type Fanout struct {
	Conversation, Ordinal int
	Recipients            int // to be reached
	Reached               int
	First, Median, Last   time.Duration // of arrival; Median only when half is reached, Last only when all are
}

// Complete tells whether all recipients were reached.
func (f Fanout) Complete() bool { return f.Reached >= f.Recipients }

// Fanouts yields the fan-out of each message that reached anyone, by
// conversation and ordinal.
func (l *Ledger) Fanouts(yield func(Fanout) bool) {
	for c := range l.rooms {
		for k := range l.rooms[c].messages {
			m := &l.rooms[c].messages[k]
			n := int(m.spread.n.Load())
			if n == 0 {
				continue
			}
			f := Fanout{Conversation: c, Ordinal: k, Recipients: int(m.fanout), Reached: n}
			f.First = time.Duration(m.spread.first.Load() - 1)
			if at := m.spread.median.Load(); at > 0 {
				f.Median = time.Duration(at - 1)
			}
			if f.Complete() {
				f.Last = time.Duration(m.spread.last.Load() - 1)
			}
			if !yield(f) {
				return
			}
		}
	}
}
