package delivery

import (
	"context"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// groupDesign is what differs between the ways to keep a group's messages. A
// Service has one of them for all its groups; cursor, copies and ids are a file
// each.
type groupDesign interface {
	// partial says whether a member may have less stored than the group has
	// messages: then its cursor is only known once its rows are read, and they
	// are read after it has joined.
	partial() bool

	// standings returns where a user stands in its groups. groups are what the
	// login has read, convs the same ones opened.
	standings(ctx context.Context, user string, groups []Membership, convs []*conversation) ([]standing, error)

	// cursor is a user's cursor in one group; not_member for who is none.
	cursor(ctx context.Context, c *conversation, user string) (uint64, error)

	// stored takes note of new messages of a group, before they are dispatched;
	// dispatched does after.
	stored(c *conversation, batch []*Append)
	dispatched(c *conversation, batch []*Append)

	// page reads what a request asks for. A user's own messages are left out;
	// the page's range covers them.
	page(ctx context.Context, c *conversation, user string, cursor uint64, r *wire.PageRequest) (*page, error)

	// read returns what is stored for a user after a seq, oldest first, to be
	// sent again.
	read(ctx context.Context, c *conversation, user string, after uint64, limit int) ([]push.Message, error)

	// acked writes acks of a group.
	acked(ctx context.Context, c *conversation, moves []Move) error

	// tidy removes what nobody needs any more, where acks don't do that by themselves.
	tidy(ctx context.Context, c *conversation) error
}

// standing is where a user stands in one group.
type standing struct {
	cursor uint64 // nothing that is stored for the user lies up to here
	unread uint64 // messages that wait behind it
}

func newGroupDesign(s *Service) groupDesign {
	switch s.cfg.Group {
	case GroupCopies:
		return newCopies(s)
	case GroupIDs:
		return newIDs(s)
	default:
		return &cursorDesign{s: s}
	}
}

// fleeting says whether a push is done once it is queued: it isn't stored, or
// nothing is left to ack.
func (c Config) fleeting() bool { return c.StoreFor == StoreForOffline || c.Remove == RemoveOnPull }
