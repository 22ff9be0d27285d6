package redisstore

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

func TestMembers(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		g := f.group("g", "alice", "bob")
		f.sent(g, "alice", "1")
		f.sent(g, "alice", "2")
		f.move(g, "bob", 1)

		// Who joins starts at the head, who is there stays.
		f.must(f.CreateUsers(f.ctx, []string{"carol"}))
		if n, err := f.AddMembers(f.ctx, g, []string{"bob", "carol"}); n != 1 || err != nil {
			t.Fatalf("%d added (%v), want 1", n, err)
		}
		if b, c := f.cursor(g, "bob"), f.cursor(g, "carol"); b != 1 || c != 2 {
			t.Fatalf("cursors %d %d, want 1 2", b, c)
		}
		_, err := f.AddMembers(f.ctx, g, []string{"carol", "dave", "erin"})
		wantCode(t, err, wire.CodeNoSuchUser)

		if n, err := f.RemoveMembers(f.ctx, g, []string{"carol", "dave"}); n != 1 || err != nil {
			t.Fatalf("%d removed (%v), want 1", n, err)
		}
		wantCode(t, f.send(g, "carol", "1").Err, wire.CodeNotMember)
		if n, err := f.RemoveMembers(f.ctx, g, []string{"alice", "bob"}); n != 2 || err != nil {
			t.Fatalf("%d removed (%v), want 2", n, err)
		}
		wantCode(t, f.send(g, "bob", "1").Err, wire.CodeNoSuchGroup)
		// A group that is filled again continues.
		if n, err := f.AddMembers(f.ctx, g, []string{"carol"}); n != 1 || err != nil {
			t.Fatalf("%d added (%v)", n, err)
		}
		if seq := f.sent(g, "carol", "1"); seq != 3 {
			t.Fatalf("seq %d, want 3", seq)
		}
		_, err = f.AddMembers(f.ctx, "u:g", []string{"carol"})
		wantCode(t, err, wire.CodeBadRequest)
		_, err = f.AddMembers(f.ctx, g, []string{"not a name"})
		wantCode(t, err, wire.CodeBadRequest)
	})
}

func TestLogin(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		_, err := f.Login(f.ctx, "nobody")
		wantCode(t, err, wire.CodeNoSuchUser)
		f.must(f.CreateUsers(f.ctx, []string{"alice"}))
		if got, err := f.Login(f.ctx, "alice"); len(got.Groups) != 0 || got.Epoch != f.Epoch() || err != nil {
			t.Fatalf("%v, %v", got, err)
		}
		want := []delivery.Membership{}
		for i := range 5 {
			g := f.group(fmt.Sprint(i), "alice", "bob")
			for j := range i {
				f.sent(g, "alice", fmt.Sprint(j))
			}
			want = append(want, delivery.Membership{Conversation: g, Cursor: uint64(i)})
		}
		if _, err := f.RemoveMembers(f.ctx, "g:2", []string{"alice"}); err != nil {
			t.Fatal(err)
		}
		// A list may name a group too many, after a crash while members were added.
		f.must(f.list(f.ctx, "g:unfinished", []string{"alice"}))
		want = slices.Delete(want, 2, 3)
		trips := f.Stats().RoundTrips
		login, err := f.Login(f.ctx, "alice")
		f.must(err)
		got := login.Groups
		if n := f.Stats().RoundTrips - trips; n != 2 {
			t.Fatalf("%d round trips, want 2 whatever the number of groups", n)
		}
		slices.SortFunc(got, func(a, b delivery.Membership) int { return int(a.Conversation[2]) - int(b.Conversation[2]) })
		if !reflect.DeepEqual(got, want) || login.Epoch != f.Epoch() {
			t.Fatalf("%v, want %v in epoch %d", login, want, f.Epoch())
		}
	})
}

func TestFriends(t *testing.T) {
	onEach(t, Config{DedupFor: time.Minute}, func(t *testing.T, f *fixture) {
		f.must(f.CreateUsers(f.ctx, []string{"alice"}))
		_, err := f.AddFriends(f.ctx, "nobody", []string{"alice"})
		wantCode(t, err, wire.CodeNoSuchUser)
		friends := names(2500)
		if n, err := f.AddFriends(f.ctx, "alice", friends); n != len(friends) || err != nil {
			t.Fatalf("%d added (%v)", n, err)
		}
		if n, err := f.AddFriends(f.ctx, "alice", friends[:10]); n != 0 || err != nil {
			t.Fatalf("%d added again (%v)", n, err)
		}
		var all []string
		for after, more := "", true; more; {
			var page []string
			page, more, err = f.Friends(f.ctx, "alice", after, 1000)
			f.must(err)
			all = append(all, page...)
			after = page[len(page)-1]
		}
		if !slices.Equal(all, friends) {
			t.Fatalf("%d friends in pages, want all %d in byte order", len(all), len(friends))
		}
		if got, more, err := f.Friends(f.ctx, "nobody", "", 10); len(got) != 0 || more || err != nil {
			t.Fatalf("%v %v %v", got, more, err)
		}
	})
}

func TestPurgeNamespace(t *testing.T) {
	r := redistest.Start(t)
	a := startStore(t, Config{URL: r.URL(), Namespace: "am", DedupFor: time.Minute})
	b := startStore(t, Config{URL: r.URL(), Namespace: "am:b", DedupFor: time.Minute})
	a.group("g", names(1500)...)
	b.group("g", "alice")
	b.sent("g:g", "alice", "1")
	left := r.Client().DBSize(a.ctx).Val()
	n, err := a.PurgeNamespace(a.ctx)
	a.must(err)
	if want := 1500*2 + 1 + 1; n != want { // user and groups each, members, epoch
		t.Fatalf("%d keys removed, want %d", n, want)
	}
	if got := r.Client().DBSize(a.ctx).Val(); got != left-int64(n) {
		t.Fatalf("%d keys are left, want %d", got, left-int64(n))
	}
	if seq := b.sent("g:g", "alice", "2"); seq != 2 {
		t.Fatalf("the other namespace lost something: seq %d", seq)
	}
	if _, err := b.PurgeNamespace(b.ctx); err != nil || r.Client().DBSize(a.ctx).Val() != 0 {
		t.Fatalf("%v, %d keys left", err, r.Client().DBSize(a.ctx).Val())
	}
}
