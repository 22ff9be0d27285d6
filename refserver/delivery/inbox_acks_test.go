package delivery

import (
	"slices"
	"testing"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// "Newest page first" and a cumulative ack don't go together (tinode/tindroid#158):
// who has the newest page acks its messages by ids, and the older ones stay.
func TestNewestPageAckedByIDsKeepsTheOlder(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	direct(t, r, 10, "ann")
	d := r.login(t, "bob", &wire.Hello{Live: true})
	d.welcome("u:bob")
	p := d.page(&wire.PageRequest{Conversation: "u:bob", Newest: true, Limit: 4})
	d.handle(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "u:bob", Epoch: 1, Ids: pageSeqs(p)}})
	if f := d.next(); f.AckResult == nil {
		t.Fatalf("got %v", f)
	}
	d.end() // before it has the older ones
	d = r.login(t, "bob", &wire.Hello{})
	if c := d.welcome("u:bob"); c.Cursor != 0 || c.State != "behind" {
		t.Errorf("welcome %v, want cursor 0, behind", c)
	}
	if got := pageSeqs(d.pull("u:bob", 1, 0, 100)); !slices.Equal(got, upTo(6)) {
		t.Errorf("got %v, want the older ones", got)
	}
}

// The next page is the ack, with ids where the newest come first: ⌈n/P⌉ pages
// and one last ack, and a crash in between leaves what wasn't acked.
func TestNextPageCarriesIDs(t *testing.T) {
	for _, over := range []string{"websocket", "http"} {
		t.Run(over, func(t *testing.T) {
			r := newRig(t, Config{}, push.Config{})
			direct(t, r, 10, "ann")
			pull := r.asks(t)[over]()
			q := &wire.PageRequest{Conversation: "u:bob", Epoch: 1, Newest: true, Limit: 4}
			for want := uint64(10); ; {
				p := pull(q)
				if p.UpTo != want {
					t.Fatalf("page (%d, %d], want up to %d", p.After, p.UpTo, want)
				}
				q = &wire.PageRequest{Conversation: "u:bob", Epoch: 1, Newest: true, Limit: 4, Before: p.After + 1, Ids: pageSeqs(p)}
				if want = p.After; !p.More {
					break
				}
			}
			if _, err := r.Ack(t.Context(), "bob", &wire.Ack{Conversation: "u:bob", Epoch: 1, Ids: q.Ids[1:]}); err != nil {
				t.Fatal(err)
			}
			if rows := r.inboxRows(); !slices.Equal(rows, []uint64{1}) {
				t.Errorf("stored %v, want the one that wasn't acked", rows)
			}
			if acks := r.Stats().AckRequests; acks != 3 {
				t.Errorf("%d ack requests for 3 pages, want 2 with pages and the last", acks)
			}
		})
	}
}

// What is pulled is gone: a client that dies between page and ack has lost that
// page, and nothing else.
func TestOnPullLosesThePageThatACrashDrops(t *testing.T) {
	for _, newest := range []bool{false, true} {
		r := newRig(t, Config{Remove: RemoveOnPull}, push.Config{})
		direct(t, r, 10, "ann")
		d := r.login(t, "bob", &wire.Hello{Live: newest})
		d.welcome("u:bob")
		dropped := pageSeqs(d.page(&wire.PageRequest{Conversation: "u:bob", Limit: 3, Newest: newest}))
		d.end()
		d = r.login(t, "bob", &wire.Hello{})
		c := d.welcome("u:bob")
		got := pageSeqs(d.pull("u:bob", 1, c.Cursor, 100))
		all := append(slices.Clone(dropped), got...)
		slices.Sort(all)
		if len(dropped) != 3 || !slices.Equal(all, upTo(10)) {
			t.Errorf("newest %v: dropped %v, then got %v: want 1 to 10 together, each once", newest, dropped, got)
		}
		if rows := r.inboxRows(); rows != nil {
			t.Errorf("stored %v", rows)
		}
	}
}

// A cumulative ack may fall in the middle of a page; delivery resumes right
// after it (apache/pulsar#4931).
func TestAckInTheMiddleOfAPage(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	direct(t, r, 10, "ann")
	d := r.connect(t, "bob")
	d.welcome("u:bob")
	d.pull("u:bob", 1, 0, 8)
	d.handle(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "u:bob", Epoch: 1, UpTo: 5}})
	d.next()
	d.end()
	d = r.connect(t, "bob")
	if c := d.welcome("u:bob"); c.Cursor != 5 {
		t.Errorf("cursor %d, want 5", c.Cursor)
	}
	if got := pageSeqs(d.pull("u:bob", 1, 5, 100)); !slices.Equal(got, []uint64{6, 7, 8, 9, 10}) {
		t.Errorf("got %v", got)
	}
}

// An ack that didn't get through doesn't count: it comes again with the
// duplicate, and has to be taken again (apache/pulsar#7683).
func TestAckIsTakenAgain(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	direct(t, r, 3, "ann")
	d := r.connect(t, "bob")
	d.welcome("u:bob")
	d.pull("u:bob", 1, 0, 8)
	// The member's cursor moves, the store's removal is lost.
	if _, moved := d.session.lookup("u:bob").Ack(3); !moved {
		t.Fatal("not moved")
	}
	d.handle(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "u:bob", Epoch: 1, UpTo: 3}})
	if f := d.next(); f.AckResult == nil {
		t.Fatalf("got %v", f)
	}
	if rows := r.inboxRows(); rows != nil {
		t.Errorf("stored %v after the second ack", rows)
	}
}

