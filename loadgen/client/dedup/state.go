package dedup

// Verdict is what is known of a message at hand.
type Verdict uint8

// The verdicts.
const (
	Fresh  Verdict = iota + 1 // wasn't shown before
	Known                     // was shown before
	Beyond                    // may have been shown so long ago that it is forgotten
)

// Show tells whether the message is to be shown. One that nobody knows of any
// more is: to show it twice is better than never.
func (v Verdict) Show() bool { return v != Known }

// State is the dedup of one conversation, made by Dedup.State or Dedup.Restore.
// It is about what was shown: a message that is received and not shown yet
// (behind a gap, or in a page that a crash drops) isn't in it.
type State struct {
	dedup *Dedup
	seqs  Seqs   // watermark
	high  uint64 // set, window: highest seq shown in any epoch. watermark: up to here seqs of former epochs may be forgotten
	last  ring   // window, watermark: the last ones shown
	// ids are set: all; window: those in last; watermark: those that former
	// epochs showed last, nil in the first.
	ids    *table
	forgot bool // window: something was
}

// State begins a conversation after mark: nothing up to it will come.
func (d *Dedup) State(mark uint64) State {
	s := State{dedup: d}
	switch d.cfg.Mode {
	case Watermark:
		s.seqs.mark = mark
	case Set, Window:
		s.ids = newTable(0)
	}
	return s
}

// Take judges a message that is about to be shown, and remembers it.
func (s *State) Take(seq uint64, sender, clientMsgID []byte) Verdict {
	d := s.dedup
	switch d.cfg.Mode {
	case Watermark:
		if !s.seqs.Add(seq) {
			return Known
		}
		return s.shown(seq, d.identify(sender, clientMsgID))
	case Set:
		if !s.ids.add(d.identify(sender, clientMsgID)) {
			return Known
		}
		return Fresh
	case Window:
		return s.window(seq, d.identify(sender, clientMsgID))
	}
	return Fresh
}

// shown is Take in mode watermark, for a seq that is new.
func (s *State) shown(seq uint64, id identity) Verdict {
	v := Fresh
	if s.ids != nil {
		switch {
		case s.ids.has(id):
			return Known // by a former epoch, under whatever seq
		case seq <= s.high:
			v = Beyond
		}
	}
	s.last.add(id, s.dedup.cfg.Recent)
	return v
}

// window is Take in mode window. A seq above all before can't have been shown;
// of any other one that isn't remembered nobody knows, once something was
// forgotten.
func (s *State) window(seq uint64, id identity) Verdict {
	if !s.ids.add(id) {
		return Known
	}
	v := Fresh
	if s.forgot && seq <= s.high {
		v = Beyond
	}
	s.high = max(s.high, seq)
	if gone := s.last.add(id, s.dedup.cfg.Window); gone != 0 {
		s.ids.remove(gone)
		s.forgot = true
	}
	return v
}

// Peek is Take without remembering.
func (s *State) Peek(seq uint64, sender, clientMsgID []byte) Verdict {
	d := s.dedup
	if d.cfg.Mode == None {
		return Fresh
	}
	if d.cfg.Mode == Watermark && s.seqs.Has(seq) {
		return Known
	}
	if s.ids != nil && s.ids.has(d.identify(sender, clientMsgID)) {
		return Known
	}
	doubt := d.cfg.Mode == Watermark && s.ids != nil || s.forgot
	if doubt && seq <= s.high {
		return Beyond
	}
	return Fresh
}

// Cover says that no message in (after, upTo] is still to come but those that
// were shown: a page covered them, or they are the device's own sends. Only the
// watermark needs to know.
func (s *State) Cover(after, upTo uint64) {
	if s.dedup.cfg.Mode == Watermark {
		s.seqs.Cover(after, upTo)
	}
}

// Mark returns the watermark; 0 in the other modes.
func (s *State) Mark() uint64 { return s.seqs.mark }

// BeginEpoch forgets what seqs meant: of the new epoch's, all up to mark are
// the same messages as before. From now on what was shown before is recognised
// by (sender, client_msg_id).
func (s *State) BeginEpoch(mark uint64) {
	if s.dedup.cfg.Mode != Watermark {
		return
	}
	high := s.seqs.High()
	limit := s.dedup.cfg.Recent
	if high > mark && high-mark > uint64(limit) && len(s.last.ids) == limit {
		s.high = max(s.high, high) // more may have been shown than is remembered
	}
	s.seqs = Seqs{mark: mark}
	s.ids = newTable(len(s.last.ids))
	for _, id := range s.last.ids {
		s.ids.add(id)
	}
}

// Bytes returns the memory that is held apart from the State itself, in bytes.
func (s *State) Bytes() int { return s.seqs.Bytes() + s.last.bytes() + s.ids.bytes() }
