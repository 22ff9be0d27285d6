package redisstore

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// What is taken is what is returned, and nothing else, index included.
func TestTakeIsExact(t *testing.T) {
	for _, index := range []bool{true, false} {
		t.Run(fmt.Sprint("index ", index), func(t *testing.T) {
			onEach(t, Config{DedupFor: time.Minute, SenderIndex: index}, func(t *testing.T, f *fixture) {
				f.inbox(manyNames...)
				left := map[uint64]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}
				steps := []delivery.InboxRead{
					{UpTo: 8, Limit: 2},               // 1 2
					{UpTo: 8, Limit: 1, Newest: true}, // 8
					{After: 3, UpTo: 5, Limit: 9},     // 4 5, and not 3
					{UpTo: 8, All: true},              // 3 6 7
				}
				if index {
					steps = append([]delivery.InboxRead{{UpTo: 8, Sender: "ann", Limit: 2}, {UpTo: 8, Sender: "an", Limit: 1, Newest: true}}, steps...)
				}
				for i, r := range steps {
					r.Remove, r.Bytes = true, 1<<20
					p := f.part(r)
					if len(p.Entries) == 0 {
						t.Fatalf("step %d took nothing", i)
					}
					for _, seq := range seqsOf(p) {
						if !left[seq] {
							t.Fatalf("step %d took %d, which was gone", i, seq)
						}
						delete(left, seq)
					}
					want, first := []uint64{}, uint64(0)
					by := map[string]uint64{}
					for seq := uint64(1); seq <= 8; seq++ {
						if left[seq] {
							want = append(want, seq)
							by[manyNames[seq-1]]++
						}
					}
					if len(want) > 0 {
						first = want[0]
					}
					if got := f.seqs("u:bob"); !reflect.DeepEqual(got, want) || p.First != first {
						t.Fatalf("step %d: %v left, oldest %d; want %v", i, got, p.First, want)
					}
					if index && !reflect.DeepEqual(f.counts(), by) {
						t.Fatalf("step %d: counts %v, want %v", i, f.counts(), by)
					}
				}
				if len(left) != 0 {
					t.Fatalf("%v left", left)
				}
				if seq := f.sent("u:bob", "ann", "next"); seq != 9 {
					t.Fatalf("seq %d after everything was taken, want 9", seq)
				}
			})
		})
	}
}

// Everything at once is refused where it is too large, and then all of it stays.
func TestTakeAllTooLarge(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		f.inbox(manyNames...)
		_, err := f.ReadInbox(f.ctx, "u:bob", delivery.InboxRead{Epoch: f.Epoch(), UpTo: 8, All: true, Bytes: 100, Remove: true})
		wantCode(t, err, wire.CodeTooLarge)
		if got := f.seqs("u:bob"); len(got) != 8 || f.counts()["ann"] != 3 {
			t.Fatalf("%v left, want all", got)
		}
	})
}

// A take whose answer is lost isn't issued again: the next page would hide that
// this one is lost. One that Redis never got is.
func TestTakeIsNotRepeated(t *testing.T) {
	r := redistest.Start(t)
	p := newProxy(t, r.Socket())
	f := startStore(t, Config{URL: p.url(), DedupFor: time.Minute})
	f.inbox("ann", "ann", "ann")
	take := delivery.InboxRead{Epoch: f.Epoch(), UpTo: 3, Limit: 1, Bytes: 1 << 20, Remove: true}
	calls := r.CommandStats()["evalsha"]
	p.loseAnswers(1, 0)
	_, err := f.ReadInbox(f.ctx, "u:bob", take)
	wantCode(t, err, wire.CodeUnavailable)
	if f := wire.AsFault(err); !strings.Contains(f.Message, "lost") {
		t.Errorf("%v doesn't say what happened", f)
	}
	if n := r.CommandStats()["evalsha"] - calls; n != 1 {
		t.Errorf("taken %d times, want once", n)
	}
	if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{2, 3}) {
		t.Errorf("%v left, want [2 3]", got)
	}
	// A plain read is repeated, as ever.
	take.Remove = false
	p.loseAnswers(1, 0)
	if part, err := f.ReadInbox(f.ctx, "u:bob", take); err != nil || !reflect.DeepEqual(seqsOf(part), []uint64{2}) {
		t.Errorf("%v, %v; want [2]", seqsOf(part), err)
	}
}

// Acks keep the index in step, and say what is left.
func TestRemoveWithIndex(t *testing.T) {
	onEach(t, indexed, func(t *testing.T, f *fixture) {
		f.inbox(manyNames...) // ann 1 5 7, ann-x 2, an 3 8, ann.a 4, zoe 6
		for _, c := range []struct {
			name  string
			upTo  uint64
			ids   []uint64
			first uint64
			by    map[string]uint64
		}{
			{"by ids", 0, []uint64{1, 7, 99}, 2, map[string]uint64{"ann": 1, "ann-x": 1, "an": 2, "ann.a": 1, "zoe": 1}},
			{"up to", 3, nil, 4, map[string]uint64{"ann": 1, "an": 1, "ann.a": 1, "zoe": 1}},
			{"both", 4, []uint64{6}, 5, map[string]uint64{"ann": 1, "an": 1}},
			{"nothing", 0, nil, 5, map[string]uint64{"ann": 1, "an": 1}},
			{"the rest", ^uint64(0), nil, 0, map[string]uint64{}},
		} {
			first, err := f.Remove(f.ctx, "u:bob", f.Epoch(), c.upTo, c.ids)
			f.must(err)
			if by := f.counts(); first != c.first || !reflect.DeepEqual(by, c.by) {
				t.Errorf("%s: oldest %d, %v; want %d, %v", c.name, first, by, c.first, c.by)
			}
		}
	})
}
