package delivery

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// login connects with a hello of the test's own.
func (r *rig) login(t testing.TB, user string, hello *wire.Hello) *device {
	t.Helper()
	server, client := net.Pipe()
	d := &device{t: t, user: user, conn: r.hub.NewConn(user, server, push.Binary), sock: client, frames: make(chan *wire.Frame, 8192)}
	go d.read()
	t.Cleanup(d.end)
	session, err := r.Connect(context.Background(), d.conn, hello)
	if err != nil {
		t.Fatal(err)
	}
	d.session = session
	return d
}

// page asks for a page over WebSocket.
func (d *device) page(r *wire.PageRequest) *wire.Page {
	d.t.Helper()
	d.handle(&wire.Frame{PageRequest: r})
	f := d.next()
	if f.Page == nil {
		d.t.Fatalf("got %v, want a page", f)
	}
	return f.Page
}

func pageSeqs(p *wire.Page) (seqs []uint64) {
	for _, m := range p.Messages {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}

// direct sends n messages to bob, from the senders in turn.
func direct(t testing.TB, r *rig, n int, senders ...string) {
	t.Helper()
	for i := range n {
		if _, err := r.Send(t.Context(), senders[i%len(senders)], &wire.Send{To: "u:bob", ClientMsgId: fmt.Sprint("d", i), Body: "body"}); err != nil {
			t.Fatal(err)
		}
	}
}

// rows are the seqs that are stored for bob.
func (r *rig) inboxRows() (seqs []uint64) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	for _, e := range r.store.conv("u:bob").entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func upTo(n uint64) (seqs []uint64) {
	for seq := uint64(1); seq <= n; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs
}

// ask pulls over WebSocket or HTTP.
type ask func(*wire.PageRequest) *wire.Page

func (r *rig) asks(t testing.TB) map[string]func() ask {
	return map[string]func() ask{
		"websocket": func() ask {
			d := r.login(t, "bob", &wire.Hello{Live: true})
			d.welcome("u:bob")
			return d.page
		},
		"http": func() ask {
			return func(q *wire.PageRequest) *wire.Page {
				p, err := r.Pull(t.Context(), "bob", q)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
		},
	}
}

// n messages come in ⌈n/P⌉ pages, oldest or newest first, whose ranges follow
// each other without a gap.
func TestInboxPagesInBothOrders(t *testing.T) {
	for _, remove := range []Remove{RemoveOnAck, RemoveOnPull} {
		for _, newest := range []bool{false, true} {
			for _, n := range []int{0, 1, 5, 10, 23} {
				for _, over := range []string{"websocket", "http"} {
					t.Run(fmt.Sprint(remove, " newest ", newest, " ", n, " ", over), func(t *testing.T) {
						r := newRig(t, Config{Remove: remove}, push.Config{})
						direct(t, r, n, "ann")
						const limit = 5
						pull, got, pages, edge := r.asks(t)[over](), []uint64(nil), 0, uint64(0)
						for {
							q := &wire.PageRequest{Conversation: "u:bob", Epoch: 1, Limit: limit, Newest: newest}
							if newest {
								q.Before = edge
							} else {
								q.After = edge
							}
							p := pull(q)
							pages++
							seqs := pageSeqs(p)
							if newest {
								if edge != 0 && p.UpTo != edge-1 || edge == 0 && p.UpTo != uint64(n) {
									t.Fatalf("page (%d, %d] before %d", p.After, p.UpTo, edge)
								}
								got, edge = append(seqs, got...), p.After+1
							} else {
								if p.After != edge {
									t.Fatalf("page (%d, %d] after %d", p.After, p.UpTo, edge)
								}
								got, edge = append(got, seqs...), p.UpTo
							}
							if !p.More {
								break
							}
						}
						if !slices.Equal(got, upTo(uint64(n))) {
							t.Errorf("got %v, want 1 to %d", got, n)
						}
						if want := max(1, (n+limit-1)/limit); pages != want {
							t.Errorf("%d pages, want %d", pages, want)
						}
						left := upTo(uint64(n))
						if remove == RemoveOnPull {
							left = nil
						}
						if rows := r.inboxRows(); !slices.Equal(rows, left) {
							t.Errorf("stored %v, want %v", rows, left)
						}
					})
				}
			}
		}
	}
}

// d1 and d2: one request per friend takes that friend's messages, whatever
// their number, and counts tell who has sent.
func TestPullPerSender(t *testing.T) {
	for _, over := range []string{"websocket", "http"} {
		t.Run(over, func(t *testing.T) {
			r := newRig(t, Config{Remove: RemoveOnPull, SenderIndex: true}, push.Config{})
			direct(t, r, 9, "ann", "zoe", "eve")
			pull := r.asks(t)[over]()
			counts, err := r.Counts(t.Context(), "bob", &wire.CountsRequest{Ref: 7, Senders: true})
			if err != nil || counts.Ref != 7 || len(counts.Counts) != 3 {
				t.Fatalf("%v, %v", counts, err)
			}
			for i, sender := range []string{"ann", "eve", "zoe"} {
				if c := counts.Counts[i]; c.Sender != sender || c.Unread != 3 || c.Conversation != "u:bob" || c.Head != 9 {
					t.Errorf("count %v, want 3 of %s", c, sender)
				}
			}
			if r.store.count("login") > 1 { // the login itself
				t.Error("counts by sender read the groups")
			}
			for _, step := range []struct {
				sender string
				want   []uint64
			}{{"zoe", []uint64{2, 5, 8}}, {"nobody", nil}, {"ann", []uint64{1, 4, 7}}} {
				p := pull(&wire.PageRequest{Conversation: "u:bob", Epoch: 1, Sender: step.sender})
				if got := pageSeqs(p); !slices.Equal(got, step.want) || p.More || p.Sender != step.sender || p.After != 0 || p.UpTo != 9 {
					t.Errorf("%s: %v more %v (%d, %d]", step.sender, got, p.More, p.After, p.UpTo)
				}
			}
			if rows := r.inboxRows(); !slices.Equal(rows, []uint64{3, 6, 9}) {
				t.Errorf("stored %v, want eve's", rows)
			}
		})
	}
}

// d3: everything in one answer, unless it is too large; then all of it stays.
func TestPullAll(t *testing.T) {
	for _, over := range []string{"websocket", "http"} {
		r := newRig(t, Config{Remove: RemoveOnPull, Page: 2, MaxPage: 3, MaxResponse: 10_000}, push.Config{})
		direct(t, r, 50, "ann")
		pull := r.asks(t)[over]()
		p := pull(&wire.PageRequest{Conversation: "u:bob", Epoch: 1, All: true})
		if !slices.Equal(pageSeqs(p), upTo(50)) || p.More || p.UpTo != 50 {
			t.Errorf("%s: %d messages, more %v", over, len(p.Messages), p.More)
		}
	}
	r := newRig(t, Config{Remove: RemoveOnPull, MaxResponse: 500}, push.Config{})
	direct(t, r, 50, "ann")
	_, err := r.Pull(t.Context(), "bob", &wire.PageRequest{Conversation: "u:bob", All: true})
	wantFault(t, err, wire.CodeTooLarge)
	if rows := r.inboxRows(); len(rows) != 50 {
		t.Errorf("%d stored after a refusal, want 50", len(rows))
	}
}

func TestBadPageRequests(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	mustAdd(t, r, "1", "bob")
	for _, c := range []struct {
		name string
		q    *wire.PageRequest
		code wire.Code
	}{
		{"sender without an index", &wire.PageRequest{Conversation: "u:bob", Sender: "ann"}, wire.CodeUnsupported},
		{"sender of a group", &wire.PageRequest{Conversation: "g:1", Sender: "ann"}, wire.CodeBadRequest},
		{"before, oldest first", &wire.PageRequest{Conversation: "u:bob", Before: 3}, wire.CodeBadRequest},
		{"two acks", &wire.PageRequest{Conversation: "u:bob", After: 1, Ack: true, Ids: []uint64{1}}, wire.CodeBadRequest},
		{"ids in a group", &wire.PageRequest{Conversation: "g:1", Ids: []uint64{1}}, wire.CodeUnsupported},
		{"too many ids", &wire.PageRequest{Conversation: "u:bob", Ids: make([]uint64, maxAckIDs+1)}, wire.CodeTooLarge},
		{"another's inbox", &wire.PageRequest{Conversation: "u:ann"}, wire.CodeNotMember},
	} {
		_, err := r.Pull(t.Context(), "bob", c.q)
		if f := wire.AsFault(err); f == nil || f.Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
		d := r.connect(t, "bob")
		d.welcome("u:bob")
		c.q.Ref = 5
		d.handle(&wire.Frame{PageRequest: c.q})
		if e := d.fault(c.code); e.Ref != 5 {
			t.Errorf("%s: ref %d", c.name, e.Ref)
		}
	}
	_, err := r.Counts(t.Context(), "bob", &wire.CountsRequest{Senders: true})
	wantFault(t, err, wire.CodeUnsupported)
}
