package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// rowsModel is what a group should be whose members have rows of their own.
type rowsModel struct {
	name    string
	members []string
	head    uint64
	sent    map[string]uint64   // "SENDER ID" → seq
	sender  map[uint64]string   // who sent a seq
	rows    map[string][]uint64 // user → what waits for it
	had     map[string]uint64   // user → the last seq that was written for it
	left    []uint64            // seqs that are half-way, in order
}

// Random histories of a group, with servers that are killed half-way through a
// fan-out and a Redis that restarts, agree with a model, row by row and body by
// body.
func TestRowsModel(t *testing.T) {
	for _, group := range rowDesigns {
		t.Run(string(group), func(t *testing.T) {
			r := redistest.Start(t, redistest.AOF("always"))
			f := startStore(t, Config{URL: r.URL(), Group: group, DedupFor: time.Hour})
			users := names(4)
			f.must(f.CreateUsers(f.ctx, users))
			groups := 0
			rapid.Check(t, func(rt *rapid.T) {
				groups++
				m := &rowsModel{name: wire.Group(fmt.Sprint(groups)), members: users, sent: map[string]uint64{}, sender: map[uint64]string{},
					rows: map[string][]uint64{}, had: map[string]uint64{}}
				if _, err := f.AddMembers(f.ctx, m.name, users); err != nil {
					rt.Fatal(err)
				}
				anyone := rapid.SampledFrom(users)
				id := func(rt *rapid.T) string { return strconv.Itoa(rapid.IntRange(0, 20).Draw(rt, "id")) }
				rt.Repeat(map[string]func(*rapid.T){
					"send": func(rt *rapid.T) { m.send(rt, f, anyone.Draw(rt, "sender"), id(rt)) },
					"half-way": func(rt *rapid.T) {
						sender, id := anyone.Draw(rt, "sender"), id(rt)
						if _, again := m.sent[sender+" "+id]; again || len(m.left) > 0 { // a fan-out begins once the one before is done
							rt.Skip("nothing new")
						}
						to := rapid.IntRange(0, len(users)-1).Draw(rt, "rows")
						recipients := slices.DeleteFunc(slices.Clone(users), func(u string) bool { return u == sender })[:to]
						a := f.halfWay(m.name, sender, id, recipients)
						m.stored(rt, sender, id, a.Seq)
						for _, user := range recipients {
							m.write(user, a.Seq)
						}
						m.left = append(m.left, a.Seq)
					},
					"kill": func(rt *rapid.T) {
						if rapid.IntRange(0, 3).Draw(rt, "kills") != 0 {
							rt.Skip("rarely")
						}
						f = f.again(t)
						if l := f.open(m.name); l.Head != m.head {
							rt.Fatalf("head %d, want %d", l.Head, m.head)
						}
						m.finish()
					},
					"restart": func(rt *rapid.T) {
						if rapid.IntRange(0, 9).Draw(rt, "restarts") != 0 {
							rt.Skip("rarely")
						}
						r.Kill()
						r.Restart()
						f.open(m.name)
						m.finish()
					},
					"take": func(rt *rapid.T) {
						user := anyone.Draw(rt, "user")
						n := rapid.IntRange(1, 5).Draw(rt, "rows")
						newest := rapid.Bool().Draw(rt, "newest")
						m.take(rt, f, user, n, newest)
					},
					"ack": func(rt *rapid.T) {
						var moves []delivery.Move
						for _, user := range rapid.SliceOfNDistinct(anyone, 1, 4, rapid.ID[string]).Draw(rt, "users") {
							upTo := rapid.Uint64Range(0, m.head).Draw(rt, "up to")
							moves = append(moves, delivery.Move{User: user, UpTo: upTo})
							m.rows[user] = slices.DeleteFunc(m.rows[user], func(seq uint64) bool { return seq <= upTo })
						}
						must(rt, f.RemoveRows(f.ctx, m.name, f.Epoch(), moves))
					},
					"": func(rt *rapid.T) { m.check(rt, f) },
				})
			})
		})
	}
}

