package server

import (
	"fmt"

	"ackmark/refserver/delivery"
)

// The words of the settings that choose a design.
var ( //nolint:gochecknoglobals // constant tables
	groups   = []delivery.Group{delivery.GroupCursor, delivery.GroupCopies, delivery.GroupIDs}
	cursors  = []delivery.Cursor{delivery.CursorSeq, delivery.CursorTimeAfter, delivery.CursorTimeFrom}
	storeFor = []delivery.StoreFor{delivery.StoreForAll, delivery.StoreForOffline}
	removes  = []delivery.Remove{delivery.RemoveOnAck, delivery.RemoveOnPull}
)

// designSettings are the flags that choose a design.
func (o *options) designSettings() []setting {
	const group = "Design"
	return []setting{
		{group: group, name: "group", arg: "WORD", bind: oneOf(&o.Group, groups),
			help: "what is stored of a group's message. cursor: one row, and a cursor per member; copies: a full copy per recipient; ids: the body once and an id per recipient"},
		{group: group, name: "cursor", arg: "WORD", bind: oneOf(&o.Cursor, cursors),
			help: "what a member's cursor is. seq: the message acked last; time-after: its time, where messages of the same millisecond are lost; time-from: its time, where they come again"},
		{group: group, name: "store-for", arg: "WORD", bind: oneOf(&o.StoreFor, storeFor),
			help: "for whom. all: every recipient, before the push; offline: only whom the push doesn't reach, and what it carries isn't stored"},
		{group: group, name: "remove", arg: "WORD", bind: oneOf(&o.Remove, removes),
			help: "when it goes. on-ack: when its receiver has acked it; on-pull: as it is pulled, so a crash before it arrives loses it"},
		{group: group, name: "sender-index", bind: flag(&o.SenderIndex),
			help: "keep an index (receiver, sender) of inboxes, for pulls and counts by sender"},
		{group: group, name: "dedup", arg: "on|off", bind: onUnless(&o.DedupOff),
			help: "whether a send that is repeated with the same client_msg_id is stored once"},
	}
}

// checkDesign refuses what can't work together, with the reason.
func checkDesign(c Config) error {
	for _, err := range []error{
		badWord("group", c.Group, groups), badWord("cursor", c.Cursor, cursors),
		badWord("store-for", c.StoreFor, storeFor), badWord("remove", c.Remove, removes),
	} {
		if err != nil {
			return err
		}
	}
	cursor := c.Group == delivery.GroupCursor
	switch {
	case cursor && c.Remove == delivery.RemoveOnPull:
		return fmt.Errorf("--remove on-pull with --group cursor: the log is shared, it goes when all cursors have passed; --remove on-ack is right, or --group copies or ids")
	case cursor && c.StoreFor == delivery.StoreForOffline:
		return fmt.Errorf("--store-for offline with --group cursor: one row serves all members; --store-for all is right, or --group copies or ids")
	case !cursor && c.Retention > 0:
		return fmt.Errorf("--retention with --group %s: only the shared log of --group cursor is cut; leave it away", c.Group)
	case !cursor && c.Cursor != delivery.CursorSeq:
		return fmt.Errorf("--cursor %s with --group %s: only --group cursor has one; leave --cursor away", c.Cursor, c.Group)
	}
	return nil
}

func badWord[T ~string](flag string, v T, of []T) error {
	if err := checkChoice(v, of); err != nil {
		return fmt.Errorf("--%s %q: %w", flag, v, err)
	}
	return nil
}
