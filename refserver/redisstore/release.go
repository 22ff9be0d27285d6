package redisstore

import (
	"context"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
)

// Ids and bodies lie in different slots, so removing an id and counting it off
// are two steps. The id goes first, and the count is brought down at most once:
// what fails in between leaves a body longer than needed, until its group is
// recovered, and never frees one early.

// RemoveRows implements delivery.RowStore: one command for each user, in one
// round trip, and one more for the bodies of all ids that went.
func (s *Store) RemoveRows(ctx context.Context, group string, epoch uint64, moves []delivery.Move) error {
	if err := checkGroup(group); err != nil {
		return err
	}
	g := s.fans.of(group)
	g.counting.RLock()
	defer g.counting.RUnlock()
	for part := range slices.Chunk(moves, chunk) {
		cmds, err := s.do(ctx, cmdRemove, bound(epoch), func(set *scriptSet) []redis.Cmder {
			cmds := make([]redis.Cmder, len(part))
			for i, m := range part {
				cmds[i] = evalSHA(ctx, set, scriptRemoveRows, []string{s.rowsKey(m.User)}, group, min(m.UpTo, maxSeq-1))
			}
			return cmds
		})
		if err != nil {
			return err
		}
		if s.cfg.Group != delivery.GroupIDs {
			continue
		}
		gone := map[uint64]int{}
		for _, c := range cmds {
			seqs, err := c.(*redis.Cmd).Int64Slice()
			if err != nil {
				return s.unexpected(c.(*redis.Cmd))
			}
			for _, seq := range seqs {
				gone[uint64(seq)]++
			}
		}
		s.release(ctx, g, group, epoch, gone)
	}
	return nil
}

// TakeIDs implements delivery.RowStore.
func (s *Store) TakeIDs(ctx context.Context, group, user string, epoch uint64, ids []uint64) (taken []uint64, err error) {
	if err := checkGroup(group); err != nil {
		return nil, err
	}
	g := s.fans.of(group)
	g.counting.RLock()
	defer g.counting.RUnlock()
	for part := range slices.Chunk(ids, chunk) {
		args := make([]any, 1, 1+len(part))
		args[0] = group
		for i := range part {
			args = append(args, &part[i])
		}
		cmds, err := s.doOnce(ctx, cmdTake, bound(epoch), func(set *scriptSet) []redis.Cmder {
			return []redis.Cmder{evalSHA(ctx, set, scriptTakeIDs, []string{s.rowsKey(user)}, args...)}
		})
		if err != nil {
			return taken, err
		}
		v, err := cmds[0].(*redis.Cmd).Int64Slice()
		if err != nil {
			return taken, s.unexpected(cmds[0].(*redis.Cmd))
		}
		gone := make(map[uint64]int, len(v))
		for _, seq := range v {
			gone[uint64(seq)]++
		}
		s.release(ctx, g, group, epoch, gone)
		taken = append(taken, uints(v)...)
	}
	return taken, nil
}

// release counts ids off that have been removed. What fails is left to a
// recovery. The caller read-holds g.counting since before the ids went.
func (s *Store) release(ctx context.Context, g *fanGroup, group string, epoch uint64, gone map[uint64]int) {
	for part := range slices.Chunk(slices.Sorted(maps.Keys(gone)), chunk) {
		args := make([]any, 1, 1+2*len(part))
		args[0] = g.generation
		for _, seq := range part {
			args = append(args, seq, gone[seq])
		}
		keys := []string{s.keys.refs(group), s.keys.storing(group), s.keys.groupLog(group)}
		cmds, err := s.doOnce(ctx, cmdRelease, bound(epoch), func(set *scriptSet) []redis.Cmder {
			return []redis.Cmder{evalSHA(ctx, set, scriptRelease, keys, args...)}
		})
		if err != nil {
			return
		}
		if _, freed, err := s.counted(cmds[0].(*redis.Cmd)); err == nil {
			s.counters.bodiesFreed.Add(freed)
		}
	}
}
