package delivery

import (
	"context"
	"time"
)

// Append is one message to be stored. The caller fills the first part; the
// store fills the second and hands the whole to Sink.Appended.
type Append struct {
	Conversation string // "g:ID" or "u:ID"
	Sender       string
	ClientMsgID  string
	Record       []byte    // wire.AppendRecord; the store keeps it until Appended
	Deadline     time.Time // the store retries until then, and answers unavailable after it

	// Fleeting, of a direct message: the receiver is pushed to, so a seq is
	// handed out and no row is left. The store answers whether it left none;
	// for a duplicate, whether the first one did.
	Fleeting bool
	// Instead, of a direct message: it was fleeting as this seq and missed its
	// receiver, so it is stored now, under a seq of its own.
	Instead uint64

	Seq       uint64
	Epoch     uint64
	Duplicate bool  // this (sender, client_msg_id) was stored before; Seq is the first one's
	OwnGap    bool  // group: the sender's cursor stood right before Seq and moved onto it
	Err       error // a *wire.Fault: not_member, no_such_group, no_such_user, not_friend, unavailable

	// Reply belongs to the caller and is not touched by the store.
	Reply any
}

// Sink receives what the store reports. Calls for one conversation come one
// after the other, in the order of the log; the sink must not block.
type Sink interface {
	// Appended gives back a batch that shared one round trip, in order.
	Appended(batch []*Append)
	// Ahead brings a message of a group, once it has its seq, to the members that
	// are online with room for it, and returns who was reached: for them no row
	// is stored. Asked only where rows are kept for who is offline; Appended
	// follows once the rows of all others are there.
	Ahead(a *Append) (reached map[string]struct{})
	// EpochChanged tells that the store may have lost its tail: everything
	// remembered about conversations is void.
	EpochChanged(epoch uint64)
}

// Log is the state of one conversation's log.
type Log struct {
	Epoch  uint64
	Base   uint64 // head when the epoch began here: what was stored up to it was stored by the end of Former
	Former uint64 // the epoch that the conversation was in before this one, 0 when it was in none
	Head   uint64 // seq of the newest message, 0 when there never was one
	First  uint64 // seq of the oldest message still stored, Head+1 when none is
	Size   uint64 // messages stored (XLEN)
}

// Entry is one stored message.
type Entry struct {
	Seq    uint64
	Record []byte
}

// Login is what a user's login reads.
type Login struct {
	Epoch  uint64 // the present one, to which all cursors belong
	Groups []Membership
}

// Membership is one group of a user, with the user's cursor in it.
type Membership struct {
	Conversation string
	Cursor       uint64
}

// Move is one member's cursor on its way to UpTo.
type Move struct {
	User string
	UpTo uint64
}

// InboxRead asks for a part of an inbox: the messages with After < seq ≤ UpTo.
type InboxRead struct {
	Epoch       uint64
	After, UpTo uint64
	Sender      string // only this user's messages; needs a sender index. "": everybody's
	Newest      bool   // the last messages of the part; else the first ones
	Limit       int    // most messages
	All         bool   // without a limit of messages; more than Bytes are too_large, and then nothing happens
	Bytes       int    // most bytes of messages; one is returned whatever its size, unless All is set
	Remove      bool   // what is returned is removed, in the same atomic step
}

// InboxPart answers an InboxRead.
type InboxPart struct {
	Entries []Entry // in the order of their seqs
	More    bool    // the part holds others: newer ones, or older ones when the newest were asked for
	First   uint64  // oldest seq that is stored now, of any sender; 0 when none is
}

// SenderCount is how many messages of one sender are stored in an inbox.
type SenderCount struct {
	Sender   string
	Messages uint64
}

// Trimmed says what a trim did.
type Trimmed struct {
	First     uint64 // oldest seq that is still stored, Head+1 when none is
	Removed   uint64 // entries removed
	Truncated uint64 // of these, past the slowest member because of the retention limit
}

// Store is what the designs need of a store. All errors are *wire.Fault.
// Every operation that speaks of seqs is bound to the epoch it was issued in:
// on a store that restarted it fails and EpochChanged follows, it never
// touches the new history under the old name.
type Store interface {
	RowStore

	// Append queues a message: one Redis command each, one round trip for all
	// that wait at the moment. It answers overloaded at once when the queue is
	// full; every other answer goes to the Sink.
	Append(a *Append) error

	// Open reads a conversation's state, and marks its base in a new epoch.
	// Everything up to the head is stored, rows of members included. A group
	// without members is no_such_group.
	Open(ctx context.Context, conversation string) (Log, error)

	// Read returns up to limit entries with seq > after, oldest first; with
	// epoch other than the store's it fails with unavailable.
	Read(ctx context.Context, conversation string, epoch, after uint64, limit int) ([]Entry, error)

	// Login returns the groups of a user with its cursors, always in the store's
	// present epoch, also where there is no group; no_such_user when the user was
	// never created.
	Login(ctx context.Context, user string) (Login, error)

	// Cursor returns one member's cursor; not_member when it isn't one.
	Cursor(ctx context.Context, group, user string) (uint64, error)

	// Move moves cursors of one group forward: one command for all of them.
	// Cursors never go back, never past the head; non-members are skipped.
	Move(ctx context.Context, group string, epoch uint64, moves []Move) error

	// Remove acks in an inbox: everything up to upTo, and exactly ids. It returns
	// the oldest seq that is left, 0 when none is.
	Remove(ctx context.Context, inbox string, epoch, upTo uint64, ids []uint64) (first uint64, err error)

	// ReadInbox returns a part of an inbox with one command, which removes it
	// where that is asked for. Such a command is never issued again once it may
	// have run: its answer, and what it removed, can be lost with the connection,
	// and then it is unavailable.
	ReadInbox(ctx context.Context, inbox string, r InboxRead) (InboxPart, error)

	// SenderCounts counts an inbox by sender, in byte order of the names. It
	// needs a sender index.
	SenderCounts(ctx context.Context, inbox string) ([]SenderCount, error)

	// Trim removes what every member of a group has acked, and what exceeds
	// retention entries (0 = no limit).
	Trim(ctx context.Context, group string, epoch uint64, retention int) (Trimmed, error)

	CreateUsers(ctx context.Context, users []string) error
	// AddMembers adds members at the head; those who are members stay where they are.
	AddMembers(ctx context.Context, group string, members []string) (added int, err error)
	RemoveMembers(ctx context.Context, group string, members []string) (removed int, err error)
	AddFriends(ctx context.Context, user string, friends []string) (added int, err error)
	// Friends lists a user's friends in byte order after a name; more says whether others follow.
	Friends(ctx context.Context, user, after string, limit int) (friends []string, more bool, err error)
}
