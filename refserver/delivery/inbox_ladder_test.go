package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// rung is one way of the ladder to get what waits: how a client logs in, with
// formulas for what that costs.
type rung struct {
	name     string
	cfg      delivery.Config
	sync     func(c *caller)
	requests int
	commands map[string]uint64 // Redis commands of the login, by name
}

// caller is bob's client, over WebSocket or HTTP; it counts its requests.
type caller struct {
	*world
	phone    *phone // nil over HTTP
	newest   bool
	requests int
	got      []uint64
}

const me = "u:bob"

func (c *caller) page(r *wire.PageRequest) *wire.Page {
	c.t.Helper()
	c.requests++
	r.Conversation, r.Newest = me, c.newest
	var p *wire.Page
	if c.phone != nil {
		p = c.phone.request(&wire.Frame{PageRequest: r}, nil).Page
	} else {
		var err error
		p, err = c.svc.Pull(context.Background(), "bob", r)
		c.must(err)
	}
	for _, m := range p.Messages {
		c.got = append(c.got, m.Seq)
	}
	return p
}

func (c *caller) friends() []string {
	c.t.Helper()
	c.requests++
	r := &wire.FriendsRequest{Limit: 10_000}
	if c.phone != nil {
		return c.phone.request(&wire.Frame{FriendsRequest: r}, nil).Friends.Friends
	}
	f, err := c.svc.Friends(context.Background(), "bob", r)
	c.must(err)
	return f.Friends
}

func (c *caller) counts() (senders []string) {
	c.t.Helper()
	c.requests++
	r := &wire.CountsRequest{Senders: true}
	var counts *wire.Counts
	if c.phone != nil {
		counts = c.phone.request(&wire.Frame{CountsRequest: r}, nil).Counts
	} else {
		var err error
		counts, err = c.svc.Counts(context.Background(), "bob", r)
		c.must(err)
	}
	for _, n := range counts.Counts {
		senders = append(senders, n.Sender)
	}
	return senders
}

func (c *caller) ack(ids []uint64, upTo uint64) {
	c.t.Helper()
	c.requests++
	a := &wire.Ack{Ref: 9, Conversation: me, Epoch: c.store.Epoch(), Ids: ids, UpTo: upTo}
	if c.phone != nil {
		c.phone.request(&wire.Frame{Ack: a}, nil)
		return
	}
	_, err := c.svc.Ack(context.Background(), "bob", a)
	c.must(err)
}

// pages pulls page by page; each and between ack, with what a page has brought.
func (c *caller) pages(limit int, each func(*wire.Page), next func(*wire.PageRequest, *wire.Page)) (last *wire.Page) {
	r := &wire.PageRequest{Limit: uint32(limit)}
	for {
		p := c.page(r)
		if each != nil {
			each(p)
		}
		if !p.More {
			return p
		}
		r = &wire.PageRequest{Limit: uint32(limit)}
		if c.newest {
			r.Before = p.After + 1
		} else {
			r.After = p.UpTo
		}
		if next != nil {
			next(r, p)
		}
	}
}

