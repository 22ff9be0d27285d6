package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ackmark/results"
)

// shift is how a count moved, repeat by repeat. Each repeat has a seed of its own,
// and what profile and seed determine has to be the same for each: over them all, a
// median would hide what only some of them did.
type shift struct {
	repeats int
	off     []int     // repeats, from 1, that moved by more than the tolerance
	at      int       // the repeat that shows it: the furthest off, in the worse direction if any is
	changes []float64 // relative, by repeat
	worse   bool      // one of off is in the worse direction
}

// shifted holds repeat i of one side against repeat i of the other. A longer side's
// further repeats have nothing to be held against.
func shifted(candidate, reference []float64, tolerance float64, better results.Better) shift {
	s := shift{repeats: min(len(candidate), len(reference))}
	bad := func(change float64) bool { return beyond(change, tolerance) && worse(change, better) }
	for i := range s.repeats {
		change := off(candidate[i], reference[i])
		s.changes = append(s.changes, change)
		s.worse = s.worse || bad(change)
		if beyond(change, tolerance) {
			s.off = append(s.off, i+1)
		}
	}
	for i, change := range s.changes {
		if s.worse && !bad(change) {
			continue
		}
		if s.at == 0 || math.Abs(change) > math.Abs(s.changes[s.at-1]) {
			s.at = i + 1
		}
	}
	return s
}

// change is that of the repeat that shows it.
func (s shift) change() float64 { return s.changes[s.at-1] }

// where says which repeats are off: ", in repeat 2 of 3; repeat 1 is off too".
func (s shift) where() string {
	others := slices.DeleteFunc(slices.Clone(s.off), func(i int) bool { return i == s.at })
	alike := !slices.ContainsFunc(s.changes, func(x float64) bool { return x != s.change() && beyond(x-s.change(), 0) })
	switch {
	case s.repeats == 1:
		return ""
	case alike && len(s.off) == s.repeats:
		return fmt.Sprintf(", in each of %d repeats", s.repeats)
	case len(others) == 0:
		return fmt.Sprintf(", in repeat %d of %d", s.at, s.repeats)
	case len(others) == 1:
		return fmt.Sprintf(", in repeat %d of %d; repeat %d is off too", s.at, s.repeats, others[0])
	}
	return fmt.Sprintf(", in repeat %d of %d; repeats %s are off too", s.at, s.repeats, listed(others, "and"))
}

// listed writes "8, 12 or 16", with the word before the last.
func listed(of []int, word string) string {
	var out string
	for i, n := range of {
		switch {
		case i == 0:
		case i == len(of)-1:
			out += " " + word + " "
		default:
			out += ", "
		}
		out += strconv.Itoa(n)
	}
	return out
}
