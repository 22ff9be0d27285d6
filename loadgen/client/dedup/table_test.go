package dedup

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The table against a map. Identities come from few places, so that probes
// collide and wrap around.
func TestTableAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SampledFrom([]identity{1, 2, 14, 15, 16, 30, 31})
		draw := func(t *rapid.T) identity {
			return place.Draw(t, "place") + identity(rapid.IntRange(0, 6).Draw(t, "turn"))<<8
		}
		got, want := newTable(0), map[identity]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id := draw(t)
				if got.add(id) == want[id] {
					t.Fatalf("add(%d) where has is %v", id, want[id])
				}
				want[id] = true
			},
			"remove": func(t *rapid.T) {
				id := draw(t)
				got.remove(id)
				delete(want, id)
			},
			"": func(t *rapid.T) {
				all := got.all()
				slices.Sort(all)
				if got.n != len(want) || !slices.Equal(all, slices.Sorted(maps.Keys(want))) {
					t.Fatalf("table %v (n %d), want %v", all, got.n, want)
				}
				for id := range want {
					if !got.has(id) {
						t.Fatalf("%d isn't found", id)
					}
				}
			},
		})
	})
}

// At most three quarters full: 12 of 16, 24 of 32.
func TestTableSize(t *testing.T) {
	for _, c := range []struct{ n, slots int }{{0, 16}, {12, 16}, {13, 32}, {24, 32}, {25, 64}, {3072, 4096}, {3073, 8192}} {
		if got := len(newTable(c.n).slots); got != c.slots {
			t.Errorf("a table for %d has %d slots, want %d", c.n, got, c.slots)
		}
		grown := newTable(0)
		for i := range c.n {
			grown.add(identity(i + 1))
		}
		if got := len(grown.slots); got != c.slots {
			t.Errorf("a table grown to %d has %d slots, want %d", c.n, got, c.slots)
		}
	}
}

func TestRingKeepsTheLast(t *testing.T) {
	var r ring
	for i := identity(1); i <= 7; i++ {
		want := identity(0)
		if i > 5 {
			want = i - 5
		}
		if gone := r.add(i, 5); gone != want {
			t.Errorf("adding %d dropped %d, want %d", i, gone, want)
		}
	}
}
