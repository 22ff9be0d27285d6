package delivery

import "sync/atomic"

type counters struct {
	stored, duplicate, refused, failed         atomic.Uint64
	pushesMissed                               atomic.Uint64
	ackRequests, acksIgnored, cursorsMoved     atomic.Uint64
	syncs                                      atomic.Uint64
	pages, paged, logReads, trimmed, truncated atomic.Uint64
}

// Stats counts what a Service has done since it was made.
type Stats struct {
	SendsStored    uint64
	SendsDuplicate uint64 // answered with the seq of the first
	SendsRefused   uint64 // typed, not retryable
	SendsFailed    uint64 // typed, retryable
	PushesMissed   uint64 // direct messages that were to be pushed only, missed their receiver and were stored under a second seq
	AckRequests    uint64 // frames and HTTP requests that carried acks
	AcksIgnored    uint64 // of another epoch, or not past the cursor
	CursorsMoved   uint64 // cursors written to the store
	Syncs          uint64 // pulls of all groups at once
	Pages          uint64 // pages answered, those of syncs included
	Paged          uint64 // deliveries in pages
	LogReads       uint64 // reads of a log in the store
	Trimmed        uint64 // messages removed from group logs
	Truncated      uint64 // of these, not yet acked by everybody: past the retention limit
}

// Stats returns the counters.
func (s *Service) Stats() Stats {
	c := &s.stats
	return Stats{
		SendsStored: c.stored.Load(), SendsDuplicate: c.duplicate.Load(), SendsRefused: c.refused.Load(), SendsFailed: c.failed.Load(),
		PushesMissed: c.pushesMissed.Load(),
		AckRequests:  c.ackRequests.Load(), AcksIgnored: c.acksIgnored.Load(), CursorsMoved: c.cursorsMoved.Load(),
		Syncs: c.syncs.Load(), Pages: c.pages.Load(), Paged: c.paged.Load(), LogReads: c.logReads.Load(),
		Trimmed: c.trimmed.Load(), Truncated: c.truncated.Load(),
	}
}
