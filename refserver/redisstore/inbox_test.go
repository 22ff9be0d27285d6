package redisstore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// indexed is a store with a sender index; plain has none.
var indexed = Config{DedupFor: time.Minute, SenderIndex: true}

// inbox creates bob and sends to him, one message from each of senders in turn,
// and returns his inbox.
func (f *fixture) inbox(senders ...string) string {
	f.t.Helper()
	f.must(f.CreateUsers(f.ctx, []string{"bob"}))
	for i, sender := range senders {
		if seq := f.sent("u:bob", sender, fmt.Sprint("i", i)); seq != uint64(i+1) {
			f.t.Fatalf("seq %d, want %d", seq, i+1)
		}
	}
	return "u:bob"
}

// part reads, in the store's epoch.
func (f *fixture) part(r delivery.InboxRead) delivery.InboxPart {
	f.t.Helper()
	r.Epoch = f.Epoch()
	p, err := f.ReadInbox(f.ctx, "u:bob", r)
	f.must(err)
	return p
}

func seqsOf(p delivery.InboxPart) []uint64 {
	seqs := []uint64{}
	for _, e := range p.Entries {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// counts is the inbox by sender as the store counts it.
func (f *fixture) counts() map[string]uint64 {
	f.t.Helper()
	list, err := f.SenderCounts(f.ctx, "u:bob")
	f.must(err)
	counts := map[string]uint64{}
	for i, c := range list {
		if i > 0 && list[i-1].Sender >= c.Sender {
			f.t.Fatalf("%v isn't in the order of the names", list)
		}
		counts[c.Sender] = c.Messages
	}
	return counts
}

// Names that are beginnings of each other, to which '-' and '.' are near.
var manyNames = []string{"ann", "ann-x", "an", "ann.a", "ann", "zoe", "ann", "an"}

func TestReadInbox(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		f.inbox(manyNames...) // ann 1 5 7, ann-x 2, an 3 8, ann.a 4, zoe 6
		const plenty = 1 << 20
		for _, c := range []struct {
			name string
			read delivery.InboxRead
			want []uint64
			more bool
		}{
			{"oldest", delivery.InboxRead{UpTo: 8, Limit: 3, Bytes: plenty}, []uint64{1, 2, 3}, true},
			{"oldest, after", delivery.InboxRead{After: 3, UpTo: 8, Limit: 3, Bytes: plenty}, []uint64{4, 5, 6}, true},
			{"oldest, exactly", delivery.InboxRead{After: 5, UpTo: 8, Limit: 3, Bytes: plenty}, []uint64{6, 7, 8}, false},
			{"oldest, up to", delivery.InboxRead{UpTo: 2, Limit: 3, Bytes: plenty}, []uint64{1, 2}, false},
			{"newest", delivery.InboxRead{UpTo: 8, Newest: true, Limit: 3, Bytes: plenty}, []uint64{6, 7, 8}, true},
			{"newest, up to", delivery.InboxRead{UpTo: 5, Newest: true, Limit: 3, Bytes: plenty}, []uint64{3, 4, 5}, true},
			{"newest, after", delivery.InboxRead{After: 5, UpTo: 8, Newest: true, Limit: 3, Bytes: plenty}, []uint64{6, 7, 8}, false},
			{"sender", delivery.InboxRead{Sender: "ann", UpTo: 8, Limit: 9, Bytes: plenty}, []uint64{1, 5, 7}, false},
			{"sender, limit", delivery.InboxRead{Sender: "ann", UpTo: 8, Limit: 2, Bytes: plenty}, []uint64{1, 5}, true},
			{"sender, after", delivery.InboxRead{Sender: "ann", After: 1, UpTo: 6, Limit: 2, Bytes: plenty}, []uint64{5}, false},
			{"sender, newest", delivery.InboxRead{Sender: "ann", UpTo: 8, Newest: true, Limit: 2, Bytes: plenty}, []uint64{5, 7}, true},
			{"sender with a short name", delivery.InboxRead{Sender: "an", UpTo: 8, Limit: 9, Bytes: plenty}, []uint64{3, 8}, false},
			{"sender with nothing", delivery.InboxRead{Sender: "bea", UpTo: 8, Limit: 9, Bytes: plenty}, []uint64{}, false},
			{"all", delivery.InboxRead{UpTo: 8, All: true, Bytes: plenty}, []uint64{1, 2, 3, 4, 5, 6, 7, 8}, false},
			{"all of a sender", delivery.InboxRead{Sender: "an", UpTo: 8, All: true, Bytes: plenty}, []uint64{3, 8}, false},
			{"few bytes hold one", delivery.InboxRead{UpTo: 8, Limit: 3, Bytes: 1}, []uint64{1}, true},
			{"nothing", delivery.InboxRead{After: 8, UpTo: 8, Limit: 3, Bytes: plenty}, []uint64{}, false},
			{"past the end", delivery.InboxRead{After: 7, UpTo: ^uint64(0), Limit: 3, Bytes: plenty}, []uint64{8}, false},
		} {
			p := f.part(c.read)
			if got := seqsOf(p); !reflect.DeepEqual(got, c.want) || p.More != c.more || p.First != 1 {
				t.Errorf("%s: %v more %v first %d, want %v %v 1", c.name, got, p.More, p.First, c.want, c.more)
			}
			for _, e := range p.Entries {
				var d wire.DeliverView
				if err := d.Decode(e.Record); err != nil || string(d.ClientMsgID) != fmt.Sprint("i", e.Seq-1) {
					t.Errorf("%s: seq %d holds %q (%v)", c.name, e.Seq, d.ClientMsgID, err)
				}
			}
		}
		if got := f.seqs("u:bob"); len(got) != 8 {
			t.Errorf("reading left %v", got)
		}
		if got, want := f.counts(), map[string]uint64{"ann": 3, "ann-x": 1, "an": 2, "ann.a": 1, "zoe": 1}; !reflect.DeepEqual(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}

// A page is cut where its bytes end: as many messages as fit, 16 bytes each
// beside the record.
func TestReadInboxBytes(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		f.inbox(manyNames...)
		size := 0
		for _, e := range f.part(delivery.InboxRead{UpTo: 8, Limit: 3, Bytes: 1 << 20}).Entries {
			size += len(e.Record) + 16
		}
		for _, c := range []struct {
			bytes, want int
		}{{size, 3}, {size - 1, 2}} {
			if p := f.part(delivery.InboxRead{UpTo: 8, Limit: 8, Bytes: c.bytes}); len(p.Entries) != c.want || !p.More {
				t.Errorf("%d bytes: %v more %v, want %d messages", c.bytes, seqsOf(p), p.More, c.want)
			}
		}
	})
}

func TestReadInboxRefuses(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute})
	f.inbox("ann")
	good := delivery.InboxRead{Epoch: f.Epoch(), UpTo: 1, Limit: 1, Bytes: 1}
	for _, c := range []struct {
		name, inbox string
		change      func(*delivery.InboxRead)
		code        wire.Code
	}{
		{"another epoch", "u:bob", func(r *delivery.InboxRead) { r.Epoch-- }, wire.CodeUnavailable},
		{"no epoch", "u:bob", func(r *delivery.InboxRead) { r.Epoch = 0 }, wire.CodeUnavailable},
		{"no limit", "u:bob", func(r *delivery.InboxRead) { r.Limit = 0 }, wire.CodeBadRequest},
		{"no index", "u:bob", func(r *delivery.InboxRead) { r.Sender = "ann" }, wire.CodeUnsupported},
		{"a group", "g:bob", func(r *delivery.InboxRead) {}, wire.CodeBadRequest},
	} {
		read := good
		read.Remove = true
		c.change(&read)
		_, err := f.ReadInbox(f.ctx, c.inbox, read)
		if err == nil || wire.AsFault(err).Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
	_, err := f.SenderCounts(f.ctx, "u:bob")
	wantCode(t, err, wire.CodeUnsupported)
	if got := f.seqs("u:bob"); len(got) != 1 {
		t.Errorf("%v left, want [1]", got)
	}
}

