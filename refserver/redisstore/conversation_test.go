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

func TestOpen(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		_, err := f.Open(f.ctx, "g:none")
		wantCode(t, err, wire.CodeNoSuchGroup)
		_, err = f.Open(f.ctx, "u:nobody")
		wantCode(t, err, wire.CodeNoSuchUser)

		g := f.group("g", "alice", "bob")
		if got, want := f.open(g), (delivery.Log{Epoch: f.Epoch(), First: 1}); got != want {
			t.Fatalf("empty group: %+v, want %+v", got, want)
		}
		for i := range 3 {
			f.sent(g, "alice", fmt.Sprint(i))
			f.sent("u:bob", "alice", fmt.Sprint(i))
		}
		want := delivery.Log{Epoch: f.Epoch(), Head: 3, First: 1, Size: 3}
		if got := f.open(g); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if got := f.open("u:bob"); got != want {
			t.Fatalf("inbox: %+v, want %+v", got, want)
		}
		// An inbox may become empty, and remembers its head.
		f.must(f.remove("u:bob", f.Epoch(), 3, nil))
		want = delivery.Log{Epoch: f.Epoch(), Head: 3, First: 4}
		if got := f.open("u:bob"); got != want {
			t.Fatalf("emptied inbox: %+v, want %+v", got, want)
		}
		if seq := f.sent("u:bob", "alice", "next"); seq != 4 {
			t.Fatalf("seq %d after emptying, want 4", seq)
		}
	})
}

func TestRead(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "alice")
		for i := range 5 {
			f.sent(g, "alice", fmt.Sprint(i))
		}
		for _, c := range []struct {
			after uint64
			limit int
			want  []uint64
		}{
			{0, 10, []uint64{1, 2, 3, 4, 5}},
			{0, 2, []uint64{1, 2}},
			{2, 2, []uint64{3, 4}},
			{4, 2, []uint64{5}},
			{5, 2, []uint64{}},
			{1 << 52, 2, []uint64{}},
		} {
			entries, err := f.Read(f.ctx, g, f.Epoch(), c.after, c.limit)
			f.must(err)
			got := []uint64{}
			for _, e := range entries {
				got = append(got, e.Seq)
				var d wire.DeliverView
				if err := d.Decode(e.Record); err != nil || string(d.ClientMsgID) != fmt.Sprint(e.Seq-1) {
					t.Fatalf("seq %d holds %q (%v)", e.Seq, d.ClientMsgID, err)
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Fatalf("after %d limit %d: %v, want %v", c.after, c.limit, got, c.want)
			}
		}
		reads := f.Stats().LogReads
		_, err := f.Read(f.ctx, g, f.Epoch(), 0, 10)
		f.must(err)
		if n := f.Stats().LogReads - reads; n != 1 {
			t.Fatalf("%d log reads counted, want 1", n)
		}
		for _, epoch := range []uint64{0, 1, f.Epoch() + 1} {
			_, err := f.Read(f.ctx, g, epoch, 0, 10)
			wantCode(t, err, wire.CodeUnavailable)
		}
		_, err = f.Read(f.ctx, g, f.Epoch(), 0, 0)
		wantCode(t, err, wire.CodeBadRequest)
	})
}

func TestMove(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "alice", "bob", "carol")
		for i := range 5 {
			f.sent(g, "alice", fmt.Sprint(i))
		}
		step := func(name string, moves []delivery.Move, bob, carol uint64) {
			t.Helper()
			f.must(f.Move(f.ctx, g, f.Epoch(), moves))
			if b, c := f.cursor(g, "bob"), f.cursor(g, "carol"); b != bob || c != carol {
				t.Fatalf("%s: cursors %d %d, want %d %d", name, b, c, bob, carol)
			}
		}
		step("forward", []delivery.Move{{User: "bob", UpTo: 2}, {User: "carol", UpTo: 3}}, 2, 3)
		step("never back", []delivery.Move{{User: "bob", UpTo: 1}, {User: "carol", UpTo: 4}}, 2, 4)
		step("never past the head", []delivery.Move{{User: "bob", UpTo: 1 << 52}, {User: "carol", UpTo: 4}}, 5, 4)
		step("none", nil, 5, 4)
		step("a stranger changes nothing", []delivery.Move{{User: "mallory", UpTo: 5}}, 5, 4)
		_, err := f.Cursor(f.ctx, g, "mallory")
		wantCode(t, err, wire.CodeNotMember)
		_, err = f.Cursor(f.ctx, "g:none", "bob")
		wantCode(t, err, wire.CodeNoSuchGroup)

		f.must(f.Move(f.ctx, "g:none", f.Epoch(), []delivery.Move{{User: "bob", UpTo: 5}}))
		_, err = f.Open(f.ctx, "g:none")
		wantCode(t, err, wire.CodeNoSuchGroup)
		if n := f.Stats().CursorsMoved; n != 4 {
			t.Fatalf("%d cursors moved, want 4: twice two, one, one, none", n)
		}
		wantCode(t, f.Move(f.ctx, g, f.Epoch()-1, []delivery.Move{{User: "carol", UpTo: 5}}), wire.CodeUnavailable)
		wantCode(t, f.Move(f.ctx, "u:bob", f.Epoch(), []delivery.Move{{User: "bob", UpTo: 5}}), wire.CodeBadRequest)
	})
}

// One command moves all cursors of a group, past what Lua unpacks at once.
func TestMoveMany(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		users := names(5003)
		g := f.group("g", users...)
		f.sent(g, users[0], "1")
		f.sent(g, users[0], "2")
		before := f.Stats()
		moves := make([]delivery.Move, len(users))
		for i, user := range users {
			moves[i] = delivery.Move{User: user, UpTo: uint64(1 + i%3)} // 1, 2 and past the head
		}
		f.must(f.Move(f.ctx, g, f.Epoch(), moves))
		after := f.Stats()
		if n := after.Commands["move"] - before.Commands["move"]; n != 1 {
			t.Fatalf("%d commands, want 1", n)
		}
		if n := after.CursorsMoved - before.CursorsMoved; n != uint64(len(users)-1) {
			t.Fatalf("%d cursors moved, want all but the sender's", n)
		}
		for _, i := range []int{1, 499, 500, 501, 4999, 5000, 5001, 5002} {
			if c := f.cursor(g, users[i]); c != uint64(min(2, 1+i%3)) {
				t.Fatalf("%s stands at %d, want %d", users[i], c, min(2, 1+i%3))
			}
		}
	})
}

func TestRemove(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		f.must(f.CreateUsers(f.ctx, []string{"bob"}))
		for i := range 8 {
			f.sent("u:bob", "alice", fmt.Sprint(i))
		}
		for _, c := range []struct {
			name string
			upTo uint64
			ids  []uint64
			want []uint64
		}{
			{"by ids", 0, []uint64{5, 3, 99}, []uint64{1, 2, 4, 6, 7, 8}},
			{"again", 0, []uint64{5, 3}, []uint64{1, 2, 4, 6, 7, 8}},
			{"up to", 2, nil, []uint64{4, 6, 7, 8}},
			{"up to what is gone", 5, nil, []uint64{6, 7, 8}},
			{"back", 1, nil, []uint64{6, 7, 8}},
			{"nothing", 0, nil, []uint64{6, 7, 8}},
			{"past the head", ^uint64(0), nil, []uint64{}},
		} {
			f.must(f.remove("u:bob", f.Epoch(), c.upTo, c.ids))
			if got := f.seqs("u:bob"); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("%s: %v, want %v", c.name, got, c.want)
			}
		}
		// What comes after an ack past the head isn't acked.
		if seq := f.sent("u:bob", "alice", "next"); seq != 9 {
			t.Fatalf("seq %d, want 9", seq)
		}
		if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{9}) {
			t.Fatalf("%v, want [9]", got)
		}
		wantCode(t, f.remove("u:bob", 1, 9, nil), wire.CodeUnavailable)
		wantCode(t, f.remove("g:bob", f.Epoch(), 9, nil), wire.CodeBadRequest)

		many := make([]uint64, 2500)
		for i := range many {
			f.sent("u:bob", "alice", fmt.Sprint("many", i))
			many[i] = uint64(10 + i)
			if i >= 50 && f.Server().Embedded {
				break
			}
		}
		f.must(f.remove("u:bob", f.Epoch(), 0, many))
		if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{9}) {
			t.Fatalf("%d are left, want [9]", len(got))
		}
	})
}

func TestTrim(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		_, err := f.Trim(f.ctx, "g:none", f.Epoch(), 0)
		wantCode(t, err, wire.CodeNoSuchGroup)
		g := f.group("g", "alice", "bob")
		step := func(name string, retention int, want delivery.Trimmed) {
			t.Helper()
			got, err := f.Trim(f.ctx, g, f.Epoch(), retention)
			f.must(err)
			if got != want {
				t.Fatalf("%s: %+v, want %+v", name, got, want)
			}
		}
		step("empty log", 0, delivery.Trimmed{First: 1})
		for i := range 10 {
			f.sent(g, "alice", fmt.Sprint(i))
		}
		step("bob has acked nothing", 0, delivery.Trimmed{First: 1})
		f.move(g, "bob", 4)
		step("up to the slowest", 0, delivery.Trimmed{First: 5, Removed: 4})
		step("once", 0, delivery.Trimmed{First: 5})
		step("limit not reached", 6, delivery.Trimmed{First: 5})
		step("retention, past bob", 3, delivery.Trimmed{First: 8, Removed: 3, Truncated: 3})
		f.move(g, "bob", 9)
		step("retention wants less than is acked", 3, delivery.Trimmed{First: 10, Removed: 2})
		f.move(g, "bob", 10)
		step("the newest stays: it remembers the head", 0, delivery.Trimmed{First: 10})
		for i := range 4 {
			f.sent(g, "alice", fmt.Sprint("more", i)) // 11 to 14
		}
		step("retention, part acked", 1, delivery.Trimmed{First: 14, Removed: 4, Truncated: 3}) // 10 was acked
		wantCode(t, func() error { _, err := f.Trim(f.ctx, g, 1, 0); return err }(), wire.CodeUnavailable)
		if l := f.open(g); l.Head != 14 || l.First != 14 || l.Size != 1 {
			t.Fatalf("%+v", l)
		}
	})
}

// A member who only writes never acks: trimming goes on all the same.
func TestTrimBehindWriter(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "writer", "reader")
		for i := range 20 {
			seq := f.sent(g, "writer", fmt.Sprint(i))
			f.move(g, "reader", seq)
		}
		got, err := f.Trim(f.ctx, g, f.Epoch(), 0)
		f.must(err)
		if want := (delivery.Trimmed{First: 20, Removed: 19}); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// Everything of one conversation or user lies in one slot of a Redis Cluster.
func TestOneSlotPerConversation(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute, FriendsOnly: true, SenderIndex: true, Namespace: "am:run-1"})
	f.group("x", "alice", "bob")
	if _, err := f.AddFriends(f.ctx, "bob", []string{"alice"}); err != nil {
		t.Fatal(err)
	}
	f.sent("g:x", "alice", "1")
	f.sent("u:bob", "alice", "1")
	slots := map[string]map[int64]int{}
	keys, err := r.Client().Keys(f.ctx, "*").Result()
	f.must(err)
	for _, key := range keys {
		var tag string
		for _, c := range []string{"g:x", "u:alice", "u:bob"} {
			if want := "am:run-1:{" + c + "}:"; len(key) > len(want) && key[:len(want)] == want {
				tag = c
			}
		}
		if tag == "" {
			if key != "am:run-1:epoch" {
				t.Errorf("key %s belongs to nobody", key)
			}
			continue
		}
		if slots[tag] == nil {
			slots[tag] = map[int64]int{}
		}
		slots[tag][r.Client().ClusterKeySlot(f.ctx, key).Val()]++
	}
	want := map[string]int{"g:x": 4, "u:alice": 2, "u:bob": 7} // log members meta sent · user groups · + inbox senders friends meta sent
	for tag, n := range want {
		total := 0
		for _, k := range slots[tag] {
			total += k
		}
		if len(slots[tag]) != 1 || total != n {
			t.Errorf("%s: %v, want %d keys in one slot", tag, slots[tag], n)
		}
	}
}

// Seqs stay exact far beyond the 14 digits of Lua's own number formatting.
func TestLargeSeqs(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		const start = 1<<51 + 7
		g := f.group("g", "alice", "bob")
		for _, conversation := range []string{g, "u:bob"} {
			kind, _, _ := wire.ParseConversation(conversation)
			f.must(f.client.Do(f.ctx, "xadd", f.keys.log(kind, conversation), fmt.Sprintf("0-%d", start), "r", "first").Err())
			if seq := f.sent(conversation, "bob", "x"); seq != start+1 {
				t.Fatalf("%s: seq %d, want %d", conversation, seq, start+1)
			}
			if l := f.open(conversation); l.Head != start+1 || l.First != start || l.Base != start {
				t.Fatalf("%s: %+v", conversation, l)
			}
			if a := f.send(conversation, "bob", "x"); !a.Duplicate || a.Seq != start+1 {
				t.Fatalf("%s: resend %+v", conversation, a)
			}
		}
		f.move(g, "alice", start)
		f.move(g, "bob", start+1)
		if a := f.send(g, "bob", "y"); a.Seq != start+2 || !a.OwnGap || f.cursor(g, "bob") != start+2 {
			t.Fatalf("%+v", a)
		}
		if got, err := f.Trim(f.ctx, g, f.Epoch(), 0); err != nil || got.First != start+1 || got.Removed != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := f.AddMembers(f.ctx, g, []string{"alice", "bob"}); err != nil {
			t.Fatal(err)
		}
		f.move(g, "alice", 1<<52)
		if c := f.cursor(g, "alice"); c != start+2 {
			t.Fatalf("cursor %d, want %d", c, start+2)
		}
		f.must(f.remove("u:bob", f.Epoch(), start, nil))
		if got := f.seqs("u:bob"); !reflect.DeepEqual(got, []uint64{start + 1}) {
			t.Fatalf("%v", got)
		}
	})
}
