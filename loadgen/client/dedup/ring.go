package dedup

import (
	"unsafe"
)

// ring keeps the last identities that were added, up to a limit.
type ring struct {
	ids  []identity // grows up to the limit as it is filled
	next int        // the oldest, once it is full
}

// add returns the identity that had to go, or 0.
func (r *ring) add(id identity, limit int) (gone identity) {
	if len(r.ids) < limit {
		if len(r.ids) == cap(r.ids) {
			r.grow(limit)
		}
		r.ids = append(r.ids, id)
		return 0
	}
	gone = r.ids[r.next]
	r.ids[r.next] = id
	if r.next++; r.next == len(r.ids) {
		r.next = 0
	}
	return gone
}

// grow makes room in few steps, since one in the middle of a storm costs every
// device at about the same time: 32, 256, 2,048, all.
func (r *ring) grow(limit int) {
	size := min(max(32, 8*cap(r.ids)), limit)
	r.ids = append(make([]identity, 0, size), r.ids...)
}

func (r *ring) bytes() int { return cap(r.ids) * int(unsafe.Sizeof(identity(0))) }
