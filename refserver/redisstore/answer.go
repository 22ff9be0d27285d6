package redisstore

import (
	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

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
		switch direct := a.Conversation[0] == 'u'; {
		case direct:
			a.Duplicate = v < 0
			v = max(v, -v)
			a.Seq, a.Fleeting = uint64(v)/2, v%2 == 1
		case v < 0:
			a.Seq, a.Duplicate = uint64(-v), true
		default:
			a.Seq, a.OwnGap = uint64(v)/2, v%2 == 1
		}
		return
	case []any: // of append_rows
		if seq, _, _, ok := readFan(v); ok {
			a.Seq, a.Duplicate = uint64(max(seq, -seq)), seq < 0
			return
		}
		s.log.Error("a script gave an unexpected answer", "conversation", a.Conversation, "answer", v)
		f = wire.Faultf(wire.CodeInternal, "the store failed; the server's log says why")
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