// Who is live from the head on pulls and acks what waits below: the cumulative
// ack removes that much and not what was pushed beyond.
func TestLiveFromTheHeadAcksBelow(t *testing.T) {
	r := newRig(t, Config{}, push.Config{})
	direct(t, r, 5, "ann")
	d := r.login(t, "bob", &wire.Hello{Live: true})
	if c := d.welcome("u:bob"); c.State != "live" || c.Cursor != 0 || c.Head != 5 {
		t.Fatalf("welcome %v", c)
	}
	if _, err := r.Send(t.Context(), "ann", &wire.Send{To: "u:bob", ClientMsgId: "live"}); err != nil {
		t.Fatal(err)
	}
	d.deliver(6)
	d.page(&wire.PageRequest{Conversation: "u:bob", Limit: 3})
	d.handle(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "u:bob", Epoch: 1, UpTo: 3}})
	if f := d.next(); f.AckResult == nil {
		t.Fatalf("got %v", f)
	}
	if rows := r.inboxRows(); !slices.Equal(rows, []uint64{4, 5, 6}) {
		t.Errorf("stored %v, want 4, 5 and 6", rows)
	}
}

// What was just acked isn't in the page that is asked for in the same breath,
// though the store has it still: over WebSocket a page doesn't wait for its own
// ack. The page is as full as if it were gone, and covers it.
func TestPageLeavesOutWhatIsJustAcked(t *testing.T) {
	type want struct {
		seqs        []uint64
		after, upTo uint64
		more        bool
	}
	conversation := "u:bob"
	for _, c := range []struct {
		name  string
		ask   *wire.PageRequest
		acks  *wire.Ack // before it
		want  want
		reads int // commands to the store
	}{
		{"ids with the newest page", &wire.PageRequest{Newest: true, Limit: 4, Ids: []uint64{10, 9, 7, 2}}, nil, want{[]uint64{4, 5, 6, 8}, 3, 10, true}, 1},
		{"ids below the newest page", &wire.PageRequest{Newest: true, Limit: 4, Ids: []uint64{1, 2, 3}}, nil, want{[]uint64{7, 8, 9, 10}, 6, 10, true}, 1},
		{"ids below before", &wire.PageRequest{Newest: true, Limit: 4, Before: 7, Ids: []uint64{7, 6, 5}}, nil, want{[]uint64{1, 2, 3, 4}, 0, 6, false}, 1},
		{"all that is there", &wire.PageRequest{Newest: true, Limit: 4, Ids: upTo(10)}, nil, want{nil, 0, 10, false}, 1},
		{"ids with the oldest page", &wire.PageRequest{Limit: 4, Ids: []uint64{1, 3, 9}}, nil, want{[]uint64{2, 4, 5, 6}, 0, 6, true}, 1},
		{"ids with all of it", &wire.PageRequest{All: true, Ids: []uint64{1, 3, 9}}, nil, want{[]uint64{2, 4, 5, 6, 7, 8, 10}, 0, 10, false}, 1},
		{"an ack up to a seq before it", &wire.PageRequest{Limit: 4}, &wire.Ack{UpTo: 3}, want{[]uint64{4, 5, 6, 7}, 3, 7, true}, 1},
		{"and all of it", &wire.PageRequest{Limit: 4}, &wire.Ack{UpTo: 10}, want{nil, 10, 10, false}, 0},
		{"acks by id before it", &wire.PageRequest{Limit: 4}, &wire.Ack{Ids: []uint64{2, 4}}, want{[]uint64{1, 3, 5, 6}, 0, 6, true}, 1},
		{"an ack of another epoch", &wire.PageRequest{Limit: 4}, &wire.Ack{Epoch: 7, Ids: []uint64{2, 4}}, want{upTo(4), 0, 4, true}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{AckFlush: time.Hour}, push.Config{}) // nothing that is acked reaches the store
			direct(t, r, 10, "ann")
			d := r.login(t, "bob", &wire.Hello{Live: c.ask.Newest})
			d.welcome(conversation)
			if c.acks != nil {
				c.acks.Conversation = conversation
				if c.acks.Epoch == 0 {
					c.acks.Epoch = 1
				}
				d.handle(&wire.Frame{Ack: c.acks})
			}
			c.ask.Conversation, c.ask.Epoch = conversation, 1
			reads := r.store.count("read")
			p := d.page(c.ask)
			if got := pageSeqs(p); !slices.Equal(got, c.want.seqs) || p.After != c.want.after || p.UpTo != c.want.upTo || p.More != c.want.more {
				t.Errorf("got %v in (%d, %d], more %v; want %+v", got, p.After, p.UpTo, p.More, c.want)
			}
			if n := r.store.count("read") - reads; n != c.reads {
				t.Errorf("%d reads, want %d", n, c.reads)
			}
		})
	}
}
