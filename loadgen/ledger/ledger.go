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
	// Repeats says that the server stores each attempt of a send as a message of
	// its own, with idempotent sends off: another seq contradicts nothing then,
	// and is counted as StoredAgain.
	Repeats bool
	// Present tells whether a user is connected now, for what a drain still waits
	// for: users come and go. nil: who is Online stays so.
	Present func(user int) bool
	// Examples is how many cases of each kind of trouble are kept; default 5.
	Examples int
}

// Ledger is the books of one run. All methods are safe for concurrent use.
type Ledger struct {
	rooms    []room
	repeats  bool
	present  func(user int) bool
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

// track is one recipient in one conversation.
type track struct {
	mu          sync.Mutex // guards all below; hardly ever contended: one device at a time
	arrived     tally
	shown       tally
	dropped     dropped
	arrivals    uint64
	fresh       uint64
	redelivered uint64
	shownTwice  uint64
	outOfOrder  uint64
	lastEpoch   uint64
	lastSeq     uint64 // highest seq shown in lastEpoch
	top         place  // the last of what was shown, by what senders were told
	before      place  // top when lastEpoch began
}

// New opens the books.
func New(cfg Config) (*Ledger, error) {
	l := &Ledger{rooms: make([]room, len(cfg.Conversations)), repeats: cfg.Repeats, present: cfg.Present}
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

// place is where a user stands among the recipients. Where all users are in the
// group, or a run of them, that needs no search.
func (r *room) place(user int32) (int, bool) {
	if n := len(r.recipients); n > 0 {
		if p := int(user - r.recipients[0]); p >= 0 && p < n && r.recipients[p] == user {
			return p, true
		}
	}
	return slices.BinarySearch(r.recipients, user)
}

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
	at := place{epoch, seq}
	fresh, differing := m.answer(s, at)
	if fresh {
		r.accepted.Add(1)
	}
	switch {
	case differing == 0:
	case l.repeats:
		m.again.Store(true)
	default:
		l.examples.add(SeqMismatch, uint64(differing), Example{
			Conversation: conversation, Ordinal: ordinal, Recipient: -1, Epoch: epoch, Seq: seq,
			Detail: fmt.Sprintf("so its sender was told, after %d had got it under another seq", differing),
		})
	}
}

// Delivery is one delivery at one recipient.
type Delivery struct {
	Conversation, Ordinal int // the message
	Recipient             int // user index
	Epoch, Seq            uint64
	At                    time.Duration
	// Placed: its reader puts it where it belongs, however late it is shown, so
	// it isn't judged for order. So are the newest page first, and one friend's
	// messages before another's.
	Placed bool
}

// show takes in what is shown for the first time and says whether something
// that comes after it was shown before, and what.
//
// Within one epoch seqs tell, as the recipient got them. Across epochs they
// don't: what survived a change of epoch keeps its seq under the new epoch, and
// what was lost gives its seq to another. There it is judged by where senders
// were told that their messages are: what was stored in an earlier epoch comes
// before all of a later one. A message without an answer counts as stored where
// it was got, which is never too early.
func (t *track) show(at, told place) (last place, late bool) {
	switch {
	case at.epoch != t.lastEpoch:
		t.before = t.top
		t.lastEpoch, t.lastSeq = at.epoch, at.seq
	case at.seq < t.lastSeq:
		last, late = place{t.lastEpoch, t.lastSeq}, true
	default:
		t.lastSeq = at.seq
	}
	if !late && told.before(t.before) {
		last, late = t.before, true
	}
	if t.top.before(told) {
		t.top = told
	}
	if late {
		t.outOfOrder++
	}
	return last, late
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

func (d *Delivery) place() place { return place{d.Epoch, d.Seq} }

func (d *Delivery) example(detail string) Example {
	return Example{Conversation: d.Conversation, Ordinal: d.Ordinal, Recipient: d.Recipient, Epoch: d.Epoch, Seq: d.Seq, Detail: detail}
}
