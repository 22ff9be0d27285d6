package ledger

// dropped is the ordinals that crashes of a recipient took before they were
// shown. They are few, and nil where there was no crash.
type dropped map[int32]struct{}

func (d dropped) has(k int32) bool {
	_, ok := d[k]
	return ok
}

// OnDropped notes that a crash of the recipient's client took a delivery that
// had been received and neither shown nor persisted: the crash injector's own
// log. What is shown later all the same isn't missing; what is never shown has
// arrived at nobody, and is pending or lost.
func (l *Ledger) OnDropped(d Delivery) {
	_, m, t, _ := l.books(&d)
	if t == nil || int(m.sender) == d.Recipient {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown.has(int32(d.Ordinal)) {
		return // a redelivery went down, nothing that its user lacks
	}
	if t.dropped == nil {
		t.dropped = make(dropped)
	}
	t.dropped[int32(d.Ordinal)] = struct{}{}
}
