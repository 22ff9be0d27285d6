package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// The traps of the field, each with the public report it is from, in every
// design that acks: a group's log, copies, ids, and the inbox.

// trap is bob, who gets messages 1, 2, 3 … of one conversation from ann.
type trap struct {
	*storm
	to string
}

func eachAckingDesign(t *testing.T, change func(*Config), run func(*testing.T, *trap)) {
	redis := redistest.Start(t)
	for _, to := range []string{"u:bob", "g:1"} {
		for _, g := range groups {
			if to == "u:bob" && g != delivery.GroupCursor {
				continue // an inbox is the same with all of them
			}
			t.Run(fmt.Sprint(to, " ", g), func(t *testing.T) {
				s := startStorm(t, redis, func(c *Config) {
					c.Group, c.Namespace = g, to[:1]+string(g)
					if change != nil {
						change(c)
					}
				})
				s.people()
				run(t, &trap{s, to})
			})
		}
	}
}

func (s *storm) people() {
	s.t.Helper()
	if err := s.svc.CreateUsers(s.t.Context(), []string{"ann", "bob"}); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.svc.AddMembers(s.t.Context(), "1", []string{"ann", "bob"}); err != nil {
		s.t.Fatal(err)
	}
}

func (tr *trap) send(from, to uint64) {
	tr.t.Helper()
	for seq := from; seq <= to; seq++ {
		r, err := tr.svc.Send(context.Background(), "ann", &wire.Send{To: tr.to, ClientMsgId: fmt.Sprintf("m%d", seq)})
		if err != nil || r.Seq != seq {
			tr.t.Fatalf("send %d: %v, %v", seq, r, err)
		}
	}
}

func (tr *trap) page(m *member, r *wire.PageRequest) *wire.Page {
	tr.t.Helper()
	r.Conversation = tr.to
	m.write(&wire.Frame{PageRequest: r})
	f := m.next()
	if f.Page == nil {
		tr.t.Fatalf("got %v, want a page", f)
	}
	return f.Page
}

func (tr *trap) ack(m *member, upTo uint64) {
	tr.t.Helper()
	m.write(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: tr.to, Epoch: tr.store.Epoch(), UpTo: upTo}})
	if f := m.next(); f.AckResult == nil || f.AckResult.Cursor != upTo {
		tr.t.Fatalf("got %v, want the cursor at %d", f, upTo)
	}
}

// waits is what bob gets after a login that says nothing of what he holds.
func (tr *trap) waits(after, head uint64) {
	tr.t.Helper()
	h, err := tr.svc.Hello(tr.t.Context(), "bob", &wire.Hello{})
	if err != nil {
		tr.t.Fatal(err)
	}
	for _, c := range h.Conversations {
		if c.Conversation == tr.to && (c.Cursor != after || c.Head != head) {
			tr.t.Errorf("%v, want cursor %d, head %d", c, after, head)
		}
	}
	wantSeqs(tr.t, "after login", after, tr.page(tr.connect("bob"), &wire.PageRequest{After: after}).Messages, head)
}

// An ack that was lost on its way must not make anything "already acked": the
// message comes again, is acked again, and then it is gone (apache/pulsar#7683).
func TestAckThatGotLostIsTakenAgain(t *testing.T) {
	eachAckingDesign(t, func(c *Config) { c.AckFlush = 5 * time.Second }, func(t *testing.T, tr *trap) {
		bob := tr.connect("bob")
		tr.send(1, 3)
		for seq := uint64(1); seq <= 3; seq++ {
			if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != seq {
				t.Fatalf("got %v, want %d", f, seq)
			}
		}
		tr.ack(bob, 3) // noted here, and not stored
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = tr.Server.Stop(ctx) // a crash
		group, namespace := tr.cfg.Group, tr.cfg.Namespace
		tr.Server = nil
		tr.storm = startStorm(t, tr.redis, func(c *Config) { c.Group, c.Namespace = group, namespace })
		bob = tr.connect("bob")
		wantSeqs(t, "redelivered", 0, tr.page(bob, &wire.PageRequest{}).Messages, 3)
		tr.ack(bob, 3)
		tr.send(4, 4)
		if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != 4 {
			t.Fatalf("got %v, want 4", f)
		}
		tr.waits(3, 4)
	})
}

// A cumulative ack in the middle of a batch: delivery goes on right behind it
// (apache/pulsar#4931).
func TestAckInTheMiddleOfABatch(t *testing.T) {
	eachAckingDesign(t, nil, func(t *testing.T, tr *trap) {
		tr.send(1, 9)
		bob := tr.connect("bob")
		wantSeqs(t, "page", 0, tr.page(bob, &wire.PageRequest{Limit: 6}).Messages, 6)
		tr.ack(bob, 4)
		tr.waits(4, 9)
	})
}

