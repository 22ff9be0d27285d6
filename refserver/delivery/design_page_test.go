package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

func seqsIn(p *wire.Page) []uint64 {
	seqs := []uint64{}
	for _, m := range p.Messages {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}

// The same pages come out of every design: n messages in pages of P take ⌈n/P⌉
// of them, in both orders, and everything takes one.
func TestPagesOfAGroup(t *testing.T) {
	for _, cfg := range []Config{
		{}, {TailMessages: 3}, {Group: GroupCopies}, {Group: GroupIDs},
		{Group: GroupCopies, Remove: RemoveOnPull}, {Group: GroupIDs, Remove: RemoveOnPull},
	} {
		for _, n := range []int{1, 9, 10, 11, 30} {
			t.Run(fmt.Sprintf("%+v, %d messages", [2]any{cfg.Group, cfg.Remove}, n), func(t *testing.T) {
				const size = 10
				synctest.Test(t, func(t *testing.T) {
					want := []uint64{}
					fill := func() *rig {
						r := newRig(t, cfg, push.Config{})
						mustAdd(t, r, "1", "a", "b")
						want = want[:0]
						for i := range n {
							want = append(want, uint64(i)+1)
							if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: "x"}); err != nil {
								t.Fatal(err)
							}
						}
						return r
					}
					pages := (n + size - 1) / size

					r, got, after := fill(), []uint64{}, uint64(0)
					for i := range pages {
						p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", After: after, Limit: size})
						if p.After != after || p.More != (i < pages-1) || p.Truncated {
							t.Fatalf("oldest first: page %d %v", i, p)
						}
						got, after = append(got, seqsIn(p)...), p.UpTo
					}
					if !slices.Equal(got, want) || after != uint64(n) {
						t.Errorf("oldest first: %v up to %d, want %v", got, after, want)
					}

					r, got = fill(), nil
					before := uint64(0)
					for i := range pages {
						p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", Before: before, Limit: size, Newest: true})
						if upTo := uint64(n - i*size); p.UpTo != upTo || p.More != (i < pages-1) {
							t.Fatalf("newest first: page %d %v, want it up to %d", i, p, upTo)
						}
						got, before = append(seqsIn(p), got...), p.After+1
					}
					if !slices.Equal(got, want) || before != 1 {
						t.Errorf("newest first: %v down to %d, want %v", got, before, want)
					}

					r = fill()
					p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", All: true})
					if !slices.Equal(seqsIn(p), want) || p.More || p.After != 0 || p.UpTo != uint64(n) {
						t.Errorf("everything: %v, want %v", p, want)
					}
				})
			})
		}
	}
}

// A page ends where its bytes do, in both orders, and everything at once is
// refused where it would be too large; nothing is lost by that.
func TestBytesOfAPage(t *testing.T) {
	for _, cfg := range []Config{{}, {Group: GroupCopies, Remove: RemoveOnPull}, {Group: GroupIDs, Remove: RemoveOnPull}, {Group: GroupIDs}} {
		t.Run(fmt.Sprintf("%v", [2]any{cfg.Group, cfg.Remove}), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.MaxResponse = 5 * 60_000
				r := newRig(t, cfg, push.Config{})
				mustAdd(t, r, "1", "a", "b")
				for i := range 6 {
					if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: strings.Repeat("x", 60_000)}); err != nil {
						t.Fatal(err)
					}
				}
				_, err := r.Pull(context.Background(), "b", &wire.PageRequest{Conversation: "g:1", All: true})
				wantFault(t, err, wire.CodeTooLarge)
				p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", Newest: true})
				if !slices.Equal(seqsIn(p), []uint64{3, 4, 5, 6}) || p.After != 2 || p.UpTo != 6 || !p.More { // 4 × 60 kB in 256 KiB
					t.Errorf("newest: %v from %d to %d, want 3 to 6 and more", seqsIn(p), p.After, p.UpTo)
				}
				p = r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1"})
				want, upTo := []uint64{1, 2, 3, 4}, uint64(4)
				if cfg.Remove == RemoveOnPull {
					want, upTo = []uint64{1, 2}, 6
				}
				if !slices.Equal(seqsIn(p), want) || p.UpTo != upTo || p.More != (upTo < 6) {
					t.Errorf("oldest: %v up to %d, want %v up to %d", seqsIn(p), p.UpTo, want, upTo)
				}
			})
		})
	}
}

