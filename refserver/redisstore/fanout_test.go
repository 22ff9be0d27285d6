package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// rowDesigns are the designs whose members have rows of their own.
var rowDesigns = []delivery.Group{delivery.GroupCopies, delivery.GroupIDs}

// onRows runs a test for copies and for ids, on a real Redis and on the
// embedded one.
func onRows(t *testing.T, cfg Config, test func(t *testing.T, f *fixture)) {
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			cfg.Group = group
			onEach(t, cfg, test)
		})
	}
}

// waiting returns the seqs that are stored of a group for a user.
func (f *fixture) waiting(group, user string) []uint64 {
	f.t.Helper()
	all := delivery.RowRead{Epoch: f.Epoch(), UpTo: maxSeq, All: true, Bytes: 1 << 30}
	if f.cfg.Group == delivery.GroupIDs {
		ids, _, err := f.ReadIDs(f.ctx, group, user, all)
		f.must(err)
		return ids
	}
	copies, _, err := f.ReadCopies(f.ctx, group, user, all)
	f.must(err)
	seqs := []uint64{}
	for _, e := range copies {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// wantRows checks what every user has of a group.
func (f *fixture) wantRows(group string, want map[string][]uint64) {
	f.t.Helper()
	for user, seqs := range want {
		if got := f.waiting(group, user); !slices.Equal(got, seqs) {
			f.t.Errorf("%s has %v, want %v", user, got, seqs)
		}
	}
}

// wantBodies checks which bodies are stored, and what is noted of each.
func (f *fixture) wantBodies(group string, want map[string]string) {
	f.t.Helper()
	var stored []string
	entries, err := f.client.XRange(f.ctx, f.keys.groupLog(group), "-", "+").Result()
	f.must(err)
	for _, e := range entries {
		stored = append(stored, e.ID[2:])
	}
	refs, err := f.client.HGetAll(f.ctx, f.keys.refs(group)).Result()
	f.must(err)
	delete(refs, "@") // a '+' would be a count that never ended
	if f.cfg.Group != delivery.GroupIDs {
		want = map[string]string{}
	}
	if keys := slices.Collect(maps.Keys(want)); len(stored) != len(want) || !maps.Equal(refs, want) {
		f.t.Errorf("bodies %v with ids left %v, want bodies %v with %v", stored, refs, keys, want)
	}
}

// nothingIsLeft checks that no message is half-way.
func (f *fixture) nothingIsLeft(group string) {
	f.t.Helper()
	if n := f.client.HLen(f.ctx, f.keys.storing(group)).Val(); n != 0 {
		f.t.Errorf("%d messages are still being stored", n)
	}
}

// reach names whom every send reaches from now on.
func (f *fixture) reach(users ...string) {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	f.sink.online = map[string]struct{}{}
	for _, user := range users {
		f.sink.online[user] = struct{}{}
	}
}

// settled waits for what follows the answer to a send, with one command and
// one round trip for a send that is refused: sends are stored one after the other.
func (f *fixture) settled() {
	f.t.Helper()
	wantCode(f.t, f.send("u:nobody", "nobody", "settled").Err, wire.CodeNoSuchUser)
}

// g1 and g3 store a row for each member but the sender; g2 and g3 one body.
// What it costs is exact: one append, one look-up of the members, a row each and
// one finish, in three round trips.
func TestFanOut(t *testing.T) {
	const members = 499 + 1
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		users := names(members)
		group := f.group("1", users...)
		f.open(group)
		before := f.Stats()
		if seq := f.sent(group, users[0], "a"); seq != 1 {
			t.Fatalf("seq %d, want 1", seq)
		}
		f.settled()
		after := f.Stats()
		for cmd, want := range map[string]uint64{"append": 1 + 1, "members": 1, "row": members - 1, "finish": 1, "presence": 0} {
			if got := after.Commands[cmd] - before.Commands[cmd]; got != want {
				t.Errorf("%d commands for %s, want %d", got, cmd, want)
			}
		}
		if got := after.RoundTrips - before.RoundTrips; got != 3+1 {
			t.Errorf("%d round trips, want 3 and one of settled", got)
		}
		if got := after.RowsWritten - before.RowsWritten; got != members-1 {
			t.Errorf("%d rows written, want %d", got, members-1)
		}
		want := map[string][]uint64{users[0]: {}}
		for _, user := range users[1:] {
			want[user] = []uint64{1}
		}
		f.wantRows(group, want)
		f.wantBodies(group, map[string]string{"1": fmt.Sprint(members - 1)})
		f.nothingIsLeft(group)
	})
}

