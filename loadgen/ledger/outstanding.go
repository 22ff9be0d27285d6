package ledger

// Outstanding is the number of deliveries of accepted messages that haven't
// arrived at recipients who are online. It is 0 as soon as a drain is complete.
func (l *Ledger) Outstanding() int {
	n := 0
	for i := range l.rooms {
		r := &l.rooms[i]
		if r.accepted.Load() == 0 {
			continue
		}
		for p := range r.tracks {
			if r.isOnline[p] {
				n += r.outstanding(p)
			}
		}
	}
	return n
}

// outstanding looks only at what can be missing: the gaps and what lies after
// the watermark.
func (r *room) outstanding(place int) int {
	t, me := &r.tracks[place], r.recipients[place]
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	count := func(lo, hi int32) {
		for k := lo; k < hi; k++ {
			m := &r.messages[k]
			if m.sender == me {
				continue
			}
			if s, _, _ := m.result(); s == accepted {
				n++
			}
		}
	}
	for _, g := range t.arrived.gaps {
		count(g.lo, g.hi)
	}
	count(t.arrived.next, int32(len(r.messages)))
	return n
}
