package server

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"ackmark/refserver/wire"
)

func (u *modelUser) mayAck(how string) bool { return slices.Contains(u.w.rung.acks, how) }

// ack acks some of what was taken in: cumulatively, also in the middle of a
// page, as far as nothing is missing; or by ids. Over the connection or HTTP,
// with an answer once it is stored or without.
func (u *modelUser) ack(rt *rapid.T) {
	if len(u.w.rung.acks) == 0 {
		return // messages go as they are pulled
	}
	name := pick(rt, u.conversations(), "conversation")
	s := u.saved[name]
	a := &wire.Ack{Conversation: name, Epoch: s.epoch, Ref: uint64(between(rt, 0, 1, "answered"))}
	held := s.watermark()
	if s.epoch != u.w.srv.store.Epoch() || held == 0 || len(s.seqs) < u.w.rung.every {
		return // nothing to ack yet
	}
	switch how := pick(rt, u.w.rung.acks, "how"); {
	case how == "ids" && name[0] == 'u':
		a.Ids = u.someSeqs(rt, name)
		if len(a.Ids) == 0 {
			return
		}
	case how == "each":
		a.UpTo = uint64(between(rt, 1, int(held), "up to"))
	default:
		a.UpTo = held
	}
	if u.phone == nil || oneIn(rt, 4, "over HTTP") {
		got := &wire.AckResult{}
		u.w.call(u.name, "/v1/ack", a, got)
		if got.Cursor < a.UpTo && name[0] == 'g' {
			rt.Fatalf("%s: %v: got %v", u, a, got)
		}
	} else if a.Ref == 0 {
		u.phone.write(&wire.Frame{Ack: a})
		u.phone.settle()
	} else if got := u.phone.request(&wire.Frame{Ack: a}).AckResult; got == nil || got.Cursor < a.UpTo {
		rt.Fatalf("%s: %v: got %v", u, a, got)
	}
	u.acked(name, a.UpTo)
	u.ackedIDs(name, a.Ids)
}

// someSeqs are some of the messages of an inbox that were taken in.
func (u *modelUser) someSeqs(rt *rapid.T, inbox string) (seqs []uint64) {
	if u.saved[inbox].epoch != u.w.srv.store.Epoch() {
		return nil
	}
	for _, seq := range slices.Sorted(maps.Keys(u.saved[inbox].seqs)) {
		if oneIn(rt, 3, "acked") {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}
