// Package delivery decides what is stored, when it goes, how it is pulled and
// what an ack does.
//
// Direct messages lie in a log per user, the inbox: the ladder's d1–d7. They are
// pulled by sender, in pages of either order or all at once, and go on ack or as
// they are pulled (inbox_page.go); stored for everybody or for who isn't pushed
// to (inbox_send.go). Of groups a message is stored once with a cursor per member
// (design_cursor.go, g4–g8; with times as cursors g4t), as a copy per member
// (design_copies.go, g1), or once with an id per member (design_ids.go, g2 and g3);
// groupDesign is what they differ in. A message flows
//
//	Send → Store.Append (one round trip, or one and the rows) → Sink.Appended → push.Room.Deliver
//
// and an ack
//
//	Ack → push.Member.Ack (this node's view, clamped to the head) → acker → groupDesign.acked
//
// The acker joins the acks of a moment: one Redis command per group moves any
// number of cursors, or one per member removes its rows. Pages of a log come
// through a cache that reads each part of a group's log once for all members
// that ask for it; rows are each member's own.
//
// Where rows are kept for who is offline, a message is pushed once it has its seq
// (Sink.Ahead), stored for whom that didn't reach, and only then the room's head
// passes it. So whatever waits for a member lies beyond every head, page and
// login that was before it, and is found by the next.
//
// The price of store_for offline: what was pushed is nowhere else. A message that
// was written to a connection which then breaks is gone, and a resend of it is
// answered as a duplicate. Which direct pushes missed their receiver, so that a
// resend must store them after all, only this process knows, of 65,536 sends at
// most (missedSends): when it is killed between the seq and the row, or when more
// than those wait at once, a resend is answered as a duplicate too, though nobody
// has the message. Who can't afford that stores for all.
//
// Everything that is remembered about a conversation belongs to one epoch.
// When the store may have lost its tail (Sink.EpochChanged) it is all
// forgotten and every client is disconnected; it resumes in the new epoch from
// min(its watermark, the base of the epoch) when it comes from the conversation's
// epoch before, and from its stored cursor when it comes from any other one.
//
// The room may touch push and wire, and a store through the interface Store
// that it owns. It must not know Redis, HTTP or tokens.
package delivery
