package client

// PullRequest asks for one page of stored messages: oldest first, the ones
// right after After; newest first, the last ones below Before.
type PullRequest struct {
	Ref          uint64
	Conversation string
	Epoch        uint64 // the epoch of After
	After        uint64
	Limit        int      // messages; 0 = the server's default
	Ack          bool     // it also acks everything up to After
	Sender       string   // only this user's; empty = everybody's
	All          bool     // all of them in one page, whatever Limit says
	Newest       bool     // newest first
	Before       uint64   // newest first: only seqs below; 0 = from the head on
	IDs          []uint64 // it also acks these, as AckIDs does
}

// SyncRequest asks for messages of all groups at once, oldest first in each.
type SyncRequest struct {
	Ref   uint64
	After []Position // what the client holds; other groups go on after the server's cursor
	Limit int        // messages over all groups; 0 = the server's default
	Ack   bool       // After counts as acks
}

// Welcome answers hello: all conversations of the user.
type Welcome struct {
	Window        int
	Conversations []Standing
}

// Standing is a conversation as the server has it for this user, in a Welcome
// or in answer to Open and CloseConversation.
type Standing struct {
	Ref          uint64 // of the request; 0 in a Welcome
	Conversation string
	Epoch        uint64
	Cursor       uint64 // last acked seq
	Head         uint64 // newest seq
	Base         uint64 // head when the epoch began
	CountOnly    bool   // closed: neither pushed nor to be pulled
	Behind       bool   // not pushed until a page has reached the head
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
// With a Sender it says that of this sender's messages only.
type Page struct {
	Ref             uint64
	Conversation    []byte
	Sender          []byte
	Epoch           uint64
	After, UpTo     uint64
	Head            uint64
	More, Truncated bool
	Count           int // messages in it
	Bytes           int // of the whole answer, without its transport's framing; 0 in SyncPages

	// Messages calls yield with each, in the order of their seqs, until it fails.
	Messages func(yield func(*Delivery) error) error
}

// SyncPages answers a SyncRequest: a page of each group that is part of it.
type SyncPages struct {
	Ref   uint64
	Pages []Page
	More  bool // others follow, in these groups or in further ones
	Bytes int  // of the whole answer, without its transport's framing
}

// Counts answers a request for counts.
type Counts struct {
	Ref    uint64
	Counts []Count
	Bytes  int // of the whole answer, without its transport's framing
}

// Count is how much waits in a conversation, or of one sender in the inbox.
type Count struct {
	Conversation string
	Sender       string // by sender: whose
	Unread       uint64
	Cursor, Head uint64
}

// Friends answers a request for friends.
type Friends struct {
	Ref     uint64
	Friends []string // in byte order
	More    bool
	Bytes   int // of the whole answer, without its transport's framing
}

// PullNow tells that pushing has stopped for a conversation.
type PullNow struct {
	Conversation []byte
	Epoch        uint64
	Head         uint64
}
