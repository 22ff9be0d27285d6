package delivery

import "context"

// Rows is what is stored of one group for one user, in the designs that keep
// rows per member.
type Rows struct {
	First uint64 // lowest seq, 0 when nothing is stored
	Count uint64
}

// RowRead asks for a part of a user's rows of one group: those with
// After < seq ≤ UpTo.
type RowRead struct {
	Epoch       uint64
	After, UpTo uint64
	Newest      bool // the last rows of the part; else the first ones
	Limit       int  // most rows; 0: all of them
	All         bool // more than Bytes are too_large, and then nothing happens
	Bytes       int  // most bytes of messages, where rows carry them; one is returned whatever its size, unless All is set
	Remove      bool // what is returned is removed, in the same atomic step; copies only
}

// RowStore is what a store offers to designs that keep rows per member. Which
// of them it keeps, copies or ids, is chosen with the store.
//
// Such a store finishes each send by itself: once a message has its seq, a row
// is written for each member but the sender and those whom Sink.Ahead has
// reached, each row once however often it is tried; then the message goes to
// Sink.Appended. What a server that was killed has left half-way is finished
// when its group is opened, or written to, the next time: for all members but
// the sender, since nobody knows any more whom it had reached.
type RowStore interface {
	// Rows tells what is stored for a user in each of groups, with one command.
	Rows(ctx context.Context, user string, epoch uint64, groups []string) ([]Rows, error)

	// RowsOf is Rows for one group, in whatever epoch, and fails with not_member
	// for who is none.
	RowsOf(ctx context.Context, group, user string) (Rows, error)

	// ReadCopies returns a part of a user's copies of a group with one command,
	// in the order of their seqs. more says that the part holds others.
	ReadCopies(ctx context.Context, group, user string, r RowRead) (copies []Entry, more bool, err error)

	// ReadIDs returns a part of a user's ids of a group; Bodies returns the
	// messages that belong to ids and are still stored.
	ReadIDs(ctx context.Context, group, user string, r RowRead) (ids []uint64, more bool, err error)
	Bodies(ctx context.Context, group string, epoch uint64, ids []uint64) ([]Entry, error)

	// TakeIDs removes ids of a user and returns those that were there. A body
	// goes with its last id.
	TakeIDs(ctx context.Context, group, user string, epoch uint64, ids []uint64) (taken []uint64, err error)

	// RemoveRows acks: each user's rows of a group go up to a seq, in ids the
	// body with its last id. Users of a group that aren't members have no rows.
	RemoveRows(ctx context.Context, group string, epoch uint64, moves []Move) error

	// Present notes for a time that users are online, Absent that they aren't
	// any more. Sends to groups look it up where rows are only kept for who is
	// offline, as every service of several nodes does; on one node the hub knows
	// better, and its word counts.
	Present(ctx context.Context, users []string, until int64) error
	Absent(ctx context.Context, users []string) error
}
