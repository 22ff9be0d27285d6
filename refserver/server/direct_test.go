package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// inbox is bob's, with messages of some of his friends.
type inbox struct {
	*node
	friends, senders, each int
}

func serveInbox(t *testing.T, args ...string) *inbox {
	t.Helper()
	in := &inbox{serve(t, redistest.Start(t).URL(), strings.NewReader(""), args...), 7, 3, 4}
	users := []string{"bob"}
	for i := range in.friends {
		users = append(users, fmt.Sprintf("f%d", i))
	}
	in.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": users}, nil)
	in.call("POST", "/v1/admin/friends", testAdmin, map[string]any{"friends": []any{map[string]any{"user": "bob", "friends": users[1:]}}}, nil)
	for k := range in.each { // in turn, so that a sender's messages lie apart
		for f := range in.senders {
			var r wire.SendResult
			in.call("POST", "/v1/send", token(t, users[1+f]), &wire.Send{To: "u:bob", ClientMsgId: fmt.Sprintf("%d.%d", f, k), Body: strings.Repeat("x", 200)}, &r)
			if want := uint64(k*in.senders + f + 1); r.Seq != want || !r.Offline {
				t.Fatalf("got %v, want seq %d, offline", &r, want)
			}
		}
	}
	return in
}

func (in *inbox) pull(r *wire.PageRequest) (p *wire.Page, status int) {
	in.t.Helper()
	r.Conversation, p = "u:bob", &wire.Page{}
	status = in.call("POST", "/v1/pull", token(in.t, "bob"), r, p)
	return p, status
}

// counts returns how much waits by sender.
func (in *inbox) counts() map[string]uint64 {
	in.t.Helper()
	var c wire.Counts
	in.call("GET", "/v1/counts?senders=true", token(in.t, "bob"), nil, &c)
	by := map[string]uint64{}
	for _, n := range c.Counts {
		by[n.Sender] = n.Unread
	}
	return by
}

var onPull = []string{"--group", "copies", "--remove", "on-pull", "--sender-index"} //nolint:gochecknoglobals // constant

// d1: the friend list, then a request for each; d2: counts first, then only
// those that are opened. What is pulled is gone, and nothing else.
func TestPullBySender(t *testing.T) {
	in := serveInbox(t, onPull...)
	var list wire.Friends
	in.call("GET", "/v1/friends?limit=10000", token(t, "bob"), nil, &list)
	if len(list.Friends) != in.friends || list.More {
		t.Fatalf("got %v, want all %d friends", &list, in.friends)
	}
	if got := in.counts(); len(got) != in.senders || got["f0"] != uint64(in.each) {
		t.Errorf("counts %v, want %d of each of %d", got, in.each, in.senders)
	}
	for i, f := range list.Friends {
		p, _ := in.pull(&wire.PageRequest{Sender: f})
		want := 0
		if i < in.senders {
			want = in.each
		}
		if len(p.Messages) != want || p.More || p.Sender != f {
			t.Errorf("%s: %v, want %d messages", f, p, want)
		}
		for k, m := range p.Messages {
			if m.Sender != f || m.ClientMsgId != fmt.Sprintf("%d.%d", i, k) {
				t.Errorf("%s: got %s of %s at %d", f, m.ClientMsgId, m.Sender, k)
			}
		}
		if got := in.counts(); len(got) != max(0, in.senders-i-1) {
			t.Errorf("after %s: counts %v", f, got)
		}
	}
}

