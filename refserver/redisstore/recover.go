package redisstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// recovered makes sure that nothing of a group is left half-way from before an epoch.
func (s *Store) recovered(ctx context.Context, group string, epoch uint64) error {
	g := s.fans.of(group)
	g.storing.Lock()
	defer g.storing.Unlock()
	if g.epoch == epoch {
		return nil
	}
	return s.recover(ctx, g, group, epoch)
}

// unfinished is a message whose rows may not all be there.
type unfinished struct {
	seq, epoch uint64
	record     []byte
}

// recover finishes what is left half-way of a group, in the order of the seqs
// and for all members but the senders; whoever has a row, or had it, doesn't get
// it again. Then it counts the ids of every body anew, from what the members
// have: a count that a killed server never brought down is right again. The
// caller holds g.storing.
func (s *Store) recover(ctx context.Context, g *fanGroup, group string, epoch uint64) error {
	g.counting.Lock()
	defer g.counting.Unlock()
	cmd, _, err := s.run(ctx, cmdRecover, epoch, scriptUnfinished, []string{s.keys.storing(group), s.keys.refs(group)})
	if err != nil {
		return err
	}
	generation, messages, counts, err := s.readUnfinished(cmd)
	if err != nil {
		return err
	}
	g.generation = generation
	if len(messages) > 0 || len(counts) > 0 {
		members, err := s.membersOf(ctx, group)
		if err != nil {
			return err
		}
		if err := s.finishAll(ctx, group, epoch, messages, members); err != nil {
			return err
		}
		for _, m := range messages {
			counts[m.seq] = 0
		}
		if err := s.recount(ctx, g, group, epoch, counts, members); err != nil {
			return err
		}
	}
	g.epoch = epoch
	g.miscounted.Store(false)
	return nil
}

// readUnfinished reads the answer of unfinished; the messages come in the order
// of their seqs.
func (s *Store) readUnfinished(cmd *redis.Cmd) (generation uint64, messages []unfinished, counts map[uint64]int, err error) {
	top, err := cmd.Slice()
	if err != nil || len(top) != 3 {
		return 0, nil, nil, s.unexpected(cmd)
	}
	n, ok1 := top[0].(int64)
	being, ok2 := top[1].([]any)
	counted, ok3 := top[2].([]any)
	if !ok1 || !ok2 || !ok3 || len(being)%2 != 0 {
		return 0, nil, nil, s.unexpected(cmd)
	}
	for i := 0; i < len(being); i += 2 {
		seq, err1 := number(being[i])
		text, _ := being[i+1].(string)
		first, record, _ := strings.Cut(text, " ")
		epoch, err2 := strconv.ParseUint(first, 10, 64)
		if cmp.Or(err1, err2) != nil {
			return 0, nil, nil, s.unexpected(cmd)
		}
		messages = append(messages, unfinished{seq, epoch, []byte(record)})
	}
	slices.SortFunc(messages, func(a, b unfinished) int { return cmp.Compare(a.seq, b.seq) })
	counts = make(map[uint64]int, len(counted)+len(messages))
	for _, v := range counted {
		seq, err := number(v)
		if err != nil {
			return 0, nil, nil, s.unexpected(cmd)
		}
		counts[seq] = 0
	}
	return uint64(n), messages, counts, nil
}

func number(v any) (uint64, error) {
	text, _ := v.(string)
	return strconv.ParseUint(text, 10, 64)
}

// membersOf looks a group's members up.
func (s *Store) membersOf(ctx context.Context, group string) ([]string, error) {
	cmds, err := s.do(ctx, cmdMembers, 0, func(*scriptSet) []redis.Cmder {
		return []redis.Cmder{s.memberLookup(ctx, group)}
	})
	if err != nil {
		return nil, err
	}
	return cmds[0].(*redis.StringSliceCmd).Val(), nil
}

func (s *Store) memberLookup(ctx context.Context, group string) *redis.StringSliceCmd {
	s.counters.memberLookups.Add(1)
	return redis.NewStringSliceCmd(ctx, "zrange", s.keys.members(group), 0, -1)
}

