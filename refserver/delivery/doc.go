// Package delivery decides what is stored, when it goes, how it is pulled and
// what an ack does.
//
// The design built here is the ladder's g4–g7 for groups (a message is stored
// once, each member has a cursor) and a log per user, the inbox, for direct
// messages (paged pull, removed on ack). A message flows
//
//	Send → Store.Append (one round trip) → Sink.Appended → push.Room.Deliver
//
// and an ack
//
//	Ack → push.Member.Ack (this node's view, clamped to the head) → acker → Store.Move
//
// The acker joins the acks of a moment: one Redis command per group moves any
// number of cursors. Log pages come through a cache that reads each part of a
// group's log once for all members that ask for it.
//
// Everything that is remembered about a conversation belongs to one epoch.
// When the store may have lost its tail (Sink.EpochChanged) it is all
// forgotten and every client is disconnected; it resumes in the new epoch from
// min(its watermark, the base that the server names).
//
// The room may touch push and wire, and a store through the interface Store
// that it owns. It must not know Redis, HTTP or tokens.
package delivery
