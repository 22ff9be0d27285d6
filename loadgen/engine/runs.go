package engine

import "slices"

// seqRun is the seqs from first to last.
type seqRun struct{ first, last uint64 }

// runs is a set of seqs, in order: what waits is mostly contiguous.
type runs []seqRun

// add appends a seq, or a run, that comes after all others.
func (r *runs) add(first, last uint64) {
	if n := len(*r); n > 0 && (*r)[n-1].last+1 == first {
		(*r)[n-1].last = last
		return
	}
	*r = append(*r, seqRun{first, last})
}

func (r runs) has(seq uint64) bool {
	_, found := slices.BinarySearchFunc(r, seq, func(x seqRun, seq uint64) int {
		switch {
		case x.last < seq:
			return -1
		case x.first > seq:
			return 1
		}
		return 0
	})
	return found
}

func (r runs) count() (n uint64) {
	for _, x := range r {
		n += x.last - x.first + 1
	}
	return n
}

// in counts the seqs that another set has too.
func (r runs) in(other runs) (n uint64) {
	i := 0
	for _, x := range r {
		for i < len(other) && other[i].last < x.first {
			i++
		}
		for j := i; j < len(other) && other[j].first <= x.last; j++ {
			n += min(x.last, other[j].last) - max(x.first, other[j].first) + 1
		}
	}
	return n
}

// with is the union with another set.
func (r runs) with(other runs) runs {
	var out runs
	for len(r) > 0 || len(other) > 0 {
		from := &r
		if len(r) == 0 || len(other) > 0 && other[0].first < r[0].first {
			from = &other
		}
		x := (*from)[0]
		*from = (*from)[1:]
		if n := len(out); n > 0 && x.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, x.last)
			continue
		}
		out = append(out, x)
	}
	return out
}