// Newest first never goes below the cursor, nor below what the client names.
func TestNewestDownToTheCursor(t *testing.T) {
	for _, cfg := range []Config{{}, {Group: GroupIDs}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, cfg, push.Config{})
			mustAdd(t, r, "1", "a", "b")
			for i := range 10 {
				if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Ack(context.Background(), "b", &wire.Ack{Conversation: "g:1", Epoch: 1, UpTo: 4}); err != nil {
				t.Fatal(err)
			}
			p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", Newest: true, Limit: 100})
			if p.After != 4 || !slices.Equal(seqsIn(p), []uint64{5, 6, 7, 8, 9, 10}) || p.More {
				t.Errorf("page %v, want 5 to 10", p)
			}
			p = r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", Newest: true, Limit: 100, After: 7, Before: 10})
			if p.After != 7 || !slices.Equal(seqsIn(p), []uint64{8, 9}) || p.More {
				t.Errorf("page %v, want 8 and 9", p)
			}
		})
	}
}

// g4t: a page begins after everything of the time of the message that its reader
// has, or with it; and pages of ties come to an end.
func TestPagesByTime(t *testing.T) {
	const t0 = 1_700_000_000_000
	times := []int64{t0, t0 + 1, t0 + 1, t0 + 1, t0 + 2, t0 + 2, t0 + 3}
	for _, c := range []struct {
		cursor Cursor
		after  uint64
		limit  uint32
		first  uint64 // where the page begins
		want   []uint64
	}{
		{CursorTimeAfter, 0, 2, 0, []uint64{1, 2}},
		{CursorTimeAfter, 1, 2, 1, []uint64{2, 3}},
		{CursorTimeAfter, 2, 2, 4, []uint64{5, 6}}, // 3 and 4 are lost
		{CursorTimeAfter, 5, 9, 6, []uint64{7}},    // 6 is lost
		{CursorTimeAfter, 7, 9, 7, []uint64{}},
		{CursorTimeFrom, 0, 2, 0, []uint64{1, 2}},
		{CursorTimeFrom, 1, 2, 0, []uint64{1, 2, 3}},
		{CursorTimeFrom, 3, 1, 1, []uint64{2, 3, 4}}, // 2 and 3 come again
		{CursorTimeFrom, 6, 1, 4, []uint64{5, 6, 7}},
		{CursorTimeFrom, 7, 1, 6, []uint64{7}},
		{CursorSeq, 3, 2, 3, []uint64{4, 5}},
	} {
		for _, tail := range []int{512, 1} { // in memory, and read from the store
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{Cursor: c.cursor, TailMessages: tail}, push.Config{})
				mustAdd(t, r, "1", "a", "b")
				if _, err := r.Service.open(context.Background(), "g:1"); err != nil {
					t.Fatal(err)
				}
				for i, ms := range times {
					id := fmt.Sprint(i)
					if err := r.store.Append(&Append{
						Conversation: "g:1", Sender: "a", ClientMsgID: id, Record: wire.AppendRecord(nil, "a", id, "x", ms),
						Reply: &pending{done: make(chan *sendAnswer, 1)},
					}); err != nil {
						t.Fatal(err)
					}
				}
				p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", After: c.after, Limit: c.limit})
				if p.After != c.first || !slices.Equal(seqsIn(p), c.want) {
					t.Errorf("%s, after %d: from %d %v, want from %d %v", c.cursor, c.after, p.After, seqsIn(p), c.first, c.want)
				}
			})
		}
	}
}

// Times in memory are those that are stored: they never go back.
func TestTimesInMemoryNeverGoBack(t *testing.T) {
	d := &cursorDesign{s: &Service{cfg: Config{Cursor: CursorTimeFrom}}}
	c := &conversation{}
	for _, step := range []struct{ given, want int64 }{{5, 5}, {4, 5}, {5, 5}, {9, 9}, {6, 9}} {
		record := d.inOrder(c, &Append{Record: wire.AppendRecord(nil, "a", "m", "body", step.given)})
		var v wire.DeliverView
		if err := v.Decode(record); err != nil || v.TimeMS != step.want || string(v.Body) != "body" {
			t.Errorf("time %d became %d (%v), want %d", step.given, v.TimeMS, err, step.want)
		}
	}
}

