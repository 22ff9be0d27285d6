package redisstore

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Present implements delivery.RowStore; until is in Unix milliseconds.
func (s *Store) Present(ctx context.Context, users []string, until int64) error {
	for part := range slices.Chunk(users, chunk) {
		args := []any{"zadd", s.keys.presence}
		for i := range part {
			args = append(args, until, &part[i])
		}
		if err := s.presenceCommand(ctx, args); err != nil {
			return err
		}
	}
	return nil
}

// Absent implements delivery.RowStore.
func (s *Store) Absent(ctx context.Context, users []string) error {
	for part := range slices.Chunk(users, chunk) {
		if err := s.presenceCommand(ctx, append([]any{"zrem", s.keys.presence}, anys(part)...)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) presenceCommand(ctx context.Context, args []any) error {
	_, err := s.do(ctx, cmdPresence, 0, func(*scriptSet) []redis.Cmder {
		return []redis.Cmder{redis.NewIntCmd(ctx, args...)}
	})
	return err
}

// lookUpPresence asks who of some users is online, which is what a send of such
// a design costs. On one node the hub's word counts, so nothing is done with the
// answer.
func (s *Store) lookUpPresence(ctx context.Context, users []string) (outcome, error) {
	if len(users) == 0 {
		return outcomeDone, nil
	}
	s.counters.presenceLookups.Add(1)
	cmd := redis.NewFloatSliceCmd(ctx, append([]any{"zmscore", s.keys.presence}, anys(users)...)...)
	err := s.exec(ctx, cmdPresence, []redis.Cmder{cmd})
	return classify(err), err
}
