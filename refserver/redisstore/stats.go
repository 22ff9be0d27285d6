package redisstore

import "sync/atomic"

// command names what a command to Redis was issued for.
type command int

const (
	cmdAppend command = iota
	cmdOpen
	cmdRead
	cmdTake
	cmdCounts
	cmdMove
	cmdRemove
	cmdTrim
	cmdLogin
	cmdCursor
	cmdFriends
	cmdAdmin
	cmdEpoch
	cmdPurge
	cmdMembers
	cmdPresence
	cmdRow
	cmdFinish
	cmdRelease
	cmdRecover
	commandCount
)

var commandNames = [commandCount]string{
	cmdAppend: "append", cmdOpen: "open", cmdRead: "read", cmdTake: "take", cmdCounts: "counts", cmdMove: "move", cmdRemove: "remove", cmdTrim: "trim",
	cmdLogin: "login", cmdCursor: "cursor", cmdFriends: "friends", cmdAdmin: "admin", cmdEpoch: "epoch", cmdPurge: "purge",
	cmdMembers: "members", cmdPresence: "presence", cmdRow: "row", cmdFinish: "finish", cmdRelease: "release", cmdRecover: "recover",
}

// Stats counts since the store was made.
type Stats struct {
	// Commands as the store issued them, by what for: append, open, read, take
	// (read and removed), counts, move, remove, trim, login, cursor, friends, admin,
	// epoch, purge; of groups whose members have rows of their own members and
	// presence (looked up for each send), row, finish, release (ids counted off),
	// recover. A script is one command, whatever it calls inside; a retry
	// counts again.
	Commands map[string]uint64

	// Trips are the round trips by what for, as Commands; what shares one with
	// another's commands, such as the members looked up with a send, has none.
	Trips map[string]uint64

	RoundTrips   uint64 // times that the store waited for Redis; a pipeline is one
	Retries      uint64 // commands issued again, because a connection dropped or scripts were unknown
	Batches      uint64 // round trips that carried sends
	LogReads     uint64 // reads of a conversation's log
	CursorsMoved uint64 // cursors that a move really moved
	EpochChanges uint64 // new epochs begun while the store ran

	MemberLookups   uint64 // lists of members read for sends
	PresenceLookups uint64 // presence of members read for sends
	RowsWritten     uint64 // copies and ids written by fan-outs
	Recovered       uint64 // messages that were left half-way and finished later
	BodiesFreed     uint64 // bodies that went with their last id
}

type counters struct {
	commands     [commandCount]atomic.Uint64
	trips        [commandCount]atomic.Uint64
	roundTrips   atomic.Uint64
	retries      atomic.Uint64
	batches      atomic.Uint64
	logReads     atomic.Uint64
	cursorsMoved atomic.Uint64
	epochChanges atomic.Uint64

	memberLookups, presenceLookups, rowsWritten, recovered, bodiesFreed atomic.Uint64
}

// issued counts one round trip with n commands.
func (c *counters) issued(cmd command, n int) {
	c.commands[cmd].Add(uint64(n))
	c.trips[cmd].Add(1)
	c.roundTrips.Add(1)
}

// Stats returns the counters as they stand.
func (s *Store) Stats() Stats {
	st := Stats{
		Commands:     make(map[string]uint64, commandCount),
		Trips:        make(map[string]uint64, commandCount),
		RoundTrips:   s.counters.roundTrips.Load(),
		Retries:      s.counters.retries.Load(),
		Batches:      s.counters.batches.Load(),
		LogReads:     s.counters.logReads.Load(),
		CursorsMoved: s.counters.cursorsMoved.Load(),
		EpochChanges: s.counters.epochChanges.Load(),

		MemberLookups: s.counters.memberLookups.Load(), PresenceLookups: s.counters.presenceLookups.Load(),
		RowsWritten: s.counters.rowsWritten.Load(), Recovered: s.counters.recovered.Load(), BodiesFreed: s.counters.bodiesFreed.Load(),
	}
	for cmd := range commandCount {
		st.Commands[commandNames[cmd]] = s.counters.commands[cmd].Load()
		st.Trips[commandNames[cmd]] = s.counters.trips[cmd].Load()
	}
	return st
}
