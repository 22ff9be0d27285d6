package redisstore

import (
	"context"
	"hash/maphash"
	"slices"
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
		cmds, err := s.appendAll(batch, set, retried)
		done, rest, need := s.settle(batch, cmds, set.epoch)
		if len(done) > 0 {
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
// evalsha, SHA, number of keys, 6 keys, 6 arguments.
const appendArgs = 3 + maxAppendKeys + 6

// appendAll makes one round trip with one command for each send. The arguments
// of a batch lie in three arrays, so that a send costs few allocations.
func (s *Store) appendAll(batch []*delivery.Append, set *scriptSet, retried bool) ([]*redis.Cmd, error) {
	var (
		args    = make([]any, 0, len(batch)*appendArgs)
		keys    = make([]string, 0, len(batch)*maxAppendKeys)
		cmds    = make([]*redis.Cmd, len(batch))
		limited = s.cfg.DedupFor > 0
		now     = bucket(s.cfg.Now(), s.cfg.DedupFor)
		lives   = (2*s.cfg.DedupFor + s.cfg.DedupFor/2).Milliseconds() // half a bucket for clocks that differ
		again   = flag(retried)
		friends = flag(s.cfg.FriendsOnly)
	)
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
		keys = s.keys.appendKeys(keys, kind, a.Conversation, now, limited)
		from := len(args)
		args = append(args, "evalsha", &set.sha[which], len(keys)-k)
		for ; k < len(keys); k++ {
			args = append(args, &keys[k])
		}
		args = append(args, &a.Sender, &a.ClientMsgID, a.Record, &lives, &again)
		if kind == wire.KindInbox {
			args = append(args, &friends)
		}
		cmds[i] = redis.NewCmd(s.stop, args[from:len(args):len(args)]...)
		cmds[i].SetFirstKeyPos(3)
		_ = pipe.Process(s.stop, cmds[i]) // queues; the error is the command's
	}
	ctx, cancel := s.batchContext(batch)
	defer cancel()
	s.counters.issued(cmdAppend, len(batch))
	s.counters.batches.Add(1)
	_, err := pipe.Exec(ctx)
	return cmds, err
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

// settle reads the answers: the sends that have one, those to be tried again,
// and what these need.
func (s *Store) settle(batch []*delivery.Append, cmds []*redis.Cmd, epoch uint64) (done, rest []*delivery.Append, need outcome) {
	open := 0
	for _, c := range cmds {
		if o := classify(c.Err()); o == outcomeNoScript || o == outcomeAgain {
			open++
			need = max(need, o)
		}
	}
	if open == 0 { // the usual case keeps the batch as it is
		for i, a := range batch {
			s.answer(a, cmds[i], epoch)
		}
		return batch, nil, outcomeDone
	}
	for i, a := range batch {
		if o := classify(cmds[i].Err()); o == outcomeNoScript || o == outcomeAgain {
			rest = append(rest, a)
			continue
		}
		s.answer(a, cmds[i], epoch)
		done = append(done, a)
	}
	return done, rest, need
}

// answer fills in what the script said.
func (s *Store) answer(a *delivery.Append, cmd *redis.Cmd, epoch uint64) {
	a.Epoch = epoch
	var f *wire.Fault
	switch v := cmd.Val().(type) {
	case int64:
		if v < 0 {
			a.Seq, a.Duplicate = uint64(-v), true
		} else {
			a.Seq, a.OwnGap = uint64(v)/2, v%2 == 1
		}
		return
	case string:
		f = s.refusal(a, v)
	default:
		if classify(cmd.Err()) == outcomeRefused {
			s.trouble.log(s.log, s.cfg.Now(), cmd.Err())
			f = wire.Faultf(wire.CodeUnavailable, "the store takes no messages now; send again later")
			break
		}
		s.log.Error("redis answered a send with an error", "conversation", a.Conversation, "err", cmd.Err())
		f = wire.Faultf(wire.CodeInternal, "the store failed; the server's log says why")
	}
	f.Conversation = a.Conversation
	a.Err = f
}

// refusal is the fault for a word with which a script refused a send.
func (s *Store) refusal(a *delivery.Append, word string) *wire.Fault {
	switch code := wire.Code(word); code {
	case wire.CodeNotMember:
		return wire.Faultf(code, "%s isn't a member of %s", a.Sender, a.Conversation)
	case wire.CodeNoSuchGroup:
		return noSuchGroup(a.Conversation)
	case wire.CodeNoSuchUser:
		return noSuchUser(a.Conversation)
	case wire.CodeNotFriend:
		return wire.Faultf(code, "%s isn't a friend of %s; only friends may send direct messages here", a.Sender, a.Conversation)
	}
	return wire.Faultf(wire.CodeInternal, "the store answered %q", word)
}

func noSuchGroup(group string) *wire.Fault {
	f := wire.Faultf(wire.CodeNoSuchGroup, "%s has no members; create it first", group)
	f.Conversation = group
	return f
}

func noSuchUser(inbox string) *wire.Fault {
	f := wire.Faultf(wire.CodeNoSuchUser, "%s was never created", inbox)
	f.Conversation = inbox
	return f
}
