package client

import (
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// Path is how a delivery came.
type Path uint8

// The paths.
const (
	Pushed Path = iota + 1 // live (or retransmitted)
	Paged                  // in a page
)

// Observer is told what happens to a device, with the device's index. Calls
// come from several goroutines, one at a time for one device, in the order of
// events; they are made inside the device's lock, so an Observer must be quick
// and must not call the device. Byte slices are valid during the call only.
// All times are those of the Clock.
type Observer interface {
	// OnArrival: a delivery was received, for the first time or again.
	OnArrival(dev int, a Arrival)
	// OnShown: a message got past dedup, in the order of its conversation.
	OnShown(dev int, a Arrival)
	// OnReceived: a pushed delivery, new or again, was taken into the ack
	// policy's batch of its conversation; one from behind a gap when that is filled.
	OnReceived(dev int, conversation string, at time.Duration)
	// OnSendResult: a send has ended; once for each Send.
	OnSendResult(dev int, r SendResult)
	// OnAckSent: an ack request was queued for the write that follows.
	OnAckSent(dev int, a AckSent)
	// OnPage: a page was taken in.
	OnPage(dev int, p PageTaken)
	// OnSync: everything that waited at login has been pulled and acked, as far
	// as the device pulls it.
	OnSync(dev int, s Sync)
	// OnCrash: the device dies on purpose, and does nothing more. Device.Saved
	// is what it leaves.
	OnCrash(dev int, c CrashedAt)
	// OnConnection: connected (err nil, once welcomed) or connection lost, or
	// not made, and why.
	OnConnection(dev int, up bool, now time.Duration, err error)
	// OnFault: the server told an error, to a request or to the connection.
	OnFault(dev int, now time.Duration, f Fault)
}

// Taker is an Observer that is told in one call of what happens most.
type Taker interface {
	Observer
	// OnTaken stands for OnArrival, OnShown and OnReceived of a pushed delivery
	// that came in its order, for the first time.
	OnTaken(dev int, a Arrival)
}

// Arrival is one delivery.
type Arrival struct {
	Conversation string
	Epoch, Seq   uint64
	Sender       []byte
	ClientMsgID  []byte
	Bytes        int           // of the body
	At           time.Duration // received; when shown from behind a gap, still that
	Path         Path
	// Placed: the backlog that it is from isn't pulled in the order of seqs, so
	// whoever reads it puts it where it belongs: it may be shown after later ones.
	Placed bool
}

// Outcome is how a send ended.
type Outcome uint8

// The outcomes.
const (
	Accepted Outcome = iota + 1 // stored, told so
	Refused                     // an error that isn't retryable
	Unknown                     // no final answer, retries included: it may be stored or not
)

// String returns "accepted", "refused" or "unknown".
func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Refused:
		return "refused"
	case Unknown:
		return "unknown"
	}
	return "Outcome(?)"
}

// SendResult is the end of a send.
type SendResult struct {
	To          string
	ClientMsgID string
	Tag         uint64 // of the Message
	Outcome     Outcome
	Code        string // the last error code: refused always, unknown where there was one
	Epoch, Seq  uint64
	Duplicate   bool
	Offline     bool
	Attempts    int           // times that it was put on a connection
	Intended    time.Duration // of the Message
	Sent        time.Duration // first attempt; 0 attempts: meaningless
	Answered    time.Duration // when it ended
}

// AckSent is one ack request.
type AckSent struct {
	Conversation string
	Epoch        uint64
	UpTo         uint64
	IDs          []uint64      // instead of UpTo: just these; valid during the call only
	N            int           // deliveries that it acks, redelivered ones included
	Batch        int           // of these, the ones that waited in the ack policy's batch, which is empty now
	Oldest       time.Duration // when the first of them was received
	At           time.Duration // when the policy asked for it: its last delivery received, or its deadline noticed
	Due          time.Duration // when the policy wanted it, which a late timer doesn't move; At for what isn't the policy's
	Queued       time.Duration // when it was ready for the write that follows
	Cause        ackpolicy.Cause
	Carried      bool // it rides on a page request instead of a frame of its own
	Unacked      int  // unacked window of the device just before it, deliveries
}

// PageTaken is one page.
type PageTaken struct {
	Conversation string
	Messages     int
	Asked, At    time.Duration // the request queued, the page received
	More         bool
	Truncated    bool
}

// Sync is a whole login.
type Sync struct {
	Login           int           // which of the device's, from 1, through crashes and reconnections
	Began, At       time.Duration // connecting, last page taken
	Pages, Messages int           // answers with messages asked for, and the messages in them
	// Requests are the frames from the welcome to the end of the sync: friends,
	// counts, page and sync requests, opens, and the acks of what was pulled
	// that have frames of their own, the last one included.
	Requests        int
	LargestResponse int // bytes of the largest answer to one of them
}

// Ignore is an Observer that does nothing; embed it to implement a few methods.
type Ignore struct{}

var _ Observer = Ignore{}

// OnArrival does nothing.
func (Ignore) OnArrival(int, Arrival) {}

// OnShown does nothing.
func (Ignore) OnShown(int, Arrival) {}

// OnReceived does nothing.
func (Ignore) OnReceived(int, string, time.Duration) {}

// OnSendResult does nothing.
func (Ignore) OnSendResult(int, SendResult) {}

// OnAckSent does nothing.
func (Ignore) OnAckSent(int, AckSent) {}

// OnPage does nothing.
func (Ignore) OnPage(int, PageTaken) {}

// OnSync does nothing.
func (Ignore) OnSync(int, Sync) {}

// OnCrash does nothing.
func (Ignore) OnCrash(int, CrashedAt) {}

// OnConnection does nothing.
func (Ignore) OnConnection(int, bool, time.Duration, error) {}

// OnFault does nothing.
func (Ignore) OnFault(int, time.Duration, Fault) {}
