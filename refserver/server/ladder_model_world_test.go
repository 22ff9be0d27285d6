package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// ladder is one random history: a server on a real Redis that dies and comes
// back, its users, and a model of what was sent and is stored.
type ladder struct {
	rt    *rapid.T
	rung  modelRung
	cfg   Config
	redis *redistest.Redis
	srv   *Server
	http  *http.Client
	total map[string]uint64 // of all histories of the rung

	users []*modelUser
	convs map[string]*modelConv

	storming bool // sends are under way that aren't answered
}

// modelConv is what was sent to a conversation.
type modelConv struct {
	name    string
	members []string
	head    uint64
	sent    map[string]*modelMessage // "SENDER ID" → message
	bySeq   map[uint64]*modelMessage
}

type modelMessage struct {
	key, sender string
	seq         uint64
	time        int64 // ms; 0 until somebody got it
}

func newLadder(rt *rapid.T, g modelRung, redis *redistest.Redis, namespace string) *ladder {
	cfg := DefaultConfig()
	cfg.Listen, cfg.Redis, cfg.InsecureDev, cfg.Namespace = "127.0.0.1:0", redis.URL(), true, namespace
	cfg.Group, cfg.Cursor, cfg.StoreFor, cfg.Remove, cfg.SenderIndex = g.group, g.cursor, g.storeFor, g.remove, true
	cfg.AckJoin, cfg.Window, cfg.Retransmit = 100*time.Microsecond, 4, 0
	if g.group == delivery.GroupCursor && !g.times() && !g.direct && oneIn(rt, 4, "limited") {
		cfg.Retention = 8
	}
	w := &ladder{rt: rt, rung: g, cfg: cfg, redis: redis, convs: map[string]*modelConv{},
		http: &http.Client{Timeout: patience, Transport: &http.Transport{}}}
	w.start()
	names := []string{"ann", "bob", "cem"}
	for _, name := range names {
		u := &modelUser{w: w, name: name, saved: map[string]*modelSaved{}, rows: map[string]map[uint64]rowState{}}
		w.users = append(w.users, u)
		w.converse(wire.Inbox(name), []string{name})
	}
	ctx := context.Background()
	w.must(w.srv.svc.CreateUsers(ctx, names))
	for _, name := range names {
		_, err := w.srv.svc.AddFriends(ctx, name, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name }))
		w.must(err)
	}
	if !g.direct {
		for group, members := range map[string][]string{"all": names, "two": names[:2]} {
			_, err := w.srv.svc.AddMembers(ctx, group, members)
			w.must(err)
			w.converse(wire.Group(group), members)
		}
	}
	return w
}

func (w *ladder) converse(name string, members []string) {
	w.convs[name] = &modelConv{name: name, members: members, sent: map[string]*modelMessage{}, bySeq: map[uint64]*modelMessage{}}
	for _, u := range w.users {
		if slices.Contains(members, u.name) {
			u.saved[name], u.rows[name] = newSaved(), map[uint64]rowState{}
		}
	}
}

func (w *ladder) must(err error) {
	if err != nil {
		w.rt.Helper()
		w.rt.Fatal(err)
	}
}

// eventually waits for what another goroutine does.
func (w *ladder) eventually(what string, ok func() bool) {
	w.agrees(func() string {
		if ok() {
			return ""
		}
		return what
	})
}

func (w *ladder) user(name string) *modelUser {
	i := slices.IndexFunc(w.users, func(u *modelUser) bool { return u.name == name })
	return w.users[i]
}

func (w *ladder) anyone(rt *rapid.T, what string) *modelUser {
	return w.user(pick(rt, []string{"ann", "bob", "cem"}, what))
}

// start starts a server that remembers nothing.
func (w *ladder) start() {
	s, err := New(w.cfg, slog.New(slog.DiscardHandler))
	w.must(err)
	w.must(s.Start(context.Background()))
	w.srv = s
}

// stop ends the server: in good order, or as a crash does, with nothing flushed.
func (w *ladder) stop(crash bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if crash {
		cancel()
	}
	if err := w.srv.Stop(ctx); err != nil && !crash {
		w.rt.Fatal(err)
	}
	w.http.CloseIdleConnections()
	w.tally()
	w.srv = nil
}

// tally adds up what a server has done, as it ends.
func (w *ladder) tally() {
	d, p, st := w.srv.svc.Stats(), w.srv.hub.Stats(), w.srv.store.Stats()
	for name, n := range map[string]uint64{
		"servers": 1, "sends": d.SendsStored, "resends": d.SendsDuplicate, "pages": d.Pages, "paged": d.Paged, "syncs": d.Syncs,
		"acks": d.AckRequests, "pushed": p.Pushed, "pull-now": p.PullNow, "recovered": st.Recovered, "freed": st.BodiesFreed,
	} {
		w.total[name] += n
	}
}

// end lets nothing of a history behind.
func (w *ladder) end() {
	for _, u := range w.users {
		if u.phone != nil {
			u.phone.sock.Close()
		}
	}
	if w.srv != nil {
		w.tally()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = w.srv.Stop(ctx)
	}
	w.http.CloseIdleConnections()
}

// post makes one request over HTTP.
func (w *ladder) post(user, path string, in, out any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	method := http.MethodPost
	if in == nil {
		method, b = http.MethodGet, nil
	}
	req, err := http.NewRequest(method, "http://"+w.srv.Addr()+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.token(user))
	res, err := w.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, res.StatusCode, answer)
	}
	return json.Unmarshal(answer, out)
}

func (w *ladder) call(user, path string, in, out any) {
	w.rt.Helper()
	w.must(w.post(user, path, in, out))
}

// settle waits until what was sent to a conversation is with everybody online:
// the room's lock is held while it is pushed, and a hello looks past it.
func (w *ladder) settle(c *modelConv) {
	user := c.members[0]
	w.eventually(c.name+" is dispatched", func() bool {
		h, err := w.srv.svc.Hello(context.Background(), user, &wire.Hello{})
		w.must(err)
		for _, state := range h.Conversations {
			if state.Conversation == c.name {
				return state.Head >= c.head
			}
		}
		return false
	})
	for _, u := range w.users {
		if u.phone != nil {
			u.phone.settle()
		}
	}
}
