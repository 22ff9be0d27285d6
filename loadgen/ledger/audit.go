package ledger

import "fmt"

// Audit closes the books: for each accepted message and each recipient it says
// whether the delivery arrived, is pending or was lost. It is made when
// everything is at rest; view may be nil.
func (l *Ledger) Audit(view StoreView) Report {
	var rep Report
	found := examples{limit: l.examples.limit}
	for c := range l.rooms {
		r := &l.rooms[c]
		var st *Stored
		if view != nil {
			if s, ok := view(c); ok {
				st = &s
			}
		}
		for k := range r.messages {
			rep.Scheduled++
			l.places(&r.messages[k], &rep)
			switch s, at, _ := r.messages[k].result(); s {
			case unsent:
				rep.Unsent++
			case inFlight:
				rep.InFlight++
			case accepted:
				rep.Accepted++
				if st != nil && !st.kept(at.epoch, at.seq) {
					rep.CutAccepted++
				}
			case refused:
				rep.Refused++
			case unknown:
				rep.Unknown++
			}
		}
		for p := range r.tracks {
			r.audit(c, p, st, &rep, &found)
		}
	}
	rep.Sends = rep.Scheduled - rep.Unsent
	l.examples.mu.Lock()
	defer l.examples.mu.Unlock()
	rep.Foreign = l.examples.count[Foreign]
	rep.SeqMismatch += l.examples.count[SeqMismatch]
	for k := range kinds {
		rep.Examples = append(rep.Examples, l.examples.first[k]...)
		rep.Examples = append(rep.Examples, found.first[k]...)
	}
	return rep
}

// places counts what is seen of a message at more than one place.
func (l *Ledger) places(m *message, rep *Report) {
	n := m.unsettled()
	switch {
	case !l.repeats:
		rep.SeqMismatch += uint64(n)
	case n > 0 || m.again.Load():
		rep.StoredAgain++
	}
}

// audit judges one recipient in one conversation.
func (r *room) audit(conversation, place int, st *Stored, rep *Report, found *examples) {
	t, me := &r.tracks[place], int(r.recipients[place])
	t.mu.Lock()
	defer t.mu.Unlock()
	rep.Arrivals += t.arrivals
	rep.Redelivered += t.redelivered
	rep.ShownTwice += t.shownTwice
	rep.OutOfOrder += t.outOfOrder
	rep.Dropped += len(t.dropped)
	who := st.of(me)
	for k := range r.messages {
		m := &r.messages[k]
		if int(m.sender) == me {
			continue
		}
		s, at, known := m.result()
		note := func(kind Kind, detail string) {
			found.note(kind, Example{Conversation: conversation, Ordinal: k, Recipient: me, Epoch: at.epoch, Seq: at.seq, Detail: detail})
		}
		arrived, shown := t.arrived.has(int32(k)), t.shown.has(int32(k))
		// What a crash took before it was shown has arrived at nobody.
		taken := !shown && t.dropped.has(int32(k))
		arrived = arrived && !taken
		switch {
		case s == refused && arrived:
			rep.RefusedArrived++
			note(RefusedArrived, "the sender was told that it wasn't stored")
		case s != accepted && arrived:
			rep.ArrivedUnknown++
		}
		row := NoRow
		kept := st == nil || !known || st.kept(at.epoch, at.seq)
		if kept && known {
			row = who.row(at.seq)
		}
		// What nobody was told is stored, and the store lost, owes nothing.
		if arrived && !shown && row != Waiting && (kept || s == accepted) {
			rep.NotShown++
			note(NotShown, "it arrived and was never shown")
		}
		if s != accepted {
			continue
		}
		rep.Expected++
		switch {
		case arrived:
			rep.Arrived++
			if row == Waiting {
				rep.ArrivedWaiting++
			}
		case row == Waiting:
			rep.Pending++
		default:
			why := who.why(at)
			if !kept {
				rep.LostWithTail++
			}
			if taken {
				rep.LostDropped++
				why = "a crash took it before it was shown, and the store holds it no more"
			}
			rep.Lost++
			note(Lost, why)
			if row == Acked {
				rep.AckedNotReceived++
				note(AckedNotReceived, who.acked())
			}
		}
	}
}

// standing is what the store holds for one recipient of a conversation.
type standing struct {
	*Stored // nil when the store can't be asked
	user    int
	cursor  uint64
	member  bool
}

func (st *Stored) of(user int) standing {
	s := standing{Stored: st, user: user}
	if st != nil && st.Cursor != nil {
		s.cursor, s.member = st.Cursor(user)
	}
	return s
}

// row is what the store holds of a message that it has kept.
func (s standing) row(seq uint64) Row {
	switch {
	case s.Stored == nil:
		return NoRow
	case s.Row != nil:
		return s.Row(s.user, seq)
	case !s.member:
		return NoRow
	case s.cursor >= seq:
		return Acked
	case seq >= s.First && seq <= s.Head:
		return Waiting
	}
	return NoRow
}

// kept tells whether what an epoch stored under seq is still what that seq means.
func (st *Stored) kept(epoch, seq uint64) bool {
	if epoch > st.Epoch {
		return false
	}
	for _, b := range st.Bases {
		if b.Epoch > epoch && seq > b.Head {
			return false
		}
	}
	return true
}

// why says what is known of a lost delivery.
func (s standing) why(at place) string {
	switch {
	case s.Stored == nil:
		return "it didn't arrive, and the store can't be asked"
	case !s.kept(at.epoch, at.seq):
		return fmt.Sprintf("the store lost it: its epoch %d ended, the store is in %d", at.epoch, s.Epoch)
	case s.Row != nil && s.Row(s.user, at.seq) == Acked:
		return s.acked()
	case s.Row != nil:
		return "the store holds no row of it for the recipient"
	case !s.member:
		return "the recipient has no cursor in the store"
	case s.cursor >= at.seq:
		return fmt.Sprintf("the recipient's cursor stands at %d", s.cursor)
	case at.seq < s.First:
		return fmt.Sprintf("it was trimmed: the log begins at %d", s.First)
	}
	return fmt.Sprintf("the log ends at %d", s.Head)
}

// acked says what covers a message that the recipient never got.
func (s standing) acked() string {
	if s.Row != nil {
		return "the recipient's acks cover it"
	}
	return fmt.Sprintf("the cursor stands at %d", s.cursor)
}
