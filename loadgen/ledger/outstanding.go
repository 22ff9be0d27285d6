package ledger

// Outstanding is the number of deliveries of accepted messages that haven't
// arrived at recipients who are present. It is 0 as soon as a drain is complete.
// What crashes took isn't among them, see Taken.
func (l *Ledger) Outstanding() int { return l.sum((*room).outstanding) }

// Taken is the number of deliveries of accepted messages that crashes took from
// recipients who are present, and that weren't shown since: where messages are
// removed on ack they come again, where they are removed on pull they don't.
func (l *Ledger) Taken() int { return l.sum((*room).taken) }

func (l *Ledger) sum(of func(r *room, place int) int) int {
	n := 0
	for i := range l.rooms {
		r := &l.rooms[i]
		if r.accepted.Load() == 0 {
			continue
		}
		for p := range r.tracks {
			if l.present != nil && l.present(int(r.recipients[p])) || l.present == nil && r.isOnline[p] {
				n += of(r, p)
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
			if r.messages[k].sender != me && r.messages[k].accepted() && !t.dropped.has(k) {
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

func (r *room) taken(place int) int {
	t := &r.tracks[place]
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for k := range t.dropped {
		if !t.shown.has(k) && r.messages[k].accepted() {
			n++
		}
	}
	return n
}

// Accepted is the number of messages of a conversation that were accepted so far.
func (l *Ledger) Accepted(conversation int) int {
	if conversation < 0 || conversation >= len(l.rooms) {
		return 0
	}
	return int(l.rooms[conversation].accepted.Load())
}

// Unanswered is the number of messages that were handed to a device and aren't
// known to be accepted or refused: on their way, or given up.
func (l *Ledger) Unanswered() int {
	n := 0
	for i := range l.rooms {
		for k := range l.rooms[i].messages {
			if s := state(l.rooms[i].messages[k].state.Load()); s == inFlight || s == unknown {
				n++
			}
		}
	}
	return n
}
