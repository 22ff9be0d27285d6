package redisstore

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

func checkInbox(conversation string) error {
	kind, _, err := wire.ParseConversation(conversation)
	if err != nil {
		return err
	}
	if kind != wire.KindInbox {
		return wire.Faultf(wire.CodeBadRequest, "%s is no inbox; want \"u:ID\"", conversation)
	}
	return nil
}

// inboxKeys are the keys of scripts that read from an inbox or remove from it.
func (k keyspace) inboxKeys(inbox string) []string {
	return []string{k.log(wire.KindInbox, inbox), k.senders(inbox)}
}

// Remove implements delivery.Store.
func (s *Store) Remove(ctx context.Context, inbox string, epoch, upTo uint64, ids []uint64) (first uint64, err error) {
	if err := checkInbox(inbox); err != nil {
		return 0, err
	}
	args := make([]any, 1, 1+len(ids))
	args[0] = min(upTo, maxSeq)
	for _, id := range ids {
		args = append(args, id)
	}
	cmd, _, err := s.run(ctx, cmdRemove, bound(epoch), scriptRemove, s.keys.inboxKeys(inbox), args...)
	if err != nil {
		return 0, err
	}
	if first, err = cmd.Uint64(); err != nil {
		return 0, s.unexpected(cmd)
	}
	return first, nil
}

// tooLarge is read_inbox's answer when all of a part is more than may be returned.
const tooLarge = string(wire.CodeTooLarge)

// ReadInbox implements delivery.Store.
func (s *Store) ReadInbox(ctx context.Context, inbox string, r delivery.InboxRead) (delivery.InboxPart, error) {
	if err := checkInbox(inbox); err != nil {
		return delivery.InboxPart{}, err
	}
	switch {
	case !r.All && r.Limit <= 0:
		return delivery.InboxPart{}, wire.Faultf(wire.CodeBadRequest, "limit %d: want at least 1", r.Limit)
	case r.Sender != "" && !s.cfg.SenderIndex:
		return delivery.InboxPart{}, wire.Faultf(wire.CodeUnsupported, "reading by sender needs a sender index")
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
		return []redis.Cmder{evalSHA(ctx, set, scriptReadInbox, s.keys.inboxKeys(inbox),
			r.After, min(r.UpTo, maxSeq), limit, r.Bytes, r.Sender, flag(r.Newest), flag(r.Remove))}
	})
	if err != nil {
		return delivery.InboxPart{}, err
	}
	return s.inboxPart(cmds[0].(*redis.Cmd), r)
}

// inboxPart reads the answer of read_inbox.
func (s *Store) inboxPart(cmd *redis.Cmd, r delivery.InboxRead) (delivery.InboxPart, error) {
	if word, ok := cmd.Val().(string); ok && word == tooLarge {
		return delivery.InboxPart{}, wire.Faultf(wire.CodeTooLarge, "everything is more than %d bytes; pull in pages", r.Bytes)
	}
	flat, err := cmd.Slice()
	if err != nil || len(flat) < 2 {
		return delivery.InboxPart{}, s.unexpected(cmd)
	}
	first, ok1 := flat[0].(int64)
	more, ok2 := flat[1].(int64)
	entries, ok3 := entriesOf(flat[2:])
	if !ok1 || !ok2 || !ok3 {
		return delivery.InboxPart{}, s.unexpected(cmd)
	}
	if r.Newest {
		slices.Reverse(entries)
	}
	return delivery.InboxPart{Entries: entries, More: more == 1, First: uint64(first)}, nil
}

// entriesOf reads seq, record, seq, record, …
func entriesOf(flat []any) ([]delivery.Entry, bool) {
	if len(flat)%2 != 0 {
		return nil, false
	}
	entries := make([]delivery.Entry, len(flat)/2)
	for i := range entries {
		seq, ok1 := flat[2*i].(int64)
		record, ok2 := flat[2*i+1].(string)
		if !ok1 || !ok2 {
			return nil, false
		}
		entries[i] = delivery.Entry{Seq: uint64(seq), Record: bytesOf(record)}
	}
	return entries, true
}

// countRows is how many rows of an index one command counts: about 100 ms of Redis.
const countRows = 50_000

// SenderCounts implements delivery.Store: one command, as far as the inbox
// holds no more than countRows messages.
func (s *Store) SenderCounts(ctx context.Context, inbox string) ([]delivery.SenderCount, error) {
	return s.senderCounts(ctx, inbox, countRows)
}

func (s *Store) senderCounts(ctx context.Context, inbox string, rows int) (counts []delivery.SenderCount, err error) {
	if err := checkInbox(inbox); err != nil {
		return nil, err
	}
	if !s.cfg.SenderIndex {
		return nil, wire.Faultf(wire.CodeUnsupported, "counts by sender need a sender index")
	}
	for at, done := "", false; !done; done = at == "" {
		cmd, _, err := s.run(ctx, cmdCounts, 0, scriptCountSenders, []string{s.keys.senders(inbox)}, at, rows)
		if err != nil {
			return nil, err
		}
		flat, err := cmd.Slice()
		if err != nil || len(flat)%2 != 1 {
			return nil, s.unexpected(cmd)
		}
		var ok bool
		if at, ok = flat[0].(string); !ok {
			return nil, s.unexpected(cmd)
		}
		for i := 1; i < len(flat); i += 2 {
			sender, ok1 := flat[i].(string)
			n, ok2 := flat[i+1].(int64)
			if !ok1 || !ok2 {
				return nil, s.unexpected(cmd)
			}
			if last := len(counts) - 1; last >= 0 && counts[last].Sender == sender { // split between two commands
				counts[last].Messages += uint64(n)
				continue
			}
			counts = append(counts, delivery.SenderCount{Sender: sender, Messages: uint64(n)})
		}
	}
	return counts, nil
}
