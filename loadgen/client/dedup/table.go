package dedup

import (
	"unsafe"
)

// table is a set of identities: open addressing, linear probing, at most three
// quarters full. Identities are hashes already, so their low bits are the place.
// A Go map of them would hold twice as much and not say how much.
type table struct {
	slots []identity // 0 = free; the length is a power of two
	n     int
}

const leastSlots = 16

// newTable returns a table that takes n identities without growing.
func newTable(n int) *table {
	size := leastSlots
	for 3*size < 4*n {
		size *= 2
	}
	return &table{slots: make([]identity, size)}
}

// place returns where id is, or where it would be put.
func (t *table) place(id identity) int {
	mask := len(t.slots) - 1
	i := int(id) & mask
	for t.slots[i] != 0 && t.slots[i] != id {
		i = (i + 1) & mask
	}
	return i
}

func (t *table) has(id identity) bool { return t.slots[t.place(id)] != 0 }

// add returns false where id was there.
func (t *table) add(id identity) bool {
	i := t.place(id)
	if t.slots[i] != 0 {
		return false
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
		i = t.place(id)
	}
	t.slots[i] = id
	t.n++
	return true
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]identity, 2*len(old))
	for _, id := range old {
		if id != 0 {
			t.slots[t.place(id)] = id
		}
	}
}

// remove closes the hole that it makes, so that nothing behind it is missed and
// a table that stays as full as it is never needs to be built anew.
func (t *table) remove(id identity) {
	i := t.place(id)
	if t.slots[i] == 0 {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for j := i; ; {
		j = (j + 1) & mask
		if t.slots[j] == 0 {
			break
		}
		home := int(t.slots[j]) & mask
		if (j-home)&mask >= (j-i)&mask { // its probing passes i
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = 0
}

// all returns the identities, in no order.
func (t *table) all() []identity {
	if t == nil {
		return nil
	}
	out := make([]identity, 0, t.n)
	for _, id := range t.slots {
		if id != 0 {
			out = append(out, id)
		}
	}
	return out
}

func (t *table) bytes() int {
	if t == nil {
		return 0
	}
	return cap(t.slots)*int(unsafe.Sizeof(identity(0))) + int(unsafe.Sizeof(*t))
}
