// Package ackpolicy decides when a client acknowledges.
//
// It holds the policies themselves (Batch, one per conversation of a device),
// the same policies replayed over recorded arrivals (Replay), and what
// arithmetic says that they cost (MeanBatch, Predict). The three are kept side
// by side because each checks the others: a run counts its ack requests, the
// replay says what they had to be exactly, the closed form what they should be
// on average.
//
// The package is pure. Time is a time.Duration since the start of the run and
// is always passed in; there are no clocks, timers, goroutines or sockets here,
// and it imports nothing of the project.
package ackpolicy
