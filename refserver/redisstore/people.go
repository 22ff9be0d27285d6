package redisstore

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// chunk is how many commands, or arguments, bulk operations send at once.
const chunk = 1000

// pipeline runs one command per item, a chunk in each round trip.
func pipeline[C redis.Cmder](ctx context.Context, s *Store, cmd command, items []string, make func(item string) C) ([]C, error) {
	all := []C{}
	for part := range slices.Chunk(items, chunk) {
		cmds, err := s.do(ctx, cmd, 0, func(*scriptSet) []redis.Cmder {
			cmds := []redis.Cmder{}
			for _, item := range part {
				cmds = append(cmds, make(item))
			}
			return cmds
		})
		if err != nil {
			return nil, err
		}
		for _, c := range cmds {
			all = append(all, c.(C))
		}
	}
	return all, nil
}

func checkIDs(what string, ids []string) error {
	for _, id := range ids {
		if err := wire.CheckID(what, id); err != nil {
			return err
		}
	}
	return nil
}

// CreateUsers implements delivery.Store; who exists stays as it is.
func (s *Store) CreateUsers(ctx context.Context, users []string) error {
	if err := checkIDs("user", users); err != nil {
		return err
	}
	_, err := pipeline(ctx, s, cmdAdmin, users, func(user string) *redis.StatusCmd {
		return redis.NewStatusCmd(ctx, "set", s.keys.user(user), "1")
	})
	return err
}

