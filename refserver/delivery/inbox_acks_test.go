package delivery

import (
	"slices"
	"testing"

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
