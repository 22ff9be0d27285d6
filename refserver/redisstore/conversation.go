package redisstore

import (
	"context"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// run calls one script that answers with a list or a number, bound to an epoch (0: any).
// It returns the answer and the epoch in which it was given.
func (s *Store) run(ctx context.Context, cmd command, epoch uint64, which script, keys []string, args ...any) (*redis.Cmd, uint64, error) {
	var in uint64
	cmds, err := s.do(ctx, cmd, epoch, func(set *scriptSet) []redis.Cmder {
		in = set.epoch
		return []redis.Cmder{evalSHA(ctx, set, which, keys, args...)}
	})
	if err != nil {
		return nil, 0, err
	}
	return cmds[0].(*redis.Cmd), in, nil
}

// unexpected is the fault for an answer that no script gives.
func (s *Store) unexpected(cmd *redis.Cmd) *wire.Fault {
	s.log.Error("a script gave an unexpected answer", "answer", cmd.Val(), "err", cmd.Err())
	return wire.Faultf(wire.CodeInternal, "the store failed; the server's log says why")
}

// Open implements delivery.Store.
func (s *Store) Open(ctx context.Context, conversation string) (delivery.Log, error) {
	kind, id, err := wire.ParseConversation(conversation)
	if err != nil {
		return delivery.Log{}, err
	}
	if kind == wire.KindGroup && s.cfg.keepsRows() {
		return s.openRows(ctx, conversation)
	}
	exists := s.keys.members(conversation)
	if kind == wire.KindInbox {
		exists = s.keys.user(id)
	}
	cmd, epoch, err := s.run(ctx, cmdOpen, 0, scriptOpen, []string{s.keys.log(kind, conversation), s.keys.meta(conversation), exists})
	if err != nil {
		return delivery.Log{}, err
	}
	v, err := cmd.Int64Slice()
	switch {
	case err != nil || len(v) != 0 && len(v) != 5:
		return delivery.Log{}, s.unexpected(cmd)
	case len(v) == 0 && kind == wire.KindInbox:
		return delivery.Log{}, noSuchUser(conversation)
	case len(v) == 0:
		return delivery.Log{}, noSuchGroup(conversation)
	}
	return delivery.Log{
		Epoch: epoch, Base: uint64(v[0]), Former: uint64(v[1]), Head: uint64(v[2]), First: uint64(v[3]), Size: uint64(v[4]),
	}, nil
}

// Read implements delivery.Store.
func (s *Store) Read(ctx context.Context, conversation string, epoch, after uint64, limit int) ([]delivery.Entry, error) {
	kind, _, err := wire.ParseConversation(conversation)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, wire.Faultf(wire.CodeBadRequest, "limit %d: want at least 1", limit)
	}
	s.counters.logReads.Add(1)
	cmd, _, err := s.run(ctx, cmdRead, bound(epoch), scriptRead, []string{s.keys.log(kind, conversation)}, after, limit)
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

// bytesOf views a string that nobody else holds as bytes, without a copy.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// noEpoch is an epoch that never is: a caller that names none must not be let
// through as "any".
const noEpoch = ^uint64(0)

func bound(epoch uint64) uint64 {
	if epoch == 0 {
		return noEpoch
	}
	return epoch
}

// Cursor implements delivery.Store.
func (s *Store) Cursor(ctx context.Context, group, user string) (uint64, error) {
	if err := checkGroup(group); err != nil {
		return 0, err
	}
	cmd, _, err := s.run(ctx, cmdCursor, 0, scriptCursor, s.cursorKeys(group), user)
	if err != nil {
		return 0, err
	}
	return s.cursorOf(cmd, group, user)
}

// cursorKeys are the keys of the cursor script; a time means nothing without the log.
func (s *Store) cursorKeys(group string) []string {
	if s.cfg.keepsTimes() {
		return []string{s.keys.members(group), s.keys.groupLog(group)}
	}
	return []string{s.keys.members(group)}
}

// cursorOf reads the answer of the cursor script.
func (s *Store) cursorOf(cmd *redis.Cmd, group, user string) (uint64, error) {
	v, err := cmd.Int64()
	switch {
	case err != nil:
		return 0, s.unexpected(cmd)
	case v == noGroup:
		return 0, noSuchGroup(group)
	case v == noMember:
		f := wire.Faultf(wire.CodeNotMember, "%s isn't a member of %s", user, group)
		f.Conversation = group
		return 0, f
	}
	return uint64(v), nil
}

// Answers of the cursor script.
const (
	noMember = -1
	noGroup  = -2
)

func checkGroup(conversation string) error {
	kind, _, err := wire.ParseConversation(conversation)
	if err != nil {
		return err
	}
	if kind != wire.KindGroup {
		return wire.Faultf(wire.CodeBadRequest, "%s is no group; want \"g:ID\"", conversation)
	}
	return nil
}

// Move implements delivery.Store: one command, whatever the number of members.
func (s *Store) Move(ctx context.Context, group string, epoch uint64, moves []delivery.Move) error {
	if err := checkGroup(group); err != nil {
		return err
	}
	if len(moves) == 0 {
		return nil
	}
	args := make([]any, 1, 1+2*len(moves))
	furthest := uint64(0)
	for i := range moves {
		furthest = max(furthest, moves[i].UpTo)
		args = append(args, &moves[i].UpTo, &moves[i].User) // pointers: nothing is allocated per cursor
	}
	args[0] = furthest
	cmd, _, err := s.run(ctx, cmdMove, bound(epoch), scriptMove, []string{s.keys.members(group), s.keys.log(wire.KindGroup, group)}, args...)
	if err != nil {
		return err
	}
	moved, err := cmd.Int64()
	if err != nil {
		return s.unexpected(cmd)
	}
	s.counters.cursorsMoved.Add(uint64(moved))
	return nil
}

// maxSeq is the largest seq: scores and JSON numbers are doubles.
const maxSeq = 1<<53 - 1

// Trim implements delivery.Store.
func (s *Store) Trim(ctx context.Context, group string, epoch uint64, retention int) (delivery.Trimmed, error) {
	if err := checkGroup(group); err != nil {
		return delivery.Trimmed{}, err
	}
	cmd, _, err := s.run(ctx, cmdTrim, bound(epoch), scriptTrim, []string{s.keys.members(group), s.keys.log(wire.KindGroup, group)}, max(retention, 0))
	if err != nil {
		return delivery.Trimmed{}, err
	}
	v, err := cmd.Int64Slice()
	switch {
	case err != nil || len(v) != 0 && len(v) != 3:
		return delivery.Trimmed{}, s.unexpected(cmd)
	case len(v) == 0:
		return delivery.Trimmed{}, noSuchGroup(group)
	}
	return delivery.Trimmed{First: uint64(v[0]), Removed: uint64(v[1]), Truncated: uint64(v[2])}, nil
}

// Login implements delivery.Store: one round trip for the groups' names, one
// for all cursors.
func (s *Store) Login(ctx context.Context, user string) (delivery.Login, error) {
	if err := wire.CheckID("user", user); err != nil {
		return delivery.Login{}, err
	}
	cmd, epoch, err := s.run(ctx, cmdLogin, 0, scriptLogin, []string{s.keys.user(user), s.keys.groups(user)})
	if err != nil {
		return delivery.Login{}, err
	}
	if word, ok := cmd.Val().(string); ok && wire.Code(word) == wire.CodeNoSuchUser {
		return delivery.Login{}, noSuchUser(wire.Inbox(user))
	}
	groups, err := cmd.StringSlice()
	if err != nil {
		return delivery.Login{}, s.unexpected(cmd)
	}
	cmds, err := s.do(ctx, cmdLogin, epoch, func(set *scriptSet) []redis.Cmder {
		cmds := make([]redis.Cmder, len(groups))
		for i, group := range groups {
			cmds[i] = evalSHA(ctx, set, scriptCursor, s.cursorKeys(group), user)
		}
		return cmds
	})
	if err != nil {
		return delivery.Login{}, err
	}
	login := delivery.Login{Epoch: epoch, Groups: make([]delivery.Membership, 0, len(groups))}
	for i, c := range cmds {
		cursor, err := c.(*redis.Cmd).Int64()
		if err != nil {
			return delivery.Login{}, s.unexpected(c.(*redis.Cmd))
		}
		if cursor >= 0 { // the list may name a group too many
			login.Groups = append(login.Groups, delivery.Membership{Conversation: groups[i], Cursor: uint64(cursor)})
		}
	}
	return login, nil
}
