package redisstore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
)

// fleeting sends without leaving a row.
func (f *fixture) fleeting(sender, id string) *delivery.Append {
	f.t.Helper()
	a, reply := newAppend("u:bob", sender, id)
	a.Fleeting = true
	f.must(f.Append(a))
	return await(f.t, reply)
}

// A message that is pushed leaves no row; the seqs go on without a hole, and
// its resend is a duplicate that says so.
func TestFleeting(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		f.inbox()
		for i, c := range []struct {
			id       string
			fleeting bool
			want     delivery.Append // seq, duplicate, fleeting
		}{
			{"a", true, delivery.Append{Seq: 1, Fleeting: true}},
			{"b", false, delivery.Append{Seq: 2}},
			{"c", true, delivery.Append{Seq: 3, Fleeting: true}},
			{"a", true, delivery.Append{Seq: 1, Fleeting: true, Duplicate: true}},
			{"a", false, delivery.Append{Seq: 1, Fleeting: true, Duplicate: true}}, // the receiver has gone meanwhile
			{"b", true, delivery.Append{Seq: 2, Duplicate: true}},
			{"d", false, delivery.Append{Seq: 4}},
		} {
			a, reply := newAppend("u:bob", "ann", c.id)
			a.Fleeting = c.fleeting
			f.must(f.Append(a))
			await(t, reply)
			if a.Err != nil || a.Seq != c.want.Seq || a.Duplicate != c.want.Duplicate || a.Fleeting != c.want.Fleeting {
				t.Fatalf("send %d: seq %d duplicate %v fleeting %v (%v), want %+v", i, a.Seq, a.Duplicate, a.Fleeting, a.Err, c.want)
			}
		}
		if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{2, 4}) {
			t.Errorf("stored %v, want [2 4]", got)
		}
		if by := f.counts(); by["ann"] != 2 {
			t.Errorf("counts %v, want 2 of ann", by)
		}
	})
}

// A fleeting send whose answer was lost is new to its sender: it has to be pushed.
func TestFleetingRetried(t *testing.T) {
	r := redistest.Start(t)
	p := newProxy(t, r.Socket())
	f := startStore(t, Config{URL: p.url(), DedupFor: time.Minute})
	f.inbox()
	a, _ := newAppend("u:bob", "ann", "x")
	a.Fleeting = true
	p.loseAnswers(1, 0)
	f.store(f.shards[0], []*delivery.Append{a})
	if a.Err != nil || a.Seq != 1 || a.Duplicate || !a.Fleeting {
		t.Fatalf("%+v, want seq 1, new", a)
	}
	// A client's resend has another time in its record.
	b, _ := newAppend("u:bob", "ann", "x")
	b.Record = append(b.Record, 0x40, 0x01)
	p.loseAnswers(1, 0)
	f.store(f.shards[0], []*delivery.Append{b})
	if b.Err != nil || b.Seq != 1 || !b.Duplicate {
		t.Fatalf("%+v, want a duplicate", b)
	}
}

// A push that missed its receiver is stored after all, once, under a new seq.
func TestStoredInstead(t *testing.T) {
	r := redistest.Start(t)
	p := newProxy(t, r.Socket())
	cfg := indexed
	cfg.URL = p.url()
	f := startStore(t, cfg)
	f.inbox()
	missed := f.fleeting("ann", "x")
	instead := func(lose bool) *delivery.Append {
		a, _ := newAppend("u:bob", "ann", "x")
		a.Record, a.Instead = missed.Record, missed.Seq
		if lose {
			p.loseAnswers(1, 0)
		}
		f.store(f.shards[0], []*delivery.Append{a})
		return a
	}
	if a := instead(true); a.Err != nil || a.Seq != 2 || a.Duplicate || a.Fleeting {
		t.Fatalf("%+v, want seq 2, stored", a)
	}
	if a := instead(false); a.Err != nil || a.Seq != 2 || !a.Duplicate || a.Fleeting {
		t.Fatalf("%+v, want the same as a duplicate", a)
	}
	if a := f.send("u:bob", "ann", "x"); a.Seq != 2 || !a.Duplicate || a.Fleeting {
		t.Fatalf("resend: %+v, want a duplicate of seq 2", a)
	}
	if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{2}) || f.counts()["ann"] != 1 {
		t.Fatalf("stored %v, want [2]", got)
	}
}

// One command each, with a row or without, first time or not.
func TestOneCommandPerDirectSend(t *testing.T) {
	r := redistest.Start(t)
	cfg := indexed
	cfg.URL = r.URL()
	f := startStore(t, cfg)
	f.inbox()
	before, calls := f.Stats(), r.CommandStats()
	const sends = 10
	for i := range sends {
		f.sent("u:bob", "ann", fmt.Sprint(i))
		f.fleeting("ann", fmt.Sprint("f", i))
		f.fleeting("ann", fmt.Sprint("f", i))
	}
	after, now := f.Stats(), r.CommandStats()
	if n := after.Commands["append"] - before.Commands["append"]; n != 3*sends {
		t.Errorf("%d commands for %d sends", n, 3*sends)
	}
	for name, want := range map[string]uint64{"evalsha": 3 * sends, "xadd": 2 * sends, "xdel": sends, "zadd": sends} {
		if n := now[name] - calls[name]; n != want {
			t.Errorf("Redis ran %d %s, want %d", n, name, want)
		}
	}
}

// Without dedup each attempt is a message, and nothing is kept about sends.
func TestDedupOff(t *testing.T) {
	onEach(t, Config{DedupOff: true, SenderIndex: true}, func(t *testing.T, f *fixture) {
		f.inbox()
		g := f.group("g", "ann", "bob")
		for want := uint64(1); want <= 3; want++ {
			for _, to := range []string{g, "u:bob"} {
				if a := f.send(to, "ann", "same"); a.Err != nil || a.Seq != want || a.Duplicate {
					t.Fatalf("%s: seq %d duplicate %v (%v), want seq %d", to, a.Seq, a.Duplicate, a.Err, want)
				}
			}
		}
		if a := f.fleeting("ann", "same"); a.Seq != 4 || a.Duplicate || !a.Fleeting {
			t.Fatalf("%+v", a)
		}
		if l := f.open("u:bob"); l.Size != 3 || l.Head != 4 {
			t.Fatalf("%+v", l)
		}
		keys, err := f.client.Keys(f.ctx, "*:sent:*").Result()
		if err != nil || len(keys) != 0 {
			t.Fatalf("%v (%v), want no record of sends", keys, err)
		}
	})
}

// The base of an epoch is noted by the first send even where sends leave no trace.
func TestDedupOffNotesTheBase(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupOff: true})
	f.inbox("ann", "ann")
	r.Kill()
	r.Restart()
	f.sent("u:bob", "ann", "later")
	if l := f.open("u:bob"); l.Base != 2 || l.Head != 3 {
		t.Fatalf("%+v, want base 2", l)
	}
}
