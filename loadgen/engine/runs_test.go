package engine

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// seqs is a set as runs, from single seqs in order.
func seqs(of ...uint64) runs {
	var r runs
	for _, s := range of {
		r.add(s, s)
	}
	return r
}

func TestRuns(t *testing.T) {
	r := seqs(1, 2, 3, 7, 9, 10)
	r.add(11, 20)
	if want := (runs{{1, 3}, {7, 7}, {9, 20}}); !reflect.DeepEqual(r, want) {
		t.Errorf("%v, want %v", r, want)
	}
	if r.count() != 3+1+12 {
		t.Errorf("%d seqs, want 16", r.count())
	}
	for s := range uint64(23) {
		if want := s >= 1 && s <= 3 || s == 7 || s >= 9 && s <= 20; r.has(s) != want {
			t.Errorf("has %d is %v", s, !want)
		}
	}
	if runs(nil).has(1) {
		t.Error("an empty set has something")
	}
}

// TestRunsAreSets holds sections and unions against plain sets.
func TestRunsAreSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(rapid.Bool(), 40, 40)
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		var ra, rb, both runs
		common := uint64(0)
		for i := range a {
			seq := uint64(i)
			if a[i] {
				ra.add(seq, seq)
			}
			if b[i] {
				rb.add(seq, seq)
			}
			if a[i] && b[i] {
				common++
			}
			if a[i] || b[i] {
				both.add(seq, seq)
			}
		}
		if n := ra.in(rb); n != common {
			t.Fatalf("%v in %v: %d, want %d", ra, rb, n, common)
		}
		before := append(runs(nil), ra...)
		if got := ra.with(rb); !reflect.DeepEqual(got, both) {
			t.Fatalf("%v with %v: %v, want %v", ra, rb, got, both)
		}
		if !reflect.DeepEqual(ra, before) {
			t.Fatalf("a union changed %v into %v", before, ra)
		}
	})
}
