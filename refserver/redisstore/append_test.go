package redisstore

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

func TestAppendGroup(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "alice", "bob")

		first := f.send(g, "alice", "m1")
		if first.Err != nil || first.Seq != 1 || first.Epoch != f.Epoch() || first.Duplicate {
			t.Fatalf("first send: %+v", first)
		}
		if again := f.send(g, "alice", "m1"); again.Err != nil || again.Seq != 1 || !again.Duplicate {
			t.Fatalf("resend: %+v, want seq 1 as a duplicate", again)
		}
		if seq := f.sent(g, "bob", "m1"); seq != 2 {
			t.Fatalf("another sender's m1 has seq %d, want 2: ids are per sender", seq)
		}
		wantCode(t, f.send(g, "carol", "m1").Err, wire.CodeNotMember)
		wantCode(t, f.send("g:none", "alice", "m1").Err, wire.CodeNoSuchGroup)

		entries, err := f.Read(f.ctx, g, f.Epoch(), 0, 10)
		f.must(err)
		if len(entries) != 2 || string(entries[0].Record) != string(first.Record) {
			t.Fatalf("stored %v", entries)
		}
		if err := f.Append(&delivery.Append{Conversation: "nonsense"}); wire.AsFault(err).Code != wire.CodeBadRequest {
			t.Fatalf("%v", err)
		}
	})
}

func TestAppendInbox(t *testing.T) {
	for _, friendsOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("friends only %v", friendsOnly), func(t *testing.T) {
			onEach(t, Config{DedupFor: time.Minute, FriendsOnly: friendsOnly}, func(t *testing.T, f *fixture) {
				f.must(f.CreateUsers(f.ctx, []string{"alice", "bob"}))
				if _, err := f.AddFriends(f.ctx, "bob", []string{"alice"}); err != nil {
					t.Fatal(err)
				}
				if seq := f.sent("u:bob", "alice", "m1"); seq != 1 {
					t.Fatalf("seq %d, want 1", seq)
				}
				if a := f.send("u:bob", "alice", "m1"); a.Seq != 1 || !a.Duplicate {
					t.Fatalf("resend: %+v", a)
				}
				stranger := f.send("u:bob", "carol", "m1")
				if friendsOnly {
					wantCode(t, stranger.Err, wire.CodeNotFriend)
				} else if stranger.Err != nil || stranger.Seq != 2 {
					t.Fatalf("stranger: %+v", stranger)
				}
				wantCode(t, f.send("u:nobody", "alice", "m1").Err, wire.CodeNoSuchUser)
			})
		})
	}
}

// A message stays a duplicate for DedupFor, also across the edge of a bucket,
// and with no limit for ever.
func TestDedupBuckets(t *testing.T) {
	const d = time.Hour
	var now atomic.Int64
	clock := func() time.Time { return time.Unix(0, now.Load()) }
	set := func(t time.Duration) { now.Store(int64(1000*d + t)) }
	for _, c := range []struct {
		name     string
		dedupFor time.Duration
		at       time.Duration // of the resend; the send is one minute before the bucket's end
		dup      bool
	}{
		{"same bucket", d, d - time.Second, true},
		{"across the edge", d, d + time.Second, true},
		{"end of the next bucket", d, 2*d - time.Second, true},
		{"two buckets later", d, 2*d + time.Second, false},
		{"no limit", 0, 1000 * d, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			onEach(t, Config{DedupFor: c.dedupFor, Now: clock}, func(t *testing.T, f *fixture) {
				set(d - time.Minute)
				f.must(f.CreateUsers(f.ctx, []string{"alice", "bob"}))
				g := f.group("g", "alice")
				for _, conversation := range []string{g, "u:bob"} {
					set(d - time.Minute)
					a, reply := newAppend(conversation, "alice", "m")
					a.Deadline = time.Time{}
					f.must(f.Append(a))
					if await(t, reply).Seq != 1 {
						t.Fatalf("%+v", a)
					}
					set(c.at)
					a, reply = newAppend(conversation, "alice", "m")
					a.Deadline = time.Time{}
					f.must(f.Append(a))
					if await(t, reply); a.Err != nil || a.Duplicate != c.dup {
						t.Fatalf("%s: resend %+v, want duplicate %v", conversation, a, c.dup)
					}
				}
			})
		})
	}
}

// The buckets go by themselves, and aren't listpacks.
func TestDedupBucketsExpire(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	g := f.group("g", "alice")
	f.sent(g, "alice", "m1")
	f.sent(g, "alice", "m2")
	key := f.keys.key(g, fmt.Sprintf("sent:%d", bucket(time.Now(), time.Hour)))
	ttl, err := r.Client().PTTL(f.ctx, key).Result()
	if err != nil || ttl <= 2*time.Hour || ttl > 150*time.Minute {
		t.Fatalf("%s lives for %v (%v), want between two and two and a half buckets", key, ttl, err)
	}
	if enc, err := r.Client().ObjectEncoding(f.ctx, key).Result(); enc != "hashtable" {
		t.Fatalf("encoding %q (%v), want hashtable", enc, err)
	}
	for _, data := range []string{"log", "members", "meta"} {
		if ttl := r.Client().TTL(f.ctx, f.keys.key(g, data)).Val(); ttl != -1 {
			t.Fatalf("%s expires in %v; data never does", data, ttl)
		}
	}
}

