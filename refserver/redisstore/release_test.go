package redisstore

import (
	"strconv"
	"testing"

	"ackmark/refserver/delivery"
	"ackmark/refserver/redisstore/redistest"
)

// Two servers remove ids of one group; each of them begins generations of the
// counts that the other hasn't heard of. Bodies go with their last ids all the
// same, and nobody counts anew for it.
func TestTwoServersRelease(t *testing.T) {
	cfg := Config{URL: redistest.Start(t).URL(), Group: delivery.GroupIDs}
	a := startStore(t, cfg)
	group := a.group("1", "a", "b", "c")
	a.backlog(group, "a", 5)
	b := startStore(t, cfg)
	b.open(group) // counts 5 bodies anew
	recoveries := a.Stats().Commands["recover"]
	a.must(a.RemoveRows(a.ctx, group, a.Epoch(), []delivery.Move{{User: "b", UpTo: 4}}))
	a.wantBodies(group, map[string]string{"1": "1", "2": "1", "3": "1", "4": "1", "5": "2"})
	b.must(b.RemoveRows(b.ctx, group, b.Epoch(), []delivery.Move{{User: "c", UpTo: 3}}))
	a.wantBodies(group, map[string]string{"4": "1", "5": "2"})
	for user, ids := range map[string][]uint64{"b": {5}, "c": {4, 5}} {
		if taken, err := a.TakeIDs(a.ctx, group, user, a.Epoch(), ids); err != nil || len(taken) != len(ids) {
			t.Fatalf("taken %v (%v), want %v", taken, err, ids)
		}
	}
	a.wantBodies(group, map[string]string{})
	if n := a.Stats().Commands["recover"] - recoveries; n != 0 {
		t.Errorf("%d commands to count anew, want none", n)
	}
}

// Ids go while another server counts, which has read them already or dies over
// it. Whoever removes them sees that, and counts anew.
func TestReleaseDuringARecount(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run("the other one dies "+strconv.FormatBool(dies), func(t *testing.T) {
			cfg := Config{URL: redistest.Start(t).URL(), Group: delivery.GroupIDs}
			a, b := startStore(t, cfg), startStore(t, cfg)
			group := a.group("1", "a", "b", "c")
			a.backlog(group, "a", 3)

			cmd, _, err := b.run(b.ctx, cmdRecover, b.Epoch(), scriptUnfinished, []string{b.keys.storing(group), b.keys.refs(group)})
			b.must(err)
			generation, _, counts, err := b.readUnfinished(cmd)
			b.must(err)
			users := []string{"a", "b", "c"}
			b.must(b.countIDs(b.ctx, group, b.Epoch(), counts, users))
			b.fans.of(group).generation = generation

			a.must(a.RemoveRows(a.ctx, group, a.Epoch(), []delivery.Move{{User: "b", UpTo: 2}, {User: "c", UpTo: 1}}))
			a.wantBodies(group, map[string]string{"2": "1", "3": "2"})
			if !dies { // it has counted what is gone
				b.must(b.recount(b.ctx, b.fans.of(group), group, b.Epoch(), counts, nil))
				a.wantBodies(group, map[string]string{"2": "1", "3": "2"})
			}
			for _, f := range []*fixture{b, a} {
				f.must(f.RemoveRows(f.ctx, group, f.Epoch(), []delivery.Move{{User: "b", UpTo: 3}, {User: "c", UpTo: 3}}))
			}
			a.wantBodies(group, map[string]string{})
		})
	}
}

// A generation that began between the removal of ids and their counting off is
// found out, too.
func TestReleaseInAnotherGeneration(t *testing.T) {
	cfg := Config{URL: redistest.Start(t).URL(), Group: delivery.GroupIDs}
	a, b := startStore(t, cfg), startStore(t, cfg)
	group := a.group("1", "a", "b", "c")
	a.backlog(group, "a", 2)
	before, err := a.client.HGet(a.ctx, a.keys.refs(group), "@").Uint64()
	if err != nil {
		before = 0
	}
	b.open(group)
	g := a.fans.of(group)
	a.release(a.ctx, g, group, a.Epoch(), before, map[uint64]int{1: 1})
	if !g.miscounted.Load() {
		t.Fatal("not noticed")
	}
	a.wantBodies(group, map[string]string{"1": "2", "2": "2"}) // never too low
	a.must(a.RemoveRows(a.ctx, group, a.Epoch(), []delivery.Move{{User: "b", UpTo: 1}}))
	if g.miscounted.Load() {
		t.Error("not counted anew")
	}
	a.wantBodies(group, map[string]string{"1": "1", "2": "2"})
}