// Hundreds of messages of one millisecond are passed, or come again, as a whole.
func TestPagesByTimeOfManyTies(t *testing.T) {
	const ties = 3*timesAtOnce + 5
	for cursor, want := range map[Cursor]uint64{CursorTimeAfter: ties + 1, CursorTimeFrom: 1} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Cursor: cursor, TailMessages: 8}, push.Config{})
			mustAdd(t, r, "1", "a", "b")
			for i := range ties + 2 {
				id, ms := fmt.Sprint(i), int64(5)
				switch i {
				case 0:
					ms = 4
				case ties + 1:
					ms = 6
				}
				if err := r.store.Append(&Append{
					Conversation: "g:1", Sender: "a", ClientMsgID: id, Record: wire.AppendRecord(nil, "a", id, "x", ms),
					Reply: &pending{done: make(chan *sendAnswer, 1)},
				}); err != nil {
					t.Fatal(err)
				}
			}
			p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", After: ties / 2, Limit: 10})
			if p.After != want {
				t.Errorf("%s: from %d, want %d", cursor, p.After, want)
			}
		})
	}
}

// Where one millisecond holds more bytes than a page, paging still comes to its
// end: what comes again isn't counted.
func TestPagesByTimeOfLargeTies(t *testing.T) {
	const n = 30
	for _, cursor := range []Cursor{CursorSeq, CursorTimeAfter, CursorTimeFrom} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Cursor: cursor, TailMessages: 8}, push.Config{})
			mustAdd(t, r, "1", "a", "b")
			for i := range n {
				id, ms := fmt.Sprint(i), int64(5)
				if i == n-1 {
					ms = 6
				}
				if err := r.store.Append(&Append{
					Conversation: "g:1", Sender: "a", ClientMsgID: id, Record: wire.AppendRecord(nil, "a", id, strings.Repeat("x", 60_000), ms),
					Reply: &pending{done: make(chan *sendAnswer, 1)},
				}); err != nil {
					t.Fatal(err)
				}
			}
			got := map[uint64]bool{}
			for after, more := uint64(0), true; more; {
				p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", After: after})
				if p.UpTo <= after {
					t.Fatalf("%s: the page after %d ends at %d", cursor, after, p.UpTo)
				}
				if fresh := int(p.UpTo - max(after, p.After)); fresh > 4 { // 4 × 60 kB in 256 KiB
					t.Errorf("%s: %d new messages in one page", cursor, fresh)
				}
				for _, seq := range seqsIn(p) {
					got[seq] = true
				}
				after, more = p.UpTo, p.More
			}
			if want := n; cursor != CursorTimeAfter && len(got) != want || !got[n] {
				t.Errorf("%s: %d messages, want %d", cursor, len(got), want)
			}
		})
	}
}

// A part keeps what fits, and one message whatever its size.
func TestFit(t *testing.T) {
	of := func(sizes ...int) (entries []Entry) {
		for i, n := range sizes {
			entries = append(entries, Entry{Seq: uint64(i) + 1, Record: make([]byte, n)})
		}
		return entries
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		newest  bool
		want    []uint64
		cut     bool
	}{
		{"nothing", nil, false, []uint64{}, false},
		{"all", of(4, 4, 2), false, []uint64{1, 2, 3}, false},
		{"the first", of(4, 4, 4), false, []uint64{1, 2}, true},
		{"the last", of(4, 4, 4), true, []uint64{2, 3}, true},
		{"one that is too large", of(99, 1), false, []uint64{1}, true},
		{"the last, too large", of(1, 99), true, []uint64{2}, true},
		{"alone", of(99), true, []uint64{1}, false},
	} {
		rest, cut := fit(c.entries, RowRead{Bytes: 10, Newest: c.newest})
		got := []uint64{}
		for _, e := range rest {
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, c.want) || cut != c.cut {
			t.Errorf("%s: %v, cut %v, want %v, %v", c.name, got, cut, c.want, c.cut)
		}
	}
}

// What was left without a body is covered by the page that passes it.
func TestIDWithoutABody(t *testing.T) {
	for _, remove := range []Remove{RemoveOnAck, RemoveOnPull} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Group: GroupIDs, Remove: remove}, push.Config{})
			mustAdd(t, r, "1", "a", "b")
			for i := range 4 {
				if _, err := r.Send(context.Background(), "a", &wire.Send{To: "g:1", ClientMsgId: fmt.Sprint(i), Body: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			log := r.store.conv("g:1")
			log.entries = slices.DeleteFunc(log.entries, func(e Entry) bool { return e.Seq <= 2 })
			p := r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", Limit: 2})
			if len(p.Messages) != 0 || p.UpTo != 2 || !p.More {
				t.Errorf("page %v, want nothing up to 2, and more", p)
			}
			if p = r.mustPull(t, "b", &wire.PageRequest{Conversation: "g:1", After: 2, Limit: 2}); len(p.Messages) != 2 || p.More {
				t.Errorf("page %v, want 3 and 4", p)
			}
		})
	}
}
