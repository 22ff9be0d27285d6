package stub

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/loadgen/client"
	"ackmark/loadgen/measure"
)

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.TokenSecret, cfg.AdminSecret = tokenSecret, adminSecret
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func call(t *testing.T, s *Server, method, path, secret, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestAdmin(t *testing.T) {
	s := start(t, Config{})
	for _, tt := range []struct {
		name, method, path, secret, body string
		status                           int
		answer                           string // part of it
	}{
		{"ready", "GET", "/readyz", "", "", 200, "ready"},
		{"wrong secret", "POST", "/v1/admin/users", "guess", `{"users":["a"]}`, 401, "unauthenticated"},
		{"users", "POST", "/v1/admin/users", adminSecret, `{"users":["a","b","c"]}`, 200, `"users":3`},
		{"users again", "POST", "/v1/admin/users", adminSecret, `{"users":["a"]}`, 200, `"users":1`},
		{"bad name", "POST", "/v1/admin/users", adminSecret, `{"users":["a b"]}`, 400, "bad_request"},
		{"unknown field", "POST", "/v1/admin/users", adminSecret, `{"names":[]}`, 400, "bad_request"},
		{"groups", "POST", "/v1/admin/groups", adminSecret, `{"groups":[{"id":"g","members":["a","b"]},{"id":"h","members":["c"]}]}`, 200, `"added":3`},
		{"a part of a group again", "POST", "/v1/admin/groups", adminSecret, `{"groups":[{"id":"g","members":["b","c"]}]}`, 200, `"added":1`},
		{"no such user", "POST", "/v1/admin/groups", adminSecret, `{"groups":[{"id":"g","members":["z"]}]}`, 404, "no_such_user"},
		{"truth", "GET", "/v1/admin/truth", adminSecret, "", 200, `"sends":0`},
		{"truth of a bad time", "GET", "/v1/admin/truth?from=noon", adminSecret, "", 400, "nanoseconds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, answer := call(t, s, tt.method, tt.path, tt.secret, tt.body)
			if status != tt.status || !strings.Contains(answer, tt.answer) {
				t.Errorf("got %d %s, want %d with %s", status, answer, tt.status, tt.answer)
			}
		})
	}
}

// TestCountersReconcile: the page that the generator scrapes says what the
// devices and the truth say.
func TestCountersReconcile(t *testing.T) {
	s := start(t, Config{})
	page, err := measure.Scrape(t.Context(), http.DefaultClient, s.URL()+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"ackmark_sends_total", "ackmark_deliveries_total", "ackmark_ack_requests_total", "ackmark_connections",
		"ackmark_log_trimmed_total", "ackmark_pull_now_total", "ackmark_writes_total", "process_start_time_seconds",
	} {
		if _, found := page.Sum(name); !found {
			t.Errorf("%s is missing", name)
		}
	}
	for key, m := range page {
		if want := strings.HasSuffix(m.Name, "_total"); m.Counter != want {
			t.Errorf("%s: counter %v, want %v", key, m.Counter, want)
		}
	}
}

func TestTruthAsJSON(t *testing.T) {
	b, err := json.Marshal(Truth{Delays: sorted([]time.Duration{3, 1, 2})})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Delays map[string]int64 }
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Delays["count"] != 3 || got.Delays["p50_ns"] != 2 || got.Delays["max_ns"] != 3 {
		t.Errorf("got %s", b)
	}
}

func TestTokens(t *testing.T) {
	s := start(t, Config{})
	call(t, s, "POST", "/v1/admin/users", adminSecret, `{"users":["a"]}`)
	sign := func(secret, user string, ttl time.Duration) string {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
			Subject: user, ExpiresAt: jwt.NewNumericDate(time.Now().Add(ttl)),
		}).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	for _, tt := range []struct{ name, token, code string }{
		{"another key", sign("other", "a", time.Hour), "unauthenticated"},
		{"expired", sign(tokenSecret, "a", -time.Hour), "unauthenticated"},
		{"no such user", sign(tokenSecret, "z", time.Hour), "no_such_user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := func() time.Duration { return 0 }
			w := &client.WebSocket{URL: "ws" + strings.TrimPrefix(s.URL(), "http") + "/v1/connect", Clock: clock}
			_, err := w.Connect(context.Background(), client.Identity{User: "a", Token: tt.token}, client.Hello{}, nil)
			var f *client.Fault
			if !errors.As(err, &f) || f.Code != tt.code {
				t.Errorf("got %v, want fault %s", err, tt.code)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	secrets := Config{TokenSecret: "t", AdminSecret: "a"}
	for _, tt := range []struct {
		name string
		set  func(*Config)
		want string // part of the error; empty = none
	}{
		{"as it is", func(*Config) {}, ""},
		{"no secrets", func(c *Config) { c.AdminSecret = "" }, "AdminSecret"},
		{"a share above 1", func(c *Config) { c.Inject.Lose = 1.1 }, "Inject.Lose"},
		{"a negative share", func(c *Config) { c.Inject.Twice = -0.1 }, "Inject.Twice"},
		{"too much altogether", func(c *Config) { c.Inject.Lose, c.Inject.Swap = 0.6, 0.6 }, "add up"},
		{"everything lost", func(c *Config) { c.Inject.Lose = 1 }, ""},
		{"a negative stall", func(c *Config) { c.Stall.For = -1 }, "negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := secrets
			tt.set(&c)
			err := c.check()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