func ids(p *wire.Page) (seqs []uint64) {
	for _, m := range p.Messages {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}

// The requests of a login on each rung are those of the formulas, in both page
// orders and over both transports, and so are the Redis commands; afterwards
// nothing is stored, and everything has come once.
func TestRequestsPerLogin(t *testing.T) {
	const (
		friends = 300
		sharing = 10 // one friend in ten has sent
		each    = 2  // messages
		n       = friends / sharing * each
		limit   = 25 // messages in a page
		pages   = (n + limit - 1) / limit
	)
	onPull := delivery.Config{Remove: delivery.RemoveOnPull, StoreFor: delivery.StoreForOffline, SenderIndex: true}
	onAck := delivery.Config{}
	rungs := []rung{
		{"d1", onPull, func(c *caller) {
			for _, friend := range c.friends() {
				c.page(&wire.PageRequest{Sender: friend})
			}
		}, 1 + friends, map[string]uint64{"friends": 1, "take": friends}},
		{"d2", onPull, func(c *caller) {
			for _, sender := range c.counts() {
				c.page(&wire.PageRequest{Sender: sender})
			}
		}, 1 + friends/sharing, map[string]uint64{"counts": 1, "take": friends / sharing}},
		{"d3", onPull, func(c *caller) { c.page(&wire.PageRequest{All: true}) }, 1, map[string]uint64{"take": 1}},
		{"d4", onPull, func(c *caller) { c.pages(limit, nil, nil) }, pages, map[string]uint64{"take": pages}},
		{"d5", onAck, func(c *caller) {
			c.pages(limit, func(p *wire.Page) {
				for _, id := range ids(p) {
					c.ack([]uint64{id}, 0)
				}
			}, nil)
		}, pages + n, map[string]uint64{"read": pages, "remove": n}},
		{"d6", onAck, func(c *caller) {
			c.pages(limit, func(p *wire.Page) { c.ack(ids(p), 0) }, nil)
		}, 2 * pages, map[string]uint64{"read": pages, "remove": pages}},
		{"d7", onAck, func(c *caller) {
			last := c.pages(limit, nil, func(r *wire.PageRequest, p *wire.Page) {
				if c.newest {
					r.Ids = ids(p)
				} else {
					r.Ack = true
				}
			})
			c.ack(ids(last), 0)
		}, pages + 1, map[string]uint64{"read": pages, "remove": pages}},
	}
	redis := redistest.Start(t)
	for _, r := range rungs {
		for _, newest := range []bool{false, true} {
			for _, transport := range []string{"websocket", "http"} {
				name := fmt.Sprintf("%s newest %v %s", r.name, newest, transport)
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, redis.URL(), fmt.Sprintf("%s-%v-%s", r.name, newest, transport), r.cfg)
					defer w.crash()
					w.backlog(friends, sharing, each)
					c := &caller{world: w, newest: newest}
					if transport == "websocket" {
						c.phone = w.login("bob", &wire.Hello{Live: true})
						defer c.phone.end()
						if st := c.phone.welcome(); st.Head != n || st.Cursor != 0 {
							t.Fatalf("welcome %v", st)
						}
					}
					before := w.store.Stats()
					r.sync(c)
					after := w.store.Stats()
					if c.requests != r.requests {
						t.Errorf("%d requests, want %d", c.requests, r.requests)
					}
					for name := range after.Commands {
						got, want := after.Commands[name]-before.Commands[name], r.commands[name]
						joined := r.name == "d7" && name == "remove" && c.phone != nil // acks of a moment share a command
						if got != want && !(joined && 0 < got && got < want) {
							t.Errorf("%d %s commands, want %d", got, name, want)
						}
					}
					slices.Sort(c.got)
					if want := seqsTo(n); !slices.Equal(c.got, want) {
						t.Errorf("got %d messages, want %d, each once", len(c.got), n)
					}
					if rows := w.rows(me); len(rows) != 0 {
						t.Errorf("%d rows are left", len(rows))
					}
				})
			}
		}
	}
}

func seqsTo(n uint64) (seqs []uint64) {
	for seq := uint64(1); seq <= n; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs
}

// backlog gives bob friends, of which one in sharing has sent each messages.
func (w *world) backlog(friends, sharing, each int) {
	w.t.Helper()
	w.users("bob")
	names := make([]string, friends)
	for i := range names {
		names[i] = fmt.Sprintf("friend%05d", i)
	}
	_, err := w.svc.AddFriends(context.Background(), "bob", names)
	w.must(err)
	before := w.store.Stats().Commands["append"]
	for k := range each {
		for i := 0; i < friends; i += sharing {
			if got := w.send(names[i], me, fmt.Sprint(k)); !got.Offline {
				w.t.Fatalf("%v, want stored for an offline receiver", got)
			}
		}
	}
	if got, want := w.store.Stats().Commands["append"]-before, uint64(friends/sharing*each); got != want {
		w.t.Fatalf("%d commands for %d sends", got, want)
	}
}

// A live receiver costs one command a send, a row and a removal less.
func TestPushedWithoutARow(t *testing.T) {
	redis := redistest.Start(t)
	w := worldOf(t, redis.URL(), delivery.Config{Remove: delivery.RemoveOnPull, StoreFor: delivery.StoreForOffline, SenderIndex: true})
	w.users("ann", "bob")
	bob := w.login("bob", &wire.Hello{})
	defer bob.end()
	bob.welcome()
	before := w.store.Stats()
	const n = 50
	for i := range uint64(n) {
		if got := w.send("ann", me, fmt.Sprint(i)); got.Offline || got.Seq != i+1 {
			t.Fatalf("%v", got)
		}
		if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != i+1 {
			t.Fatalf("got %v", f)
		}
	}
	after := w.store.Stats()
	for name := range after.Commands {
		want := uint64(0)
		if name == "append" {
			want = n
		}
		if got := after.Commands[name] - before.Commands[name]; got != want {
			t.Errorf("%d %s commands, want %d", got, name, want)
		}
	}
	if rows := w.rows(me); len(rows) != 0 {
		t.Errorf("%v stored", rows)
	}
}
