package client

import (
	"context"
	"time"
)

// Identity is who a device is.
type Identity struct {
	Index int    // the device's number, told to the Observer with everything
	User  string // user id
	Token string // what proves it to the server
}

// Position is what a device holds of a conversation: everything up to Cursor.
type Position struct {
	Conversation string
	Epoch        uint64
	Cursor       uint64
}

// Hello is how a connection begins.
type Hello struct {
	Resume []Position // empty: go on after the server's cursors
	Window int        // most deliveries in flight, unacked; 0 = the server's default
}

// Driver speaks one server's protocol.
type Driver interface {
	// Connect opens a connection and sends hello, within ctx. Nothing is
	// handed to h before Session.Serve is called. A *Fault that isn't
	// retryable means that trying again is useless.
	Connect(ctx context.Context, id Identity, hello Hello, h Handler) (Session, error)
}

// Session is one connection. Send, Ack and Pull only queue and never block;
// they may be called from within a Handler. All methods may be called from
// several goroutines; after the connection broke they do nothing.
type Session interface {
	Send(m *Outgoing)
	Ack(conversation string, epoch, upTo uint64)
	Pull(r *PullRequest)

	// Flush writes what is queued. While another goroutine is writing it leaves
	// that to it and returns. It must not be called from within a Handler:
	// Serve flushes by itself before it waits for more to read.
	Flush()
	// Serve reads and calls the Handler until the connection ends, and says why.
	Serve() error
	// Close writes what is queued, closes in order, and waits until Serve has
	// returned or ctx ends; the error says what didn't get through.
	Close(ctx context.Context) error
	// Abort breaks the connection as it stands.
	Abort()
	// Bytes returns what was read from and written to the connection,
	// including the driver's own framing and handshake.
	Bytes() (read, written uint64)
}

// Handler takes what a Session reads, from one goroutine. now is when the read
// that completed the frame returned, before anything was decoded. Arguments
// are valid during the call only.
type Handler interface {
	OnWelcome(now time.Duration, w *Welcome)
	OnDelivery(now time.Duration, m *Delivery)
	OnAnswer(now time.Duration, a *Answer)
	OnPage(now time.Duration, p *Page)
	OnPullNow(now time.Duration, p *PullNow)
	OnFault(now time.Duration, f *Fault)
}

// Outgoing is a message on its way to the server.
type Outgoing struct {
	Ref         uint64
	To          string
	ClientMsgID string
	Body        []byte // UTF-8
}

// PullRequest asks for one page of stored messages, oldest first.
type PullRequest struct {
	Ref          uint64
	Conversation string
	Epoch        uint64 // the epoch of After
	After        uint64
	Limit        int  // messages; 0 = the server's default
	Ack          bool // it also acks everything up to After
}

// Welcome answers hello: all conversations of the user.
type Welcome struct {
	Window        int
	Conversations []Standing
}

// Standing is a conversation as the server has it for this user.
type Standing struct {
	Conversation string
	Epoch        uint64
	Cursor       uint64 // last acked seq
	Head         uint64 // newest seq
	Base         uint64 // head when the epoch began
	CountOnly    bool   // closed: neither pushed nor to be pulled
}

// Delivery is one message that reaches this device. Inside a page Conversation
// and Epoch are the page's.
type Delivery struct {
	Conversation, Sender, ClientMsgID, Body []byte

	Epoch, Seq uint64
	TimeMS     int64 // when the server accepted it, Unix milliseconds
}

// Answer says that a send was stored, and where.
type Answer struct {
	Ref          uint64
	Conversation []byte
	Epoch, Seq   uint64
	Duplicate    bool // it had been stored before; Seq is the first one's
	Offline      bool // direct message to a receiver that is offline
}

// Page covers every seq in (After, UpTo]: one without a message isn't missing.
type Page struct {
	Ref             uint64
	Conversation    []byte
	Epoch           uint64
	After, UpTo     uint64
	Head            uint64
	More, Truncated bool
	Count           int // messages in it

	// Messages calls yield with each, in the page's order, until it fails.
	Messages func(yield func(*Delivery) error) error
}

// PullNow tells that pushing has stopped for a conversation.
type PullNow struct {
	Conversation []byte
	Epoch        uint64
	Head         uint64
}

// Fault is an error that the server told: of the request with that Ref, or of
// the connection when Ref is 0.
type Fault struct {
	Ref          uint64
	Code         string
	Message      string
	Conversation string
	Retryable    bool // the same request may succeed later
}

// Error returns code and message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }
