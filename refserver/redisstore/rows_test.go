package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// backlog sends n messages to a group and waits until they are all stored.
func (f *fixture) backlog(group, sender string, n int) {
	f.t.Helper()
	f.open(group)
	for i := range n {
		f.sent(group, sender, fmt.Sprintf("b%d", i))
	}
	f.settled()
}

// part reads seqs as a design does: of ids the seqs alone.
func (f *fixture) rowsPart(group, user string, r delivery.RowRead) (seqs []uint64, more bool, err error) {
	if r.Epoch == 0 {
		r.Epoch = f.Epoch()
	}
	if f.cfg.Group == delivery.GroupIDs {
		return f.ReadIDs(f.ctx, group, user, r)
	}
	copies, more, err := f.ReadCopies(f.ctx, group, user, r)
	for _, e := range copies {
		seqs = append(seqs, e.Seq)
	}
	return seqs, more, err
}

func TestReadRows(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		group, other := f.group("1", "a", "b"), f.group("10", "a", "b")
		f.backlog(group, "a", 7)
		f.backlog(other, "a", 2)
		f.sent(group, "b", "own") // 8: b has no row of it
		f.sent(group, "a", "last")
		f.settled()
		for _, c := range []struct {
			name string
			r    delivery.RowRead
			want []uint64
			more bool
		}{
			{"the first three", delivery.RowRead{UpTo: 9, Limit: 3}, []uint64{1, 2, 3}, true},
			{"right after", delivery.RowRead{After: 3, UpTo: 9, Limit: 3}, []uint64{4, 5, 6}, true},
			{"over the own one to the end", delivery.RowRead{After: 6, UpTo: 9, Limit: 3}, []uint64{7, 9}, false},
			{"exactly all", delivery.RowRead{UpTo: 7, Limit: 7}, []uint64{1, 2, 3, 4, 5, 6, 7}, false},
			{"one less", delivery.RowRead{UpTo: 7, Limit: 6}, []uint64{1, 2, 3, 4, 5, 6}, true},
			{"nothing left", delivery.RowRead{After: 9, UpTo: 12, Limit: 3}, []uint64{}, false},
			{"only the own one", delivery.RowRead{After: 7, UpTo: 8, Limit: 3}, []uint64{}, false},
			{"the newest", delivery.RowRead{UpTo: 9, Limit: 3, Newest: true}, []uint64{6, 7, 9}, true},
			{"before them", delivery.RowRead{UpTo: 5, Limit: 3, Newest: true}, []uint64{3, 4, 5}, true},
			{"the oldest at last", delivery.RowRead{UpTo: 2, Limit: 3, Newest: true}, []uint64{1, 2}, false},
			{"down to a cursor", delivery.RowRead{After: 4, UpTo: 7, Limit: 3, Newest: true}, []uint64{5, 6, 7}, false},
			{"everything", delivery.RowRead{After: 1, UpTo: 9, All: true, Bytes: 1 << 20}, []uint64{2, 3, 4, 5, 6, 7, 9}, false},
		} {
			got, more, err := f.rowsPart(group, "b", withBytes(c.r))
			if err != nil || !slices.Equal(got, c.want) || more != c.more {
				t.Errorf("%s: %v, more %v (%v), want %v, %v", c.name, got, more, err, c.want, c.more)
			}
		}
		rows, err := f.Rows(f.ctx, "b", f.Epoch(), []string{other, group, "g:none"})
		f.must(err)
		if want := []delivery.Rows{{First: 1, Count: 2}, {First: 1, Count: 8}, {}}; !slices.Equal(rows, want) {
			t.Errorf("rows %+v, want %+v", rows, want)
		}
		if r, err := f.RowsOf(f.ctx, group, "a"); err != nil || r != (delivery.Rows{First: 8, Count: 1}) {
			t.Errorf("rows of a: %+v (%v), want the one that b sent", r, err)
		}
		_, _, err = f.rowsPart(group, "b", delivery.RowRead{UpTo: 9})
		wantCode(t, err, wire.CodeBadRequest)
		_, _, err = f.rowsPart(group, "b", delivery.RowRead{Epoch: f.Epoch() - 1, UpTo: 9, Limit: 1})
		wantCode(t, err, wire.CodeUnavailable)
		_, _, err = f.rowsPart("u:b", "b", delivery.RowRead{UpTo: 9, Limit: 1})
		wantCode(t, err, wire.CodeBadRequest)
	})
}

