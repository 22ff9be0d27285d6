package redisstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
)

// keepsRows says whether each member of a group has rows of its own.
func (c *Config) keepsRows() bool {
	return c.Group == delivery.GroupCopies || c.Group == delivery.GroupIDs
}

// keepsTimes says whether the cursors of groups are times.
func (c *Config) keepsTimes() bool {
	return !c.keepsRows() && (c.Cursor == delivery.CursorTimeAfter || c.Cursor == delivery.CursorTimeFrom)
}

// checkDesign fills in the defaults of the design, and refuses words that are none.
func (c *Config) checkDesign() error {
	if c.Group == "" {
		c.Group = delivery.GroupCursor
	}
	if c.Cursor == "" {
		c.Cursor = delivery.CursorSeq
	}
	if c.StoreFor == "" {
		c.StoreFor = delivery.StoreForAll
	}
	switch {
	case !slices.Contains([]delivery.Group{delivery.GroupCursor, delivery.GroupCopies, delivery.GroupIDs}, c.Group):
		return fmt.Errorf("group design %q: want cursor, copies or ids", c.Group)
	case !slices.Contains([]delivery.Cursor{delivery.CursorSeq, delivery.CursorTimeAfter, delivery.CursorTimeFrom}, c.Cursor):
		return fmt.Errorf("cursor %q: want seq, time-after or time-from", c.Cursor)
	case c.StoreFor != delivery.StoreForAll && c.StoreFor != delivery.StoreForOffline:
		return fmt.Errorf("rows for %q: want all or offline", c.StoreFor)
	}
	return nil
}

// design names what a namespace keeps: servers of another design would
// misread it.
func (c *Config) design() string {
	if c.keepsTimes() {
		return string(c.Group) + " time"
	}
	return string(c.Group)
}

// note is what a namespace says of itself in its epoch key.
type note struct{ field, value string }

// notes are the settings that what is stored depends on. Without idempotent
// sends no bucket is looked up or written, so the dedup time says nothing.
//
// Not noted, since servers may differ in them and change them: what rows are
// stored for and when they go (a row means the same whoever wrote it), the kind
// of time cursor, whether only friends may send, and DedupOff: what was sent
// while it was on is just not known to later resends.
func (c *Config) notes() []note {
	n := []note{{"design", c.design()}, {"senders", onOff(c.SenderIndex)}}
	if !c.DedupOff {
		n = append(n, note{"dedup", c.DedupFor.String()})
	}
	return n
}

// checkNamespace notes the settings in a namespace that has none yet, or none of
// that kind (one from before it was noted takes the first that comes), and
// refuses one that was stored with others.
func (s *Store) checkNamespace(ctx context.Context, c *redis.Client) error {
	notes := s.cfg.notes()
	fields := make([]string, len(notes))
	for i, n := range notes {
		fields[i] = n.field
	}
	for { // twice at most, since no note ever goes: another server may note at the same moment
		s.counters.issued(cmdEpoch, 1)
		noted, err := c.HMGet(ctx, s.keys.epoch, fields...).Result()
		if err != nil {
			return err
		}
		var missing []note
		for i, n := range notes {
			switch was, ok := noted[i].(string); {
			case !ok:
				missing = append(missing, n)
			case was != n.value:
				return &unfitError{s.cfg.misfit(n, was)}
			}
		}
		if len(missing) == 0 {
			return nil
		}
		for _, n := range missing {
			s.counters.issued(cmdEpoch, 1)
			if err := c.HSetNX(ctx, s.keys.epoch, n.field, n.value).Err(); err != nil {
				return err
			}
		}
	}
}

// misfit says why a namespace is refused, and what would be right.
func (c *Config) misfit(n note, was string) string {
	switch n.field {
	case "senders":
		return fmt.Sprintf("namespace %s was begun with the sender index %s, so with it %s its index and its inboxes would differ; want it %s, or another namespace", c.Namespace, was, n.value, was)
	case "dedup":
		return fmt.Sprintf("namespace %s remembers sends by the dedup time %s, with %s their resends would be stored again; want %s, or another namespace", c.Namespace, was, n.value, was)
	}
	return fmt.Sprintf("namespace %s holds groups of the design %q, not %q; want that one, or another namespace", c.Namespace, was, n.value)
}
