package server

import (
	"fmt"
	"maps"
	"slices"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// modelUser is one user: what its client has persisted, what the server should
// hold for it, and its connection.
type modelUser struct {
	w     *ladder
	name  string
	phone *modelPhone // nil while offline
	saved map[string]*modelSaved
	rows  map[string]map[uint64]rowState // what is stored for it, where it has rows of its own
}

// rowState says how sure the model is of a row.
type rowState int

const (
	rowSure  rowState = iota + 1
	rowMaybe          // a crash came between: it may be there
)

// modelSaved is what a client keeps of a conversation, together with what it
// has shown: it outlives a crash.
type modelSaved struct {
	epoch   uint64
	seqs    map[uint64]string // taken in, in this epoch: seq → key
	covered map[uint64]bool   // taken in, or told that nothing is there
	shown   map[string]uint64 // key → seq

	gone map[string]string // key → why nobody can show it any more: the crash injector's own log
	may  map[string]bool   // keys that a crash of the server may have dropped
}

func newSaved() *modelSaved {
	return &modelSaved{seqs: map[uint64]string{}, covered: map[uint64]bool{}, shown: map[string]uint64{},
		gone: map[string]string{}, may: map[string]bool{}}
}

// watermark is how far nothing is missing.
func (s *modelSaved) watermark() (seq uint64) {
	for s.covered[seq+1] {
		seq++
	}
	return seq
}

func (s *modelSaved) cover(after, upTo uint64) {
	for seq := after + 1; seq <= upTo; seq++ {
		s.covered[seq] = true
	}
}

// enter begins an epoch: what was taken in up to base stays.
func (s *modelSaved) enter(epoch, base uint64) {
	if s.epoch == epoch {
		return
	}
	s.epoch = epoch
	maps.DeleteFunc(s.seqs, func(seq uint64, _ string) bool { return seq > base })
	maps.DeleteFunc(s.covered, func(seq uint64, _ bool) bool { return seq > base })
}

func keyOf(d *wire.Deliver) string { return d.Sender + " " + d.ClientMsgId }

// take shows a message unless it was shown before, which only its seq tells.
func (u *modelUser) take(conversation string, d *wire.Deliver) {
	w, s, key := u.w, u.saved[conversation], keyOf(d)
	u.known(conversation, d)
	had, before := s.seqs[d.Seq]
	first, shown := s.shown[key]
	switch {
	case before && had != key:
		w.rt.Fatalf("%s: %s %d is %s, and was %s", u.name, conversation, d.Seq, key, had)
	case !before && shown:
		w.rt.Fatalf("%s: %s: %s is shown twice, as %d and as %d", u.name, conversation, key, first, d.Seq)
	case s.gone[key] != "":
		w.rt.Fatalf("%s: %s: %s was counted as lost (%s), and comes as %d", u.name, conversation, key, s.gone[key], d.Seq)
	}
	s.seqs[d.Seq], s.shown[key], s.covered[d.Seq] = key, d.Seq, true
}

// known checks that a message is one that was sent.
func (u *modelUser) known(conversation string, d *wire.Deliver) {
	m := u.w.convs[conversation].bySeq[d.Seq]
	switch {
	case d.Sender == u.name:
		u.w.rt.Fatalf("%s: %s: gets its own message %d", u.name, conversation, d.Seq)
	case m == nil && u.w.storming: // not answered yet
	case m == nil || m.key != keyOf(d) || d.Body != bodyOf(d.ClientMsgId):
		u.w.rt.Fatalf("%s: %s: got %v, want %v", u.name, conversation, d, m)
	default:
		m.time = d.TimeMs
	}
}

func bodyOf(id string) string { return "body of " + id }

// receive takes the first n pushes in.
func (u *modelUser) receive(n int) {
	for _, f := range u.phone.pending[:n] {
		u.take(f.Deliver.Conversation, f.Deliver)
	}
	u.phone.pending = u.phone.pending[n:]
}

// drop is what a crash does to a message that had come and wasn't taken in.
func (u *modelUser) drop(conversation string, d *wire.Deliver) {
	s, key := u.saved[conversation], keyOf(d)
	if _, shown := s.shown[key]; shown || !u.w.rung.rows(conversation) {
		return
	}
	switch u.rows[conversation][d.Seq] {
	case rowSure:
	case rowMaybe:
		s.may[key] = true
	default:
		s.gone[key] = "dropped by a crash"
	}
}

// crash ends the client: what it hasn't taken in is gone.
func (u *modelUser) crash() {
	for _, f := range u.phone.pending {
		u.drop(f.Deliver.Conversation, f.Deliver)
	}
	u.phone = nil
}

// reached notes that a message was pushed: where messages are stored for who is
// offline, it has no row.
func (u *modelUser) reached(d *wire.Deliver) {
	if u.w.rung.storeFor != delivery.StoreForOffline || !u.w.rung.rows(d.Conversation) {
		return
	}
	if u.w.storming {
		u.rows[d.Conversation][d.Seq] = rowMaybe
		return
	}
	delete(u.rows[d.Conversation], d.Seq)
}

// acked removes rows up to a seq.
func (u *modelUser) acked(conversation string, upTo uint64) {
	if conversation[0] == 'g' && u.w.rung.onPull() {
		return // rows go as they are pulled
	}
	for seq := range u.rows[conversation] {
		if seq <= upTo {
			delete(u.rows[conversation], seq)
		}
	}
}

func (u *modelUser) ackedIDs(conversation string, ids []uint64) {
	for _, id := range ids {
		delete(u.rows[conversation], id)
	}
}

// sure are the rows that have to be there, in order.
func (u *modelUser) sure(conversation string) (seqs []uint64) {
	for _, seq := range slices.Sorted(maps.Keys(u.rows[conversation])) {
		if u.rows[conversation][seq] == rowSure {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// conversations of a user, its inbox first.
func (u *modelUser) conversations() []string {
	names := []string{wire.Inbox(u.name)}
	for _, name := range slices.Sorted(maps.Keys(u.w.convs)) {
		if name[0] == 'g' && slices.Contains(u.w.convs[name].members, u.name) {
			names = append(names, name)
		}
	}
	return names
}

func (u *modelUser) String() string { return fmt.Sprintf("%s (online %v)", u.name, u.phone != nil) }