// mustExist returns no_such_user with the first names that were never created.
func (s *Store) mustExist(ctx context.Context, users []string) error {
	found, err := pipeline(ctx, s, cmdAdmin, users, func(user string) *redis.IntCmd {
		return redis.NewIntCmd(ctx, "exists", s.keys.user(user))
	})
	if err != nil {
		return err
	}
	const named = 5
	var missing []string
	for i, c := range found {
		if c.Val() == 0 {
			missing = append(missing, users[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return wire.Faultf(wire.CodeNoSuchUser, "%d of %d users were never created (%s%s); create them first",
		len(missing), len(users), strings.Join(missing[:min(named, len(missing))], ", "), more(len(missing) > named))
}

func more(yes bool) string {
	if yes {
		return " …"
	}
	return ""
}

// AddMembers implements delivery.Store. Users that were never created are
// no_such_user, and then nobody is added. The users' lists of groups are
// written first: after a crash between the two they name a group too many,
// which Login leaves out.
func (s *Store) AddMembers(ctx context.Context, group string, members []string) (added int, err error) {
	if err := checkGroup(group); err != nil {
		return 0, err
	}
	if err := checkIDs("member", members); err != nil {
		return 0, err
	}
	if err := s.mustExist(ctx, members); err != nil {
		return 0, err
	}
	if err := s.list(ctx, group, members); err != nil {
		return 0, err
	}
	if s.cfg.keepsRows() {
		if err := s.clearStrangers(ctx, group, members); err != nil {
			return 0, err
		}
	}
	keys := []string{s.keys.members(group), s.keys.log(wire.KindGroup, group)}
	for part := range slices.Chunk(members, chunk) {
		cmd, _, err := s.run(ctx, cmdAdmin, 0, scriptAddMembers, keys, anys(part)...)
		if err != nil {
			return added, err
		}
		n, err := cmd.Int()
		if err != nil {
			return added, s.unexpected(cmd)
		}
		added += n
	}
	return added, nil
}

// list puts a group into its members' lists.
func (s *Store) list(ctx context.Context, group string, members []string) error {
	_, err := pipeline(ctx, s, cmdAdmin, members, func(user string) *redis.IntCmd {
		return redis.NewIntCmd(ctx, "sadd", s.keys.groups(user), group)
	})
	return err
}

// RemoveMembers implements delivery.Store. The log stays, so a group that is
// filled again continues at its head.
func (s *Store) RemoveMembers(ctx context.Context, group string, members []string) (removed int, err error) {
	if err := checkGroup(group); err != nil {
		return 0, err
	}
	if err := checkIDs("member", members); err != nil {
		return 0, err
	}
	for part := range slices.Chunk(members, chunk) {
		cmds, err := s.do(ctx, cmdAdmin, 0, func(*scriptSet) []redis.Cmder {
			return []redis.Cmder{redis.NewIntCmd(ctx, append([]any{"zrem", s.keys.members(group)}, anys(part)...)...)}
		})
		if err != nil {
			return removed, err
		}
		removed += int(cmds[0].(*redis.IntCmd).Val())
	}
	if _, err := pipeline(ctx, s, cmdAdmin, members, func(user string) *redis.IntCmd {
		return redis.NewIntCmd(ctx, "srem", s.keys.groups(user), group)
	}); err != nil {
		return removed, err
	}
	if s.cfg.keepsRows() {
		if err := s.clearStrangers(ctx, group, members); err != nil {
			return removed, err
		}
	}
	// Who was added again in between is a member whose list has just lost the group.
	again, _, err := s.partMembers(ctx, group, members)
	if err != nil {
		return removed, err
	}
	return removed, s.list(ctx, group, again)
}

// partMembers tells who of some users is a member of a group.
func (s *Store) partMembers(ctx context.Context, group string, users []string) (members, strangers []string, err error) {
	scores, err := pipeline(ctx, s, cmdAdmin, users, func(user string) *redis.FloatCmd {
		return redis.NewFloatCmd(ctx, "zscore", s.keys.members(group), user)
	})
	if err != nil {
		return nil, nil, err
	}
	for i, c := range scores {
		if c.Err() == nil {
			members = append(members, users[i])
		} else {
			strangers = append(strangers, users[i])
		}
	}
	return members, strangers, nil
}

// clearStrangers removes the rows of a group from users that aren't its members:
// of those who have left, and what a send that was under way then gave them
// before they come again.
func (s *Store) clearStrangers(ctx context.Context, group string, users []string) error {
	_, strangers, err := s.partMembers(ctx, group, users)
	if err != nil {
		return err
	}
	moves := make([]delivery.Move, len(strangers))
	for i, user := range strangers {
		moves[i] = delivery.Move{User: user, UpTo: maxSeq}
	}
	if len(moves) == 0 {
		return nil
	}
	for {
		epoch := s.Epoch()
		if err = s.recovered(ctx, group, epoch); err == nil { // so that what goes is counted off
			err = s.RemoveRows(ctx, group, epoch, moves)
		}
		if err == nil || s.Epoch() == epoch {
			return err
		}
	}
}

// AddFriends implements delivery.Store. Friendship has a direction: these may
// send to user where only friends may.
func (s *Store) AddFriends(ctx context.Context, user string, friends []string) (added int, err error) {
	if err := checkIDs("user", append([]string{user}, friends...)); err != nil {
		return 0, err
	}
	if err := s.mustExist(ctx, []string{user}); err != nil {
		return 0, err
	}
	for part := range slices.Chunk(friends, chunk) {
		args := []any{"zadd", s.keys.friends(user)}
		for _, friend := range part {
			args = append(args, 0, friend)
		}
		cmds, err := s.do(ctx, cmdAdmin, 0, func(*scriptSet) []redis.Cmder {
			return []redis.Cmder{redis.NewIntCmd(ctx, args...)}
		})
		if err != nil {
			return added, err
		}
		added += int(cmds[0].(*redis.IntCmd).Val())
	}
	return added, nil
}

// Friends implements delivery.Store.
func (s *Store) Friends(ctx context.Context, user, after string, limit int) (friends []string, more bool, err error) {
	if err := wire.CheckID("user", user); err != nil {
		return nil, false, err
	}
	if limit <= 0 {
		return nil, false, wire.Faultf(wire.CodeBadRequest, "limit %d: want at least 1", limit)
	}
	from := "-"
	if after != "" {
		from = "(" + after
	}
	cmds, err := s.do(ctx, cmdFriends, 0, func(*scriptSet) []redis.Cmder {
		return []redis.Cmder{redis.NewStringSliceCmd(ctx, "zrangebylex", s.keys.friends(user), from, "+", "limit", 0, limit+1)}
	})
	if err != nil {
		return nil, false, err
	}
	friends = cmds[0].(*redis.StringSliceCmd).Val()
	if len(friends) > limit {
		return friends[:limit], true, nil
	}
	return friends, false, nil
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
