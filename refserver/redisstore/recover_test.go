package redisstore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
)

// halfWay takes a send as far as a server gets that is killed once rows for
// some users are written.
func (f *fixture) halfWay(group, sender, id string, users []string) *delivery.Append {
	f.t.Helper()
	a, _ := newAppend(group, sender, id)
	set := f.scripts.Load()
	cmds, _, err := f.appendAll([]*delivery.Append{a}, set, false)
	f.must(err)
	f.answer(a, cmds[0], set.epoch)
	f.must(a.Err)
	if _, err := f.addRows(f.ctx, set, a, users); err != nil {
		f.t.Fatal(err)
	}
	return a
}

// after is how the work of a killed server is found.
var after = map[string]func(f *fixture, group string, a *delivery.Append){
	"open": func(f *fixture, group string, a *delivery.Append) {
		if l := f.open(group); l.Head != a.Seq {
			f.t.Errorf("head %d, want %d", l.Head, a.Seq)
		}
	},
	"resend": func(f *fixture, group string, a *delivery.Append) {
		if again := f.send(group, a.Sender, a.ClientMsgID); again.Err != nil || !again.Duplicate || again.Seq != a.Seq {
			f.t.Errorf("resend %+v, want a duplicate of %d", again, a.Seq)
		}
	},
	"the next send": func(f *fixture, group string, a *delivery.Append) {
		next := f.send(group, a.Sender, "next")
		if next.Err != nil || next.Duplicate || next.Seq != a.Seq+1 {
			f.t.Errorf("next send %+v, want seq %d", next, a.Seq+1)
		}
	},
}

// A server is killed half-way through a fan-out, wherever that is; somebody has
// pulled already. Whatever finds it, every member but the sender gets the
// message once, and nobody again what has gone.
func TestKilledHalfWay(t *testing.T) {
	users := []string{"a", "b", "c", "d", "e"}
	for _, rows := range []int{0, 2, 4} { // so many are written
		for how, find := range after {
			for _, restart := range []bool{false, true} { // of Redis, too: nothing is lost, but a new epoch begins
				t.Run(fmt.Sprintf("%d rows, found by %s, Redis restarted %v", rows, how, restart), func(t *testing.T) {
					for _, group := range rowDesigns {
						t.Run(string(group), func(t *testing.T) {
							r := redistest.Start(t, redistest.AOF("always"))
							cfg := Config{URL: r.URL(), Group: group, DedupFor: time.Hour}
							killed := startStore(t, cfg)
							name := killed.group("1", users...)
							killed.open(name)
							killed.sent(name, "a", "before")
							a := killed.halfWay(name, "a", "x", users[1:1+rows])
							if rows > 0 {
								killed.take(name, "b")
							}
							if restart {
								r.Kill()
								r.Restart()
							}

							f := startStore(t, cfg)
							find(f, name, a)
							f.settled()
							want := map[string][]uint64{"a": {}}
							for _, user := range users[1:] {
								want[user] = []uint64{1, 2}
							}
							ids := map[string]string{"1": "4", "2": "4"}
							if rows > 0 {
								want["b"], ids = []uint64{}, map[string]string{"1": "3", "2": "3"}
							}
							if how == "the next send" {
								for _, user := range users[1:] {
									want[user] = append(want[user], 3)
								}
								ids["3"] = "4"
							}
							f.wantRows(name, want)
							f.wantBodies(name, ids)
							f.nothingIsLeft(name)
							if again := f.send(name, "a", "x"); !again.Duplicate || again.Seq != 2 {
								t.Errorf("resend %+v, want a duplicate of 2", again)
							}
							f.wantRows(name, want)

							for _, user := range users { // and in the end everything goes
								f.take(name, user)
							}
							f.wantBodies(name, map[string]string{})
						})
					}
				})
			}
		}
	}
}

// take pulls everything that a user has of a group, as a page does.
func (f *fixture) take(group, user string) []uint64 {
	f.t.Helper()
	if f.cfg.Group == delivery.GroupIDs {
		taken, err := f.TakeIDs(f.ctx, group, user, f.Epoch(), f.waiting(group, user))
		f.must(err)
		return taken
	}
	copies, _, err := f.ReadCopies(f.ctx, group, user, delivery.RowRead{Epoch: f.Epoch(), UpTo: maxSeq, All: true, Bytes: 1 << 30, Remove: true})
	f.must(err)
	var seqs []uint64
	for _, e := range copies {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// Several messages are left half-way, in an order of their own for each member:
// they are finished in the order of their seqs.
func TestManyLeftHalfWay(t *testing.T) {
	users := names(6)
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			cfg := Config{URL: redistest.Start(t).URL(), Group: group}
			killed := startStore(t, cfg)
			name := killed.group("1", users...)
			for i := range 12 { // hgetall of twelve doesn't come in order by itself
				killed.halfWay(name, users[i%2], strconv.Itoa(i), users[2:2+i%4])
			}
			f := startStore(t, cfg)
			f.open(name)
			want := map[string][]uint64{}
			for i, user := range users {
				for seq := uint64(1); seq <= 12; seq++ {
					if sender := int(seq-1) % 2; sender != i {
						want[user] = append(want[user], seq)
					}
				}
			}
			if got := f.Stats().Recovered; got != 12 {
				t.Errorf("%d messages recovered, want 12", got)
			}
			// A user that had got a later message can't get an earlier one any more:
			// fan-outs of a group come in order, so that never happens but here.
			for i, user := range users[2:] {
				var had []uint64
				last := uint64(0)
				for seq := uint64(1); seq <= 12; seq++ {
					if int(seq-1)%4 > i {
						had, last = append(had, seq), seq
					}
				}
				want[user] = slices.DeleteFunc(want[user], func(seq uint64) bool { return seq < last && !slices.Contains(had, seq) })
			}
			f.wantRows(name, want)
			f.nothingIsLeft(name)
		})
	}
}

