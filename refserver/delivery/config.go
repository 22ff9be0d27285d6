package delivery

import "time"

// Group says what is stored of a group's message.
type Group string

const (
	GroupCursor Group = "cursor" // one row per message, a cursor per member (g4–g8)
	GroupCopies Group = "copies" // a full copy per recipient (g1)
	GroupIDs    Group = "ids"    // the body once, an id per recipient (g2, g3)
)

// Cursor says what a member's cursor in a group is, with GroupCursor.
type Cursor string

const (
	CursorSeq       Cursor = "seq"        // the seq of the last acked message
	CursorTimeAfter Cursor = "time-after" // its time in ms; resumes after everything of that time: ties are lost
	CursorTimeFrom  Cursor = "time-from"  // its time in ms; resumes with everything of that time: ties come again
)

// StoreFor says for whom a message is stored.
type StoreFor string

const (
	StoreForAll     StoreFor = "all"     // every recipient, before the push
	StoreForOffline StoreFor = "offline" // who isn't reached by a push; that push is not stored
)

// Remove says when a stored message goes.
type Remove string

const (
	RemoveOnAck  Remove = "on-ack"  // when its receiver has acked it
	RemoveOnPull Remove = "on-pull" // as it is pulled, in the same atomic step
)

// Config sets how messages are kept and acked. Zero values are replaced by
// the defaults. Which combinations make sense is for the server to check.
type Config struct {
	Group    Group    // default cursor
	Cursor   Cursor   // default seq
	StoreFor StoreFor // default all
	Remove   Remove   // default on-ack

	SenderIndex bool // the store keeps the index (receiver, sender) of inboxes: pulls and counts per sender
	DedupOff    bool // every attempt of a send is stored as a message of its own

	AckJoin      time.Duration // how long acks of a moment gather before cursors move, default 5 ms
	AckFlush     time.Duration // write-behind of acks: cursors move at most that often; 0: as AckJoin says, and an ack that asks for an answer gets it once stored
	Page         int           // messages in a page when the client names no limit, default 100
	MaxPage      int           // most messages in a page, default 1000
	MaxBody      int           // most bytes in a body, default 64 KiB
	MaxResponse  int           // most bytes in an answer to a pull, default 64 MiB
	MaxFriends   int           // most names in one friends answer, default 10,000
	MaxInFlight  int           // most sends of one connection that wait for the store, default 256
	Retention    int           // most messages in a group's log, 0: no limit
	TrimEvery    time.Duration // how often logs are trimmed, default 1 s
	SendTimeout  time.Duration // how long the store may take for a send, default 5 s
	CacheBytes   int           // most bytes of old log parts kept in memory, default 64 MiB
	TailMessages int           // newest messages of a group kept in memory, default 512
	IdleAfter    time.Duration // a conversation nobody uses is forgotten after it, default 1 min
}

func (c Config) withDefaults() Config {
	orDefault(&c.Group, GroupCursor)
	orDefault(&c.Cursor, CursorSeq)
	orDefault(&c.StoreFor, StoreForAll)
	orDefault(&c.Remove, RemoveOnAck)
	orDefault(&c.AckJoin, 5*time.Millisecond)
	orDefault(&c.Page, 100)
	orDefault(&c.MaxPage, 1000)
	orDefault(&c.MaxBody, 64<<10)
	orDefault(&c.MaxResponse, 64<<20)
	orDefault(&c.MaxFriends, 10_000)
	orDefault(&c.MaxInFlight, 256)
	orDefault(&c.TrimEvery, time.Second)
	orDefault(&c.SendTimeout, 5*time.Second)
	orDefault(&c.CacheBytes, 64<<20)
	orDefault(&c.TailMessages, 512)
	orDefault(&c.IdleAfter, time.Minute)
	return c
}

// orDefault sets what is empty or negative.
func orDefault[T ~string | ~int | ~int64](v *T, def T) {
	var zero T
	if *v <= zero {
		*v = def
	}
}