// The newest page comes first, and a crash right behind it drops nothing older:
// what is acked then is nothing at all, or what nothing older is missing of
// (tinode/tindroid#158).
func TestNewestPageDropsNothingOlder(t *testing.T) {
	eachAckingDesign(t, nil, func(t *testing.T, tr *trap) {
		tr.send(1, 9)
		bob := tr.connect("bob")
		p := tr.page(bob, &wire.PageRequest{Newest: true, Limit: 4})
		wantSeqs(t, "newest page", 5, p.Messages, 9)
		if !p.More || p.After != 5 {
			t.Errorf("got %v, want more below 6", p)
		}
		tr.waits(0, 9) // the client has crashed
		bob = tr.connect("bob")
		for before := uint64(0); ; before = p.After + 1 {
			if p = tr.page(bob, &wire.PageRequest{Newest: true, Before: before, Limit: 4}); !p.More {
				break
			}
		}
		tr.ack(bob, 9) // nothing older is missing
		tr.waits(9, 9)
	})
}

// The window is full, messages wait in the store, are pulled, and the live ones
// follow: in the order of their seqs whatever the path, retransmissions too.
func TestOneOrderWhateverThePath(t *testing.T) {
	change := func(c *Config) { c.Window, c.Retransmit = 3, 100*time.Millisecond }
	eachAckingDesign(t, change, func(t *testing.T, tr *trap) {
		bob := tr.connect("bob")
		tr.send(1, 8)
		for seq := uint64(1); seq <= 3; seq++ {
			if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != seq {
				t.Fatalf("got %v, want %d", f, seq)
			}
		}
		if f := bob.next(); f.PullNow == nil {
			t.Fatalf("got %v, want to be told to pull", f)
		}
		for seq := uint64(1); seq <= 3; seq++ { // nothing was acked
			if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != seq {
				t.Fatalf("got %v, want %d again", f, seq)
			}
		}
		bob.write(&wire.Frame{PageRequest: &wire.PageRequest{Conversation: tr.to, After: 3, Ack: true, Epoch: tr.store.Epoch()}})
		var p *wire.Page
		for p == nil { // they may come a third time before
			p = bob.next().Page
		}
		wantSeqs(t, "page", 3, p.Messages, 8)
		tr.ack(bob, 8)
		tr.send(9, 9)
		if f := bob.next(); f.Deliver == nil || f.Deliver.Seq != 9 {
			t.Fatalf("got %v, want 9", f)
		}
	})
}

// The live channel is joined before the backlog is pulled: what is stored in
// between comes once, and in order, in every design (skycoin/skywire#2630).
func TestNothingFallsBetweenBacklogAndLive(t *testing.T) {
	const backlog, live = 40, 200
	redis := redistest.Start(t)
	for i, g := range modelRungs() {
		if g = g.filled(); g.cursor == delivery.CursorTimeAfter { // loses ties
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			s := startStorm(t, redis, func(c *Config) {
				c.Namespace = fmt.Sprint("n", i)
				c.Group, c.Cursor, c.StoreFor, c.Remove, c.Window = g.group, g.cursor, g.storeFor, g.remove, 16
			})
			s.people()
			tr := &trap{s, "g:1"}
			if g.direct {
				tr.to = "u:bob"
			}
			tr.send(1, backlog)
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				for i := range live {
					if _, err := s.svc.Send(context.Background(), "ann", &wire.Send{To: tr.to, ClientMsgId: fmt.Sprint("l", i)}); err != nil {
						t.Error(err)
					}
				}
			}()
			tr.follow(backlog + live)
			<-sent
		})
	}
}

// follow logs bob in and takes everything up to a seq, each message once and in
// order; what ties bring again is passed over.
func (tr *trap) follow(upTo uint64) {
	bob, at := tr.connect("bob"), uint64(0)
	ask := func() {
		bob.write(&wire.Frame{PageRequest: &wire.PageRequest{Conversation: tr.to, After: at, Limit: 7, Epoch: tr.store.Epoch()}})
	}
	take := func(seq uint64, how string) {
		switch {
		case seq == at+1:
			at = seq
		case seq <= at && how == "page" && tr.cfg.Cursor == delivery.CursorTimeFrom:
		default:
			tr.t.Fatalf("%s %d after %d", how, seq, at)
		}
	}
	ask()
	for at < upTo {
		switch f := bob.next(); {
		case f.Page != nil:
			for _, m := range f.Page.Messages {
				take(m.Seq, "page")
			}
			if f.Page.More {
				ask()
			}
		case f.Deliver != nil:
			take(f.Deliver.Seq, "push")
			if tr.cfg.Remove == delivery.RemoveOnAck {
				bob.write(&wire.Frame{Ack: &wire.Ack{Conversation: tr.to, Epoch: tr.store.Epoch(), UpTo: at}})
			}
		case f.PullNow != nil:
			ask()
		}
	}
}