// A count that a killed server never brought down is right again once the group
// is opened, and the bodies that nobody needs go.
func TestCountsAreRightAgain(t *testing.T) {
	cfg := Config{URL: redistest.Start(t).URL(), Group: delivery.GroupIDs}
	killed := startStore(t, cfg)
	group := killed.group("1", "a", "b", "c")
	killed.open(group)
	for i := range 3 {
		killed.sent(group, "a", strconv.Itoa(i))
	}
	killed.settled()
	// b's first two ids and c's first go, and are not counted off.
	for user, n := range map[string]int{"b": 2, "c": 1} {
		for seq := 1; seq <= n; seq++ {
			killed.must(killed.client.ZRem(killed.ctx, killed.keys.pending(user), fmt.Sprintf("%s %016d", group, seq)).Err())
		}
	}
	killed.wantBodies(group, map[string]string{"1": "2", "2": "2", "3": "2"})

	f := startStore(t, cfg)
	f.open(group)
	f.wantBodies(group, map[string]string{"2": "1", "3": "2"})
	if got := f.Stats().BodiesFreed; got != 1 {
		t.Errorf("%d bodies freed, want the first", got)
	}
	// What another server still counts off in the old generation is not counted twice.
	gone := killed.fans.of(group)
	killed.release(killed.ctx, gone, group, killed.Epoch(), 1, map[uint64]int{2: 1, 3: 1})
	f.wantBodies(group, map[string]string{"2": "1", "3": "2"})
	// A send of that server learns the new generation, and is counted.
	if seq := killed.sent(group, "a", "later"); seq != 4 {
		t.Fatalf("seq %d, want 4", seq)
	}
	killed.settled()
	f.wantBodies(group, map[string]string{"2": "1", "3": "2", "4": "2"})
}

// A Redis that lost its tail gives the same seqs to other messages; they reach
// everybody, although their numbers were there before.
func TestRowsAfterALostTail(t *testing.T) {
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			r := redistest.Start(t, redistest.AOF("always"))
			f := startStore(t, Config{URL: r.URL(), Group: group, DedupFor: time.Hour})
			name := f.group("1", "a", "b", "c")
			f.open(name)
			f.sent(name, "a", "1")
			f.sent(name, "a", "2")
			f.settled()
			// The second send wrote 4 entries: its seq, two rows, the end of its storing.
			// The machine loses the last row and the end.
			old := f.Epoch()
			r.Kill()
			if n := r.CutAOF(2); n != 2 {
				t.Fatalf("%d entries cut, want 2", n)
			}
			r.Restart()
			a := f.send(name, "a", "3")
			if a.Err != nil || a.Seq != 3 || a.Epoch <= old {
				t.Fatalf("send %+v, want seq 3 in a new epoch", a)
			}
			f.settled()
			f.wantRows(name, map[string][]uint64{"a": {}, "b": {1, 2, 3}, "c": {1, 2, 3}})
			f.nothingIsLeft(name)
			f.wantBodies(name, map[string]string{"1": "2", "2": "2", "3": "2"})

			f.sent(name, "a", "4")
			f.settled()
			r.Kill()
			if n := r.CutAOF(4); n != 4 { // the fourth send as a whole
				t.Fatalf("%d entries cut, want 4", n)
			}
			r.Restart()
			if a := f.send(name, "a", "5"); a.Err != nil || a.Seq != 4 {
				t.Fatalf("send %+v, want seq 4 again", a)
			}
			f.settled()
			f.wantRows(name, map[string][]uint64{"a": {}, "b": {1, 2, 3, 4}, "c": {1, 2, 3, 4}})
			f.wantBodies(name, map[string]string{"1": "2", "2": "2", "3": "2", "4": "2"})
		})
	}
}

// Sends that can't be stored in time are refused and stay half-way; once Redis is
// back they are finished, by a resend or by the next send.
func TestStoreAwayDuringFanOut(t *testing.T) {
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			f := startStore(t, Config{URL: redistest.Start(t, redistest.AOF("always")).URL(), Group: group, DedupFor: time.Hour})
			users := names(4)
			name := f.group("1", users...)
			f.open(name)
			for i, how := range slices.Sorted(maps.Keys(after)) {
				a := f.halfWay(name, users[0], how, users[1:2+i%2]) // its sender was told that it isn't stored
				after[how](f, name, a)                              // though this process has recovered the group already
			}
			f.settled()
			all := []uint64{1, 2, 3, 4}
			f.wantRows(name, map[string][]uint64{users[0]: {}, users[1]: all, users[2]: all, users[3]: all})
			f.nothingIsLeft(name)
		})
	}
}
