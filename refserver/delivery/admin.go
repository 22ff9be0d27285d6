package delivery

import (
	"context"
	"slices"

	"ackmark/refserver/wire"
)

// CreateUsers makes users known; those who are known stay as they are.
func (s *Service) CreateUsers(ctx context.Context, users []string) error {
	for _, u := range users {
		if err := wire.CheckID("user", u); err != nil {
			return err
		}
	}
	return s.store.CreateUsers(ctx, users)
}

// AddMembers adds members to a group, which begins to exist with its first
// one. They start at the head; those who are online get its messages from now on.
func (s *Service) AddMembers(ctx context.Context, group string, members []string) (added int, err error) {
	if err := checkGroup(group, members); err != nil {
		return 0, err
	}
	name := wire.Group(group)
	if added, err = s.store.AddMembers(ctx, name, members); err != nil {
		return 0, err
	}
	for _, user := range members {
		conn := s.hub.Online(user)
		if conn == nil {
			continue
		}
		ss, ok := conn.Owner().(*Session)
		if !ok || ss.lookup(name) != nil {
			continue
		}
		c, err := s.open(ctx, name)
		if err != nil {
			return added, err
		}
		cursor, err := s.design.cursor(ctx, c, user)
		if err != nil {
			return added, err
		}
		ss.rejoin(name)
		if state := ss.join(c, cursor, nil); state != nil {
			_ = conn.Send(&wire.Frame{Conversation: state})
		}
	}
	return added, nil
}

// RemoveMembers takes members out of a group; from then on they neither send
// to it nor receive from it.
func (s *Service) RemoveMembers(ctx context.Context, group string, members []string) (removed int, err error) {
	if err := checkGroup(group, members); err != nil {
		return 0, err
	}
	name := wire.Group(group)
	if removed, err = s.store.RemoveMembers(ctx, name, members); err != nil {
		return 0, err
	}
	for _, user := range members {
		if conn := s.hub.Online(user); conn != nil {
			if ss, ok := conn.Owner().(*Session); ok {
				ss.leave(name)
			}
		}
	}
	s.mu.Lock()
	c := s.conversations[name]
	s.mu.Unlock()
	if c != nil { // the slowest member may be gone
		c.mu.Lock()
		c.trimDirty = true
		c.mu.Unlock()
	}
	return removed, nil
}

// rejoin lets the session join a group again that its user was taken out of.
func (ss *Session) rejoin(name string) {
	ss.mu.Lock()
	delete(ss.left, name)
	ss.mu.Unlock()
}

func (ss *Session) leave(name string) {
	ss.mu.Lock()
	if ss.left == nil {
		ss.left = make(map[string]struct{})
	}
	ss.left[name] = struct{}{}
	var ms membership
	at, ok := ss.findLocked(name)
	if ok {
		ms = ss.members[at]
		ss.members = slices.Delete(ss.members, at, at+1)
	}
	ss.mu.Unlock()
	if ok {
		ms.member.Leave()
	}
}

// AddFriends puts users on a user's friend list. Where only friends may send
// direct messages, these may send to it; the other direction is a call of its own.
func (s *Service) AddFriends(ctx context.Context, user string, friends []string) (added int, err error) {
	if err := wire.CheckID("user", user); err != nil {
		return 0, err
	}
	for _, f := range friends {
		if err := wire.CheckID("friend", f); err != nil {
			return 0, err
		}
	}
	return s.store.AddFriends(ctx, user, friends)
}

func checkGroup(group string, members []string) error {
	if err := wire.CheckID("group", group); err != nil {
		return err
	}
	for _, m := range members {
		if err := wire.CheckID("member", m); err != nil {
			return err
		}
	}
	return nil
}
