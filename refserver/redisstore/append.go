package redisstore

import (
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// Append implements delivery.Store. The error is a *wire.Fault: bad_request for
// a conversation that can't be, overloaded when the queue is full,
// shutting_down after Close.
func (s *Store) Append(a *delivery.Append) error {
	if _, _, err := wire.ParseConversation(a.Conversation); err != nil {
		return err
	}
	if s.scripts.Load() == nil {
		return wire.Faultf(wire.CodeUnavailable, "the store isn't started")
	}
	sh := s.shards[maphash.String(s.seed, a.Conversation)%uint64(len(s.shards))]
	if f := sh.put(a); f != nil {
		f.Conversation = a.Conversation
		return f
	}
	return nil
}

// gather stores what waits, one round trip at a time, until the shard is closed
// and empty.
func (s *Store) gather(sh *shard) {
	for {
		batch := sh.take(s.cfg.MaxBatch)
		if batch == nil {
			return
		}
		s.store(sh, batch)
	}
}

// store brings every send of a batch to an answer and hands it to the sink,
// trying again until the sends' deadlines. A send whose attempt got no answer
// may have run; the script finds that out.
func (s *Store) store(sh *shard, batch []*delivery.Append) {
	var pause backoff
	retried := false
	for {
		batch = s.expire(batch, retried)
		if len(batch) == 0 {
			return
		}
		set := s.scripts.Load()
		cmds, members, err := s.appendAll(batch, set, retried)
		done, rest, need := s.settle(batch, cmds, set.epoch)
		if found := s.found(batch, cmds, members); found != nil {
			again, fanNeed, fanErr := s.fanOutAll(done, found, set)
			if rest = append(rest, again...); fanNeed > need {
				need, err = fanNeed, fanErr
			}
		} else if len(done) > 0 {
			s.sink.Appended(done)
		}
		if len(rest) == 0 {
			return
		}
		batch, retried = rest, true
		s.counters.retries.Add(uint64(len(rest)))
		if need == outcomeNoScript {
			ctx, cancel := s.batchContext(batch)
			err = s.establish(ctx, set)
			cancel()
			if err == nil {
				continue
			}
		}
		s.trouble.log(s.log, s.cfg.Now(), err)
		pause.wait(s.stop, s.stop)
		if over := sh.takeLate(s.late()); len(over) > 0 {
			s.fail(over, false)
		}
	}
}

// late says whether it is too late to store a send.
func (s *Store) late() func(*delivery.Append) bool {
	now, stopped := s.cfg.Now(), s.stop.Err() != nil
	return func(a *delivery.Append) bool { return stopped || !a.Deadline.IsZero() && now.After(a.Deadline) }
}

// fail answers sends that it is too late for.
func (s *Store) fail(over []*delivery.Append, retried bool) {
	for _, a := range over {
		f := wire.Faultf(wire.CodeUnavailable, "not stored in time; send again with the same client_msg_id")
		if retried {
			f = wire.Faultf(wire.CodeUnavailable, "the store didn't answer in time and may have stored it; send again with the same client_msg_id")
		}
		f.Conversation = a.Conversation
		a.Err = f
	}
	s.sink.Appended(over)
}

// expire answers the sends whose time is over and returns the others.
func (s *Store) expire(batch []*delivery.Append, retried bool) []*delivery.Append {
	late := s.late()
	if !slices.ContainsFunc(batch, late) {
		return batch
	}
	var rest, over []*delivery.Append
	for _, a := range batch {
		if late(a) {
			over = append(over, a)
		} else {
			rest = append(rest, a)
		}
	}
	s.fail(over, retried)
	return rest
}

// appendArgs is how many arguments a call of an append script has at most:
// evalsha, SHA, number of keys, 7 keys, 7 arguments.
const appendArgs = 3 + maxAppendKeys + 7

// What a call of append_inbox is to leave; else the seq that it replaces.
const (
	leaveRow  = ""
	leaveNone = "live"
)

// appendAll makes one round trip with one command for each send. The arguments
// of a batch lie in three arrays, so that a send costs few allocations.
func (s *Store) appendAll(batch []*delivery.Append, set *scriptSet, retried bool) (cmds []*redis.Cmd, members []*redis.StringSliceCmd, err error) {
	var (
		args    = make([]any, 0, len(batch)*appendArgs)
		keys    = make([]string, 0, len(batch)*maxAppendKeys)
		limited = s.cfg.DedupFor > 0
		now     = bucket(s.cfg.Now(), s.cfg.DedupFor)
		lives   = (2*s.cfg.DedupFor + s.cfg.DedupFor/2).Milliseconds() // half a bucket for clocks that differ
		again   = flag(retried)
		friends = flag(s.cfg.FriendsOnly)
	)
	cmds = make([]*redis.Cmd, len(batch))
	lookups := 0
	if s.cfg.keepsRows() {
		members = make([]*redis.StringSliceCmd, len(batch))
	}
	pipe := s.client.Pipeline()
	for i, a := range batch {
		kind, _, err := wire.ParseConversation(a.Conversation)
		if err != nil { // Append has checked it
			continue
		}
		which := scriptAppendGroup
		if kind == wire.KindInbox {
			which = scriptAppendInbox
		}
		k := len(keys)
		keys = s.keys.appendKeys(keys, kind, a.Conversation, now, limited, &s.cfg)
		from := len(args)
		args = append(args, "evalsha", &set.sha[which], len(keys)-k)
		for ; k < len(keys); k++ {
			args = append(args, &keys[k])
		}
		args = append(args, &a.Sender, &a.ClientMsgID, a.Record, &lives, &again)
		if kind == wire.KindInbox {
			leave := leaveRow
			switch {
			case a.Instead > 0:
				leave = strconv.FormatUint(a.Instead, 10)
			case a.Fleeting:
				leave = leaveNone
			}
			args = append(args, &friends, leave)
		}
		cmds[i] = redis.NewCmd(s.stop, args[from:len(args):len(args)]...)
		cmds[i].SetFirstKeyPos(3)
		_ = pipe.Process(s.stop, cmds[i]) // queues; the error is the command's
		if kind == wire.KindGroup && members != nil {
			members[i] = s.memberLookup(s.stop, a.Conversation)
			_ = pipe.Process(s.stop, members[i])
			lookups++
		}
	}
	ctx, cancel := s.batchContext(batch)
	defer cancel()
	s.counters.issued(cmdAppend, len(batch))
	s.counters.commands[cmdMembers].Add(uint64(lookups))
	s.counters.batches.Add(1)
	_, err = pipe.Exec(ctx)
	return cmds, members, err
}

// batchContext bounds one attempt by the latest deadline of its sends.
func (s *Store) batchContext(batch []*delivery.Append) (context.Context, context.CancelFunc) {
	timeout, now, left := s.cfg.CallTimeout, s.cfg.Now(), time.Duration(0)
	for _, a := range batch {
		if a.Deadline.IsZero() {
			left = timeout
			break
		}
		left = max(left, a.Deadline.Sub(now))
	}
	return context.WithTimeout(s.stop, min(timeout, left))
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}