// finishAll writes the rows that messages lack.
func (s *Store) finishAll(ctx context.Context, group string, epoch uint64, messages []unfinished, members []string) error {
	if s.cfg.Group == delivery.GroupIDs && len(messages) > 0 {
		if err := s.readRecords(ctx, group, epoch, messages); err != nil {
			return err
		}
	}
	for _, m := range messages {
		var v wire.DeliverView
		if err := v.Decode(m.record); err != nil {
			s.log.Error("a message that was left half-way can't be decoded; it is dropped", "conversation", group, "seq", m.seq, "err", err)
			continue
		}
		r, users := newRow(group, m.epoch, m.seq, m.record), slices.DeleteFunc(slices.Clone(members), func(u string) bool { return u == string(v.Sender) })
		for len(users) > 0 {
			n := s.rowsAtOnce(len(users), len(m.record))
			cmds, err := s.do(ctx, cmdRow, epoch, func(set *scriptSet) []redis.Cmder { return s.rowCmds(ctx, set, r, users[:n]) })
			if err != nil {
				return err
			}
			if _, err := s.countRows(cmds); err != nil {
				return err
			}
			users = users[n:]
		}
		s.counters.recovered.Add(1)
	}
	return nil
}

// readRecords fills in the records of messages whose bodies are in the log.
func (s *Store) readRecords(ctx context.Context, group string, epoch uint64, messages []unfinished) error {
	seqs := make([]uint64, len(messages))
	for i, m := range messages {
		seqs[i] = m.seq
	}
	entries, err := s.Bodies(ctx, group, epoch, seqs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		i, _ := slices.BinarySearchFunc(messages, e.Seq, func(m unfinished, seq uint64) int { return cmp.Compare(m.seq, seq) })
		messages[i].record = e.Record
	}
	return nil
}

// Parts of a recount.
const (
	membersAtOnce = 50   // whose ids are read in one round trip
	countsAtOnce  = 1000 // counts in one command
)

// recount notes how many ids the bodies named in counts have left, and ends
// what was half-way. Of copies nothing is counted. A server that has begun to
// count after us, and so sees all that we have, is left to it.
func (s *Store) recount(ctx context.Context, g *fanGroup, group string, epoch uint64, counts map[uint64]int, members []string) error {
	if s.cfg.Group == delivery.GroupIDs {
		if err := s.countIDs(ctx, group, epoch, counts, members); err != nil {
			return err
		}
	}
	first, left := true, len(counts)
	for part := range slices.Chunk(slices.Sorted(maps.Keys(counts)), countsAtOnce) {
		left -= len(part)
		args := []any{g.generation, flag(first), flag(left == 0)}
		for _, seq := range part {
			args = append(args, seq, counts[seq])
		}
		cmds, err := s.doOnce(ctx, cmdRecover, epoch, func(set *scriptSet) []redis.Cmder {
			return []redis.Cmder{evalSHA(ctx, set, scriptRecount, s.keys.countKeys(group), args...)}
		})
		if err != nil {
			return err
		}
		in, freed, err := s.counted(cmds[0].(*redis.Cmd))
		if err != nil {
			return err
		}
		want := g.generation
		if first && s.cfg.Group == delivery.GroupIDs {
			want++
		}
		g.generation, first = in, false
		if in != want {
			return nil
		}
		s.counters.bodiesFreed.Add(freed)
	}
	return nil
}

// countIDs counts, in counts, the ids that members have of each seq in it.
func (s *Store) countIDs(ctx context.Context, group string, epoch uint64, counts map[uint64]int, members []string) error {
	for part := range slices.Chunk(members, membersAtOnce) {
		cmds, err := s.do(ctx, cmdRecover, epoch, func(set *scriptSet) []redis.Cmder {
			cmds := make([]redis.Cmder, len(part))
			for i, user := range part {
				cmds[i] = evalSHA(ctx, set, scriptReadRows, []string{s.rowsKey(user)}, group, 0, uint64(maxSeq-1), 0, 0, flag(false), flag(false))
			}
			return cmds
		})
		if err != nil {
			return err
		}
		for _, c := range cmds {
			v, err := c.(*redis.Cmd).Int64Slice()
			if err != nil || len(v) == 0 {
				return s.unexpected(c.(*redis.Cmd))
			}
			for _, seq := range v[1:] {
				if n, ok := counts[uint64(seq)]; ok {
					counts[uint64(seq)] = n + 1
				}
			}
		}
	}
	return nil
}
