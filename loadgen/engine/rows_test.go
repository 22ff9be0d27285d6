package engine

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/ledger"
	"ackmark/loadgen/population"
	"ackmark/profiles"
	"ackmark/refserver/wire"
)

// emptyStore is a store on miniredis, of a population of two in groups a and b.
func emptyStore(t *testing.T, design profiles.Server) (*store, *redis.Client, *population.Population) {
	t.Helper()
	m := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { c.Close() })
	s, err := openStore("redis://"+m.Addr(), "ns", design)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	pop := &population.Population{Users: []string{"u0", "u1"}, Groups: []population.Group{
		{ID: "a", Members: []int{0, 1}}, {ID: "a.b", Members: []int{1}},
	}}
	return s, c, pop
}

func anyOf(int) bool { return true }

// TestRows writes rows as designs copies and ids do, more than a script reads at
// once, and finds what waits for whom.
func TestRows(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct{ design, table, record string }{
		{profiles.GroupIDs, "pending", ""}, {profiles.GroupCopies, "copies", " \x22\x01u a record with 0000000000000001 in it\xff"},
	} {
		t.Run(tt.design, func(t *testing.T) {
			s, c, pop := emptyStore(t, profiles.Server{Group: tt.design})
			row := func(user, group string, seq int) {
				c.ZAdd(ctx, "ns:{u:"+user+"}:"+tt.table, redis.Z{Member: fmt.Sprintf("g:%s %016d%s", group, seq, tt.record)})
			}
			const many = 2*rowsAtOnce + 7 // the scripts page twice, and once end in the middle of a run
			for i := 1; i <= many; i++ {
				if i != 12 && i != rowsAtOnce {
					row("u1", "a", i)
				}
			}
			row("u1", "a.b", 3)
			row("u0", "a", 9)
			got, err := s.rows(ctx, pop, anyOf)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int]map[string]runs{
				0: {"g:a": {{9, 9}}},
				1: {"g:a": {{1, 11}, {13, rowsAtOnce - 1}, {rowsAtOnce + 1, many}}, "g:a.b": {{3, 3}}},
			}
			if !reflect.DeepEqual(got.of, want) || got.doubled != 0 {
				t.Errorf("%v, want %v", got, want)
			}
			if got, err = s.rows(ctx, pop, func(int) bool { return false }); err != nil || len(got.of) != 0 {
				t.Errorf("of groups that nothing was sent to: %v, %v", got, err)
			}
			if tt.design == profiles.GroupCopies { // another record under the same seq: fanned out twice
				for _, seq := range []int{9, 10, 11} {
					c.ZAdd(ctx, "ns:{u:u0}:copies", redis.Z{Member: fmt.Sprintf("g:a %016d another", seq)})
				}
				row("u0", "a", 10)
				got, err := s.rows(ctx, pop, anyOf)
				if err != nil || got.doubled != 2 || !reflect.DeepEqual(got.of[0]["g:a"], runs{{9, 11}}) {
					t.Errorf("%d rows are there twice, %v wait, %v; want 2 (seqs 9 and 10), 9 to 11", got.doubled, got.of[0]["g:a"], err)
				}
			}
			c.ZAdd(ctx, "ns:{u:u0}:"+tt.table, redis.Z{Member: "what is this"})
			if _, err = s.rows(ctx, pop, anyOf); err == nil {
				t.Error("a row that isn't GROUP SEQ was passed over")
			}
		})
	}
}

// TestInboxWithHoles: acked by id, pulled by sender.
func TestInboxWithHoles(t *testing.T) {
	ctx := context.Background()
	s, c, pop := emptyStore(t, profiles.Server{Group: profiles.GroupCursor, Remove: profiles.RemoveOnAck, StoreFor: profiles.StoreForAll})
	for range rowsAtOnce + 10 {
		c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{u:u0}:inbox", ID: "0-*", Values: []string{"r", "x"}})
	}
	c.XTrimMinID(ctx, "ns:{u:u0}:inbox", "0-4")
	c.XDel(ctx, "ns:{u:u0}:inbox", "0-6", "0-7", "0-2010") // the newest too: the stream remembers it
	held, err := s.read(ctx, pop, anyOf, true)
	if err != nil {
		t.Fatal(err)
	}
	h := held[2]
	if h.Head != 2010 || h.First != 4 || h.Count != 2004 {
		t.Errorf("%+v, want head 2010 (the stream remembers it), first 4, 2,004 entries", h.Stored)
	}
	if want := (runs{{4, 5}, {8, 2009}}); !reflect.DeepEqual(h.left, want) {
		t.Errorf("%v, want %v", h.left, want)
	}
	row := h.inboxRow(&s.design)
	for seq, want := range map[uint64]ledger.Row{3: ledger.Acked, 5: ledger.Waiting, 6: ledger.Acked, 2009: ledger.Waiting, 2010: ledger.Acked, 2011: ledger.NoRow} {
		if got := row(0, seq); got != want {
			t.Errorf("seq %d: %v, want %v", seq, got, want)
		}
	}
	if held[3].left != nil {
		t.Errorf("an inbox that never was holds %v", held[3].left)
	}
	onPull := h.inboxRow(&profiles.Server{Remove: profiles.RemoveOnPull, StoreFor: profiles.StoreForAll})
	if got := onPull(0, 6); got != ledger.NoRow {
		t.Errorf("pulled: %v; nobody knows whether it got there", got)
	}
}

