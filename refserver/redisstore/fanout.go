package redisstore

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
)

// A send to a group whose members have rows of their own takes these steps, each
// a round trip:
//
//  1. append_rows gives it its seq and notes that it is being stored; in the
//     same pipeline the members are looked up.
//  2. Where rows are kept for who is offline: presence is looked up, and the
//     sink reaches who is online.
//  3. add_row, one for each recipient that is left, all in one pipeline. Then
//     the sink has it, and its sender is answered.
//  4. finish notes that it is stored.
//
// The fan-outs of one group run one after the other, in the order of its seqs.
// What stops between 1 and 4 is found by the next send to the group, or when it
// is opened, and finished by recover: each row is written once whoever writes it.

// fan is what the first step of a send has found.
type fan struct {
	members *redis.StringSliceCmd
	waiting int64 // messages of the group that were being stored then, this one included
	being   bool  // this one is being stored
}

// fanGroup is what this process knows of a group's rows.
type fanGroup struct {
	storing sync.Mutex // held while rows are written: one fan-out at a time
	epoch   uint64     // guarded by storing: recovered in this one

	counting   sync.RWMutex // read-held while ids are removed and counted off, held while they are counted anew
	generation uint64       // guarded by counting: of the counts of ids
	miscounted atomic.Bool  // ids went that may not be counted off: count anew
}

// fans finds groups by name.
type fans struct {
	mu     sync.Mutex
	groups map[string]*fanGroup // guarded by mu
}

func (f *fans) of(group string) *fanGroup {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[group]
	if g == nil {
		if f.groups == nil {
			f.groups = make(map[string]*fanGroup)
		}
		g = &fanGroup{}
		f.groups[group] = g
	}
	return g
}

// fanOutAll takes the sends of a batch whose first step is done further, one
// after the other, and hands every one that ends to the sink. It returns those
// that have to be tried again from the first step, and what they need.
func (s *Store) fanOutAll(done []*delivery.Append, found map[*delivery.Append]*fan, set *scriptSet) (rest []*delivery.Append, need outcome, err error) {
	var others []*delivery.Append
	mine, waiting := map[string]int64{}, map[string]int64{} // messages of each group being stored: of this batch; in all
	for _, a := range done {
		switch f := found[a]; {
		case f == nil:
			others = append(others, a)
		case !a.Duplicate:
			mine[a.Conversation]++
			waiting[a.Conversation] = max(waiting[a.Conversation], f.waiting)
		}
	}
	if len(others) > 0 {
		s.sink.Appended(others)
	}
	stopped := map[string]bool{} // groups where one failed: those behind it wait
	for _, a := range done {
		f := found[a]
		switch {
		case f == nil:
			continue
		case stopped[a.Conversation]:
			rest = append(rest, a)
			continue
		case a.Duplicate && !f.being:
			s.sink.Appended([]*delivery.Append{a})
			continue
		}
		left := a.Duplicate || waiting[a.Conversation] > mine[a.Conversation]
		if o, fanErr := s.fanOut(a, f, set, left); o != outcomeDone {
			stopped[a.Conversation] = true
			rest, need, err = append(rest, a), max(need, o), fanErr
		}
	}
	return rest, need, err
}

// fanOut stores the rows of one send and hands it to the sink. left says that
// messages before it were left half-way.
func (s *Store) fanOut(a *delivery.Append, f *fan, set *scriptSet, left bool) (outcome, error) {
	ctx, cancel := s.batchContext([]*delivery.Append{a})
	defer cancel()
	g := s.fans.of(a.Conversation)
	g.storing.Lock()
	defer g.storing.Unlock()
	if left || g.epoch != set.epoch {
		if err := s.recover(ctx, g, a.Conversation, set.epoch); err != nil {
			if s.scripts.Load() != set {
				return outcomeNoScript, err
			}
			return outcomeAgain, err
		}
		s.sink.Appended([]*delivery.Append{a})
		return outcomeDone, nil
	}
	members, err := f.members.Result()
	if o := classify(err); o != outcomeDone {
		return o, err
	}
	var reached map[string]struct{}
	if s.cfg.StoreFor == delivery.StoreForOffline {
		if o, err := s.lookUpPresence(ctx, members); o != outcomeDone {
			return o, err
		}
		reached = s.sink.Ahead(a)
	}
	recipients := make([]string, 0, len(members))
	for _, user := range members {
		if _, ok := reached[user]; !ok && user != a.Sender {
			recipients = append(recipients, user)
		}
	}
	if o, err := s.addRows(ctx, set, a, recipients); o != outcomeDone {
		return o, err
	}
	s.sink.Appended([]*delivery.Append{a})
	s.finish(g, a, len(recipients))
	return outcomeDone, nil
}

// Limits of one round trip of a fan-out.
const (
	maxRows     = 1000
	maxRowBytes = 1 << 20
)

