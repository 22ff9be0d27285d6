package delivery

// ackSet is the acks of one conversation that wait to be written.
type ackSet struct {
	cursors map[string]uint64 // group: user → cursor
	moves   []Move            // group: scratch of write
	upTo    uint64            // inbox
	ids     map[uint64]struct{}
	written []func(error) // called once written, or with why not
}

func (set *ackSet) tell(err error) {
	for _, f := range set.written {
		f(err)
	}
	set.written = nil
}

// merge takes over what another set could not write.
func (set *ackSet) merge(old *ackSet) {
	set.upTo = max(set.upTo, old.upTo)
	for user, cursor := range old.cursors {
		set.cursors[user] = max(set.cursors[user], cursor)
	}
	for id := range old.ids {
		if set.ids == nil {
			set.ids = make(map[uint64]struct{})
		}
		set.ids[id] = struct{}{}
	}
}
