// Package dedup decides whether a message that reaches a device has been shown
// before. Servers that ack deliver again what they know no ack of, so without
// it people see messages twice; each of its modes is what some client of the
// field does, and this package is where their price is measured.
//
//	mode       what is remembered                             bytes per message    can it be wrong
//	none       nothing                                        0                    every redelivery is shown
//	set        who sent what, for ever                        11 to 21             no
//	window     who sent what, of the last K shown             0 (19 to 29 × K)     redeliveries older than K are shown
//	watermark  "all seqs up to here", the ranges above it,    0 (8 × Recent)       no
//	           and who sent what of the last shown, in case
//	           the epoch changes
//
// State is the dedup of one conversation. Seqs is the set of seqs that the
// watermark is made of; it also serves a device that tells which seqs it has
// from which it has shown.
//
// A delivery in order costs the watermark 2 to 3 ns; the insurance against a
// change of epoch comes to some 20 ns more, nearly all of it the hash of who
// sent what. Set and window cost some 50 to 80 ns (go test -bench . here).
//
// A message is identified by (sender, client_msg_id): a send that was stored
// twice has two seqs, and a new epoch hands the same seqs out again. Set and
// window look at nothing else and need not know of epochs. The watermark looks
// at seqs, and at identities only where an epoch has changed.
//
// The package is pure: no sockets, no clock, no goroutines. It imports nothing
// of this repository. A State is guarded by whoever owns it.
package dedup
