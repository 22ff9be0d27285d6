package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/population"
	"ackmark/profiles"
	"ackmark/refserver/wire"
	"ackmark/results"
)

// backlogRun is a run of one user with friends friends, of which share % have
// sent messages each, against a server.
func backlogRun(t *testing.T, friends, share, messages int, h http.HandlerFunc) *run {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	p := resolved(t, "smoke", map[string]string{})
	p.Population = profiles.Population{Users: friends + 1, Friends: friends, FriendsOf: 1}
	p.Clients.Online = 0
	p.Traffic = profiles.Traffic{}
	p.Backlog.Direct = &profiles.DirectBacklog{Share: profiles.Percent(share), Messages: messages, Bytes: 20}
	pop, err := population.Build(p, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	r := &run{
		engine: &engine{cfg: Config{Progress: func(Progress) {}}, tokenSecret: "secret"}, profile: p, pop: pop, seed: 1,
		clock: newClock(), base: t.Context(), out: results.Run{Metrics: results.Values{}},
	}
	r.pages.none = true
	if err := r.books("x"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	l, err := launch.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if r.server, err = l.Server(t.Context(), launch.ServerOptions{Target: strings.TrimPrefix(s.URL, "http://")}); err != nil {
		t.Fatal(err)
	}
	return r
}

// resolved is the first variant of a shipped profile with some keys set.
func resolved(t *testing.T, name string, sets map[string]string) *profiles.Profile {
	t.Helper()
	src, err := profiles.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for k, v := range sets {
		list = append(list, k+"="+v)
	}
	settings, err := src.Resolve(list)
	if err != nil {
		t.Fatal(err)
	}
	return settings[0].Profile
}

func decodeSend(t *testing.T, r *http.Request) *wire.Send {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	m := &wire.Send{}
	if err := wire.DecodeJSON(b, m); err != nil {
		t.Error(err)
	}
	return m
}

// TestBacklog stores what half of 40 friends have sent, 3 messages each: all
// arrive at the server, each sender's in order, and the ledger knows them.
func TestBacklog(t *testing.T) {
	var mu sync.Mutex
	last, seq := map[string]int{}, uint64(0)
	var r *run
	r = backlogRun(t, 40, 50, 3, func(w http.ResponseWriter, req *http.Request) {
		m := decodeSend(t, req)
		mu.Lock()
		defer mu.Unlock()
		seq++
		c, k, ok := r.msgs.parse([]byte(m.ClientMsgId))
		if !ok || m.To != r.pop.Conversation(c) || len(m.Body) != 20 {
			t.Errorf("message %+v", m)
		}
		who := req.Header.Get("Authorization")
		if before, sent := last[who]; sent && before >= k {
			t.Errorf("message %d of a sender came after its message %d", k, before)
		}
		last[who] = k
		answerStored(w, m, seq)
	})
	if err := r.backlog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seq != 60 || r.msgs.backlog != 60 {
		t.Errorf("%d messages stored, %d in the books; want 20 friends × 3", seq, r.msgs.backlog)
	}
	rep := r.ledger.Audit(nil)
	if rep.Accepted != 60 || rep.Sends != 60 || rep.Expected != 60 {
		t.Errorf("ledger %+v", rep)
	}
	if c := r.out.Health.Reconciliations; len(c) != 1 || c[0].Ours != 60 || !c[0].OK() {
		t.Errorf("reconciliations %+v; 60 were told to be stored for somebody offline", c)
	}
	inbox := r.pop.Inbox(0)
	for k, at := range r.msgs.intended[inbox] {
		if at <= 0 || r.msgs.sent[inbox][k].Load() != int64(at) {
			t.Errorf("message %d left at %v", k, at)
		}
	}
	r.msgs.begin(1 << 40)
	if at := r.msgs.intended[inbox][0]; at > r.clock.now() {
		t.Errorf("the begin of traffic moved a message of the backlog to %v", at)
	}
}

// TestBacklogFails ends when a message can't be stored.
func TestBacklogFails(t *testing.T) {
	r := backlogRun(t, 40, 100, 3, func(w http.ResponseWriter, req *http.Request) {
		if m := decodeSend(t, req); !strings.HasSuffix(m.ClientMsgId, ".5") {
			answerStored(w, m, 1)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"code":"not_friend","message":"no friend","retryable":false}`))
	})
	err := r.backlog(t.Context())
	if err == nil || !strings.Contains(err.Error(), "not_friend") || !strings.Contains(err.Error(), "of 120 messages") {
		t.Errorf("%v; want how many of 120 were stored, and why not all", err)
	}
}

// TestBacklogNotOffline is a server that takes a receiver for online who isn't:
// the two counts differ.
func TestBacklogNotOffline(t *testing.T) {
	r := backlogRun(t, 4, 100, 1, func(w http.ResponseWriter, req *http.Request) {
		m := decodeSend(t, req)
		b, _ := wire.EncodeJSON(&wire.SendResult{ClientMsgId: m.ClientMsgId, Conversation: m.To, Epoch: 1, Seq: 1})
		_, _ = w.Write(b)
	})
	if err := r.backlog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := r.out.Health.Reconciliations; len(c) != 1 || c[0].OK() {
		t.Errorf("reconciliations %+v", c)
	}
}
