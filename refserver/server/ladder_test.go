package server

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// rung is one way to keep a group's messages, and what it costs for a group of
// which some are online and some are not.
type rung struct {
	name    string
	args    []string
	offline bool // rows only for who is offline
	rows    bool // a row per member
	acked   bool // messages go when they are acked
}

var rungs = []rung{ //nolint:gochecknoglobals // a constant table
	{name: "g1", args: []string{"--group", "copies", "--store-for", "offline", "--remove", "on-pull"}, offline: true, rows: true},
	{name: "g1 roaming", args: []string{"--group", "copies", "--remove", "on-pull"}, rows: true},
	{name: "copies, acked", args: []string{"--group", "copies"}, rows: true, acked: true},
	{name: "g2", args: []string{"--group", "ids", "--store-for", "offline", "--remove", "on-pull"}, offline: true, rows: true},
	{name: "g3", args: []string{"--group", "ids"}, rows: true, acked: true},
	{name: "g4", acked: true},
}

// metric returns one value of /metrics.
func (n *node) metric(name string) uint64 {
	n.t.Helper()
	res, err := n.client.Get("http://" + n.addr + "/metrics")
	if err != nil {
		n.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				n.t.Fatal(err)
			}
			return uint64(v)
		}
	}
	n.t.Fatalf("no metric %s", name)
	return 0
}

// eventually waits until a metric has a value.
func (n *node) eventually(name string, want uint64) {
	n.t.Helper()
	deadline := time.Now().Add(patience)
	for n.metric(name) != want {
		if time.Now().After(deadline) {
			n.t.Fatalf("%s is %d, want %d", name, n.metric(name), want)
		}
	}
}

func wantSeqs(t *testing.T, what string, from uint64, messages []*wire.Deliver, to uint64) {
	t.Helper()
	if uint64(len(messages)) != to-from {
		t.Errorf("%s: %d messages, want those of (%d, %d]", what, len(messages), from, to)
		return
	}
	for i, m := range messages {
		if m.Seq != from+uint64(i)+1 || m.ClientMsgId != fmt.Sprintf("m%d", m.Seq) {
			t.Errorf("%s: got seq %d (%s) at %d after %d", what, m.Seq, m.ClientMsgId, i, from)
		}
	}
}

// Every way to keep a group's messages brings each member each of them, to who
// is online and, over WebSocket and HTTP, in every order, to who was not.
func TestGroupDesigns(t *testing.T) {
	const (
		members, online, sends = 8, 3, 10 // u0 sends, u1 and u2 are online too
		page                   = 4        // ⌈10/4⌉ = 3 requests
	)
	for _, g := range rungs {
		t.Run(g.name, func(t *testing.T) {
			n := serve(t, redistest.Start(t).URL(), strings.NewReader(""), g.args...)
			users := make([]string, members)
			for i := range users {
				users[i] = fmt.Sprintf("u%d", i)
			}
			n.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": users}, nil)
			n.call("POST", "/v1/admin/groups", testAdmin, map[string]any{"groups": []any{map[string]any{"id": "g1", "members": users}}}, nil)
			sender := n.dial("u0")
			live := []*peer{n.dial("u1"), n.dial("u2")}
			send := func(seq uint64, to ...*peer) {
				t.Helper()
				sender.send(&wire.Frame{Send: &wire.Send{To: "g:g1", ClientMsgId: fmt.Sprintf("m%d", seq), Body: "hi"}})
				if f := sender.next(); f.SendResult == nil || f.SendResult.Seq != seq {
					t.Fatalf("send %d: got %v", seq, f)
				}
				for _, p := range to {
					if f := p.next(); f.Deliver == nil || f.Deliver.Seq != seq {
						t.Fatalf("seq %d: got %v", seq, f)
					}
				}
			}
			for seq := uint64(1); seq <= sends; seq++ {
				send(seq, live...)
			}
			n.countsOf(g, members, online, sends)

			n.syncOverWebSocket(t, g, sends, page, func(p *peer) { send(sends+1, append(live, p)...) })
			n.syncOverHTTP(t, g, sends, page)
			n.newestFirst(t, sends, page)
			n.everything(t, "u6", sends+1)
			n.everything(t, "u7", sends+1)

			// What comes again: rows of who was online, where they are kept and
			// nothing was acked.
			var p wire.Sync
			n.call("POST", "/v1/sync", token(t, "u1"), &wire.SyncRequest{}, &p)
			if want := !g.offline; (len(p.Pages) > 0) != want {
				t.Errorf("u1 pulls %v, want something: %v", p.Pages, want)
			}
			p = wire.Sync{}
			n.call("POST", "/v1/sync", token(t, "u4"), &wire.SyncRequest{}, &p)
			for _, page := range p.Pages {
				wantSeqs(t, "u4 again", sends, page.Messages, sends+1) // what was sent since, and nothing else
			}
			if g.name == "g2" { // everybody has pulled: no body is left
				n.eventually("ackmark_bodies_freed_total", sends+1)
			}
		})
	}
}