func withBytes(r delivery.RowRead) delivery.RowRead {
	if r.Bytes == 0 {
		r.Bytes = 1 << 20
	}
	return r
}

// A part of copies ends where its bytes do; one comes whatever its size, and
// everything at once is refused without touching anything.
func TestReadCopiesBytes(t *testing.T) {
	onEach(t, Config{Group: delivery.GroupCopies}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b")
		f.backlog(group, "a", 5)
		copies, _, err := f.ReadCopies(f.ctx, group, "b", delivery.RowRead{Epoch: f.Epoch(), UpTo: 5, All: true, Bytes: 1 << 20})
		f.must(err)
		size := 0
		for _, e := range copies {
			size += len(e.Record)
		}
		each := size / 5
		for _, c := range []struct {
			name string
			r    delivery.RowRead
			want []uint64
			more bool
		}{
			{"two fit", delivery.RowRead{UpTo: 5, Limit: 5, Bytes: 2*each + 1}, []uint64{1, 2}, true},
			{"the newest two", delivery.RowRead{UpTo: 5, Limit: 5, Bytes: 2*each + 1, Newest: true}, []uint64{4, 5}, true},
			{"none fits", delivery.RowRead{UpTo: 5, Limit: 5, Bytes: 1}, []uint64{1}, true},
			{"all fit", delivery.RowRead{UpTo: 5, Limit: 5, Bytes: size}, []uint64{1, 2, 3, 4, 5}, false},
		} {
			got, more, err := f.rowsPart(group, "b", c.r)
			if err != nil || !slices.Equal(got, c.want) || more != c.more {
				t.Errorf("%s: %v, more %v (%v), want %v, %v", c.name, got, more, err, c.want, c.more)
			}
		}
		_, _, err = f.ReadCopies(f.ctx, group, "b", delivery.RowRead{Epoch: f.Epoch(), UpTo: 5, All: true, Bytes: size - 1, Remove: true})
		wantCode(t, err, wire.CodeTooLarge)
		f.wantRows(group, map[string][]uint64{"b": {1, 2, 3, 4, 5}})
	})
}

