package ledger

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Conversation is what the schedule says of one conversation.
type Conversation struct {
	Name       string
	Recipients []int // user indexes: all members of a group, the owner of an inbox
	Senders    []int // user index of each scheduled message, by ordinal
}

// Config is what is known before a run.
type Config struct {
	Conversations []Conversation
	// Online tells whether a user is connected during the run: fan-out is
	// measured over these. nil: all are.
	Online func(user int) bool
	// Examples is how many cases of each kind of trouble are kept; default 5.
	Examples int
}

// Ledger is the books of one run. All methods are safe for concurrent use.
type Ledger struct {
	rooms    []room
	examples examples
}

// room is one conversation.
type room struct {
	name       string
	recipients []int32 // sorted
	online     int32   // recipients that are online
	isOnline   []bool  // by place in recipients
	messages   []message
	tracks     []track // by place in recipients
	accepted   atomic.Int64
}

// state is what is known of a send.
type state uint8

const (
	unsent state = iota
	inFlight
	accepted
	refused
	unknown
)

func (s state) String() string {
	return [...]string{"unsent", "in flight", "accepted", "refused", "unknown"}[s]
}

// message is one scheduled message.
type message struct {
	sender int32
	fanout int32 // recipients over which its fan-out is measured

	mu         sync.Mutex // guards the send's result
	state      state
	epoch, seq uint64

	spread spread
}

// track is one recipient in one conversation.
type track struct {
	mu          sync.Mutex // guards all below; hardly ever contended: one device at a time
	arrived     tally
	shown       tally
	arrivals    uint64
	fresh       uint64
	redelivered uint64
	shownTwice  uint64
	outOfOrder  uint64
	lastEpoch   uint64
	lastSeq     uint64 // highest seq shown in lastEpoch
}

// New opens the books.
func New(cfg Config) (*Ledger, error) {
	l := &Ledger{rooms: make([]room, len(cfg.Conversations))}
	l.examples.limit = cfg.Examples
	if l.examples.limit <= 0 {
		l.examples.limit = 5
	}
	for i, c := range cfg.Conversations {
		r := &l.rooms[i]
		r.name = c.Name
		for _, u := range c.Recipients {
			r.recipients = append(r.recipients, int32(u))
		}
		slices.Sort(r.recipients)
		if n := len(slices.Compact(slices.Clone(r.recipients))); n != len(r.recipients) {
			return nil, fmt.Errorf("ledger: %s names a recipient twice", c.Name)
		}
		r.isOnline = make([]bool, len(r.recipients))
		for p, u := range r.recipients {
			if r.isOnline[p] = cfg.Online == nil || cfg.Online(int(u)); r.isOnline[p] {
				r.online++
			}
		}
		r.tracks = make([]track, len(r.recipients))
		r.messages = make([]message, len(c.Senders))
		for k, u := range c.Senders {
			m := &r.messages[k]
			m.sender, m.fanout = int32(u), r.online
			if p, ok := r.place(int32(u)); ok && r.isOnline[p] {
				m.fanout-- // a sender doesn't receive its own
			}
		}
	}
	return l, nil
}

func (r *room) place(user int32) (int, bool) { return slices.BinarySearch(r.recipients, user) }

// at returns a message, or nil when it isn't of this run.
func (l *Ledger) at(conversation, ordinal int) (*room, *message) {
	if conversation < 0 || conversation >= len(l.rooms) {
		return nil, nil
	}
	r := &l.rooms[conversation]
	if ordinal < 0 || ordinal >= len(r.messages) {
		return r, nil
	}
	return r, &r.messages[ordinal]
}

// OnSend notes that a message was handed to its device to be sent.
func (l *Ledger) OnSend(conversation, ordinal int) {
	l.result(conversation, ordinal, inFlight, 0, 0)
}

// OnAccepted notes that the server answered: stored as (epoch, seq).
func (l *Ledger) OnAccepted(conversation, ordinal int, epoch, seq uint64) {
	l.result(conversation, ordinal, accepted, epoch, seq)
}