func TestOwnGap(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "alice", "bob")
		for _, c := range []struct {
			sender, id string
			seq        uint64
			ownGap     bool
			cursor     uint64 // of the sender
		}{
			{"alice", "a1", 1, true, 1},
			{"alice", "a2", 2, true, 2},  // a member who only writes
			{"bob", "b1", 3, false, 0},   // 1 and 2 are unread
			{"alice", "a3", 4, false, 2}, // 3 is unread
		} {
			a := f.send(g, c.sender, c.id)
			if a.Err != nil || a.Seq != c.seq || a.OwnGap != c.ownGap || f.cursor(g, c.sender) != c.cursor {
				t.Fatalf("%s: seq %d own gap %v cursor %d (%v), want %+v", c.id, a.Seq, a.OwnGap, f.cursor(g, c.sender), a.Err, c)
			}
		}
		if a := f.send(g, "alice", "a3"); !a.Duplicate || a.OwnGap || f.cursor(g, "alice") != 2 {
			t.Fatalf("a resend moved something: %+v", a)
		}
	})
}

// Seqs are contiguous and reported in the order of the log, whatever comes in
// at once, and many sends share a round trip.
func TestConcurrentSends(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute, Shards: 2}, func(t *testing.T, f *fixture) {
		senders, each := 16, 50
		if f.Server().Embedded {
			each = 10 // it is slow, the more so under the race detector
		}
		users := names(senders)
		groups := []string{f.group("g1", users...), f.group("g2", users...), f.group("g3", users...)}
		before := f.Stats()
		replies := make(chan *delivery.Append, senders*each*len(groups))
		for _, user := range users {
			go func() {
				for i := range each {
					for _, g := range groups {
						a, _ := newAppend(g, user, fmt.Sprint(i))
						a.Reply = replies
						if err := f.Append(a); err != nil {
							t.Error(err)
						}
					}
				}
			}()
		}
		for range cap(replies) {
			if a := await(t, replies); a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		want := make([]uint64, senders*each)
		for i := range want {
			want[i] = uint64(i + 1)
		}
		for _, g := range groups {
			if got := f.seqs(g); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s has seqs %v", g, got)
			}
			f.sink.mu.Lock()
			got := f.sink.order[g]
			f.sink.mu.Unlock()
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s was reported as %v", g, got)
			}
		}
		after := f.Stats()
		commands, trips := after.Commands["append"]-before.Commands["append"], after.Batches-before.Batches
		if commands != uint64(cap(replies)) {
			t.Fatalf("%d commands for %d sends", commands, cap(replies))
		}
		if trips > commands/2 {
			t.Fatalf("%d round trips for %d sends: they don't share", trips, commands)
		}
	})
}

// A group send is one command, whatever the size of the group, and Redis counts the same.
func TestOneCommandPerSend(t *testing.T) {
	r := redistest.Start(t)
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Minute})
	for _, size := range []int{2, 50, 500} {
		users := names(size)
		g := f.group(fmt.Sprint(size), users...)
		before, calls := f.Stats(), r.CommandStats()["evalsha"]
		const sends = 20
		for i := range sends {
			f.sent(g, users[i%size], fmt.Sprint(i))
		}
		after, callsAfter := f.Stats(), r.CommandStats()["evalsha"]
		if n := after.Commands["append"] - before.Commands["append"]; n != sends {
			t.Fatalf("%d members: %d commands for %d sends", size, n, sends)
		}
		if callsAfter-calls != sends {
			t.Fatalf("%d members: Redis counted %d EVALSHA for %d sends", size, callsAfter-calls, sends)
		}
		for name, n := range after.Commands {
			if name != "append" && n != before.Commands[name] {
				t.Fatalf("%d members: sends issued %d %s commands", size, n-before.Commands[name], name)
			}
		}
	}
}

func TestOverload(t *testing.T) {
	q := newShard(2, 100)
	put := func(size int) *wire.Fault { return q.put(&delivery.Append{Record: make([]byte, size)}) }
	for _, c := range []struct {
		name string
		size int
		want wire.Code
	}{
		{"first", 60, ""},
		{"too many bytes", 60, wire.CodeOverloaded},
		{"second", 30, ""},
		{"too many", 1, wire.CodeOverloaded},
	} {
		f := put(c.size)
		if (f == nil) != (c.want == "") || f != nil && f.Code != c.want {
			t.Fatalf("%s: %v, want %q", c.name, f, c.want)
		}
	}
	if b := q.take(1); len(b) != 1 || len(b[0].Record) != 60 {
		t.Fatalf("took %d", len(b))
	}
	if f := put(60); f != nil {
		t.Fatalf("room for another: %v", f)
	}
	if b := q.take(9); len(b) != 2 {
		t.Fatalf("took %d, want 2", len(b))
	}
	q.close()
	if f := put(1); f == nil || f.Code != wire.CodeShuttingDown {
		t.Fatalf("closed: %v", f)
	}
	if b := q.take(9); b != nil {
		t.Fatalf("took %d from a closed queue", len(b))
	}
}

func TestBatchLimits(t *testing.T) {
	q := newShard(100, 100<<20)
	for range 5 {
		q.put(&delivery.Append{Record: make([]byte, maxBatchBytes/2)})
	}
	for _, want := range []int{2, 2, 1} {
		if b := q.take(100); len(b) != want {
			t.Fatalf("took %d records of half the limit, want %d", len(b), want)
		}
	}
}

func TestCloseStoresWhatWaits(t *testing.T) {
	f := startStore(t, Config{URL: redistest.Start(t).URL(), DedupFor: time.Minute})
	g := f.group("g", "alice")
	replies := make(chan *delivery.Append, 100)
	for i := range cap(replies) {
		a, _ := newAppend(g, "alice", fmt.Sprint(i))
		a.Reply = replies
		f.must(f.Append(a))
	}
	f.must(f.Close(f.ctx))
	if len(replies) != cap(replies) {
		t.Fatalf("%d of %d answered", len(replies), cap(replies))
	}
	for range cap(replies) {
		if a := <-replies; a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	a, _ := newAppend(g, "alice", "late")
	wantCode(t, f.Append(a), wire.CodeShuttingDown)
}
