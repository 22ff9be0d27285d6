package ledger

import "slices"

// own tells the ordinals that a recipient sent itself.
type own struct {
	messages []message
	user     int32
}

func (o own) is(k int32) bool { return o.messages[k].sender == o.user }

// span is the ordinals in [lo, hi).
type span struct{ lo, hi int32 }

// tally is a set of ordinals that are taken in roughly in order: everything
// below next except the gaps.
type tally struct {
	next int32
	gaps []span // in order, not touching
}

// add takes an ordinal in and says whether it is new. skip tells ordinals that
// will never come (the recipient's own), which are no gap at either end of one;
// without that, every own message would stay in memory as a gap.
func (t *tally) add(k int32, skip own) bool {
	switch {
	case k == t.next:
		t.next++
		return true
	case k > t.next:
		if g, ok := trim(span{t.next, k}, skip); ok {
			t.gaps = append(t.gaps, g)
		}
		t.next = k + 1
		return true
	}
	i, found := t.find(k)
	if !found {
		return false
	}
	g := t.gaps[i]
	left, okLeft := trim(span{g.lo, k}, skip)
	right, okRight := trim(span{k + 1, g.hi}, skip)
	switch {
	case okLeft && okRight:
		t.gaps[i] = left
		t.gaps = slices.Insert(t.gaps, i+1, right)
	case okLeft:
		t.gaps[i] = left
	case okRight:
		t.gaps[i] = right
	default:
		t.gaps = slices.Delete(t.gaps, i, i+1)
	}
	return true
}

// has tells whether an ordinal was taken in; it is meaningless for one to skip.
func (t *tally) has(k int32) bool {
	if k >= t.next {
		return false
	}
	_, gap := t.find(k)
	return !gap
}

// find returns the gap that holds k.
func (t *tally) find(k int32) (int, bool) {
	return slices.BinarySearchFunc(t.gaps, k, func(g span, k int32) int {
		switch {
		case g.hi <= k:
			return -1
		case g.lo > k:
			return 1
		}
		return 0
	})
}

func trim(g span, skip own) (span, bool) {
	for g.lo < g.hi && skip.is(g.lo) {
		g.lo++
	}
	for g.lo < g.hi && skip.is(g.hi-1) {
		g.hi--
	}
	return g, g.lo < g.hi
}
