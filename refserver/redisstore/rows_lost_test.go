package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// Whichever answer of a send is lost with its connection, it is stored once,
// and answered once as new.
func TestLostAnswersOfAFanOut(t *testing.T) {
	for _, group := range rowDesigns {
		for pass, step := range []string{"append", "presence", "rows", "finish"} {
			for _, keep := range []int{0, 6} { // nothing, and one answer and a half
				t.Run(fmt.Sprintf("%s, %s, %d bytes arrive", group, step, keep), func(t *testing.T) {
					p := newProxy(t, redistest.Start(t).Socket())
					f := startStore(t, Config{URL: p.url(), Group: group, StoreFor: delivery.StoreForOffline, DedupFor: time.Minute})
					name := f.group("1", "a", "b", "c", "d")
					f.open(name)
					f.reach("d")
					f.sent(name, "a", "before")
					f.settled()
					p.loseLater(pass, keep)
					if a := f.send(name, "a", "x"); a.Err != nil || a.Duplicate || a.Seq != 2 {
						t.Fatalf("send %+v, want seq 2, new", a)
					}
					f.settled()
					if f.Stats().Retries == 0 {
						t.Fatal("no answer was lost")
					}
					f.wantRows(name, map[string][]uint64{"a": {}, "b": {1, 2}, "c": {1, 2}, "d": {}})
					f.wantBodies(name, map[string]string{"1": "2", "2": "2"})
					f.nothingIsLeft(name)
					if got := f.sink.order[name]; !slices.Equal(got, []uint64{1, 2}) {
						t.Errorf("reported as new: %v, want 1 and 2", got)
					}
				})
			}
		}
	}
}

// A pull whose answer is lost is never issued again, and says so; an ack is.
func TestLostAnswersOfRemovals(t *testing.T) {
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			p := newProxy(t, redistest.Start(t).Socket())
			f := startStore(t, Config{URL: p.url(), Group: group})
			name := f.group("1", "a", "b", "c")
			f.backlog(name, "a", 4)
			p.loseLater(0, 0)
			var err error
			if group == delivery.GroupIDs {
				_, err = f.TakeIDs(f.ctx, name, "b", f.Epoch(), []uint64{1, 2})
			} else {
				_, _, err = f.rowsPart(name, "b", delivery.RowRead{UpTo: 2, Limit: 2, Bytes: 1 << 20, Remove: true})
			}
			wantCode(t, err, wire.CodeUnavailable)
			if !strings.Contains(err.Error(), "lost") {
				t.Errorf("%v doesn't say what may be lost", err)
			}
			f.must(f.RemoveRows(f.ctx, name, f.Epoch(), []delivery.Move{{User: "nobody", UpTo: 1}})) // on a new connection, whose greeting is not what is to be lost
			p.loseLater(0, 0)
			f.must(f.RemoveRows(f.ctx, name, f.Epoch(), []delivery.Move{{User: "c", UpTo: 1}}))
			f.wantRows(name, map[string][]uint64{"b": {3, 4}, "c": {2, 3, 4}})
			// Three ids went uncounted: their bodies stay, until the group is recovered.
			f.wantBodies(name, map[string]string{"1": "2", "2": "2", "3": "2", "4": "2"})
			again := startStore(t, Config{URL: p.url(), Group: group})
			again.open(name)
			again.wantBodies(name, map[string]string{"2": "1", "3": "2", "4": "2"})
		})
	}
}