// Where rows are kept for who is offline, who was reached has none; and the
// body goes at once when nobody needs it.
func TestFanOutToOffline(t *testing.T) {
	onRows(t, Config{StoreFor: delivery.StoreForOffline}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b", "c", "d")
		f.open(group)
		f.reach("b", "c")
		before := f.Stats()
		f.sent(group, "a", "1")
		f.reach("b", "c", "d")
		f.sent(group, "a", "2")
		f.reach()
		f.sent(group, "b", "3")
		f.settled()
		after := f.Stats()
		f.wantRows(group, map[string][]uint64{"a": {3}, "b": {}, "c": {3}, "d": {1, 3}})
		f.wantBodies(group, map[string]string{"1": "1", "3": "3"})
		if got := after.PresenceLookups - before.PresenceLookups; got != 3 {
			t.Errorf("%d look-ups of presence, want one for each send", got)
		}
		if got := after.RoundTrips - before.RoundTrips; got != 3*4-1+1 { // the second had no rows to write; one of settled
			t.Errorf("%d round trips, want 12", got)
		}
		if freed := after.BodiesFreed; f.cfg.Group == delivery.GroupIDs && freed != 1 {
			t.Errorf("%d bodies freed, want the second", freed)
		}
	})
}

// A resend is answered with the first one's seq, and nothing is written again.
func TestFanOutResend(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b")
		f.open(group)
		f.sent(group, "a", "1")
		f.settled()
		rows := f.Stats().RowsWritten
		if again := f.send(group, "a", "1"); again.Err != nil || !again.Duplicate || again.Seq != 1 {
			t.Errorf("resend %+v, want a duplicate of 1", again)
		}
		if got := f.Stats().RowsWritten; got != rows {
			t.Errorf("the resend wrote %d rows", got-rows)
		}
		f.wantRows(group, map[string][]uint64{"a": {}, "b": {1}})
	})
}

// Without idempotent sends every attempt is a message of its own.
func TestFanOutWithoutDedup(t *testing.T) {
	onRows(t, Config{DedupOff: true}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b")
		f.sent(group, "a", "1")
		if again := f.send(group, "a", "1"); again.Err != nil || again.Duplicate || again.Seq != 2 {
			t.Errorf("again %+v, want seq 2", again)
		}
		f.settled()
		f.wantRows(group, map[string][]uint64{"a": {}, "b": {1, 2}})
		f.nothingIsLeft(group)
	})
}

func TestFanOutRefused(t *testing.T) {
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		group := f.group("1", "a", "b")
		wantCode(t, f.send(group, "stranger", "1").Err, wire.CodeNotMember)
		wantCode(t, f.send("g:none", "a", "1").Err, wire.CodeNoSuchGroup)
		f.wantRows(group, map[string][]uint64{"a": {}, "b": {}})
		if _, err := f.Open(f.ctx, "g:none"); wire.AsFault(err).Code != wire.CodeNoSuchGroup {
			t.Errorf("opened %v, want no_such_group", err)
		}
	})
}

