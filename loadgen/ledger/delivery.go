package ledger

import "fmt"

// OnArrival notes that a delivery was received, and says whether it is the
// first of its message at this recipient.
func (l *Ledger) OnArrival(d Delivery) (first bool) {
	r, m, t, where := l.books(&d)
	if t == nil {
		return false
	}
	t.mu.Lock()
	if int(m.sender) == d.Recipient {
		t.arrivals++
		t.mu.Unlock()
		l.examples.note(Foreign, d.example("a sender received its own message"))
		return false
	}
	first = t.arrive(&d, r)
	t.mu.Unlock()
	l.arrived(&d, r, m, where, first)
	return first
}

// OnShown notes that a message got past a recipient's dedup.
func (l *Ledger) OnShown(d Delivery) {
	r, m, t, _ := l.books(&d)
	if t == nil || int(m.sender) == d.Recipient {
		return // counted when it arrived
	}
	told := d.told(m)
	t.mu.Lock()
	first, last, late := t.showOnce(&d, told, r)
	t.mu.Unlock()
	l.shown(&d, first, last, late)
}

// OnTaken is OnArrival and OnShown of a delivery that came in its order.
func (l *Ledger) OnTaken(d Delivery) (first bool) {
	r, m, t, where := l.books(&d)
	switch {
	case t == nil:
		return false
	case int(m.sender) == d.Recipient:
		return l.OnArrival(d)
	}
	told := d.told(m)
	t.mu.Lock()
	first = t.arrive(&d, r)
	fresh, last, late := t.showOnce(&d, told, r)
	t.mu.Unlock()
	l.arrived(&d, r, m, where, first)
	l.shown(&d, fresh, last, late)
	return first
}

// arrive takes an arrival into a track, whose lock is held.
func (t *track) arrive(d *Delivery, r *room) (first bool) {
	t.arrivals++
	if first = t.arrived.add(int32(d.Ordinal), own{r.messages, int32(d.Recipient)}); first {
		t.fresh++
	}
	if !first || t.dropped.has(int32(d.Ordinal)) { // a crash took the one before
		t.redelivered++
	}
	return first
}

// arrived notes what an arrival says beyond its track.
func (l *Ledger) arrived(d *Delivery, r *room, m *message, where int, first bool) {
	if l.repeats && m.elsewhere(d.place()) {
		m.again.Store(true)
	}
	if !first {
		l.examples.note(Redelivered, d.example("received again"))
		return
	}
	if m.arrived(d.place()) && !l.repeats {
		told, _ := m.told()
		l.examples.note(SeqMismatch, d.example(fmt.Sprintf("its sender was told seq %d", told.seq)))
	}
	if r.isOnline[where] {
		m.spread.add(d.At, m.fanout)
	}
}

// told is where the sender was told that the message is, or else where it is here.
func (d *Delivery) told(m *message) place {
	if at, known := m.told(); known {
		return at
	}
	return d.place()
}

// showOnce takes what is shown into a track, whose lock is held.
func (t *track) showOnce(d *Delivery, told place, r *room) (first bool, last place, late bool) {
	if first = t.shown.add(int32(d.Ordinal), own{r.messages, int32(d.Recipient)}); !first {
		t.shownTwice++
		return false, place{}, false
	}
	if d.Placed {
		return true, place{}, false
	}
	last, late = t.show(d.place(), told)
	return true, last, late
}

// shown notes trouble with what was shown.
func (l *Ledger) shown(d *Delivery, first bool, last place, late bool) {
	if !first {
		l.examples.note(ShownTwice, d.example("shown before"))
	}
	if late {
		l.examples.note(OutOfOrder, d.example(fmt.Sprintf("epoch %d, seq %d was shown before it", last.epoch, last.seq)))
	}
}
