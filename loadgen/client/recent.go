package client

import (
	"hash/maphash"
	"math/bits"
)

// identity is a hash of (sender, client_msg_id), which names a message whatever
// seq it was stored under. Two messages of one window of 4,096 share a 64-bit
// hash with a probability below 10⁻¹².
type identity uint64

func identityOf(seed maphash.Seed, sender, clientMsgID []byte) identity {
	return identity(bits.RotateLeft64(maphash.Bytes(seed, sender), 29) ^ maphash.Bytes(seed, clientMsgID))
}

// recent remembers which messages of a conversation were shown last. Within an
// epoch the watermark says that, and nothing is ever looked up here; after a
// change of epoch seqs mean something else and only identities are left.
type recent struct {
	ring []identity // grows up to its limit as it is filled
	next int
	old  map[identity]struct{} // of former epochs; nil in the first
}

func (r *recent) add(id identity, limit int) {
	if len(r.ring) < limit {
		if len(r.ring) == cap(r.ring) {
			r.grow(limit)
		}
		r.ring = append(r.ring, id)
		return
	}
	r.ring[r.next] = id
	r.next = (r.next + 1) % len(r.ring)
}

// grow makes room in few steps, since one in the middle of a storm costs every
// device at about the same time: 32, 256, 2,048, all.
func (r *recent) grow(limit int) {
	size := min(max(32, 8*cap(r.ring)), limit)
	r.ring = append(make([]identity, 0, size), r.ring...)
}

// seal makes what is remembered now the identities to check against.
func (r *recent) seal() {
	r.old = make(map[identity]struct{}, len(r.ring))
	for _, id := range r.ring {
		r.old[id] = struct{}{}
	}
}

// has tells whether a former epoch showed the message.
func (r *recent) has(id identity) bool {
	_, ok := r.old[id]
	return ok
}
