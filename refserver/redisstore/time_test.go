package redisstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// sendAt stores a message of a time.
func (f *fixture) sendAt(group, sender, id string, ms int64) *delivery.Append {
	f.t.Helper()
	a, reply := newAppend(group, sender, id)
	a.Record = wire.AppendRecord(nil, sender, id, "body", ms)
	f.must(f.Append(a))
	a = await(f.t, reply)
	f.must(a.Err)
	return a
}

// storedTimes reads the times along a log.
func (f *fixture) storedTimes(group string) (ms []int64) {
	f.t.Helper()
	entries, err := f.Read(f.ctx, group, f.Epoch(), 0, 1<<20)
	f.must(err)
	for _, e := range entries {
		var v wire.DeliverView
		f.must(v.Decode(e.Record))
		ms = append(ms, v.TimeMS)
	}
	return ms
}

// onTimes runs a test for both ways to read a cursor that is a time.
func onTimes(t *testing.T, test func(t *testing.T, f *fixture, after bool)) {
	for _, cursor := range []delivery.Cursor{delivery.CursorTimeAfter, delivery.CursorTimeFrom} {
		t.Run(string(cursor), func(t *testing.T) {
			onEach(t, Config{Cursor: cursor, DedupFor: time.Hour}, func(t *testing.T, f *fixture) {
				test(t, f, cursor == delivery.CursorTimeAfter)
			})
		})
	}
}

// Of messages of one millisecond a cursor passes all (and those that were not
// acked are lost), or none (and those that were come again).
func TestTiesOfATimeCursor(t *testing.T) {
	onTimes(t, func(t *testing.T, f *fixture, after bool) {
		group := f.group("1", "a", "b")
		const t0 = 1_700_000_000_000
		for i, ms := range []int64{t0, t0 + 1, t0 + 1, t0 + 1, t0 + 2, t0 + 9} { // 2, 3 and 4 are ties
			f.sendAt(group, "a", fmt.Sprint(i), ms)
		}
		for _, c := range []struct{ acked, after, from uint64 }{
			{1, 1, 0}, {2, 4, 1}, {3, 4, 1}, {4, 4, 1}, {5, 5, 4}, {6, 6, 5},
		} {
			f.move(group, "b", c.acked)
			want := c.from
			if after {
				want = c.after
			}
			if got := f.cursor(group, "b"); got != want {
				t.Errorf("acked %d: goes on after %d, want %d", c.acked, got, want)
			}
			login, err := f.Login(f.ctx, "b")
			f.must(err)
			if login.Groups[0].Cursor != want {
				t.Errorf("acked %d: login goes on after %d, want %d", c.acked, login.Groups[0].Cursor, want)
			}
		}
		f.move(group, "b", 2) // never back
		if score := f.client.ZScore(f.ctx, f.keys.members(group), "b").Val(); score != t0+9 {
			t.Errorf("stored %v, want the time %d", score, t0+9)
		}
		f.move(group, "b", 99) // never past the head
		if score := f.client.ZScore(f.ctx, f.keys.members(group), "b").Val(); score != t0+9 {
			t.Errorf("stored %v, want the time %d", score, t0+9)
		}
	})
}

// Times never go back along a log, and a sender's own message fills its gap.
func TestTimesNeverGoBack(t *testing.T) {
	onTimes(t, func(t *testing.T, f *fixture, after bool) {
		group := f.group("1", "a", "b")
		const t0 = 1_700_000_000_000
		for i, ms := range []int64{t0 + 5, t0 + 3, t0 + 5, t0 + 8} {
			if a := f.sendAt(group, "a", fmt.Sprint(i), ms); !a.OwnGap || a.Seq != uint64(i)+1 {
				t.Errorf("send %d: %+v, want the gap filled", i, a)
			}
		}
		if got, want := f.storedTimes(group), []int64{t0 + 5, t0 + 5, t0 + 5, t0 + 8}; !slices.Equal(got, want) {
			t.Errorf("times %v, want %v", got, want)
		}
		if a := f.sendAt(group, "b", "b", t0+9); a.OwnGap {
			t.Error("b has not acked what lies before its own message")
		}
		if a := f.sendAt(group, "b", "b", t0+9); !a.Duplicate || a.Seq != 5 {
			t.Errorf("resend %+v, want a duplicate of 5", a)
		}
		f.must(f.CreateUsers(f.ctx, []string{"c"}))
		if _, err := f.AddMembers(f.ctx, group, []string{"c"}); err != nil {
			t.Fatal(err)
		}
		want := uint64(5)
		if !after {
			want = 4
		}
		if got := f.cursor(group, "c"); got != want {
			t.Errorf("who joins goes on after %d, want %d", got, want)
		}
	})
}

