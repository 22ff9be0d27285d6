package engine

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/measure"
	"ackmark/loadgen/population"
	"ackmark/profiles"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/results"
)

// TestHeld fills each table, some with more than a script reads at once, and
// holds what is found against plain arithmetic and against Redis itself.
func TestHeld(t *testing.T) {
	srv := redistest.Start(t)
	ctx := context.Background()
	s, err := openStore(srv.URL(), "ns", profiles.Server{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	c := s.client
	p := c.Pipeline()
	want := map[string]kindHeld{}
	add := func(table string, keys, rows, content int64) {
		h := want[table]
		want[table] = kindHeld{keys: h.keys + keys, rows: h.rows + rows, content: h.content + content}
	}
	for _, stream := range []struct {
		key     string
		n, size int
	}{{"ns:{g:a}:log", 2*rowsAtOnce + 5, 40}, {"ns:{g:b}:log", 1, 300}, {"ns:{u:x}:inbox", rowsAtOnce, 7}} {
		for range stream.n {
			p.XAdd(ctx, &redis.XAddArgs{Stream: stream.key, ID: "0-*", Values: []string{"r", strings.Repeat("x", stream.size)}})
		}
		add(tableOf(stream.key), 1, int64(stream.n), int64(stream.n*stream.size))
	}
	for u := range 30 {
		for seq := range 100 {
			p.ZAdd(ctx, fmt.Sprintf("ns:{u:%d}:pending", u), redis.Z{Member: fmt.Sprintf("g:a %016d", seq)})
		}
		add("pending", 1, 100, 100*(3+1+16))
	}
	for seq := range rowsAtOnce + 1 {
		p.ZAdd(ctx, "ns:{u:x}:copies", redis.Z{Member: fmt.Sprintf("g:a %016d %s", seq, strings.Repeat("\xff", 50))})
		p.ZAdd(ctx, "ns:{u:x}:senders", redis.Z{Member: fmt.Sprintf("y %016d", seq)})
		p.HSet(ctx, "ns:{g:a}:refs", seq, 2)
		p.HSet(ctx, "ns:{g:a}:sent:17", fmt.Sprintf("y id%d", seq), seq)
	}
	add("copies", 1, rowsAtOnce+1, (rowsAtOnce+1)*(3+1+16+1+50))
	add("senders", 1, rowsAtOnce+1, 0)
	add("refs", 1, rowsAtOnce+1, 0)
	add("sent", 1, rowsAtOnce+1, 0)
	p.HSet(ctx, "ns:{u:x}:fanned", "g:a", "1 7")
	add("fanned", 1, 1, 0)
	// What isn't there because of messages, or isn't this run's.
	p.ZAdd(ctx, "ns:{g:a}:members", redis.Z{Member: "x"})
	p.Set(ctx, "ns:{u:x}:user", "", 0)
	p.XAdd(ctx, &redis.XAddArgs{Stream: "ns2:{g:a}:log", ID: "0-*", Values: []string{"r", "x"}})
	if _, err := p.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := s.held(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	memory := map[string]int64{}
	for _, k := range c.Keys(ctx, "ns:{*").Val() {
		memory[tableOf(k)] += c.MemoryUsage(ctx, k, 0).Val()
	}
	for table, w := range want {
		if w.memory = memory[table]; w.memory == 0 || got[table] != w {
			t.Errorf("%s: %+v, want %+v", table, got[table], w)
		}
		if w.content > w.memory {
			t.Errorf("%s: %d bytes in %d bytes of memory", table, w.content, w.memory)
		}
	}
	if len(got) != len(want) {
		t.Errorf("tables %v, want %d", got, len(want))
	}
	if used, ok := s.usedMemory(ctx); !ok || used == 0 {
		t.Error("used_memory isn't known")
	}
}

func TestTableOf(t *testing.T) {
	for key, want := range map[string]string{
		"am:1.r1:{g:a}:log": "log", "ns:{u:x}:sent:123": "sent", "ns:epoch": "", "ns:{u:x}:senders": "senders",
	} {
		if got := tableOf(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// pageOf is counters as the server gives them.
func pageOf(t *testing.T, text string) measure.Metrics {
	t.Helper()
	page, err := measure.ParseMetrics(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestStockFigures: by hand, 10 messages to a group of 6.
func TestStockFigures(t *testing.T) {
	log := kindHeld{keys: 1, rows: 10, content: 2400, memory: 4000}
	for _, tt := range []struct {
		name    string
		design  string
		held    map[string]kindHeld
		backlog bool
		written int // rows that the server says it wrote for members, since traffic began
		want    map[string]float64
	}{
		{"cursor", profiles.GroupCursor, map[string]kindHeld{"log": log, "sent": {rows: 11, memory: 800}}, true, 0,
			map[string]float64{"rows_per_message": 1, "stored_bytes_per_message": 240, "memory_bytes_per_message": 400, "dedup_memory_bytes_per_message": 80, "used_memory_bytes_per_message": 700}},
		{"ids, all offline", profiles.GroupIDs, map[string]kindHeld{"log": log, "pending": {keys: 5, rows: 50, content: 1000, memory: 3500}, "refs": {rows: 11, memory: 500}}, true, 50,
			map[string]float64{"rows_per_message": 6, "stored_bytes_per_message": 340, "memory_bytes_per_message": 400 + 350 + 50}},
		{"ids, two of five online: their ids are acked, and were written", profiles.GroupIDs,
			map[string]kindHeld{"log": log, "pending": {keys: 3, rows: 30, content: 600, memory: 2100}}, false, 50,
			map[string]float64{"rows_per_message": 6, "stored_bytes_per_message": 340, "memory_bytes_per_message": 400 + 350}},
		{"copies for three that are offline", profiles.GroupCopies, map[string]kindHeld{"copies": {keys: 3, rows: 30, content: 7200, memory: 9000}}, false, 30,
			map[string]float64{"rows_per_message": 3, "stored_bytes_per_message": 720, "memory_bytes_per_message": 900}},
		{"cursor, and most of it is trimmed", profiles.GroupCursor, map[string]kindHeld{"log": {keys: 1, rows: 2, content: 480, memory: 800}}, false, 0,
			map[string]float64{"rows_per_message": 1, "stored_bytes_per_message": 240, "memory_bytes_per_message": 400}},
		{"an inbox with its index", profiles.GroupCursor, map[string]kindHeld{"inbox": log, "senders": {rows: 10, memory: 1000}}, true, 0,
			map[string]float64{"rows_per_message": 1, "stored_bytes_per_message": 240, "memory_bytes_per_message": 500}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{
				engine: &engine{redis: &launch.Redis{}}, profile: &profiles.Profile{Server: profiles.Server{Group: tt.design}},
				pop: &population.Population{Groups: make([]population.Group, 1)},
			}
			r.store = &store{design: r.profile.Server}
			if tt.backlog {
				r.profile.Backlog.Group = &profiles.GroupBacklog{}
			}
			r.out.Metrics = results.Values{}
			r.trafficPage = pageOf(t, "ackmark_rows_written_total 100\n")
			r.stock = stock{taken: true, messages: 10, accepted: []int64{10}, page: pageOf(t, fmt.Sprintf("ackmark_rows_written_total %d\n", 100+tt.written)),
				held: tt.held, empty: 1000, hasEmpty: true, used: 8000, hasUsed: true}
			r.stockFigures()
			for metric, want := range tt.want {
				if got, ok := r.out.Metrics.Get(metric); !ok || math.Abs(got-want) > 1e-9 {
					t.Errorf("%s is %v, %v; want %v", metric, got, ok, want)
				}
			}
		})
	}
	untaken := &run{profile: &profiles.Profile{}}
	untaken.out.Metrics = results.Values{}
	untaken.stockFigures()
	if !reflect.DeepEqual(untaken.out.Metrics, results.Values{}) {
		t.Errorf("nothing was read, and the figures are %v", untaken.out.Metrics)
	}
}

// TestHeldEmbedded: the embedded store gives the counts, and no memory worth
// telling.
func TestHeldEmbedded(t *testing.T) {
	ctx := context.Background()
	s, c, _ := emptyStore(t, profiles.Server{})
	c.XAdd(ctx, &redis.XAddArgs{Stream: "ns:{g:a}:log", ID: "0-*", Values: []string{"r", "xyz"}})
	c.ZAdd(ctx, "ns:{u:u0}:pending", redis.Z{Member: "g:a 0000000000000001"})
	held, err := s.held(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	if h := held["log"]; h.rows != 1 || h.content != 3 {
		t.Errorf("log: %+v, want 1 row of 3 bytes", h)
	}
	if h := held["pending"]; h.rows != 1 || h.content != 20 {
		t.Errorf("pending: %+v, want 1 row of 20 bytes", h)
	}
	if _, ok := s.usedMemory(ctx); ok {
		t.Error("the embedded store has a used_memory")
	}
}