// again is another server on the same Redis, after the end of this one.
func (f *fixture) again(t *testing.T) *fixture {
	t.Helper()
	f.must(f.Close(f.ctx))
	return startStore(t, f.cfg)
}

func (m *rowsModel) stored(rt *rapid.T, sender, id string, seq uint64) {
	if m.head++; seq != m.head {
		rt.Fatalf("seq %d, want %d", seq, m.head)
	}
	m.sent[sender+" "+id], m.sender[seq] = seq, sender
}

func (m *rowsModel) write(user string, seq uint64) {
	if m.sender[seq] != user && m.had[user] < seq {
		m.rows[user], m.had[user] = append(m.rows[user], seq), seq
	}
}

// finish is what is found half-way.
func (m *rowsModel) finish() {
	for _, seq := range m.left {
		for _, user := range m.members {
			m.write(user, seq)
		}
	}
	m.left = nil
}

func (m *rowsModel) send(rt *rapid.T, f *fixture, sender, id string) {
	a := f.send(m.name, sender, id)
	must(rt, a.Err)
	if seq, ok := m.sent[sender+" "+id]; ok {
		if !a.Duplicate || a.Seq != seq {
			rt.Fatalf("resend: seq %d duplicate %v, want %d", a.Seq, a.Duplicate, seq)
		}
		if slices.Contains(m.left, seq) {
			m.finish()
		}
		return
	}
	if a.Duplicate || a.OwnGap {
		rt.Fatalf("send: %+v, want it new", a)
	}
	m.stored(rt, sender, id, a.Seq)
	m.finish()
	for _, user := range m.members {
		m.write(user, a.Seq)
	}
	f.settled()
}

func (m *rowsModel) take(rt *rapid.T, f *fixture, user string, n int, newest bool) {
	got, more, err := f.rowsPart(m.name, user, delivery.RowRead{UpTo: m.head, Limit: n, Newest: newest, Bytes: 1 << 20, Remove: true})
	must(rt, err)
	if f.cfg.Group == delivery.GroupIDs {
		got, err = f.TakeIDs(f.ctx, m.name, user, f.Epoch(), got)
		must(rt, err)
	}
	rows := m.rows[user]
	n = min(n, len(rows))
	want, rest := rows[:n], rows[n:]
	if newest {
		rest, want = rows[:len(rows)-n], rows[len(rows)-n:]
	}
	if !slices.Equal(got, want) || more != (len(rest) > 0) {
		rt.Fatalf("%s took %v, more %v, of %v, want %v", user, got, more, rows, want)
	}
	m.rows[user] = slices.Clone(rest)
}

func (m *rowsModel) check(rt *rapid.T, f *fixture) {
	counts := map[uint64]int{}
	for _, user := range m.members {
		if got := f.waiting(m.name, user); !slices.Equal(got, m.rows[user]) {
			rt.Fatalf("%s has %v, want %v", user, got, m.rows[user])
		}
		for _, seq := range m.rows[user] {
			counts[seq]++
		}
	}
	if n := f.client.HLen(f.ctx, f.keys.storing(m.name)).Val(); n != int64(len(m.left)) {
		rt.Fatalf("%d messages are half-way, want %v", n, m.left)
	}
	if f.cfg.Group != delivery.GroupIDs {
		return
	}
	for seq := uint64(1); seq <= m.head; seq++ {
		id := fmt.Sprintf("0-%d", seq)
		entries, err := f.client.XRange(f.ctx, f.keys.groupLog(m.name), id, id).Result()
		must(rt, err)
		halfWay := slices.Contains(m.left, seq)
		if want := counts[seq] > 0 || halfWay; (len(entries) == 1) != want {
			rt.Fatalf("body %d is there: %v, want %v (%d ids, half-way %v)", seq, len(entries) == 1, want, counts[seq], halfWay)
		}
		if left, _ := f.client.HGet(f.ctx, f.keys.refs(m.name), strconv.FormatUint(seq, 10)).Int(); left != counts[seq] && !halfWay {
			rt.Fatalf("body %d has a count of %d, want %d", seq, left, counts[seq])
		}
	}
}
