package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// g4t end to end: of messages of one millisecond a member has acked the first.
// When it comes back, the others are lost to it, or all of them come again; on
// the same server with seqs as cursors neither happens.
func TestTimeCursor(t *testing.T) {
	for _, c := range []struct {
		cursor string
		first  func(from, to uint64) uint64 // first seq that comes, for ties from … to
	}{
		{"time-after", func(_, to uint64) uint64 { return to + 1 }},
		{"time-from", func(from, _ uint64) uint64 { return from }},
		{"seq", func(from, _ uint64) uint64 { return from + 1 }},
	} {
		t.Run(c.cursor, func(t *testing.T) {
			n := serve(t, redistest.Start(t).URL(), strings.NewReader(""), "--cursor", c.cursor)
			n.populate()
			from, to, head := n.ties(t)
			var p wire.Page
			n.call("POST", "/v1/ack", token(t, "bob"), &wire.Ack{Conversation: "g:g1", Epoch: n.epoch(t), UpTo: from}, nil)
			var w wire.Welcome
			if code := n.call("POST", "/v1/hello", token(t, "bob"), &wire.Hello{}, &w); code != http.StatusOK {
				t.Fatal(code)
			}
			want := c.first(from, to)
			for _, conv := range w.Conversations {
				if conv.Conversation == "g:g1" && conv.Cursor != want-1 {
					t.Errorf("ties %d to %d, %d is acked: cursor %d, want %d", from, to, from, conv.Cursor, want-1)
				}
			}
			n.call("POST", "/v1/pull", token(t, "bob"), &wire.PageRequest{Conversation: "g:g1", After: from, Limit: 1000}, &p)
			if len(p.Messages) == 0 || p.Messages[0].Seq != want || p.After != want-1 || p.UpTo != head {
				t.Errorf("ties %d to %d: the page after %d covers (%d, %d], want (%d, %d]", from, to, from, p.After, p.UpTo, want-1, head)
			}
		})
	}
}

func (n *node) epoch(t *testing.T) uint64 {
	t.Helper()
	var w wire.Welcome
	n.call("POST", "/v1/hello", token(t, "bob"), &wire.Hello{}, &w)
	return w.Epoch
}

// ties sends until some messages in the middle have the same time, and returns
// the first and the last of these.
func (n *node) ties(t *testing.T) (from, to, head uint64) {
	t.Helper()
	for round := range 100 {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				n.call("POST", "/v1/send", token(t, "alice"), &wire.Send{To: "g:g1", ClientMsgId: fmt.Sprintf("m%d.%d", round, i), Body: "x"}, nil)
			})
		}
		wg.Wait()
		head += 20
		var p wire.Page
		n.call("POST", "/v1/pull", token(t, "bob"), &wire.PageRequest{Conversation: "g:g1", After: head - 20, Limit: 1000}, &p)
		for i := 1; i < len(p.Messages); i++ {
			a, b := p.Messages[i-1], p.Messages[i]
			switch {
			case a.TimeMs == b.TimeMs && from > 0:
				to = b.Seq
			case a.TimeMs == b.TimeMs && i > 1 && p.Messages[i-2].TimeMs != a.TimeMs:
				from, to = a.Seq, b.Seq
			case from > 0:
				return from, to, head // what follows has another time
			}
		}
		from, to = 0, 0
	}
	t.Fatal("no two messages had the same time")
	return 0, 0, 0
}
