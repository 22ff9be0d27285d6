package dedup

import (
	"slices"
	"unsafe"
)

// Range is the seqs from Low to High, both included.
type Range struct{ Low, High uint64 }

// Seqs is a set of seqs: all up to a mark, and ranges above it. What comes in
// order only moves the mark, or the end of the last range. The zero value is
// empty.
type Seqs struct {
	mark  uint64
	above []Range // ascending; a gap before the first, after mark, and between any two
}

// SeqsUpTo returns the set of all seqs up to mark.
func SeqsUpTo(mark uint64) Seqs { return Seqs{mark: mark} }

// Mark returns the end of what is contiguous: every seq up to it is in the set,
// the next one isn't. Only it can be acked cumulatively.
func (s *Seqs) Mark() uint64 { return s.mark }

// High returns the highest seq in the set.
func (s *Seqs) High() uint64 {
	if n := len(s.above); n > 0 {
		return s.above[n-1].High
	}
	return s.mark
}

// Above returns the ranges above the mark, ascending. They are valid until the
// set changes, and not the caller's to change.
func (s *Seqs) Above() []Range { return s.above }

// Has tells whether seq is in the set.
func (s *Seqs) Has(seq uint64) bool {
	if seq <= s.mark {
		return true
	}
	i := s.find(seq)
	return i < len(s.above) && s.above[i].Low <= seq
}

// Missing returns the first range of seqs up to upTo that aren't in the set.
func (s *Seqs) Missing(upTo uint64) (r Range, ok bool) {
	if upTo <= s.mark {
		return Range{}, false
	}
	r = Range{Low: s.mark + 1, High: upTo}
	if len(s.above) > 0 {
		r.High = min(upTo, s.above[0].Low-1)
	}
	return r, true
}

// Add takes seq into the set; false says that it was there.
func (s *Seqs) Add(seq uint64) bool {
	if seq == s.mark+1 && len(s.above) == 0 {
		s.mark = seq
		return true
	}
	return s.add(seq)
}

func (s *Seqs) add(seq uint64) bool {
	if seq <= s.mark {
		return false
	}
	if n := len(s.above); n > 0 && seq == s.above[n-1].High+1 { // live, while older ones are pulled
		s.above[n-1].High = seq
		return true
	}
	i := s.find(seq)
	if i < len(s.above) && s.above[i].Low <= seq {
		return false
	}
	s.Cover(seq-1, seq)
	return true
}

// Cover takes every seq in (after, upTo] into the set, as a page does that
// covers them: those without a message aren't missing.
func (s *Seqs) Cover(after, upTo uint64) {
	if upTo <= after || upTo <= s.mark {
		return
	}
	low := after + 1
	if low <= s.mark+1 {
		s.reach(upTo)
		return
	}
	i := s.find(low - 1) // the first range that ends at low-1 or later: it touches, or lies behind
	j := i
	for ; j < len(s.above) && s.above[j].Low <= upTo+1; j++ {
		low, upTo = min(low, s.above[j].Low), max(upTo, s.above[j].High)
	}
	if i == j {
		s.above = slices.Insert(s.above, i, Range{Low: low, High: upTo})
		return
	}
	s.above[i] = Range{Low: low, High: upTo}
	s.above = slices.Delete(s.above, i+1, j)
}

// reach moves the mark to upTo, and on over the ranges that it meets.
func (s *Seqs) reach(upTo uint64) {
	s.mark = upTo
	n := 0
	for ; n < len(s.above) && s.above[n].Low <= s.mark+1; n++ {
		s.mark = max(s.mark, s.above[n].High)
	}
	if n == 0 {
		return
	}
	if s.above = slices.Delete(s.above, 0, n); len(s.above) == 0 {
		s.above = nil
	}
}

// find returns the index of the first range that ends at seq or later.
func (s *Seqs) find(seq uint64) int {
	i, _ := slices.BinarySearchFunc(s.above, seq, func(r Range, seq uint64) int {
		if r.High < seq {
			return -1
		}
		return 1
	})
	return i
}

// Clone returns a copy that shares nothing.
func (s *Seqs) Clone() Seqs { return Seqs{mark: s.mark, above: slices.Clone(s.above)} }

// Bytes returns the memory that the set holds apart from the value itself, in
// bytes.
func (s *Seqs) Bytes() int { return cap(s.above) * int(unsafe.Sizeof(Range{})) }
