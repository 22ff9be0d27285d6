// Package ledger audits a run message by message: what was sent, what had to
// arrive at whom, what did, and what became of the rest.
//
// A message is named by its conversation and ordinal, which the schedule gives
// it and which its client_msg_id carries; so a send that was stored twice, under
// two seqs, is still one message. Per message the ledger keeps a few dozen
// bytes, per recipient and conversation a watermark over ordinals and the gaps
// below it, and nothing per delivery: its memory doesn't grow with a run's
// length beyond the schedule itself.
//
// The same message has one place in its conversation, (epoch, seq). Where its
// sender was told that it is, by the answer, is held against where each
// recipient got it first: another seq of the same epoch is a SeqMismatch, which
// order alone doesn't show, since seqs then rise all the same. Deliveries that
// come before the answer are counted by place until it comes. It is a count of
// its own: OutOfOrder says what one user saw, SeqMismatch that two saw different
// conversations.
//
// A crash of a client takes what it had received and not shown yet; the crash
// injector says what (OnDropped). That counts as arrived at nobody until it is
// shown, so it is pending where the store still has it and lost where it was
// removed on the pull. What the store lost with its tail is told by the bases of
// its epochs. In designs that keep a row per message and recipient the store's
// view names the rows (Stored.Row) instead of a cursor.
//
// The package is pure: no clocks, goroutines or sockets. It imports nothing of
// the project. What the store holds at the end is handed to Audit as a
// StoreView.
package ledger
