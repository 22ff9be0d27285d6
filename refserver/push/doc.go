// Package push knows who is online where and brings stored messages to them.
//
// A Hub holds the connections of this node, a Room the online members of one
// conversation. What passes through:
//
//   - Room.Deliver encodes each message once, whatever the number of members,
//     and appends the same bytes to each member's queue.
//   - A connection has one bounded queue. Flushers, one per two processors, write all
//     that waits on a connection with one write(2): joining frames is worth more
//     than any other saving (a write costs about 5 µs, a joined frame 0.5 µs).
//     A write that would block is handed to a goroutine of its own with a
//     deadline, so one slow client never holds up the others, and an idle
//     connection costs no goroutine and no buffer.
//   - A member whose queue or window is full goes "behind": pushing stops, the
//     client is told to pull, and the page that reaches the head makes the
//     member live again under the room's lock. So messages of a conversation
//     reach a client in seq order whatever the path.
//   - A client may pull what waits below the head by itself (JoinOptions.Live):
//     it is live from the head on, and what lies below is neither in flight nor
//     sent again. A closed conversation is count-only: not even pushed.
//   - In a fleeting room a push is done once it is queued. Where a message is
//     stored only for who isn't reached, it goes to Ahead before it is stored.
//   - What stays unacked past a timeout is sent again, in order, from the first
//     unacked seq; the pause doubles while nothing is acked.
//
// The room may touch sockets and package wire. It must not know Redis, tokens
// or what an ack does to the store: the log is read through LogReader.
//
// Locks are taken in the order Room.mu, Conn.mu, flusher.mu; none is held over I/O.
package push
