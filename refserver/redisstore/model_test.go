package redisstore

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
	"ackmark/refserver/wire"
)

// model is what a group should be.
type model struct {
	name    string
	head    uint64
	first   uint64
	base    uint64
	former  uint64
	sent    map[string]uint64 // "SENDER ID" → seq
	cursors map[string]uint64
}

// A random history of a group on a Redis that restarts now and then agrees with
// a model of it, step by step.
func TestModel(t *testing.T) {
	r := redistest.Start(t, redistest.AOF("always"))
	f := startStore(t, Config{URL: r.URL(), DedupFor: time.Hour})
	users := names(5)
	f.must(f.CreateUsers(f.ctx, users))
	groups := 0
	rapid.Check(t, func(rt *rapid.T) {
		groups++
		m := &model{name: wire.Group(fmt.Sprint(groups)), first: 1, sent: map[string]uint64{}, cursors: map[string]uint64{users[0]: 0, users[1]: 0}}
		if _, err := f.AddMembers(f.ctx, m.name, users[:2]); err != nil {
			rt.Fatal(err)
		}
		anyone := rapid.SampledFrom(users)
		seq := func(rt *rapid.T) uint64 { return rapid.Uint64Range(0, m.head+3).Draw(rt, "seq") }
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) {
				m.send(rt, f, anyone.Draw(rt, "sender"), fmt.Sprint(rapid.IntRange(0, 30).Draw(rt, "id")))
			},
			"move": func(rt *rapid.T) {
				moves := []delivery.Move{}
				for _, user := range rapid.SliceOfNDistinct(anyone, 1, 3, rapid.ID[string]).Draw(rt, "users") {
					moves = append(moves, delivery.Move{User: user, UpTo: seq(rt)})
				}
				must(rt, f.Move(f.ctx, m.name, f.Epoch(), moves))
				for _, mv := range moves {
					if c, ok := m.cursors[mv.User]; ok {
						m.cursors[mv.User] = max(c, min(mv.UpTo, m.head))
					}
				}
			},
			"trim": func(rt *rapid.T) { m.trim(rt, f, rapid.IntRange(0, 6).Draw(rt, "retention")) },
			"join": func(rt *rapid.T) {
				user := anyone.Draw(rt, "user")
				_, err := f.AddMembers(f.ctx, m.name, []string{user})
				must(rt, err)
				if _, ok := m.cursors[user]; !ok {
					m.cursors[user] = m.head
				}
			},
			"leave": func(rt *rapid.T) {
				user := anyone.Draw(rt, "user")
				if len(m.cursors) == 1 {
					rt.Skip("the last one stays")
				}
				_, err := f.RemoveMembers(f.ctx, m.name, []string{user})
				must(rt, err)
				delete(m.cursors, user)
			},
			"restart": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "restarts") != 0 {
					rt.Skip("rarely")
				}
				old := f.Epoch()
				r.Kill()
				r.Restart()
				err := f.Move(f.ctx, m.name, old, []delivery.Move{{User: users[0], UpTo: m.head}})
				if wire.AsFault(err) == nil || wire.AsFault(err).Code != wire.CodeUnavailable {
					rt.Fatalf("an ack of the old epoch: %v", err)
				}
				if f.Epoch() <= old {
					rt.Fatalf("epoch %d after %d", f.Epoch(), old)
				}
				m.base, m.former = m.head, old
			},
			"": func(rt *rapid.T) { m.check(rt, f) },
		})
	})
}

func must(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

func (m *model) send(rt *rapid.T, f *fixture, sender, id string) {
	a := f.send(m.name, sender, id)
	cursor, member := m.cursors[sender]
	if !member {
		if a.Err == nil || wire.AsFault(a.Err).Code != wire.CodeNotMember {
			rt.Fatalf("send of a stranger: %+v", a)
		}
		return
	}
	must(rt, a.Err)
	key := sender + " " + id
	if seq, ok := m.sent[key]; ok {
		if !a.Duplicate || a.Seq != seq {
			rt.Fatalf("resend: seq %d duplicate %v, want %d", a.Seq, a.Duplicate, seq)
		}
		return
	}
	m.head++
	if a.Duplicate || a.Seq != m.head || a.OwnGap != (cursor == m.head-1) || a.Epoch != f.Epoch() {
		rt.Fatalf("send: %+v, want seq %d", a, m.head)
	}
	m.sent[key] = m.head
	if a.OwnGap {
		m.cursors[sender] = m.head
	}
}

// trim keeps everything past the slowest member, at most retention messages,
// and always the newest.
func (m *model) trim(rt *rapid.T, f *fixture, retention int) {
	got, err := f.Trim(f.ctx, m.name, f.Epoch(), retention)
	must(rt, err)
	slowest := m.head
	for _, c := range m.cursors {
		slowest = min(slowest, c)
	}
	want := delivery.Trimmed{First: m.first}
	for seq := m.first; seq < m.head; seq++ { // one by one, unlike the script
		tooMany := retention > 0 && m.head-seq >= uint64(retention)
		if seq > slowest && !tooMany {
			break
		}
		want.Removed++
		want.First++
		if seq > slowest {
			want.Truncated++
		}
	}
	if got != want {
		rt.Fatalf("trim with retention %d: %+v, want %+v", retention, got, want)
	}
	m.first = want.First
}

func (m *model) check(rt *rapid.T, f *fixture) {
	l, err := f.Open(f.ctx, m.name)
	must(rt, err)
	want := delivery.Log{Epoch: f.Epoch(), Base: m.base, Former: m.former, Head: m.head, First: m.first, Size: m.head - m.first + 1}
	if l != want {
		rt.Fatalf("log %+v, want %+v", l, want)
	}
	seqs := []uint64{}
	for seq := m.first; seq <= m.head; seq++ {
		seqs = append(seqs, seq)
	}
	if got := f.seqs(m.name); !slices.Equal(got, seqs) {
		rt.Fatalf("stored %v, want %v", got, seqs)
	}
	cursors := map[string]uint64{}
	for user := range m.cursors {
		if cursors[user], err = f.Cursor(f.ctx, m.name, user); err != nil {
			rt.Fatal(err)
		}
	}
	if !reflect.DeepEqual(cursors, m.cursors) {
		rt.Fatalf("cursors %v, want %v", cursors, m.cursors)
	}
}
