package engine

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/population"
	"ackmark/profiles"
)

func TestStore(t *testing.T) {
	m := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer c.Close()
	ctx := t.Context()
	for range 5 {
		c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{g:a}:log", ID: "0-*", Values: []string{"r", "x"}})
	}
	c.XTrimMinID(ctx, "ns:{g:a}:log", "0-3") // 1 and 2 go
	c.ZAdd(ctx, "ns:{g:a}:members", redis.Z{Score: 4, Member: "u0"}, redis.Z{Score: 2, Member: "u1"})
	c.HSet(ctx, "ns:{g:a}:meta", "epoch", 7, "base", 1)
	c.HSet(ctx, "ns:epoch", "epoch", 7, "run_id", "x")
	c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{u:u0}:inbox", ID: "0-*", Values: []string{"r", "x"}})

	pop := &population.Population{Users: []string{"u0", "u1"}, Groups: []population.Group{{ID: "a"}}}
	s, err := openStore("redis://"+m.Addr(), "ns", profiles.Server{Group: profiles.GroupCursor})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	held, err := s.read(ctx, pop, func(c int) bool { return c < 2 }, true)
	if err != nil {
		t.Fatal(err)
	}
	g := held[0]
	if g.Epoch != 7 || g.Head != 5 || g.First != 3 || g.Count != 3 || len(g.Bases) != 1 || g.Bases[0].Head != 1 {
		t.Errorf("group %+v", g.Stored)
	}
	if g.cursors["u0"] != 4 || g.cursors["u1"] != 2 {
		t.Errorf("cursors %v", g.cursors)
	}
	if in := held[1]; in.Head != 1 || in.First != 1 || in.Count != 1 {
		t.Errorf("inbox %+v", in.Stored)
	}
	if _, asked := held[2]; asked || len(held) != 2 {
		t.Error("an inbox that nobody asked for was read")
	}
}

func TestSeqOf(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want uint64
		ok   bool
	}{{"0-1", 1, true}, {"0-9007199254740991", 1<<53 - 1, true}, {"1-1", 0, false}, {"0-x", 0, false}, {"", 0, false}} {
		if got, err := seqOf(tt.id); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%q: %d, %v", tt.id, got, err)
		}
	}
}

func TestLastSeqOfAnEmptyStream(t *testing.T) {
	for name, answer := range map[string]any{
		"map":  map[any]any{"length": int64(0), "last-generated-id": "0-8"},
		"list": []any{"length", int64(0), "last-generated-id", "0-8"},
	} {
		if got := field(answer, "last-generated-id"); got != "0-8" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := field("?", "last-generated-id"); got != nil {
		t.Errorf("an answer that is neither: %v", got)
	}
}