// d3 is one request, which a limit of bytes ends; d4 is a request per page.
func TestPullEverythingAndPages(t *testing.T) {
	in := serveInbox(t, append(onPull, "--max-response", "4KiB")...)
	if _, status := in.pull(&wire.PageRequest{All: true}); status != http.StatusOK {
		t.Errorf("status %d for %d messages of 200 bytes", status, in.senders*in.each)
	}
	if p, _ := in.pull(&wire.PageRequest{All: true}); len(p.Messages) != 0 {
		t.Errorf("pulled again: %v", p)
	}
	for i := range 30 { // about 240 bytes each: more than 4 KiB
		in.call("POST", "/v1/send", token(t, "f0"), &wire.Send{To: "u:bob", ClientMsgId: fmt.Sprint("more.", i), Body: strings.Repeat("x", 200)}, nil)
	}
	if _, status := in.pull(&wire.PageRequest{All: true}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d for 30 messages of 200 bytes, want 413", status)
	}
	requests, got, after := 0, 0, uint64(0)
	for more := true; more; requests++ { // nothing was removed by the one that was too large
		p, _ := in.pull(&wire.PageRequest{After: after, Limit: 8})
		got, after, more = got+len(p.Messages), p.UpTo, p.More
	}
	if requests != 4 || got != 30 { // ⌈30/8⌉
		t.Errorf("%d requests for %d messages, want 4 for 30", requests, got)
	}
}

// d7, newest first: the next page acks the one before by ids, and one last ack
// the last; n messages in pages of P are ⌈n/P⌉ + 1 requests.
func TestNewestFirstAckedByTheNextPage(t *testing.T) {
	in := serveInbox(t)
	const page = 5 // of 12: 12…8, 7…3, 2…1
	requests, before := 0, uint64(0)
	var ids []uint64
	var epoch uint64
	for more := true; more; requests++ {
		p, _ := in.pull(&wire.PageRequest{Newest: true, Before: before, Limit: page, Ids: ids})
		ids, epoch = ids[:0], p.Epoch
		for _, m := range p.Messages {
			ids = append(ids, m.Seq)
		}
		if len(ids) > 0 && before > 0 && ids[len(ids)-1] != before-1 {
			t.Errorf("%v doesn't end below %d", ids, before)
		}
		before, more = p.After+1, p.More
	}
	in.call("POST", "/v1/ack", token(t, "bob"), &wire.Ack{Conversation: "u:bob", Epoch: epoch, Ids: ids}, nil)
	if requests++; requests != 4 {
		t.Errorf("%d requests, want 4", requests)
	}
	if p, _ := in.pull(&wire.PageRequest{}); len(p.Messages) != 0 {
		t.Errorf("acked and pulled again: %v", p)
	}
	if got := in.metric("ackmark_ack_requests_total"); got != 3 {
		t.Errorf("%d ack requests, want one per page", got)
	}
	if code := in.call("GET", "/v1/counts?senders=true", token(t, "bob"), nil, nil); code != http.StatusUnprocessableEntity {
		t.Errorf("counts by sender without an index: %d, want 422", code)
	}
}

// Who is live gets a direct message without a row, where rows are for who isn't.
func TestDirectStoredForOffline(t *testing.T) {
	in := serveInbox(t, append(onPull, "--store-for", "offline")...)
	bob := in.dial("bob") // behind: 12 wait
	bob.send(&wire.Frame{PageRequest: &wire.PageRequest{Conversation: "u:bob", All: true}})
	if p := bob.next().Page; p == nil || len(p.Messages) != in.senders*in.each {
		t.Fatalf("got %v, want everything", p)
	}
	var r wire.SendResult
	in.call("POST", "/v1/send", token(t, "f5"), &wire.Send{To: "u:bob", ClientMsgId: "live", Body: "hi"}, &r)
	if f := bob.next(); f.Deliver == nil || f.Deliver.ClientMsgId != "live" || r.Offline {
		t.Errorf("got %v and %v, want it pushed", f, &r)
	}
	if got := in.counts(); len(got) != 0 {
		t.Errorf("counts %v, want nothing stored", got)
	}
	bob.sock.Close()
}

func TestDedupOff(t *testing.T) {
	in := serveInbox(t, "--dedup", "off")
	var first, second wire.SendResult
	for _, r := range []*wire.SendResult{&first, &second} {
		in.call("POST", "/v1/send", token(t, "f0"), &wire.Send{To: "u:bob", ClientMsgId: "twice"}, r)
	}
	if second.Duplicate || second.Seq != first.Seq+1 {
		t.Errorf("got %v after %v, want a message of its own", &second, &first)
	}
}