// A pull is one command, however much it takes, and so are counts by sender;
// with more rows than one command counts, they are as many as are needed.
func TestInboxCommands(t *testing.T) {
	r := redistest.Start(t)
	cfg := indexed
	cfg.URL = r.URL()
	f := startStore(t, cfg)
	f.must(f.CreateUsers(f.ctx, []string{"bob"}))
	const senders, each = 300, 5
	for i := range each {
		for _, sender := range names(senders) {
			a, reply := newAppend("u:bob", sender, fmt.Sprint(i))
			f.must(f.Append(a))
			await(t, reply)
		}
	}
	step := func(name, command string, want uint64, op func()) {
		t.Helper()
		before, calls := f.Stats(), r.CommandStats()["evalsha"]
		op()
		after, callsAfter := f.Stats(), r.CommandStats()["evalsha"]
		if n := after.Commands[command] - before.Commands[command]; n != want || callsAfter-calls != want {
			t.Errorf("%s: %d %s commands, Redis counted %d; want %d", name, n, command, callsAfter-calls, want)
		}
		if n := after.RoundTrips - before.RoundTrips; n != want {
			t.Errorf("%s: %d round trips, want %d", name, n, want)
		}
	}
	count := func(rows int) func() {
		return func() {
			counts, err := f.senderCounts(f.ctx, "u:bob", rows)
			f.must(err)
			if len(counts) != senders {
				t.Fatalf("%d senders, want %d", len(counts), senders)
			}
			for _, c := range counts {
				if c.Messages != each {
					t.Fatalf("%+v, want %d messages", c, each)
				}
			}
		}
	}
	step("counts", "counts", 1, func() {
		counts, err := f.SenderCounts(f.ctx, "u:bob")
		f.must(err)
		if len(counts) != senders {
			t.Fatalf("%d senders", len(counts))
		}
	})
	step("counts in parts", "counts", 3, count(senders*each/3+1)) // 501 + 501 + 498
	step("counts across a sender", "counts", 215, count(7))       // ⌈1500 / 7⌉, senders of 5 split
	step("read", "read", 1, func() { f.part(delivery.InboxRead{UpTo: 1500, Limit: 1000, Bytes: 1 << 20}) })
	step("take a sender", "take", 1, func() {
		if p := f.part(delivery.InboxRead{UpTo: 1500, Sender: "user0007", Limit: 100, Bytes: 1 << 20, Remove: true}); len(p.Entries) != each {
			t.Errorf("took %v", seqsOf(p))
		}
	})
	step("take all", "take", 1, func() {
		if p := f.part(delivery.InboxRead{UpTo: 1500, All: true, Bytes: 1 << 20, Remove: true}); len(p.Entries) != (senders-1)*each {
			t.Errorf("took %d", len(p.Entries))
		}
	})
	if n := r.Client().Exists(f.ctx, f.keys.senders("u:bob")).Val(); n != 0 {
		t.Error("an index of nothing is left")
	}
}

