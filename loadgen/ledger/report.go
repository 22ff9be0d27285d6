package ledger

import "fmt"

// Stored is what the store holds of one conversation at the end of a run.
type Stored struct {
	Epoch uint64
	Head  uint64 // newest seq
	First uint64 // oldest seq still stored; Head + 1 when none is
	Count uint64 // messages stored (XLEN), to be reconciled with First and Head
	// Bases gives for each epoch after the first that began during the run the
	// head with which it began: what an earlier epoch stored above it is gone,
	// and its seq was given to another message.
	Bases []Base
	// Cursor returns a recipient's cursor; false when it has none.
	Cursor func(user int) (uint64, bool)
	// Row, where it is set, tells what the store holds of a message for one
	// recipient, of whatever is still what its seq means. First, Head and Cursor
	// aren't asked then: in designs that keep a row per message and recipient
	// there may be holes, and a cursor may be something else than a seq.
	Row func(user int, seq uint64) Row
}

// Row is what the store holds of one message for one recipient.
type Row uint8

// The states of a row.
const (
	NoRow   Row = iota // there is none: never stored for the recipient, or gone since
	Waiting            // it is still to be pulled
	Acked              // it was stored for the recipient, who has acked it
)

// Base is the head with which an epoch began.
type Base struct{ Epoch, Head uint64 }

// StoreView returns what the store holds of a conversation; false when that
// isn't known, as with a foreign server: what didn't arrive is then lost as far
// as can be told.
type StoreView func(conversation int) (Stored, bool)

// Report is the outcome of an audit. Sends are messages, everything else from
// Expected on is deliveries.
type Report struct {
	Scheduled int // messages in the schedule
	Unsent    int // of these, never handed to a device
	Sends     int // the others: Accepted + Refused + Unknown + InFlight
	Accepted  int
	Refused   int
	Unknown   int // given up without a final answer
	InFlight  int // no answer when the audit was made

	Expected int // accepted messages × their recipients = Arrived + Pending + Lost
	Arrived  int
	Pending  int // not arrived; in the store and above the recipient's cursor
	Lost     int // neither arrived nor pending

	ArrivedWaiting int // of Arrived: the store holds it still for the recipient, its ack isn't there

	Dropped      int // taken by a crash of the client before they were shown: the crash injector's own log
	LostDropped  int // of Lost: in that log
	LostWithTail int // of Lost: the store lost the message itself
	CutAccepted  int // accepted messages that the store lost, delivered or not

	ArrivedUnknown int // first arrivals of messages without an answer: stored all the same

	Arrivals         uint64 // all, redelivered ones included
	Redelivered      uint64 // beyond the first at its recipient
	ShownTwice       uint64
	OutOfOrder       uint64 // shown for the first time after one that comes later, see track.show
	SeqMismatch      uint64 // first arrivals under another seq than the sender was told, in the same epoch
	AckedNotReceived int    // of Lost: the recipient's cursor covers it
	NotShown         int    // arrived, but neither shown nor still to be pulled
	RefusedArrived   int    // first arrivals of messages that were refused
	StoredAgain      int    // messages seen under two seqs of one epoch; only with Config.Repeats
	Foreign          uint64 // sends or deliveries that aren't of the schedule

	Examples []Example // the first few of each kind
}

// Balance checks that the books close; an error is a defect of the ledger or of
// its use, not of the server.
func (r *Report) Balance() error {
	if r.Sends != r.Accepted+r.Refused+r.Unknown+r.InFlight || r.Scheduled != r.Sends+r.Unsent {
		return fmt.Errorf("ledger: %d sends and %d unsent of %d scheduled don't add up: %d accepted, %d refused, %d unknown, %d in flight",
			r.Sends, r.Unsent, r.Scheduled, r.Accepted, r.Refused, r.Unknown, r.InFlight)
	}
	if r.Expected != r.Arrived+r.Pending+r.Lost {
		return fmt.Errorf("ledger: %d expected deliveries are not %d arrived + %d pending + %d lost", r.Expected, r.Arrived, r.Pending, r.Lost)
	}
	return nil
}
