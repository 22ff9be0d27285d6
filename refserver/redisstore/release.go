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
// recovered, and never frees one early. The generation of the counts is read
// right before the ids go, in the same round trip: when it is another one as they
// are counted off, or counting is under way, another server may have counted
// them, so the group is counted anew by the one who sees it (mend).

// RemoveRows implements delivery.RowStore: one command for each user, in one
// round trip, and one more for the bodies of all ids that went.
func (s *Store) RemoveRows(ctx context.Context, group string, epoch uint64, moves []delivery.Move) error {
	if err := checkGroup(group); err != nil {
		return err
	}
	g := s.fans.of(group)
	defer s.mend(ctx, g, group)
	g.counting.RLock()
	defer g.counting.RUnlock()
	for part := range slices.Chunk(moves, chunk) {
		cmds, err := s.do(ctx, cmdRemove, bound(epoch), func(set *scriptSet) []redis.Cmder {
			cmds := s.generationOf(ctx, group, make([]redis.Cmder, 0, 1+len(part)))
			for _, m := range part {
				cmds = append(cmds, evalSHA(ctx, set, scriptRemoveRows, []string{s.rowsKey(m.User)}, group, min(m.UpTo, maxSeq-1)))
			}
			return cmds
		})
		if err != nil {
			return err
		}
		if s.cfg.Group != delivery.GroupIDs {
			continue // cmds[0] is a removal then
		}
		generation, err := s.generation(cmds[0])
		if err != nil {
			return err
		}
		gone := map[uint64]int{}
		for _, c := range cmds[1:] {
			seqs, err := c.(*redis.Cmd).Int64Slice()
			if err != nil {
				return s.unexpected(c.(*redis.Cmd))
			}
			for _, seq := range seqs {
				gone[uint64(seq)]++
			}
		}
		s.release(ctx, g, group, epoch, generation, gone)
	}
	return nil
}

// TakeIDs implements delivery.RowStore.
func (s *Store) TakeIDs(ctx context.Context, group, user string, epoch uint64, ids []uint64) (taken []uint64, err error) {
	if err := checkGroup(group); err != nil {
		return nil, err
	}
	g := s.fans.of(group)
	defer s.mend(ctx, g, group)
	g.counting.RLock()
	defer g.counting.RUnlock()
	for part := range slices.Chunk(ids, chunk) {
		args := make([]any, 1, 1+len(part))
		args[0] = group
		for i := range part {
			args = append(args, &part[i])
		}
		cmds, err := s.doOnce(ctx, cmdTake, bound(epoch), func(set *scriptSet) []redis.Cmder {
			take := evalSHA(ctx, set, scriptTakeIDs, []string{s.rowsKey(user)}, args...)
			return append(s.generationOf(ctx, group, make([]redis.Cmder, 0, 2)), take)
		})
		if err != nil {
			return taken, err
		}
		take := cmds[len(cmds)-1].(*redis.Cmd)
		v, err := take.Int64Slice()
		if err != nil {
			return taken, s.unexpected(take)
		}
		generation, err := s.generation(cmds[0])
		if err != nil {
			return taken, err
		}
		gone := make(map[uint64]int, len(v))
		for _, seq := range v {
			gone[uint64(seq)]++
		}
		s.release(ctx, g, group, epoch, generation, gone)
		taken = append(taken, uints(v)...)
	}
	return taken, nil
}

// generationOf appends the command that reads the generation of a group's
// counts, where ids are counted.
func (s *Store) generationOf(ctx context.Context, group string, cmds []redis.Cmder) []redis.Cmder {
	if s.cfg.Group != delivery.GroupIDs {
		return cmds
	}
	return append(cmds, redis.NewCmd(ctx, "hget", s.keys.refs(group), "@"))
}

func (s *Store) generation(c redis.Cmder) (uint64, error) {
	cmd := c.(*redis.Cmd)
	if cmd.Val() == nil {
		return 0, nil
	}
	n, err := number(cmd.Val())
	if err != nil {
		return 0, s.unexpected(cmd)
	}
	return n, nil
}

// mend counts a group's ids anew where some went that may not be counted off.
// What fails is left to the next removal, or to a recovery.
func (s *Store) mend(ctx context.Context, g *fanGroup, group string) {
	if !g.miscounted.Load() {
		return
	}
	g.storing.Lock()
	defer g.storing.Unlock()
	if g.miscounted.Load() {
		if err := s.recover(ctx, g, group, s.Epoch()); err != nil {
			s.log.Warn("ids can't be counted anew; bodies stay until the next try", "conversation", group, "err", err)
		}
	}
}

// release counts ids off that have been removed, and notes it where that may
// not have happened. The caller read-holds g.counting since before the ids went,
// and has read the generation before, too.
func (s *Store) release(ctx context.Context, g *fanGroup, group string, epoch, generation uint64, gone map[uint64]int) {
	for part := range slices.Chunk(slices.Sorted(maps.Keys(gone)), chunk) {
		args := make([]any, 1, 1+2*len(part))
		args[0] = generation
		for _, seq := range part {
			args = append(args, seq, gone[seq])
		}
		keys := []string{s.keys.refs(group), s.keys.storing(group), s.keys.groupLog(group)}
		cmds, err := s.doOnce(ctx, cmdRelease, bound(epoch), func(set *scriptSet) []redis.Cmder {
			return []redis.Cmder{evalSHA(ctx, set, scriptRelease, keys, args...)}
		})
		if err != nil {
			g.miscounted.Store(true)
			return
		}
		v, err := cmds[0].(*redis.Cmd).Int64Slice()
		if err != nil || len(v) != 2 || v[0] < 0 {
			g.miscounted.Store(true)
			return
		}
		s.counters.bodiesFreed.Add(uint64(v[1]))
	}
}
