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
	Live   bool       // every conversation is live from its head on at once; what waits below is pulled by other ways
	Closed bool       // groups begin count-only, until they are opened
}

// Driver speaks one server's protocol.
type Driver interface {
	// Connect opens a connection and sends hello, within ctx. Nothing is
	// handed to h before Session.Serve is called. A *Fault that isn't
	// retryable means that trying again is useless.
	Connect(ctx context.Context, id Identity, hello Hello, h Handler) (Session, error)
}

// Session is one connection. The methods down to Flush only queue and never
// block; they may be called from within a Handler, and keep none of their
// arguments. All methods may be called from several goroutines; after the
// connection broke they do nothing. Every request with a ref is answered to the
// Handler with that ref, or by a Fault with it.
type Session interface {
	Send(m *Outgoing)
	// Ack acks everything up to upTo, AckIDs just these seqs (inboxes only).
	Ack(conversation string, epoch, upTo uint64)
	AckIDs(conversation string, epoch uint64, ids []uint64)
	Pull(r *PullRequest)
	// Sync pulls from all groups at once.
	Sync(r *SyncRequest)
	// Counts asks how much waits in each conversation; with senders, in the
	// inbox by sender.
	Counts(ref uint64, senders bool)
	// Friends lists friends in byte order, those after a name; limit 0 = the
	// server's default.
	Friends(ref uint64, after string, limit int)
	// Open and CloseConversation make a conversation live or count-only; the
	// answer is OnConversation.
	Open(ref uint64, conversation string)
	CloseConversation(ref uint64, conversation string)

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

// Meter is a Session that counts what a phone's battery pays.
type Meter interface {
	// AckBytes returns what ack requests took on the wire: frames with their
	// framing, over HTTP whole requests. An ack that another request carries
	// takes nothing of its own.
	AckBytes() uint64
	// Wakeups returns how often a read brought something: however much came at
	// once is one, and so is a message that takes several reads. Over HTTP it is each answer, but for those to acks, which
	// nobody waits for.
	Wakeups() uint64
}

// Handler takes what a Session reads, from one goroutine. now is when the read
// that completed the frame returned, before anything was decoded. Arguments
// are valid during the call only.
type Handler interface {
	OnWelcome(now time.Duration, w *Welcome)
	OnDelivery(now time.Duration, m *Delivery)
	OnAnswer(now time.Duration, a *Answer)
	OnPage(now time.Duration, p *Page)
	OnSyncPages(now time.Duration, p *SyncPages)
	OnCounts(now time.Duration, c *Counts)
	OnFriends(now time.Duration, f *Friends)
	OnConversation(now time.Duration, s *Standing)
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