// Sends to one group from everywhere at once: each member gets them in the order
// of their seqs, all of them, whatever batches they came in, and direct messages
// in between are not held up for ever.
func TestConcurrentFanOuts(t *testing.T) {
	const members, sends = 12, 60
	onRows(t, Config{}, func(t *testing.T, f *fixture) {
		users := names(members)
		group, other := f.group("1", users...), f.group("2", users[:3]...)
		f.open(group)
		f.open(other)
		var replies []chan *delivery.Append
		for i := range sends {
			for _, to := range []string{group, other, wire.Inbox(users[5])} {
				a, reply := newAppend(to, users[i%3], fmt.Sprint(i))
				f.must(f.Append(a))
				replies = append(replies, reply)
			}
		}
		sender := map[uint64]string{}
		for _, reply := range replies {
			a := await(t, reply)
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			if a.Conversation == group {
				sender[a.Seq] = a.Sender
			}
		}
		order := f.sink.order[group]
		for i, seq := range order {
			if seq != uint64(i)+1 {
				t.Fatalf("reported as %v, want 1, 2, 3, …", order)
			}
		}
		if len(order) != sends {
			t.Fatalf("%d sends, want %d", len(order), sends)
		}
		want := map[string][]uint64{}
		for _, user := range users {
			want[user] = []uint64{}
			for seq := uint64(1); seq <= sends; seq++ {
				if sender[seq] != user {
					want[user] = append(want[user], seq)
				}
			}
		}
		f.wantRows(group, want)
		f.nothingIsLeft(group)
	})
}

// A server of another design would misread what a namespace holds.
func TestDesignOfANamespace(t *testing.T) {
	for _, c := range []struct {
		name    string
		was, is Config
		refused bool
	}{
		{"ids as copies", Config{Group: delivery.GroupIDs}, Config{Group: delivery.GroupCopies}, true},
		{"cursors as ids", Config{}, Config{Group: delivery.GroupIDs}, true},
		{"seqs as times", Config{}, Config{Cursor: delivery.CursorTimeFrom}, true},
		{"times read otherwise", Config{Cursor: delivery.CursorTimeAfter}, Config{Cursor: delivery.CursorTimeFrom}, false},
		{"rows for fewer", Config{Group: delivery.GroupIDs}, Config{Group: delivery.GroupIDs, StoreFor: delivery.StoreForOffline}, false},
		{"no sender index any more", Config{SenderIndex: true}, Config{}, true},
		{"a sender index from now on", Config{}, Config{SenderIndex: true}, true},
		{"another dedup time", Config{DedupFor: 10 * time.Minute}, Config{DedupFor: 9 * time.Minute}, true},
		{"a limit of the dedup time", Config{}, Config{DedupFor: time.Minute}, true},
		{"no dedup", Config{DedupFor: time.Minute}, Config{DedupOff: true}, false},
		{"dedup at last", Config{DedupOff: true}, Config{DedupFor: time.Minute}, false},
		{"the same", Config{SenderIndex: true, DedupFor: time.Minute}, Config{SenderIndex: true, DedupFor: time.Minute}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := redistest.Start(t).URL()
			c.was.URL, c.is.URL = url, url
			startStore(t, c.was)
			s, err := New(c.is, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Start(t.Context(), &recorder{order: map[string][]uint64{}})
			if err == nil {
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
			if refused := err != nil; refused != c.refused {
				t.Errorf("start: %v, refused should be %v", err, c.refused)
			}
		})
	}
}

// A namespace from before its settings were noted opens, and takes those that it
// is opened with; a server that is refused notes nothing.
func TestNamespaceWithoutNotes(t *testing.T) {
	r := redistest.Start(t)
	ctx, cfg := t.Context(), Config{URL: r.URL(), SenderIndex: true, DedupFor: time.Minute}
	if err := r.Client().HSet(ctx, "am:epoch", "design", "cursor").Err(); err != nil {
		t.Fatal(err)
	}
	refused := func(cfg Config, want string) {
		t.Helper()
		s, err := New(cfg, quiet())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(ctx, &recorder{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("start: %v, want %q", err, want)
		}
	}
	refused(Config{URL: r.URL(), Group: delivery.GroupIDs}, `holds groups of the design "cursor"`)
	startStore(t, cfg)
	cfg.DedupFor = time.Hour
	refused(cfg, "want 1m0s, or another namespace")
	cfg.SenderIndex, cfg.DedupFor = false, time.Minute
	refused(cfg, "want it on, or another namespace")
}