// TestTimedCursor: three messages of one millisecond, the cursor names it.
func TestTimedCursor(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		kind string
		want map[uint64]ledger.Row
	}{
		{profiles.CursorTimeAfter, map[uint64]ledger.Row{1: ledger.NoRow, 2: ledger.Acked, 3: ledger.NoRow, 4: ledger.NoRow, 5: ledger.Waiting, 6: ledger.NoRow}},
		{profiles.CursorTimeFrom, map[uint64]ledger.Row{1: ledger.NoRow, 2: ledger.Acked, 3: ledger.Waiting, 4: ledger.Waiting, 5: ledger.Waiting, 6: ledger.NoRow}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			s, c, pop := emptyStore(t, profiles.Server{Group: profiles.GroupCursor, Cursor: tt.kind})
			for _, ms := range []int64{1000, 1000, 1001, 1001, 1002} {
				record := wire.AppendRecord(nil, "u0", "id", "body", ms)
				c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{g:a}:log", ID: "0-*", Values: []any{"r", record}})
			}
			c.XTrimMinID(ctx, "ns:{g:a}:log", "0-2")
			c.ZAdd(ctx, "ns:{g:a}:members", redis.Z{Score: 1001, Member: "u1"}, redis.Z{Score: 1002, Member: "u2"})
			held, err := s.read(ctx, pop, func(c int) bool { return c == 0 }, true)
			if err != nil {
				t.Fatal(err)
			}
			h := held[0]
			for seq, want := range tt.want {
				if got := h.timedRow("u1", seq, tt.kind); got != want {
					t.Errorf("seq %d: %v, want %v", seq, got, want)
				}
			}
			if tt.kind == profiles.CursorTimeAfter { // the cursor went on: a tie may have been passed over, 5 stands alone
				for seq, want := range map[uint64]ledger.Row{2: ledger.Acked, 3: ledger.NoRow, 4: ledger.NoRow, 5: ledger.Acked} {
					if got := h.timedRow("u2", seq, tt.kind); got != want {
						t.Errorf("the cursor is past it, seq %d: %v, want %v", seq, got, want)
					}
				}
			}
			if got := h.timedRow("u0", 5, tt.kind); got != ledger.NoRow {
				t.Errorf("who is no member has %v", got)
			}
		})
	}
}

// TestHeadOfRows: the head is a number of its own; bodies may be gone at both
// ends and between.
func TestHeadOfRows(t *testing.T) {
	ctx := context.Background()
	for _, design := range []string{profiles.GroupCopies, profiles.GroupIDs} {
		s, c, pop := emptyStore(t, profiles.Server{Group: design})
		c.HSet(ctx, "ns:{g:a}:meta", "epoch", 5, "base", 2, "seq", 9)
		want := holding{Stored: ledger.Stored{Head: 9, First: 10, Bases: []ledger.Base{{Epoch: 5, Head: 2}}}}
		if design == profiles.GroupIDs {
			for seq := range 9 {
				c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{g:a}:log", ID: fmt.Sprintf("0-%d", seq+1), Values: []string{"r", "x"}})
			}
			c.XDel(ctx, "ns:{g:a}:log", "0-1", "0-4", "0-9")
			want.First, want.Count, want.left = 2, 6, runs{{2, 3}, {5, 8}}
		}
		held, err := s.read(ctx, pop, func(c int) bool { return c < 2 }, true)
		if err != nil {
			t.Fatal(err)
		}
		want.cursors = map[string]uint64{}
		if h := held[0]; !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %+v, want %+v", design, h, want)
		}
		if h := held[1]; h.Head != 0 || h.First != 1 {
			t.Errorf("%s: a group without messages has head %d, first %d", design, h.Head, h.First)
		}
	}
}

func TestAwaitFanout(t *testing.T) {
	ctx := context.Background()
	s, c, pop := emptyStore(t, profiles.Server{Group: profiles.GroupIDs})
	began := time.Now()
	if err := s.awaitFanout(ctx, pop); err == nil || time.Since(began) < fanoutPatience {
		t.Errorf("no fan-out: %v after %v; want an error after %v", err, time.Since(began), fanoutPatience)
	}
	c.HSet(ctx, "ns:{g:a.b}:storing", "7", "")
	if err := s.awaitFanout(ctx, pop); err != nil {
		t.Error(err)
	}
	if n, err := s.unfinished(ctx, pop); n != 1 || err != nil {
		t.Errorf("%d unfinished, %v; want 1", n, err)
	}
}