// Trimming leaves what has the time of the slowest cursor: its member may still
// wait for a part of it.
func TestTrimByTime(t *testing.T) {
	onTimes(t, func(t *testing.T, f *fixture, _ bool) {
		group := f.group("1", "a", "b", "c")
		const t0 = 1_700_000_000_000
		for i, ms := range []int64{t0, t0 + 1, t0 + 1, t0 + 2, t0 + 3} {
			f.sendAt(group, "a", fmt.Sprint(i), ms)
		}
		f.move(group, "b", 5)
		f.move(group, "c", 2)
		for _, c := range []struct {
			retention int
			want      delivery.Trimmed
		}{
			{0, delivery.Trimmed{First: 2, Removed: 1}},
			{0, delivery.Trimmed{First: 2}},
			{3, delivery.Trimmed{First: 3, Removed: 1, Truncated: 1}},
		} {
			got, err := f.Trim(f.ctx, group, f.Epoch(), c.retention)
			if err != nil || got != c.want {
				t.Errorf("retention %d: %+v (%v), want %+v", c.retention, got, err, c.want)
			}
		}
		f.move(group, "c", 1) // trimmed: moves nothing
		if score := f.client.ZScore(f.ctx, f.keys.members(group), "c").Val(); score != t0+1 {
			t.Errorf("stored %v, want %d", score, t0+1)
		}
	})
}

// Halving finds what looking at one message after the other finds.
func TestPosition(t *testing.T) {
	url := redistest.Start(t).URL()
	for _, cursor := range []delivery.Cursor{delivery.CursorTimeAfter, delivery.CursorTimeFrom} {
		f := startStore(t, Config{URL: url, Namespace: string(cursor), Cursor: cursor})
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			group := f.group(fmt.Sprint(n), "a", "b")
			ms := int64(1)
			times := []int64{}
			for i, step := range rapid.SliceOfN(rapid.Int64Range(0, 2), 0, 20).Draw(rt, "steps") {
				ms += step * rapid.SampledFrom([]int64{1, 200, 1 << 33}).Draw(rt, "unit")
				times = append(times, ms)
				f.sendAt(group, "a", fmt.Sprint(i), ms)
			}
			acked := rapid.Uint64Range(0, uint64(len(times))).Draw(rt, "acked")
			score := int64(0)
			if acked > 0 {
				f.move(group, "b", acked)
				score = times[acked-1]
			}
			want := uint64(0)
			for i, at := range times {
				if at < score || cursor == delivery.CursorTimeAfter && at == score {
					want = uint64(i) + 1
				}
			}
			if got := f.cursor(group, "b"); got != want {
				rt.Fatalf("times %v, acked %d: goes on after %d, want %d", times, acked, got, want)
			}
		})
	}
}

// A record's time is read where the wire puts it.
func TestTimeOfARecord(t *testing.T) {
	onEach(t, Config{Cursor: delivery.CursorTimeFrom}, func(t *testing.T, f *fixture) {
		for i, ms := range []int64{1, 127, 128, 300, 1 << 31, 1_700_000_000_000, 1<<53 - 1} {
			group := f.group(fmt.Sprint(i), "a", "b")
			f.sendAt(group, "a", "x", ms)
			if score := f.client.ZScore(f.ctx, f.keys.members(group), "a").Val(); score != float64(ms) {
				t.Errorf("time %d was read as %v", ms, score)
			}
		}
	})
}
