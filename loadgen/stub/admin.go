package stub

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ackmark/refserver/wire"
)

// maxRequest bounds an admin request, bytes.
const maxRequest = 16 << 20

// routes are what the generator asks of a server.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/connect", s.connect)
	mux.HandleFunc("POST /v1/admin/users", s.admin(s.postUsers))
	mux.HandleFunc("POST /v1/admin/groups", s.admin(s.postGroups))
	mux.HandleFunc("POST /v1/admin/friends", s.admin(func(*http.Request, []byte) (any, error) {
		return struct{}{}, nil // everybody may write to everybody
	}))
	mux.HandleFunc("GET /v1/admin/truth", s.admin(s.getTruth))
	mux.HandleFunc("GET /metrics", s.metrics)
	ready := func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]string{"status": "ready"}, nil) }
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", ready)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.gate.wait()
		mux.ServeHTTP(w, r)
	})
}

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

func (s *Server) admin(do func(*http.Request, []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(s.cfg.AdminSecret)) != 1 {
			reply(w, nil, wire.Faultf(wire.CodeUnauthenticated, "the admin secret is missing or wrong"))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			reply(w, nil, wire.Faultf(wire.CodeTooLarge, "the request: %v", err))
			return
		}
		answer, err := do(r, body)
		reply(w, answer, err)
	}
}

func reply(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if f := wire.AsFault(err); f != nil {
		w.WriteHeader(f.Code.HTTPStatus())
		answer = f.Frame(0)
	}
	_ = json.NewEncoder(w).Encode(answer) // the peer has gone; nobody to tell
}

func (s *Server) postUsers(_ *http.Request, body []byte) (any, error) {
	var in struct {
		Users []string `json:"users"`
	}
	if err := wire.DecodeJSON(body, &in); err != nil {
		return nil, err
	}
	for _, name := range in.Users {
		if err := wire.CheckID("user", name); err != nil {
			return nil, err
		}
		s.addUser(name)
	}
	return map[string]int{"users": len(in.Users)}, nil
}

func (s *Server) postGroups(_ *http.Request, body []byte) (any, error) {
	var in struct {
		Groups []struct {
			ID      string   `json:"id"`
			Members []string `json:"members"`
		} `json:"groups"`
	}
	if err := wire.DecodeJSON(body, &in); err != nil {
		return nil, err
	}
	added := 0
	for _, g := range in.Groups {
		if err := wire.CheckID("group", g.ID); err != nil {
			return nil, err
		}
		n, err := s.addMembers(wire.Group(g.ID), g.Members)
		if err != nil {
			return nil, err
		}
		added += n
	}
	return map[string]int{"groups": len(in.Groups), "added": added}, nil
}

// getTruth tells what was caused, for a stub in another process. from and to
// (Unix nanoseconds) bound by the receipt of the send which delays count.
func (s *Server) getTruth(r *http.Request, _ []byte) (any, error) {
	bound := func(name string, none time.Time) (time.Time, error) {
		v := r.URL.Query().Get(name)
		if v == "" {
			return none, nil
		}
		ns, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return none, wire.Faultf(wire.CodeBadRequest, "%s is %q; it should be Unix nanoseconds", name, v)
		}
		return time.Unix(0, ns), nil
	}
	from, err := bound("from", s.base)
	if err != nil {
		return nil, err
	}
	to, err := bound("to", time.Now().Add(time.Hour))
	if err != nil {
		return nil, err
	}
	return s.TruthOf(from, to), nil
}

// authenticate returns the user of a connection's token.
func (s *Server) authenticate(r *http.Request) (*user, error) {
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(bearer(r), &claims, func(*jwt.Token) (any, error) { return []byte(s.cfg.TokenSecret), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())
	if err != nil {
		return nil, wire.Faultf(wire.CodeUnauthenticated, "token: %v", err)
	}
	u := s.user(claims.Subject)
	if u == nil {
		return nil, wire.Faultf(wire.CodeNoSuchUser, "user %s was never created", claims.Subject)
	}
	return u, nil
}

// metrics shows the counters under the reference server's names. There is no
// Redis, so its counters are absent instead of 0.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	c := &s.counts
	for _, m := range []struct {
		name, kind string
		value      uint64
	}{
		{`ackmark_sends_total{result="stored"}`, "counter", c.stored.Load()},
		{`ackmark_sends_total{result="duplicate"}`, "", c.duplicate.Load()},
		{`ackmark_sends_total{result="refused"}`, "", c.refused.Load()},
		{`ackmark_deliveries_total{how="pushed"}`, "counter", c.pushed.Load()},
		{`ackmark_deliveries_total{how="retransmitted"}`, "", c.again.Load()},
		{`ackmark_deliveries_total{how="paged"}`, "", c.paged.Load()},
		{"ackmark_ack_requests_total", "counter", c.ackRequests.Load()},
		{"ackmark_pages_total", "counter", c.pages.Load()},
		{"ackmark_pull_now_total", "counter", c.pullNows.Load()},
		{"ackmark_connections", "gauge", uint64(max(c.connections.Load(), 0))},
		{"ackmark_writes_total", "counter", c.writes.Load()},
		{"ackmark_bytes_written_total", "counter", c.wrote.Load()},
		{"ackmark_bytes_read_total", "counter", c.read.Load()},
		{"ackmark_log_trimmed_total", "counter", c.trimmed.Load()},
		{"ackmark_epoch", "gauge", epoch},
		{"process_start_time_seconds", "gauge", uint64(s.base.Unix())},
	} {
		if m.kind != "" {
			family, _, _ := strings.Cut(m.name, "{")
			fmt.Fprintf(w, "# TYPE %s %s\n", family, m.kind)
		}
		fmt.Fprintf(w, "%s %d\n", m.name, m.value)
	}
}
