package ledger

import "fmt"

// Stored is what the store holds of one conversation at the end of a run.
type Stored struct {
	Epoch uint64
	Head  uint64 // newest seq
	First uint64 // oldest seq still stored; Head + 1 when none is
	Count uint64 // messages stored (XLEN), to be reconciled with First and Head
	// Bases gives for each epoch after the first that began during the run the
	// head with which it began: what an earlier epoch stored above it is gone,
	// and its seq was given to another message.
	Bases []Base
	// Cursor returns a recipient's cursor; false when it has none.
	Cursor func(user int) (uint64, bool)
}

// Base is the head with which an epoch began.
type Base struct{ Epoch, Head uint64 }

// StoreView returns what the store holds of a conversation; false when that
// isn't known, as with a foreign server: what didn't arrive is then lost as far
// as can be told.
type StoreView func(conversation int) (Stored, bool)

// Report is the outcome of an audit. Sends are messages, everything else from
// Expected on is deliveries.
type Report struct {
	Scheduled int // messages in the schedule
	Unsent    int // of these, never handed to a device
	Sends     int // the others: Accepted + Refused + Unknown + InFlight
	Accepted  int
	Refused   int
	Unknown   int // given up without a final answer
	InFlight  int // no answer when the audit was made

	Expected int // accepted messages × their recipients = Arrived + Pending + Lost
	Arrived  int
	Pending  int // not arrived; in the store and above the recipient's cursor
	Lost     int // neither arrived nor pending

	ArrivedUnknown int // first arrivals of messages without an answer: stored all the same

	Arrivals         uint64 // all, redelivered ones included
	Redelivered      uint64 // beyond the first at its recipient
	ShownTwice       uint64
	OutOfOrder       uint64 // shown for the first time after one that comes later, see track.show
	SeqMismatch      uint64 // first arrivals under another seq than the sender was told, in the same epoch
	AckedNotReceived int    // of Lost: the recipient's cursor covers it
	NotShown         int    // arrived, but neither shown nor still to be pulled
	RefusedArrived   int    // first arrivals of messages that were refused
	Foreign          uint64 // sends or deliveries that aren't of the schedule

	Examples []Example // the first few of each kind
}

// Balance checks that the books close; an error is a defect of the ledger or of
// its use, not of the server.
func (r *Report) Balance() error {
	if r.Sends != r.Accepted+r.Refused+r.Unknown+r.InFlight || r.Scheduled != r.Sends+r.Unsent {
		return fmt.Errorf("ledger: %d sends and %d unsent of %d scheduled don't add up: %d accepted, %d refused, %d unknown, %d in flight",
			r.Sends, r.Unsent, r.Scheduled, r.Accepted, r.Refused, r.Unknown, r.InFlight)
	}
	if r.Expected != r.Arrived+r.Pending+r.Lost {
		return fmt.Errorf("ledger: %d expected deliveries are not %d arrived + %d pending + %d lost", r.Expected, r.Arrived, r.Pending, r.Lost)
	}
	return nil
}

// Audit closes the books: for each accepted message and each recipient it says
// whether the delivery arrived, is pending or was lost. It is made when
// everything is at rest; view may be nil.
func (l *Ledger) Audit(view StoreView) Report {
	var rep Report
	found := examples{limit: l.examples.limit}
	for c := range l.rooms {
		r := &l.rooms[c]
		for k := range r.messages {
			rep.Scheduled++
			rep.SeqMismatch += uint64(r.messages[k].unsettled())
			switch s, _, _ := r.messages[k].result(); s {
			case unsent:
				rep.Unsent++
			case inFlight:
				rep.InFlight++
			case accepted:
				rep.Accepted++
			case refused:
				rep.Refused++
			case unknown:
				rep.Unknown++
			}
		}
		var st *Stored
		if view != nil {
			if s, ok := view(c); ok {
				st = &s
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

// audit judges one recipient in one conversation.
func (r *room) audit(conversation, place int, st *Stored, rep *Report, found *examples) {
	t, me := &r.tracks[place], int(r.recipients[place])
	t.mu.Lock()
	defer t.mu.Unlock()
	rep.Arrivals += t.arrivals
	rep.Redelivered += t.redelivered
	rep.ShownTwice += t.shownTwice
	rep.OutOfOrder += t.outOfOrder
	var cursor uint64
	member := false
	if st != nil && st.Cursor != nil {
		cursor, member = st.Cursor(me)
	}
	for k := range r.messages {
		m := &r.messages[k]
		if int(m.sender) == me {
			continue
		}
		s, at, known := m.result()
		epoch, seq := at.epoch, at.seq
		note := func(kind Kind, detail string) {
			found.note(kind, Example{Conversation: conversation, Ordinal: k, Recipient: me, Epoch: epoch, Seq: seq, Detail: detail})
		}
		arrived := t.arrived.has(int32(k))
		switch {
		case s == refused && arrived:
			rep.RefusedArrived++
			note(RefusedArrived, "the sender was told that it wasn't stored")
		case s != accepted && arrived:
			rep.ArrivedUnknown++
		}
		waits, covered := false, false
		kept := st == nil || !known || st.kept(epoch, seq)
		if kept && known && member {
			covered = cursor >= seq
			waits = !covered && seq >= st.First && seq <= st.Head
		}
		// What nobody was told is stored, and the store lost, owes nothing.
		if arrived && !t.shown.has(int32(k)) && !waits && (kept || s == accepted) {
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
		case waits:
			rep.Pending++
		default:
			rep.Lost++
			note(Lost, st.why(epoch, seq, cursor, member))
			if covered {
				rep.AckedNotReceived++
				note(AckedNotReceived, fmt.Sprintf("the cursor stands at %d", cursor))
			}
		}
	}
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
func (st *Stored) why(epoch, seq, cursor uint64, member bool) string {
	switch {
	case st == nil:
		return "it didn't arrive, and the store can't be asked"
	case !member:
		return "the recipient has no cursor in the store"
	case !st.kept(epoch, seq):
		return fmt.Sprintf("the store lost it: its epoch %d ended, the store is in %d", epoch, st.Epoch)
	case cursor >= seq:
		return fmt.Sprintf("the recipient's cursor stands at %d", cursor)
	case seq < st.First:
		return fmt.Sprintf("it was trimmed: the log begins at %d", st.First)
	}
	return fmt.Sprintf("the log ends at %d", st.Head)
}
