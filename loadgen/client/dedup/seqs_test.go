package dedup

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSeqsKeepsRanges(t *testing.T) {
	type step struct{ after, upTo uint64 }
	for _, c := range []struct {
		name  string
		begin uint64
		cover []step
		mark  uint64
		above []Range
	}{
		{"nothing", 5, nil, 5, nil},
		{"in order", 5, []step{{5, 6}, {6, 7}}, 7, nil},
		{"behind a gap", 5, []step{{6, 7}}, 5, []Range{{7, 7}}},
		{"the gap is filled", 5, []step{{6, 7}, {5, 6}}, 7, nil},
		{"live from the head on, while older ones are missing", 5, []step{{20, 21}, {21, 22}}, 5, []Range{{21, 22}}},
		{"newest page first", 5, []step{{20, 21}, {15, 20}, {10, 15}}, 5, []Range{{11, 21}}},
		{"oldest of the newest pages", 5, []step{{20, 21}, {15, 20}, {5, 15}}, 21, nil},
		{"two gaps", 5, []step{{6, 8}, {10, 12}}, 5, []Range{{7, 8}, {11, 12}}},
		{"one between", 5, []step{{6, 8}, {10, 12}, {8, 10}}, 5, []Range{{7, 12}}},
		{"overlapping three", 5, []step{{6, 8}, {10, 12}, {14, 16}, {7, 15}}, 5, []Range{{7, 16}}},
		{"inside one", 5, []step{{6, 12}, {8, 10}}, 5, []Range{{7, 12}}},
		{"below the mark", 5, []step{{2, 4}}, 5, nil},
		{"from below the mark", 5, []step{{2, 8}}, 8, nil},
		{"over a range and into the next", 5, []step{{6, 8}, {9, 12}, {5, 9}}, 12, nil},
		{"empty", 5, []step{{9, 9}, {9, 7}}, 5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := SeqsUpTo(c.begin)
			for _, p := range c.cover {
				s.Cover(p.after, p.upTo)
			}
			if s.Mark() != c.mark || !slices.Equal(s.Above(), c.above) {
				t.Errorf("mark %d, above %v; want %d, %v", s.Mark(), s.Above(), c.mark, c.above)
			}
		})
	}
}

func TestSeqsNamesWhatIsMissing(t *testing.T) {
	s := SeqsUpTo(10)
	s.Cover(14, 20)
	for _, c := range []struct {
		upTo uint64
		want Range
		ok   bool
	}{{10, Range{}, false}, {12, Range{11, 12}, true}, {14, Range{11, 14}, true}, {20, Range{11, 14}, true}} {
		if r, ok := s.Missing(c.upTo); r != c.want || ok != c.ok {
			t.Errorf("up to %d: %v %v, want %v %v", c.upTo, r, ok, c.want, c.ok)
		}
	}
	if s.High() != 20 {
		t.Errorf("high %d, want 20", s.High())
	}
}

// The set against a map that holds every seq.
func TestSeqsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 60
		begin := rapid.Uint64Range(0, 10).Draw(t, "begin")
		s := SeqsUpTo(begin)
		has := map[uint64]bool{}
		for q := uint64(1); q <= begin; q++ {
			has[q] = true
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				q := rapid.Uint64Range(1, most).Draw(t, "seq")
				if got := s.Add(q); got == has[q] {
					t.Fatalf("Add(%d) = %v, has %v", q, got, has[q])
				}
				has[q] = true
			},
			"cover": func(t *rapid.T) {
				after, upTo := rapid.Uint64Range(0, most).Draw(t, "after"), rapid.Uint64Range(0, most).Draw(t, "upTo")
				s.Cover(after, upTo)
				for q := after + 1; q <= upTo; q++ {
					has[q] = true
				}
			},
			"": func(t *rapid.T) {
				mark := uint64(0)
				for has[mark+1] {
					mark++
				}
				if s.Mark() != mark {
					t.Fatalf("mark %d, want %d", s.Mark(), mark)
				}
				for q := uint64(1); q <= most+1; q++ {
					if s.Has(q) != has[q] {
						t.Fatalf("Has(%d) = %v", q, s.Has(q))
					}
				}
				end := s.Mark()
				for _, r := range s.Above() {
					if r.Low <= end+1 || r.High < r.Low {
						t.Fatalf("ranges %v above %d aren't apart", s.Above(), s.Mark())
					}
					end = r.High
				}
			},
		})
	})
}
