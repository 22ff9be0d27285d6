package dedup

import "slices"

// Saved is a State as a client has written it down together with what it
// showed: all that a crash leaves. It is of use to the Dedup that made it only,
// since identities are hashed with that one's seed.
type Saved struct {
	Mark   uint64     // watermark
	Above  []Range    // ranges above it
	High   uint64     // see State
	Forgot bool       // see State
	Last   []identity // the last ones shown, oldest first
	IDs    []identity // set: all; watermark: of former epochs
	Former bool       // watermark: an epoch has changed
}

// Save copies what is remembered.
func (s *State) Save() Saved {
	v := Saved{Mark: s.seqs.mark, Above: slices.Clone(s.seqs.above), High: s.high, Forgot: s.forgot}
	v.Last = slices.Concat(s.last.ids[s.last.next:], s.last.ids[:s.last.next])
	switch s.dedup.cfg.Mode {
	case Set:
		v.IDs = s.ids.all()
	case Watermark:
		v.IDs, v.Former = s.ids.all(), s.ids != nil
	}
	return v
}

// Bytes returns what the saved form takes at least, in bytes: 8 for each
// number.
func (v *Saved) Bytes() int { return 8 * (2 + 2*len(v.Above) + len(v.Last) + len(v.IDs)) }

// Restore makes a State that goes on where Save was called.
func (d *Dedup) Restore(v *Saved) State {
	s := d.State(v.Mark)
	s.seqs.above = slices.Clone(v.Above)
	s.high, s.forgot = v.High, v.Forgot
	s.last.ids = slices.Clone(v.Last)
	from := v.IDs
	if d.cfg.Mode == Window {
		from = v.Last
	}
	if v.Former || d.cfg.Mode == Set || d.cfg.Mode == Window {
		s.ids = newTable(len(from))
		for _, id := range from {
			s.ids.add(id)
		}
	}
	return s
}
