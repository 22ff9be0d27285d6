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

// checkNamespace notes the design in a namespace that has none yet, and refuses
// one of another design.
func (s *Store) checkNamespace(ctx context.Context, c *redis.Client) error {
	s.counters.issued(cmdEpoch, 1)
	if err := c.HSetNX(ctx, s.keys.epoch, "design", s.cfg.design()).Err(); err != nil {
		return err
	}
	s.counters.issued(cmdEpoch, 1)
	design, err := c.HGet(ctx, s.keys.epoch, "design").Result()
	if err == nil && design != s.cfg.design() {
		err = &unfitError{fmt.Sprintf("namespace %s holds groups of the design %q, not %q; want that one, or another namespace", s.cfg.Namespace, design, s.cfg.design())}
	}
	return err
}
