// Package stub is a server that lies by plan: it speaks the protocol of
// package wire, keeps everything in memory, delays each delivery by a known
// distribution, and loses, repeats, reorders or stalls exactly as it was told.
// It writes down what it really caused, so that the generator can be held
// against it: what the generator reports must be what the stub injected.
//
// # What it measures
//
// A delay counts from the return of the read that completed the send frame to
// the return of the write of the deliver frame, on one monotonic clock. The
// stub's own lateness is inside that figure, so it needn't be small, only
// recorded. Deadlines are absolute and kept by one thread that sleeps in the
// kernel (a goroutine's timer would be up to a millisecond late and would bunch
// deliveries). Deliveries of one conversation leave in seq order at each
// recipient: one that would overtake another waits for it, and that wait is
// recorded too.
//
// # What a device can heal
//
// A watermark device (package client) shows messages in the order of seqs
// whatever the wire does, so not every injection reaches its user:
//
//   - lost: the deliver frame is never written and pages claim the range
//     without it. The device takes the hole for somebody's own message and goes
//     on: ledger.Lost, and AckedNotReceived once the cursor has passed.
//   - again: the same frame twice. Dedup hides it: Redelivered, not ShownTwice.
//   - stored twice: the same (sender, client_msg_id) under a second seq. A
//     watermark can't see that: Redelivered and ShownTwice, once per recipient.
//   - swapped: two adjacent seqs in the wrong order on the wire. The device
//     holds the later one back: nothing is reported, and nothing may be.
//   - late: a delivery is left out, its seq is claimed by a page, later ones
//     are shown, and then the server goes back to before it: it names a new
//     epoch, closes the connection, and welcomes the device in the old epoch
//     with a base below the message. Identities hide what was shown before, and
//     the message is shown after those of higher seqs: OutOfOrder. Within one
//     connection nothing shows a watermark device an older seq: a page in the
//     wrong order makes it skip the later comer (NotShown).
//   - renumbered: two adjacent messages come under each other's seq at one
//     recipient. Seqs rise, so the device sees no disorder; only who compares
//     with the seq that the sender was told finds it: SeqMismatch, two a pair.
//
// A stall stops all reading and writing. Answers and handshakes can be slow.
//
// # What it leaves out
//
// Retransmission, acks by ids, friends, open and close, JSON frames, HTTP
// operations and redelivery across its own restart: acks move a cursor and are
// counted, that is all. It listens on loopback only.
//
// The room may know refserver/wire and nothing else of the project. It starts
// goroutines and one locked thread, which Close ends. Linux only.
package stub