// addRows writes a message's rows for some users.
func (s *Store) addRows(ctx context.Context, set *scriptSet, a *delivery.Append, users []string) (outcome, error) {
	row := newRow(a.Conversation, a.Epoch, a.Seq, a.Record)
	for len(users) > 0 {
		n := s.rowsAtOnce(len(users), len(a.Record))
		cmds := s.rowCmds(ctx, set, row, users[:n])
		err := s.exec(ctx, cmdRow, cmds)
		if o := worst(cmds); o != outcomeDone {
			return o, err
		}
		if _, err := s.countRows(cmds); err != nil {
			return outcomeDefect, err
		}
		users = users[n:]
	}
	return outcomeDone, nil
}

// rowsAtOnce is how many of n rows one round trip carries.
func (s *Store) rowsAtOnce(n, record int) int {
	most := maxRows
	if s.cfg.Group == delivery.GroupCopies {
		most = min(most, max(1, maxRowBytes/max(1, record)))
	}
	return min(n, most)
}

// row is what is the same in all rows of a message.
type row struct {
	group  string
	epoch  uint64
	seq    string
	record []byte
}

// seqDigits is the width of a seq in a row: bytes then sort as numbers do.
const seqDigits = 16

func newRow(group string, epoch, seq uint64, record []byte) *row {
	digits := strconv.FormatUint(seq, 10)
	padded := "0000000000000000"[:max(0, seqDigits-len(digits))] + digits
	return &row{group: group, epoch: epoch, seq: padded, record: record}
}

func (s *Store) rowCmds(ctx context.Context, set *scriptSet, r *row, users []string) []redis.Cmder {
	cmds := make([]redis.Cmder, len(users))
	for i, user := range users {
		args := []any{&r.group, &r.epoch, &r.seq}
		if s.cfg.Group == delivery.GroupCopies {
			args = append(args, r.record)
		}
		cmds[i] = evalSHA(ctx, set, scriptAddRow, []string{s.rowsKey(user), s.keys.fanned(user)}, args...)
	}
	return cmds
}

// countRows counts the rows that were written now.
func (s *Store) countRows(cmds []redis.Cmder) (written int, err error) {
	for _, c := range cmds {
		n, err := c.(*redis.Cmd).Int()
		if err != nil {
			return written, s.unexpected(c.(*redis.Cmd))
		}
		written += n
	}
	s.counters.rowsWritten.Add(uint64(written))
	return written, nil
}

// rowsKey is where a user's rows are.
func (s *Store) rowsKey(user string) string {
	if s.cfg.Group == delivery.GroupIDs {
		return s.keys.pending(user)
	}
	return s.keys.copies(user)
}

// finish notes that a message is stored. It is answered already: what fails
// here is found as unfinished later.
func (s *Store) finish(g *fanGroup, a *delivery.Append, rows int) {
	ctx, cancel := context.WithTimeout(s.stop, s.cfg.CallTimeout)
	defer cancel()
	for range 2 { // the second time with the generation that another server has begun
		g.counting.RLock()
		generation := g.generation
		g.counting.RUnlock()
		cmd, _, err := s.run(ctx, cmdFinish, bound(a.Epoch), scriptFinish, s.keys.countKeys(a.Conversation), generation, a.Seq, rows)
		if err != nil {
			return
		}
		in, freed, err := s.counted(cmd)
		if err != nil {
			return
		}
		s.counters.bodiesFreed.Add(freed)
		if in == generation {
			return
		}
		g.counting.Lock()
		g.generation = in
		g.counting.Unlock()
	}
}

// counted reads {generation, bodies freed}.
func (s *Store) counted(cmd *redis.Cmd) (generation, freed uint64, err error) {
	v, err := cmd.Int64Slice()
	if err != nil || len(v) != 2 {
		return 0, 0, s.unexpected(cmd)
	}
	return uint64(v[0]), uint64(v[1]), nil
}

// found returns what the first step of a batch's sends to groups has found; nil
// where the members of groups have no rows.
func (s *Store) found(batch []*delivery.Append, cmds []*redis.Cmd, members []*redis.StringSliceCmd) map[*delivery.Append]*fan {
	if members == nil {
		return nil
	}
	found := make(map[*delivery.Append]*fan, len(batch))
	for i, a := range batch {
		if v, ok := cmds[i].Val().([]any); ok && cmds[i].Err() == nil {
			if _, waiting, being, ok := readFan(v); ok {
				found[a] = &fan{members: members[i], waiting: waiting, being: being}
			}
		}
	}
	return found
}

// readFan reads the answer of append_rows.
func readFan(v []any) (seq, waiting int64, being, ok bool) {
	if len(v) != 3 {
		return 0, 0, false, false
	}
	seq, ok1 := v[0].(int64)
	waiting, ok2 := v[1].(int64)
	state, ok3 := v[2].(int64)
	return seq, waiting, state == 1, ok1 && ok2 && ok3
}