// countsOf checks what the sends have cost.
func (n *node) countsOf(g rung, members, online, sends int) {
	n.t.Helper()
	perSend, lookups, presence := 0, 0, 0
	switch {
	case g.offline:
		perSend, lookups, presence = members-online, 1, 1
	case g.rows:
		perSend, lookups = members-1, 1
	}
	for name, want := range map[string]int{
		"ackmark_rows_written_total":     perSend * sends,
		"ackmark_member_lookups_total":   lookups * sends,
		"ackmark_presence_lookups_total": presence * sends,
	} {
		if got := n.metric(name); got != uint64(want) {
			n.t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

func (n *node) syncOverWebSocket(t *testing.T, g rung, sends, page uint64, sendOne func(*peer)) {
	t.Helper()
	p, held := n.dial("u3"), &wire.Resume{Conversation: "g:g1"}
	requests := uint64(0)
	for more := true; more; requests++ {
		r := &wire.SyncRequest{Limit: uint32(page)}
		if requests > 0 {
			r.After, r.Ack = []*wire.Resume{held}, g.acked
		}
		p.send(&wire.Frame{SyncRequest: r})
		s := p.next().Sync
		if s == nil || len(s.Pages) != 1 {
			t.Fatalf("got %v, want one page", s)
		}
		wantSeqs(t, "u3", held.Cursor, s.Pages[0].Messages, min(held.Cursor+page, sends))
		held.Cursor, held.Epoch, more = s.Pages[0].UpTo, s.Epoch, s.More
	}
	if want := (sends + page - 1) / page; requests != want {
		t.Errorf("%d syncs, want %d", requests, want)
	}
	p.settled()
	sendOne(p) // the page that reached the head has made it live
	if g.acked {
		p.send(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "g:g1", Epoch: held.Epoch, UpTo: sends + 1}})
		if f := p.next(); f.AckResult == nil || f.AckResult.Cursor != sends+1 {
			t.Errorf("got %v, want the cursor at %d", f, sends+1)
		}
	}
	p.sock.Close()
}

func (n *node) syncOverHTTP(t *testing.T, g rung, sends, page uint64) {
	t.Helper()
	held := &wire.Resume{Conversation: "g:g1"}
	for held.Cursor < sends {
		r := &wire.SyncRequest{Limit: uint32(page)}
		if held.Cursor > 0 {
			r.After, r.Ack = []*wire.Resume{held}, g.acked
		}
		if left := sends - held.Cursor; left < page {
			r.Limit = uint32(left) // the one that was sent since stays
		}
		var s wire.Sync
		if n.call("POST", "/v1/sync", token(t, "u4"), r, &s); len(s.Pages) != 1 || !s.More {
			t.Fatalf("got %v, want one page and more", &s)
		}
		wantSeqs(t, "u4", held.Cursor, s.Pages[0].Messages, min(held.Cursor+page, sends))
		held.Cursor, held.Epoch = s.Pages[0].UpTo, s.Epoch
	}
	if g.acked {
		n.call("POST", "/v1/ack", token(t, "u4"), &wire.Ack{Conversation: "g:g1", Epoch: held.Epoch, UpTo: sends}, nil)
	}
}

func (n *node) newestFirst(t *testing.T, sends, page uint64) {
	t.Helper()
	head := sends + 1
	for before, more := head+1, true; more; {
		var p wire.Page
		if n.call("POST", "/v1/pull", token(t, "u5"), &wire.PageRequest{Conversation: "g:g1", Newest: true, Before: before, Limit: uint32(page)}, &p); p.UpTo != before-1 {
			t.Fatalf("got %v, want the page below %d", &p, before)
		}
		from := before - 1 - min(page, before-1)
		if p.After != from || p.More != (from > 0) {
			t.Errorf("covers (%d, %d], more %v; want (%d, %d], %v", p.After, p.UpTo, p.More, from, before-1, from > 0)
		}
		wantSeqs(t, "u5", from, p.Messages, before-1)
		before, more = p.After+1, p.More
	}
}

func (n *node) everything(t *testing.T, user string, head uint64) {
	t.Helper()
	var p wire.Page
	if code := n.call("POST", "/v1/pull", token(t, user), &wire.PageRequest{Conversation: "g:g1", All: true}, &p); code != http.StatusOK || p.More {
		t.Fatalf("%s: %d, %v", user, code, &p)
	}
	wantSeqs(t, user, 0, p.Messages, head)
}
