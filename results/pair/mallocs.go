package pair

import "runtime/metrics"

// MallocCount is the number of heap allocations so far, the tiny ones included.
func MallocCount() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}
