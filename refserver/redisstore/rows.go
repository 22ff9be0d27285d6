package redisstore

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// openRows reads the state of a group whose members have rows of their own. Up
// to the head that it returns every row is there: what has its seq and not yet
// its rows, left half-way by whomever or on its way in this process, is finished
// first. Else a page up to the head would cover rows that are about to be
// written, and its ack would remove them unseen.
func (s *Store) openRows(ctx context.Context, group string) (delivery.Log, error) {
	g := s.fans.of(group)
	g.storing.Lock()
	defer g.storing.Unlock()
	cmd, epoch, err := s.run(ctx, cmdOpen, 0, scriptOpenRows, []string{s.keys.meta(group), s.keys.members(group), s.keys.storing(group)})
	if err != nil {
		return delivery.Log{}, err
	}
	v, err := cmd.Int64Slice()
	switch {
	case err != nil || len(v) != 0 && len(v) != 4:
		return delivery.Log{}, s.unexpected(cmd)
	case len(v) == 0:
		return delivery.Log{}, noSuchGroup(group)
	}
	if g.epoch != epoch || v[3] > 0 || g.miscounted.Load() {
		if err := s.recover(ctx, g, group, epoch); err != nil {
			return delivery.Log{}, err
		}
	}
	return delivery.Log{Epoch: epoch, Base: uint64(v[0]), Former: uint64(v[1]), Head: uint64(v[2])}, nil
}

// Rows implements delivery.RowStore.
func (s *Store) Rows(ctx context.Context, user string, epoch uint64, groups []string) ([]delivery.Rows, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	cmd, _, err := s.run(ctx, cmdCounts, bound(epoch), scriptRows, []string{s.rowsKey(user)}, anys(groups)...)
	if err != nil {
		return nil, err
	}
	return s.rowsOf(cmd, len(groups))
}

func (s *Store) rowsOf(cmd *redis.Cmd, groups int) ([]delivery.Rows, error) {
	v, err := cmd.Int64Slice()
	if err != nil || len(v) != 2*groups {
		return nil, s.unexpected(cmd)
	}
	rows := make([]delivery.Rows, groups)
	for i := range rows {
		rows[i] = delivery.Rows{First: uint64(v[2*i]), Count: uint64(v[2*i+1])}
	}
	return rows, nil
}

// RowsOf implements delivery.RowStore: one round trip.
func (s *Store) RowsOf(ctx context.Context, group, user string) (delivery.Rows, error) {
	if err := checkGroup(group); err != nil {
		return delivery.Rows{}, err
	}
	cmds, err := s.do(ctx, cmdCursor, 0, func(set *scriptSet) []redis.Cmder {
		return []redis.Cmder{
			evalSHA(ctx, set, scriptCursor, s.cursorKeys(group), user),
			evalSHA(ctx, set, scriptRows, []string{s.rowsKey(user)}, group),
		}
	})
	if err != nil {
		return delivery.Rows{}, err
	}
	if _, err := s.cursorOf(cmds[0].(*redis.Cmd), group, user); err != nil {
		return delivery.Rows{}, err
	}
	rows, err := s.rowsOf(cmds[1].(*redis.Cmd), 1)
	if err != nil {
		return delivery.Rows{}, err
	}
	return rows[0], nil
}

// readRows calls read_rows.
func (s *Store) readRows(ctx context.Context, group, user string, r delivery.RowRead) (*redis.Cmd, error) {
	if err := checkGroup(group); err != nil {
		return nil, err
	}
	if !r.All && r.Limit <= 0 {
		return nil, wire.Faultf(wire.CodeBadRequest, "limit %d: want at least 1", r.Limit)
	}
	limit := r.Limit
	if r.All {
		limit = 0
	}
	cmd, do := cmdRead, s.do
	if r.Remove {
		cmd, do = cmdTake, s.doOnce
	}
	s.counters.logReads.Add(1)
	cmds, err := do(ctx, cmd, bound(r.Epoch), func(set *scriptSet) []redis.Cmder {
		return []redis.Cmder{evalSHA(ctx, set, scriptReadRows, []string{s.rowsKey(user)},
			group, r.After, min(r.UpTo, maxSeq-1), limit, r.Bytes, flag(r.Newest), flag(r.Remove))}
	})
	if err != nil {
		return nil, err
	}
	return cmds[0].(*redis.Cmd), nil
}

// ReadCopies implements delivery.RowStore.
func (s *Store) ReadCopies(ctx context.Context, group, user string, r delivery.RowRead) (copies []delivery.Entry, more bool, err error) {
	cmd, err := s.readRows(ctx, group, user, r)
	if err != nil {
		return nil, false, err
	}
	if word, ok := cmd.Val().(string); ok && word == tooLarge {
		return nil, false, delivery.TooLargeForOne(group, r.Bytes)
	}
	flat, err := cmd.Slice()
	if err != nil || len(flat) == 0 {
		return nil, false, s.unexpected(cmd)
	}
	flag, ok1 := flat[0].(int64)
	copies, ok2 := entriesOf(flat[1:])
	if !ok1 || !ok2 {
		return nil, false, s.unexpected(cmd)
	}
	if r.Newest {
		slices.Reverse(copies)
	}
	return copies, flag == 1, nil
}

// ReadIDs implements delivery.RowStore.
func (s *Store) ReadIDs(ctx context.Context, group, user string, r delivery.RowRead) (ids []uint64, more bool, err error) {
	r.Remove = false // the bodies are read first
	cmd, err := s.readRows(ctx, group, user, r)
	if err != nil {
		return nil, false, err
	}
	v, err := cmd.Int64Slice()
	if err != nil || len(v) == 0 {
		return nil, false, s.unexpected(cmd)
	}
	ids = uints(v[1:])
	if r.Newest {
		slices.Reverse(ids)
	}
	return ids, v[0] == 1, nil
}

func uints(v []int64) []uint64 {
	seqs := make([]uint64, len(v))
	for i := range v {
		seqs[i] = uint64(v[i])
	}
	return seqs
}

// Bodies implements delivery.RowStore.
func (s *Store) Bodies(ctx context.Context, group string, epoch uint64, ids []uint64) ([]delivery.Entry, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for i := range ids {
		args[i] = &ids[i]
	}
	s.counters.logReads.Add(1)
	cmd, _, err := s.run(ctx, cmdRead, bound(epoch), scriptBodies, []string{s.keys.log(wire.KindGroup, group)}, args...)
	if err != nil {
		return nil, err
	}
	flat, err := cmd.Slice()
	if err != nil {
		return nil, s.unexpected(cmd)
	}
	entries, ok := entriesOf(flat)
	if !ok {
		return nil, s.unexpected(cmd)
	}
	return entries, nil
}