// OnRefused notes that the server refused a message for good.
func (l *Ledger) OnRefused(conversation, ordinal int) { l.result(conversation, ordinal, refused, 0, 0) }

// OnUnknown notes that a send was given up without a final answer. It may
// arrive, and isn't lost if it doesn't.
func (l *Ledger) OnUnknown(conversation, ordinal int) { l.result(conversation, ordinal, unknown, 0, 0) }

func (l *Ledger) result(conversation, ordinal int, s state, epoch, seq uint64) {
	r, m := l.at(conversation, ordinal)
	if m == nil {
		l.examples.note(Foreign, Example{Conversation: conversation, Ordinal: ordinal, Recipient: -1, Epoch: epoch, Seq: seq, Detail: "a send that isn't in the schedule"})
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == accepted { // an answer stands, whatever comes later
		return
	}
	if s == accepted {
		r.accepted.Add(1)
		m.epoch, m.seq = epoch, seq
	}
	m.state = s
}

func (m *message) result() (s state, epoch, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.epoch, m.seq
}

// Delivery is one delivery at one recipient.
type Delivery struct {
	Conversation, Ordinal int // the message
	Recipient             int // user index
	Epoch, Seq            uint64
	At                    time.Duration
}

// OnArrival notes that a delivery was received, and says whether it is the
// first of its message at this recipient.
func (l *Ledger) OnArrival(d Delivery) (first bool) {
	r, m, t, place := l.books(&d)
	if t == nil {
		return false
	}
	t.mu.Lock()
	t.arrivals++
	if int(m.sender) == d.Recipient {
		t.mu.Unlock()
		l.examples.note(Foreign, d.example("a sender received its own message"))
		return false
	}
	first = t.arrived.add(int32(d.Ordinal), own{r.messages, int32(d.Recipient)})
	if first {
		t.fresh++
	} else {
		t.redelivered++
	}
	t.mu.Unlock()
	if !first {
		l.examples.note(Redelivered, d.example("received again"))
		return false
	}
	if r.isOnline[place] {
		m.spread.add(d.At, m.fanout)
	}
	return true
}

// OnShown notes that a message got past a recipient's dedup.
func (l *Ledger) OnShown(d Delivery) {
	r, m, t, _ := l.books(&d)
	if t == nil || int(m.sender) == d.Recipient {
		return // counted when it arrived
	}
	t.mu.Lock()
	first := t.shown.add(int32(d.Ordinal), own{r.messages, int32(d.Recipient)})
	late := false
	switch {
	case !first:
		t.shownTwice++
	case d.Epoch != t.lastEpoch:
		t.lastEpoch, t.lastSeq = d.Epoch, d.Seq
	case d.Seq < t.lastSeq:
		t.outOfOrder++
		late = true
	default:
		t.lastSeq = d.Seq
	}
	last := t.lastSeq
	t.mu.Unlock()
	if !first {
		l.examples.note(ShownTwice, d.example("shown before"))
	}
	if late {
		l.examples.note(OutOfOrder, d.example(fmt.Sprintf("seq %d was shown before it", last)))
	}
}

// OnForeign notes a delivery whose client_msg_id isn't of this run at all.
func (l *Ledger) OnForeign(recipient int, epoch, seq uint64, clientMsgID string) {
	l.examples.note(Foreign, Example{Conversation: -1, Ordinal: -1, Recipient: recipient, Epoch: epoch, Seq: seq, Detail: "client_msg_id " + clientMsgID})
}

func (l *Ledger) books(d *Delivery) (*room, *message, *track, int) {
	r, m := l.at(d.Conversation, d.Ordinal)
	if m != nil {
		if p, ok := r.place(int32(d.Recipient)); ok {
			return r, m, &r.tracks[p], p
		}
	}
	l.examples.note(Foreign, d.example("a message or recipient that isn't in the schedule"))
	return nil, nil, nil, 0
}

func (d *Delivery) example(detail string) Example {
	return Example{Conversation: d.Conversation, Ordinal: d.Ordinal, Recipient: d.Recipient, Epoch: d.Epoch, Seq: d.Seq, Detail: detail}
}
