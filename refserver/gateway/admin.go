package gateway

import (
	"ackmark/refserver/wire"
	"fmt"
)

// What the admin API takes and answers. Every operation may be repeated: what
// is there already stays as it is.
type (
	usersRequest struct {
		Users []string `json:"users"`
	}
	groupsRequest struct {
		Groups []groupMembers `json:"groups"`
	}
	groupMembers struct {
		ID      string   `json:"id"`
		Members []string `json:"members"`
	}
	removeRequest struct {
		Group   string   `json:"group"`
		Members []string `json:"members"`
	}
	friendsRequest struct {
		Friends []userFriends `json:"friends"`
	}
	userFriends struct {
		User    string   `json:"user"`
		Friends []string `json:"friends"`
	}

	usersAnswer struct {
		Users int `json:"users"` // named in the request
	}
	groupsAnswer struct {
		Groups int `json:"groups"` // named in the request
		Added  int `json:"added"`  // members that weren't before
	}
	removeAnswer struct {
		Removed int `json:"removed"` // members that were before
	}
	friendsAnswer struct {
		Added int `json:"added"` // friends that weren't before
	}
)

func (g *Gateway) createUsers(r *request) (any, error) {
	var in usersRequest
	if err := g.decode(r, &in); err != nil {
		return nil, err
	}
	if err := g.checkNames("users", in.Users, 0); err != nil {
		return nil, err
	}
	if err := g.svc.CreateUsers(r.ctx, in.Users); err != nil {
		return nil, err
	}
	return usersAnswer{Users: len(in.Users)}, nil
}

func (g *Gateway) createGroups(r *request) (any, error) {
	var in groupsRequest
	if err := g.decode(r, &in); err != nil {
		return nil, err
	}
	if len(in.Groups) == 0 {
		return nil, wire.Faultf(wire.CodeBadRequest, "groups is empty: name at least one")
	}
	total := 0
	for i := range in.Groups {
		if err := wire.CheckID("group", in.Groups[i].ID); err != nil {
			return nil, err
		}
		if err := g.checkNames("members of group "+in.Groups[i].ID, in.Groups[i].Members, total); err != nil {
			return nil, err
		}
		total += len(in.Groups[i].Members)
	}
	out := groupsAnswer{Groups: len(in.Groups)}
	for i := range in.Groups {
		added, err := g.svc.AddMembers(r.ctx, in.Groups[i].ID, in.Groups[i].Members)
		if err != nil {
			return nil, halfDone(err, "group "+in.Groups[i].ID, i, "groups")
		}
		out.Added += added
	}
	return out, nil
}

func (g *Gateway) removeMembers(r *request) (any, error) {
	var in removeRequest
	if err := g.decode(r, &in); err != nil {
		return nil, err
	}
	if err := wire.CheckID("group", in.Group); err != nil {
		return nil, err
	}
	if err := g.checkNames("members", in.Members, 0); err != nil {
		return nil, err
	}
	removed, err := g.svc.RemoveMembers(r.ctx, in.Group, in.Members)
	if err != nil {
		return nil, err
	}
	return removeAnswer{Removed: removed}, nil
}

func (g *Gateway) createFriends(r *request) (any, error) {
	var in friendsRequest
	if err := g.decode(r, &in); err != nil {
		return nil, err
	}
	if len(in.Friends) == 0 {
		return nil, wire.Faultf(wire.CodeBadRequest, "friends is empty: name at least one user with friends")
	}
	total := 0
	for i := range in.Friends {
		if err := wire.CheckID("user", in.Friends[i].User); err != nil {
			return nil, err
		}
		if err := g.checkNames("friends of "+in.Friends[i].User, in.Friends[i].Friends, total); err != nil {
			return nil, err
		}
		total += len(in.Friends[i].Friends)
	}
	out := friendsAnswer{}
	for i := range in.Friends {
		added, err := g.svc.AddFriends(r.ctx, in.Friends[i].User, in.Friends[i].Friends)
		if err != nil {
			return nil, halfDone(err, "friends of "+in.Friends[i].User, i, "users")
		}
		out.Added += added
	}
	return out, nil
}

// checkNames checks one list of names; before is how many the same request
// has had already.
func (g *Gateway) checkNames(what string, names []string, before int) error {
	if len(names) == 0 {
		return wire.Faultf(wire.CodeBadRequest, "%s: the list is empty, name at least one", what)
	}
	if before+len(names) > g.cfg.MaxAdminItems {
		return wire.Faultf(wire.CodeTooMany, "more than %d names in one request: split it", g.cfg.MaxAdminItems)
	}
	for _, n := range names {
		if err := wire.CheckID("user", n); err != nil {
			return err
		}
	}
	return nil
}

// halfDone says how far a bulk request came before it failed.
func halfDone(err error, at string, done int, unit string) error {
	f := *wire.AsFault(err)
	f.Message = fmt.Sprintf("%s: %s (%d %s before it are done; sending all again is safe)", at, f.Message, done, unit)
	return &f
}