// What is removed as it is pulled is exactly what the pull returned: nobody
// else's, no other group's.
func TestRemoveOnPull(t *testing.T) {
	onRows(t, Config{StoreFor: delivery.StoreForOffline}, func(t *testing.T, f *fixture) {
		group, other := f.group("1", "a", "b", "c"), f.group("10", "a", "b")
		f.backlog(group, "a", 1200) // more than unpack takes at once
		f.backlog(other, "a", 3)
		pull := func(user string, r delivery.RowRead) []uint64 {
			t.Helper()
			r.Epoch, r.Bytes, r.Remove = f.Epoch(), 1<<30, true
			seqs, _, err := f.rowsPart(group, user, r)
			f.must(err)
			if f.cfg.Group == delivery.GroupIDs {
				if seqs, err = f.TakeIDs(f.ctx, group, user, f.Epoch(), seqs); err != nil {
					t.Fatal(err)
				}
			}
			return seqs
		}
		if got := pull("b", delivery.RowRead{UpTo: 1200, Limit: 1100}); len(got) != 1100 || got[0] != 1 || got[1099] != 1100 {
			t.Fatalf("%d pulled, want 1 to 1100", len(got))
		}
		if got := pull("b", delivery.RowRead{UpTo: 1150, Limit: 10, Newest: true}); !slices.Equal(got, seqs(1141, 1150)) {
			t.Fatalf("pulled %v, want 1141 to 1150", got)
		}
		if got := pull("c", delivery.RowRead{UpTo: 5, Limit: 3}); !slices.Equal(got, seqs(1, 3)) {
			t.Fatalf("pulled %v, want 1 to 3", got)
		}
		f.wantRows(group, map[string][]uint64{"b": append(seqs(1101, 1140), seqs(1151, 1200)...), "c": seqs(4, 1200)})
		f.wantRows(other, map[string][]uint64{"b": seqs(1, 3)})
		if f.cfg.Group == delivery.GroupIDs {
			left := map[string]string{}
			for seq := uint64(4); seq <= 1200; seq++ { // 1 to 3 were pulled by both
				left[strconv.FormatUint(seq, 10)] = "2"
				if seq <= 1100 || 1140 < seq && seq <= 1150 {
					left[strconv.FormatUint(seq, 10)] = "1"
				}
			}
			f.wantBodies(group, left)
			if got := f.Stats().BodiesFreed; got != 3 {
				t.Errorf("%d bodies freed, want 3", got)
			}
			if got, err := f.TakeIDs(f.ctx, group, "b", f.Epoch(), []uint64{1, 1101, 5000}); err != nil || !slices.Equal(got, []uint64{1101}) {
				t.Errorf("took %v (%v), want 1101, which alone was there", got, err)
			}
		}
	})
}

func seqs(from, to uint64) (out []uint64) {
	for seq := from; seq <= to; seq++ {
		out = append(out, seq)
	}
	return out
}

// An ack removes the user's rows of that group up to a seq, and a body goes with
// its last id.
func TestRemoveOnAck(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		group, other := f.group("1", "a", "b", "c"), f.group("10", "a", "b")
		f.backlog(group, "a", 5)
		f.backlog(other, "a", 2)
		ack := func(moves ...delivery.Move) {
			t.Helper()
			f.must(f.RemoveRows(f.ctx, group, f.Epoch(), moves))
		}
		before := f.Stats()
		ack(delivery.Move{User: "b", UpTo: 3}, delivery.Move{User: "c", UpTo: 1})
		after := f.Stats()
		f.wantRows(group, map[string][]uint64{"a": {}, "b": {4, 5}, "c": {2, 3, 4, 5}})
		f.wantRows(other, map[string][]uint64{"b": {1, 2}})
		f.wantBodies(group, map[string]string{"2": "1", "3": "1", "4": "2", "5": "2"})
		trips, release := uint64(1), uint64(0)
		if f.cfg.Group == delivery.GroupIDs {
			trips, release = 2, 1
		}
		if got := after.RoundTrips - before.RoundTrips; got != trips {
			t.Errorf("%d round trips, want %d", got, trips)
		}
		if remove, rel := after.Commands["remove"]-before.Commands["remove"], after.Commands["release"]-before.Commands["release"]; remove != 2+release || rel != release {
			t.Errorf("%d commands to remove and %d to count off, want %d, with the generation read, and %d", remove, rel, 2+release, release)
		}
		ack(delivery.Move{User: "b", UpTo: 3}) // again
		ack(delivery.Move{User: "c", UpTo: 99}, delivery.Move{User: "nobody", UpTo: 5})
		f.wantRows(group, map[string][]uint64{"b": {4, 5}, "c": {}})
		f.wantBodies(group, map[string]string{"4": "1", "5": "1"})
		ack(delivery.Move{User: "b", UpTo: 5})
		f.wantBodies(group, map[string]string{})
		// The seqs go on although the log is empty, also for who opens it anew.
		if l := f.open(group); l.Head != 5 {
			t.Errorf("head %d, want 5", l.Head)
		}
		if seq := f.sent(group, "a", "next"); seq != 6 {
			t.Errorf("seq %d, want 6", seq)
		}
		err := f.RemoveRows(f.ctx, group, f.Epoch()-1, []delivery.Move{{User: "b", UpTo: 6}})
		wantCode(t, err, wire.CodeUnavailable)
		f.settled()
		f.wantRows(group, map[string][]uint64{"b": {6}})
	})
}

