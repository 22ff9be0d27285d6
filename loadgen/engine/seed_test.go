package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/loadgen/population"
)

func TestSeeder(t *testing.T) {
	users, members, requests := 0, map[string]int{}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, `{"code":"unauthenticated"}`, http.StatusUnauthorized)
			return
		}
		var in struct {
			Users  []string       `json:"users"`
			Groups []groupRequest `json:"groups"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		names := len(in.Users)
		users += len(in.Users)
		for _, g := range in.Groups {
			members[g.ID] += len(g.Members)
			names += len(g.Members)
		}
		if names > namesPerRequest {
			t.Errorf("%d names in one request", names)
		}
		w.Write([]byte("{}"))
	}))
	defer server.Close()

	pop := &population.Population{Users: make([]string, 12_000)}
	for i := range pop.Users {
		pop.Users[i] = "u" + time.Duration(i).String()
	}
	sizes := map[string]int{"large": 11_000, "a": 3000, "b": 3000, "c": 10}
	for _, id := range []string{"large", "a", "b", "c"} {
		g := population.Group{ID: id}
		for u := range sizes[id] {
			g.Members = append(g.Members, u)
		}
		pop.Groups = append(pop.Groups, g)
	}
	s := &seeder{http: server.Client(), base: server.URL, secret: "key"}
	if err := s.population(t.Context(), pop); err != nil {
		t.Fatal(err)
	}
	if users != 12_000 {
		t.Errorf("%d users, want 12000", users)
	}
	for id, n := range sizes {
		if members[id] != n {
			t.Errorf("group %s has %d members, want %d", id, members[id], n)
		}
	}
	// Users in 5000, 5000, 2000; members in 5000, 5000, then 1000 + 3000, then 3000 + 10.
	if requests != 3+4 {
		t.Errorf("%d requests, want 7", requests)
	}

	s.secret = "another"
	err := s.population(t.Context(), pop)
	if err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "--admin-secret") {
		t.Errorf("wrong secret: %v", err)
	}
}

func TestMint(t *testing.T) {
	now := time.Now()
	token, err := mint([]byte("key"), "alice", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.RegisteredClaims
	_, err = jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return []byte("key"), nil }, jwt.WithValidMethods([]string{"HS256"}))
	if err != nil {
		t.Fatal(err)
	}
	if claims.Subject != "alice" || claims.ExpiresAt.Unix() != now.Add(time.Hour).Unix() {
		t.Errorf("claims %+v", claims)
	}
}
