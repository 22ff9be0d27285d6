package redisstore

import (
	"fmt"
	"strings"
	"testing"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// bytesOfKey is MEMORY USAGE with every element counted.
func (f *fixture) bytesOfKey(key string) int64 {
	f.t.Helper()
	n, err := f.client.MemoryUsage(f.ctx, key, 0).Result()
	f.must(err)
	return n
}

// What doc.go says of the bytes of rows, for messages of 200 bytes of body in
// ten groups that take turns: the numbers are Redis's and don't depend on the
// machine. The other way to keep copies is a stream of them all with an index by
// group; it takes less in the middle, but pulling one group leaves a hole in each
// of its nodes, and frees nothing.
func TestBytesOfRows(t *testing.T) {
	const groups, body = 10, 200
	f := startStore(t, Config{URL: redistest.Start(t).URL(), Group: delivery.GroupIDs})
	for _, c := range []struct {
		rows                      int
		copied, indexed, id       int64 // bytes per row
		copiedFreed, indexedFreed int64 // per row, once one group of the ten is pulled
	}{
		{rows: 10, copied: 493, indexed: 509, id: 37, copiedFreed: 392},
		{rows: 100, copied: 415, indexed: 342, id: 31, copiedFreed: 400},
		{rows: 1000, copied: 406, indexed: 394, id: 118, copiedFreed: 394, indexedFreed: 110},
	} {
		f.must(f.client.Del(f.ctx, "copies", "pending", "stream", "index").Err())
		var copies, entries, index []any
		pipe := f.client.Pipeline()
		for i := range c.rows {
			group, seq := fmt.Sprintf("g:am-0-%d", i%groups), uint64(i/groups+1)
			record := wire.AppendRecord(nil, fmt.Sprintf("am-u%03d", i%500), fmt.Sprintf("r1.%d.%d", i%groups, i), strings.Repeat("x", body), 1_700_000_000_000)
			row := newRow(group, 1, seq, record)
			row1, id, entry := fmt.Sprintf("%s %s %s", group, row.seq, record), group+" "+row.seq, fmt.Sprintf("0-%d", i+1)
			pipe.Do(f.ctx, "zadd", "copies", 0, row1)
			pipe.Do(f.ctx, "zadd", "pending", 0, id)
			pipe.Do(f.ctx, "xadd", "stream", entry, "g", group, "s", seq, "r", record)
			pipe.Do(f.ctx, "zadd", "index", i+1, id)
			if i%groups == 0 {
				copies, entries, index = append(copies, row1), append(entries, entry), append(index, id)
			}
		}
		if _, err := pipe.Exec(f.ctx); err != nil {
			t.Fatal(err)
		}
		all := func(keys ...string) (n int64) {
			for _, key := range keys {
				n += f.bytesOfKey(key)
			}
			return n
		}
		copied, indexed, ids := all("copies"), all("stream", "index"), all("pending")
		f.must(f.client.Do(f.ctx, append([]any{"zrem", "copies"}, copies...)...).Err())
		f.must(f.client.Do(f.ctx, append([]any{"zrem", "index"}, index...)...).Err())
		f.must(f.client.Do(f.ctx, append([]any{"xdel", "stream"}, entries...)...).Err())
		pulled := int64(len(copies))
		for _, v := range []struct {
			what      string
			got, want int64
		}{
			{"a copy", copied / int64(c.rows), c.copied},
			{"a copy in a stream with an index", indexed / int64(c.rows), c.indexed},
			{"an id", ids / int64(c.rows), c.id},
			{"freed by a copy that was pulled", (copied - all("copies")) / pulled, c.copiedFreed},
			{"freed by one in a stream", (indexed - all("stream", "index")) / pulled, c.indexedFreed},
		} {
			t.Logf("%d rows: %s, %d bytes", c.rows, v.what, v.got)
			if v.got != v.want && (v.got < v.want*9/10 || v.got > v.want*11/10) { // levels of skiplists are drawn by lot
				t.Errorf("%d rows: %s has %d bytes, doc.go says %d", c.rows, v.what, v.got, v.want)
			}
		}
	}
}

// What a group of 500 costs per message in each design, rows and all: 499
// copies; one body and 499 ids; one row.
func TestBytesOfAMessage(t *testing.T) {
	const members, messages = 500, 20
	for _, group := range []delivery.Group{delivery.GroupCopies, delivery.GroupIDs, delivery.GroupCursor} {
		f := startStore(t, Config{URL: redistest.Start(t).URL(), Group: group})
		users := names(members)
		name := f.group("1", users...)
		f.open(name)
		total := func() (n int64, rows int) {
			f.t.Helper()
			keys, err := f.client.Keys(f.ctx, "am:{*").Result()
			f.must(err)
			for _, key := range keys {
				if strings.Contains(key, ":sent:") || strings.HasSuffix(key, ":members") || strings.HasSuffix(key, ":user") || strings.HasSuffix(key, ":groups") {
					continue
				}
				n += f.bytesOfKey(key)
				switch {
				case strings.HasSuffix(key, ":copies"), strings.HasSuffix(key, ":pending"):
					rows += int(f.client.ZCard(f.ctx, key).Val())
				case strings.HasSuffix(key, ":log"):
					rows += int(f.client.XLen(f.ctx, key).Val())
				}
			}
			return n, rows
		}
		for i := range messages {
			a, reply := newAppend(name, users[0], fmt.Sprint(i))
			a.Record = wire.AppendRecord(nil, users[0], fmt.Sprint(i), strings.Repeat("x", 200), 1_700_000_000_000)
			f.must(f.Append(a))
			if a := await(t, reply); a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		f.settled()
		n, rows := total()
		want := map[delivery.Group]int{delivery.GroupCopies: members - 1, delivery.GroupIDs: members, delivery.GroupCursor: 1}[group]
		t.Logf("%s: %d rows, %d bytes per message", group, rows/messages, n/messages)
		if rows != want*messages {
			t.Errorf("%s: %d rows for %d messages, want %d each", group, rows, messages, want)
		}
	}
}
