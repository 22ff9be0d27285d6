package stub

import (
	"encoding/json"
	"math"
	"slices"
	"sync"
	"time"
)

// Case names one injected fault.
type Case struct {
	Conversation string `json:"conversation"`
	Seq          uint64 `json:"seq"`
	Sender       string `json:"sender"`
	ClientMsgID  string `json:"client_msg_id"`
	Recipient    string `json:"recipient,omitempty"` // empty: all
}

type caseKind uint8

const (
	caseLost caseKind = iota
	caseAgain
	caseTwice
	caseShownTwice
	caseSwapped
	caseLate
	caseRenumbered
	caseKinds
)

// Truth is what a stub really caused. Everything is counted when it was done,
// not when it was planned.
type Truth struct {
	Sends      uint64 `json:"sends"`      // stored, twins not counted
	Resends    uint64 `json:"resends"`    // answered as duplicates
	Written    uint64 `json:"written"`    // deliveries in all, those in pages, again and of twins included
	Deliveries uint64 `json:"deliveries"` // of these, the first of their message at their recipient
	Paged      uint64 `json:"paged"`      // of all, in pages
	Acks       uint64 `json:"acks"`       // ack requests, those on page requests included

	Lost       []Case `json:"lost"`
	Again      []Case `json:"again"`        // written twice under one seq
	Twice      []Case `json:"stored_twice"` // messages
	ShownTwice []Case `json:"shown_twice"`  // deliveries of these under the second seq
	Swapped    []Case `json:"swapped"`      // pairs, by the one that was overtaken
	Late       []Case `json:"late"`
	Renumbered []Case `json:"renumbered"` // pairs, by the one that was overtaken

	Stalled time.Duration `json:"stalled_ns"` // the stall's real length; 0 = there was none (yet)

	// Lateness of the stub itself against its own deadlines. It is inside the
	// delays, so it does no harm; where it is large the machine is starved, and
	// whoever shares it can't be expected to be on time either.
	LatenessP50 time.Duration `json:"lateness_p50_ns"`
	LatenessP99 time.Duration `json:"lateness_p99_ns"`

	// Delays of pushed deliveries, from the read of the send to the write of
	// the first deliver frame.
	Delays Delays `json:"delays"`
}

// Redelivered is what the ledger must call so.
func (t *Truth) Redelivered() int { return len(t.Again) + len(t.ShownTwice) }

// Delays are sorted.
type Delays struct {
	sorted  []time.Duration
	Dropped uint64 // over Config.Keep: the percentiles aren't exact then
}

// Count is the number of delays kept.
func (d Delays) Count() int { return len(d.sorted) }

// Percentile is the delay that p percent don't exceed: the one of rank
// max(1, ⌊p/100·n + ½⌋), as HdrHistogram and the generator have it; 0 when
// there is none.
func (d Delays) Percentile(p float64) time.Duration {
	if len(d.sorted) == 0 {
		return 0
	}
	rank := int(math.Floor(p/100*float64(len(d.sorted)) + 0.5))
	return d.sorted[min(max(rank, 1), len(d.sorted))-1]
}

// MarshalJSON gives the printed percentiles, in nanoseconds.
func (d Delays) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int64{
		"count": int64(len(d.sorted)), "dropped": int64(d.Dropped),
		"min_ns": int64(d.Percentile(0)), "p50_ns": int64(d.Percentile(50)), "p90_ns": int64(d.Percentile(90)),
		"p99_ns": int64(d.Percentile(99)), "p999_ns": int64(d.Percentile(99.9)), "max_ns": int64(d.Percentile(100)),
	})
}

// truth is written while the stub runs.
type truth struct {
	keep int

	mu      sync.Mutex // guards all below
	cases   [caseKinds][]Case
	samples []sample
	dropped uint64
}

type sample struct{ received, delay int64 }

func (t *truth) sample(received, now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.samples) >= t.keep {
		t.dropped++
		return
	}
	t.samples = append(t.samples, sample{received, now - received})
}

func (t *truth) note(k caseKind, m *message, recipient string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cases[k] = append(t.cases[k], Case{
		Conversation: m.conv.name, Seq: m.seq, Sender: m.sender, ClientMsgID: m.id, Recipient: recipient,
	})
}

// Truth returns what was caused so far.
func (s *Server) Truth() Truth { return s.truthOf(math.MinInt64, math.MaxInt64) }

// TruthOf is Truth with the delays of only those sends that were read in
// [from, to); counts and cases are always of the whole life.
func (s *Server) TruthOf(from, to time.Time) Truth {
	return s.truthOf(int64(from.Sub(s.base)), int64(to.Sub(s.base)))
}

func (s *Server) truthOf(from, to int64) Truth {
	c, t := &s.counts, &s.truth
	// Counts before cases: while the stub runs, Deliveries is then never too high.
	out := Truth{Sends: c.stored.Load(), Resends: c.duplicate.Load(), Paged: c.paged.Load(), Acks: c.ackRequests.Load()}
	out.Written = c.pushed.Load() + c.again.Load() + out.Paged
	out.LatenessP50, out.LatenessP99 = s.alarm.lateness(50), s.alarm.lateness(99)
	if end := s.gate.ended.Load(); end > 0 {
		out.Stalled = time.Duration(end - s.gate.from.Load())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, to := range map[caseKind]*[]Case{
		caseLost: &out.Lost, caseAgain: &out.Again, caseTwice: &out.Twice, caseShownTwice: &out.ShownTwice,
		caseSwapped: &out.Swapped, caseLate: &out.Late, caseRenumbered: &out.Renumbered,
	} {
		*to = slices.Clone(t.cases[k])
	}
	out.Deliveries = out.Written - min(out.Written, uint64(out.Redelivered()))
	out.Delays.Dropped = t.dropped
	for _, x := range t.samples {
		if x.received >= from && x.received < to {
			out.Delays.sorted = append(out.Delays.sorted, time.Duration(x.delay))
		}
	}
	slices.Sort(out.Delays.sorted)
	return out
}