func TestBodies(t *testing.T) {
	onEach(t, Config{Group: delivery.GroupIDs}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b")
		f.backlog(group, "a", 40)
		f.must(f.RemoveRows(f.ctx, group, f.Epoch(), []delivery.Move{{User: "b", UpTo: 2}}))
		for _, c := range []struct {
			name       string
			asked, got []uint64
		}{
			{"close together", []uint64{3, 4, 6}, []uint64{3, 4, 6}},
			{"far apart", []uint64{3, 39}, []uint64{3, 39}},
			{"some gone", []uint64{1, 2, 3}, []uint64{3}},
			{"some gone, far apart", []uint64{1, 40, 41}, []uint64{40}},
			{"none", nil, nil},
		} {
			entries, err := f.Bodies(f.ctx, group, f.Epoch(), c.asked)
			f.must(err)
			var got []uint64
			for _, e := range entries {
				got = append(got, e.Seq)
				var v wire.DeliverView
				if err := v.Decode(e.Record); err != nil || string(v.ClientMsgID) != fmt.Sprintf("b%d", e.Seq-1) {
					t.Errorf("%s: seq %d holds %s (%v)", c.name, e.Seq, v.ClientMsgID, err)
				}
			}
			if !slices.Equal(got, c.got) {
				t.Errorf("%s: bodies %v, want %v", c.name, got, c.got)
			}
		}
	})
}

func TestPresence(t *testing.T) {
	onEach(t, Config{Group: delivery.GroupIDs, StoreFor: delivery.StoreForOffline}, func(t *testing.T, f *fixture) {
		until := time.Now().Add(time.Minute).UnixMilli()
		f.must(f.Present(f.ctx, []string{"a", "b"}, until))
		f.must(f.Absent(f.ctx, []string{"b", "c"}))
		all, err := f.client.ZRangeWithScores(f.ctx, f.keys.presence, 0, -1).Result()
		f.must(err)
		if len(all) != 1 || all[0].Member != "a" || int64(all[0].Score) != until {
			t.Errorf("presence %v, want a until %d", all, until)
		}
		if n, err := f.PurgeNamespace(f.ctx); err != nil || n != 2 { // with the epoch
			t.Errorf("%d keys purged (%v), want 2", n, err)
		}
	})
}

// Who leaves a group leaves nothing of it behind, and gets nothing older when it
// comes again.
func TestRowsOfWhoLeaves(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		group, other := f.group("1", "a", "b", "c"), f.group("10", "a", "b")
		f.sent(group, "a", "1")
		f.sent(other, "a", "1")
		f.settled()
		if n, err := f.RemoveMembers(f.ctx, group, []string{"b"}); err != nil || n != 1 {
			t.Fatalf("%d removed (%v), want 1", n, err)
		}
		f.sent(group, "a", "2")
		f.settled()
		f.wantRows(group, map[string][]uint64{"b": {}, "c": {1, 2}})
		f.wantRows(other, map[string][]uint64{"b": {1}})
		f.wantBodies(group, map[string]string{"1": "1", "2": "1"})
		if _, err := f.RowsOf(f.ctx, group, "b"); wire.AsFault(err).Code != wire.CodeNotMember {
			t.Errorf("rows of who left: %v, want not_member", err)
		}
		if n, err := f.AddMembers(f.ctx, group, []string{"b"}); err != nil || n != 1 {
			t.Fatalf("%d added (%v), want 1", n, err)
		}
		f.sent(group, "a", "3")
		f.settled()
		f.wantRows(group, map[string][]uint64{"b": {3}, "c": {1, 2, 3}})
	})
}
