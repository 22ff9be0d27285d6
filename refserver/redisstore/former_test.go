package redisstore

import (
	"fmt"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
)

// everyLog runs a test on a conversation of each kind: a group in each design,
// and an inbox. ann sends, bob is the only one to receive.
func everyLog(t *testing.T, test func(t *testing.T, r *redistest.Redis, f *fixture, conversation string)) {
	for _, design := range []delivery.Group{delivery.GroupCursor, delivery.GroupCopies, delivery.GroupIDs} {
		for _, kind := range []string{"group", "inbox"} {
			if kind == "inbox" && design != delivery.GroupCursor {
				continue // inboxes are the same in all of them
			}
			t.Run(fmt.Sprintf("%s %s", kind, design), func(t *testing.T) {
				r := redistest.Start(t, redistest.AOF("always"))
				f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour, Group: design})
				conversation := f.group("g", "ann", "bob")
				if kind == "inbox" {
					conversation = "u:bob"
				}
				test(t, r, f, conversation)
			})
		}
	}
}

// reborn kills Redis and starts it without the last entries that it wrote.
func (f *fixture) reborn(r *redistest.Redis, cut int) (epoch uint64) {
	f.t.Helper()
	r.Kill()
	if n := r.CutAOF(cut); n != cut {
		f.t.Fatalf("%d entries cut, want %d", n, cut)
	}
	r.Restart()
	f.must(f.Ping(f.ctx))
	if _, err := f.Login(f.ctx, "ann"); err != nil { // touches no conversation
		f.t.Fatal(err)
	}
	return f.Epoch()
}

func (f *fixture) wantBase(conversation string, base, former uint64) {
	f.t.Helper()
	if l := f.open(conversation); l.Base != base || l.Former != former || l.Epoch != f.Epoch() {
		f.t.Errorf("%+v, want base %d, former %d in epoch %d", l, base, former, f.Epoch())
	}
}

// entriesOfASend is what a send to one recipient writes in the append-only file:
// its seq; with rows also the row and the end of its storing.
func (f *fixture) entriesOfASend(conversation string) int {
	if conversation[0] == 'g' && f.cfg.keepsRows() {
		return 3
	}
	return 1
}

// A client knows a conversation's epoch and its seqs in that one. What they are
// worth later is told by the base only where no other epoch has begun between
// that may have begun further back: the epoch that a base goes back to is noted
// with it.
func TestFormerEpoch(t *testing.T) {
	everyLog(t, func(t *testing.T, r *redistest.Redis, f *fixture, c string) {
		send := func(id string) { f.sent(c, "ann", id); f.settled() }
		first := f.Epoch()
		for i := range 5 {
			send(fmt.Sprint(i))
		}
		f.wantBase(c, 0, 0)

		second := f.reborn(r, 3*f.entriesOfASend(c)) // 3, 4 and 5 are gone
		send("a")                                    // the epoch's first touch is a send
		send("b")
		f.wantBase(c, 2, first)
		send("c")

		f.reborn(r, 0) // epochs in which nothing touches the conversation don't count
		third := f.reborn(r, 0)
		// Up to 5, but of the first epoch only 2: base alone would let a client of
		// that one keep 5, and never see a to c.
		f.wantBase(c, 5, second)
		f.wantBase(c, 5, second)
		send("d")
		f.wantBase(c, 5, second)

		// An epoch whose own note is lost was none for this conversation: nothing
		// that was stored in it is left.
		fourth := f.reborn(r, 0)
		send("e")
		entries := f.entriesOfASend(c)
		if f.cfg.Group == delivery.GroupIDs {
			entries++ // counts of a new epoch begin anew
		}
		f.reborn(r, entries)
		f.wantBase(c, 6, third)
		if l := f.open(c); l.Former == fourth || l.Head != 6 {
			t.Errorf("%+v; epoch %d has left nothing", l, fourth)
		}
	})
}

// A login tells the present epoch, also of a user who has no group and whose
// conversations no other script has touched since Redis restarted.
func TestLoginIsOfTheEpoch(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL()})
	f.must(f.CreateUsers(f.ctx, []string{"loner"}))
	old := f.Epoch()
	r.Kill()
	r.Restart()
	l, err := f.Login(f.ctx, "loner")
	f.must(err)
	if l.Epoch <= old || l.Epoch != f.Epoch() || len(f.sink.changes()) != 1 {
		t.Errorf("%+v, epoch %d after %d, changes %v; want a new one, told before the answer", l, f.Epoch(), old, f.sink.changes())
	}
}

// What has its seq and not its rows yet is never covered by a head: who pulls up
// to it and acks would remove rows that it hasn't seen. It may be on its way in
// this very process, which has recovered the group long ago.
func TestHeadHasItsRows(t *testing.T) {
	onRows(t, Config{DedupFor: time.Hour}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b", "c")
		f.open(group)
		f.sent(group, "a", "1")
		f.settled()
		for i, users := range [][]string{{"b"}, nil} {
			f.halfWay(group, "a", fmt.Sprintf("half %d", i), users)
		}
		if l := f.open(group); l.Head != 3 {
			t.Fatalf("%+v, want head 3", l)
		}
		f.wantRows(group, map[string][]uint64{"a": {}, "b": {1, 2, 3}, "c": {1, 2, 3}})
		f.nothingIsLeft(group)
		f.wantBodies(group, map[string]string{"1": "2", "2": "2", "3": "2"})
		recovered := f.Stats().Recovered
		f.open(group) // nothing is half-way any more
		if n := f.Stats().Recovered - recovered; n != 0 {
			t.Errorf("%d messages recovered again", n)
		}
	})
}
