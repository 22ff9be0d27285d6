package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"ackmark/loadgen/population"
)

// namesPerRequest keeps an admin request far below the server's default limits
// (10,000 names, 4 MiB).
const namesPerRequest = 5000

// seedTimeout bounds one admin request.
const seedTimeout = 30 * time.Second

// seeder makes a population exist, in bulk, by the server's admin API.
type seeder struct {
	http   *http.Client
	base   string // http://host:port
	secret string
}

type (
	usersRequest struct {
		Users []string `json:"users"`
	}
	groupRequest struct {
		ID      string   `json:"id"`
		Members []string `json:"members"`
	}
	groupsRequest struct {
		Groups []groupRequest `json:"groups"`
	}
	friendsOfUser struct {
		User    string   `json:"user"`
		Friends []string `json:"friends"`
	}
	friendsRequest struct {
		Friends []friendsOfUser `json:"friends"`
	}
)

func (s *seeder) population(ctx context.Context, pop *population.Population) error {
	for names := range slices.Chunk(pop.Users, namesPerRequest) {
		if err := s.post(ctx, "users", usersRequest{names}); err != nil {
			return err
		}
	}
	if err := s.groups(ctx, pop); err != nil {
		return err
	}
	return s.friends(ctx, pop)
}

// groups sends as many groups per request as fit; a large one is sent in parts.
func (s *seeder) groups(ctx context.Context, pop *population.Population) error {
	var batch groupsRequest
	names := 0
	flush := func() error {
		if len(batch.Groups) == 0 {
			return nil
		}
		err := s.post(ctx, "groups", batch)
		batch.Groups, names = nil, 0
		return err
	}
	for _, g := range pop.Groups {
		for part := range slices.Chunk(g.Members, namesPerRequest) {
			if names+len(part) > namesPerRequest {
				if err := flush(); err != nil {
					return err
				}
			}
			members := make([]string, len(part))
			for i, u := range part {
				members[i] = pop.Users[u]
			}
			batch.Groups = append(batch.Groups, groupRequest{ID: g.ID, Members: members})
			names += len(part)
		}
	}
	return flush()
}

func (s *seeder) friends(ctx context.Context, pop *population.Population) error {
	if pop.Friends == 0 {
		return nil
	}
	var batch friendsRequest
	names := 0
	flush := func() error {
		if len(batch.Friends) == 0 {
			return nil
		}
		err := s.post(ctx, "friends", batch)
		batch.Friends, names = nil, 0
		return err
	}
	for u := range pop.Users {
		if !pop.HasFriends(u) {
			continue
		}
		all := make([]string, pop.Friends)
		for k := range all {
			all[k] = pop.Users[pop.Friend(u, k)]
		}
		for part := range slices.Chunk(all, namesPerRequest) {
			if names+len(part) > namesPerRequest {
				if err := flush(); err != nil {
					return err
				}
			}
			batch.Friends = append(batch.Friends, friendsOfUser{User: pop.Users[u], Friends: part})
			names += len(part)
		}
	}
	return flush()
}

func (s *seeder) post(ctx context.Context, what string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("seeding %s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, seedTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/admin/"+what, bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("seeding %s: %w", what, err)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("seeding %s: %w", what, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("seeding %s: reading the answer: %w", what, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("seeding %s: the server answered %s: %s%s", what, res.Status, strings.TrimSpace(string(answer)), seedHint(res.StatusCode))
	}
	return nil
}

func seedHint(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return " (is --admin-secret that of the server?)"
	case http.StatusNotFound:
		return " (has the server an admin API? it needs an admin secret)"
	}
	return ""
}