// Seqs stay exact in the index as well, far beyond the 14 digits of Lua's own
// number formatting.
func TestLargeSeqsOfAnInbox(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		const start = 1<<51 + 7
		f.must(f.CreateUsers(f.ctx, []string{"bob"}))
		first, _ := newAppend("u:bob", "zoe", "0")
		f.must(f.client.Do(f.ctx, "xadd", f.keys.log(wire.KindInbox, "u:bob"), fmt.Sprintf("0-%d", start), "r", first.Record).Err())
		for i := range uint64(4) {
			if seq := f.sent("u:bob", "ann", fmt.Sprint(i)); seq != start+1+i {
				t.Fatalf("seq %d", seq)
			}
		}
		read := delivery.InboxRead{Sender: "ann", After: start + 1, UpTo: start + 3, Limit: 9, Bytes: 1 << 20, Remove: true}
		if p := f.part(read); !reflect.DeepEqual(seqsOf(p), []uint64{start + 2, start + 3}) || p.First != start {
			t.Errorf("took %v, oldest %d", seqsOf(p), p.First)
		}
		if left, err := f.Remove(f.ctx, "u:bob", f.Epoch(), start+1, nil); err != nil || left != start+4 {
			t.Errorf("oldest %d (%v), want %d", left, err, uint64(start+4))
		}
		if by := f.counts(); !reflect.DeepEqual(by, map[string]uint64{"ann": 1}) {
			t.Errorf("counts %v", by)
		}
		if a := f.fleeting("ann", "f"); a.Seq != start+5 || !a.Fleeting {
			t.Errorf("%+v", a)
		}
		if l := f.open("u:bob"); l.Head != start+5 || l.First != start+4 {
			t.Errorf("%+v: the newest is gone, the head is not", l)
		}
	})
}
