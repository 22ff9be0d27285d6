package redisstore

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// PurgeNamespace removes every key of the namespace, a batch at a time, so that
// a shared Redis is left clean and stays responsive. It returns how many keys
// went. The store must not be used afterwards: its epoch is gone too.
func (s *Store) PurgeNamespace(ctx context.Context) (removed int, err error) {
	if s.client == nil {
		return 0, fmt.Errorf("redisstore: purge %s: the store isn't started", s.cfg.Namespace)
	}
	// Namespaces that begin like this one aren't meant: a conversation's key
	// goes on with its tag.
	pattern := s.keys.prefix + "*"
	var cursor uint64
	for {
		s.counters.issued(cmdPurge, 1)
		keys, next, err := s.client.Scan(ctx, cursor, pattern, chunk).Result()
		if err != nil {
			return removed, fmt.Errorf("redisstore: purge %s: %w", s.cfg.Namespace, err)
		}
		n, err := s.unlink(ctx, keys)
		removed += n
		if err != nil {
			return removed, err
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	n, err := s.unlink(ctx, []string{s.keys.epoch, s.keys.presence})
	return removed + n, err
}

// unlink removes keys, one command each in one round trip: they lie in many slots.
func (s *Store) unlink(ctx context.Context, keys []string) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	cmds := make([]redis.Cmder, len(keys))
	for i, key := range keys {
		cmds[i] = redis.NewIntCmd(ctx, "unlink", key)
	}
	if err := s.exec(ctx, cmdPurge, cmds); err != nil {
		return 0, fmt.Errorf("redisstore: purge %s: %w", s.cfg.Namespace, err)
	}
	removed := 0
	for _, c := range cmds {
		removed += int(c.(*redis.IntCmd).Val())
	}
	return removed, nil
}
