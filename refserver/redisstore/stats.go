package redisstore

import "sync/atomic"

// command names what a command to Redis was issued for.
type command int

const (
	cmdAppend command = iota
	cmdOpen
	cmdRead
	cmdMove
	cmdRemove
	cmdTrim
	cmdLogin
	cmdCursor
	cmdFriends
	cmdAdmin
	cmdEpoch
	cmdPurge
	commandCount
)

var commandNames = [commandCount]string{
	cmdAppend: "append", cmdOpen: "open", cmdRead: "read", cmdMove: "move", cmdRemove: "remove", cmdTrim: "trim",
	cmdLogin: "login", cmdCursor: "cursor", cmdFriends: "friends", cmdAdmin: "admin", cmdEpoch: "epoch", cmdPurge: "purge",
}

// Stats counts since the store was made.
type Stats struct {
	// Commands as the store issued them, by what for: append, open, read, move,
	// remove, trim, login, cursor, friends, admin, epoch, purge. A script is
	// one command, whatever it calls inside; a retry counts again.
	Commands map[string]uint64

	RoundTrips   uint64 // times that the store waited for Redis; a pipeline is one
	Retries      uint64 // commands issued again, because a connection dropped or scripts were unknown
	Batches      uint64 // round trips that carried sends
	LogReads     uint64 // reads of a conversation's log
	CursorsMoved uint64 // cursors that a move really moved
	EpochChanges uint64 // new epochs begun while the store ran
}

type counters struct {
	commands     [commandCount]atomic.Uint64
	roundTrips   atomic.Uint64
	retries      atomic.Uint64
	batches      atomic.Uint64
	logReads     atomic.Uint64
	cursorsMoved atomic.Uint64
	epochChanges atomic.Uint64
}

// issued counts one round trip with n commands.
func (c *counters) issued(cmd command, n int) {
	c.commands[cmd].Add(uint64(n))
	c.roundTrips.Add(1)
}

// Stats returns the counters as they stand.
func (s *Store) Stats() Stats {
	st := Stats{
		Commands:     make(map[string]uint64, commandCount),
		RoundTrips:   s.counters.roundTrips.Load(),
		Retries:      s.counters.retries.Load(),
		Batches:      s.counters.batches.Load(),
		LogReads:     s.counters.logReads.Load(),
		CursorsMoved: s.counters.cursorsMoved.Load(),
		EpochChanges: s.counters.epochChanges.Load(),
	}
	for cmd := range commandCount {
		st.Commands[commandNames[cmd]] = s.counters.commands[cmd].Load()
	}
	return st
}
