package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// hello says hello over HTTP, again while the server asks for that.
func (n *node) hello(user string, resume ...*wire.Resume) *wire.Welcome {
	n.t.Helper()
	for range 100 {
		w := &wire.Welcome{}
		switch status := n.call("POST", "/v1/hello", token(n.t, user), &wire.Hello{Resume: resume}, w); status {
		case http.StatusOK:
			return w
		case http.StatusServiceUnavailable:
		default:
			n.t.Fatalf("hello: HTTP status %d", status)
		}
	}
	n.t.Fatal("hello is refused again and again")
	return nil
}

// A user without a group, whose inbox the server remembers from before Redis
// restarted: nothing else has told the server that an epoch is over.
func TestHelloAfterARestartOfRedis(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	n := serve(t, r.URL(), strings.NewReader(""))
	n.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": []string{"loner"}}, nil)
	before := n.hello("loner").Epoch
	r.Kill()
	r.Restart()
	w := n.hello("loner")
	if w.Epoch <= before || len(w.Conversations) != 1 || w.Conversations[0].Epoch != w.Epoch {
		t.Errorf("%v after epoch %d, want a later one throughout", w, before)
	}
}

// written is how many bytes of the append-only file Redis has written.
func written(t *testing.T, r *redistest.Redis) (bytes int) {
	t.Helper()
	info, err := r.Client().Info(t.Context(), "persistence").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "aof_current_size:")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes
}

// Redis loses its tail, other messages take its seqs, and Redis restarts once
// more. A client that slept through both holds seqs of the first epoch: all that
// took their place comes, and only the stored cursor counts.
func TestTwoRestartsOfRedis(t *testing.T) {
	const acked, survive, first, second = 2, 5, 9, 12
	for _, design := range []string{"cursor", "copies", "ids"} {
		t.Run(design, func(t *testing.T) {
			r := redistest.Start(t, redistest.AOF("always"))
			n := serve(t, r.URL(), strings.NewReader(""), "--group", design)
			n.call("POST", "/v1/admin/users", testAdmin, map[string]any{"users": []string{"ann", "bob"}}, nil)
			n.call("POST", "/v1/admin/groups", testAdmin, map[string]any{"groups": []any{map[string]any{"id": "g", "members": []string{"ann", "bob"}}}}, nil)
			send := func(id string) {
				var s wire.SendResult
				if status := n.call("POST", "/v1/send", token(t, "ann"), &wire.Send{To: "g:g", ClientMsgId: id, Body: "hi"}, &s); status != http.StatusOK {
					t.Fatalf("send %s: HTTP status %d", id, status)
				}
			}
			for i := range survive {
				send(fmt.Sprintf("a%d", i))
			}
			epoch := n.hello("bob").Epoch
			if status := n.call("POST", "/v1/ack", token(t, "bob"), &wire.Ack{Conversation: "g:g", Epoch: epoch, UpTo: acked}, &wire.AckResult{}); status != http.StatusOK {
				t.Fatalf("ack: HTTP status %d", status)
			}
			kept := written(t, r)
			for i := survive; i < first; i++ {
				send(fmt.Sprintf("a%d", i))
			}
			n.stop() // so that nothing is written any more
			n.wait()
			lost := written(t, r) - kept
			r.Kill()
			r.CutAOFBytes(lost)
			r.Restart()

			n = serve(t, r.URL(), strings.NewReader(""), "--group", design)
			for i := survive; i < second; i++ {
				send(fmt.Sprintf("b%d", i))
			}
			r.Kill()
			r.Restart()

			w := n.hello("bob", &wire.Resume{Conversation: "g:g", Epoch: epoch, Cursor: first})
			c := w.Conversations[0]
			if c.Conversation != "g:g" || c.Epoch == epoch || c.Cursor != acked || c.Head != second || c.Base != second {
				t.Fatalf("welcome %v, want cursor %d, head and base %d", c, acked, second)
			}
			// Also for who asks as if nothing had happened.
			for _, r := range []*wire.PageRequest{
				{Conversation: "g:g", Epoch: c.Epoch, After: c.Cursor, Limit: 100}, {Conversation: "g:g", Epoch: epoch, After: first, Limit: 100},
			} {
				p := &wire.Page{}
				n.call("POST", "/v1/pull", token(t, "bob"), r, p)
				if len(p.Messages) != second-acked || p.After != acked || p.UpTo != second {
					t.Fatalf("page %v, want %d to %d", p, acked+1, second)
				}
				for i, m := range p.Messages {
					want := fmt.Sprintf("a%d", acked+i)
					if acked+i >= survive {
						want = fmt.Sprintf("b%d", acked+i)
					}
					if m.ClientMsgId != want {
						t.Errorf("seq %d is %s, want %s", m.Seq, m.ClientMsgId, want)
					}
				}
			}
		})
	}
}
