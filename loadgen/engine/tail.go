package engine

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"ackmark/loadgen/launch"
	"ackmark/loadgen/ledger"
	"ackmark/loadgen/population"
)

// lostTail is what a kill of Redis took with it: the end of what was written in
// one epoch.
type lostTail struct {
	epoch    uint64 // that ended
	all      bool   // there was no append-only file: everything
	messages []lostMessage
}

// lostMessage is one message that was cut: its place in the epoch that ended.
type lostMessage struct {
	conversation string
	seq          uint64
}

// take reads the entries that were cut.
func (t *lostTail) take(s *store, entries []launch.Entry) {
	for _, e := range entries {
		if m, ok := s.message(e); ok {
			t.messages = append(t.messages, m)
		}
	}
}

// base is the head of a conversation that a new epoch began with, as far as
// this tail tells. Seqs are given out in order, so the first one that was cut
// tells which are left.
func (t *lostTail) base(conversation string) (ledger.Base, bool) {
	b := ledger.Base{Epoch: t.epoch + 1}
	if t.all {
		return b, true
	}
	found := false
	for _, m := range t.messages {
		if m.conversation == conversation && (!found || m.seq <= b.Head) {
			b.Head, found = m.seq-1, true
		}
	}
	return b, found
}

// note keeps the bases of the epochs in which conversations are.
func (d *damage) note(ctx context.Context, s *store, pop *population.Population, used func(conversation int) bool) error {
	held, err := s.read(ctx, pop, used, false)
	if err != nil {
		return err
	}
	if d.noted == nil {
		d.noted = map[string][]ledger.Base{}
	}
	for c := range held {
		name := pop.Conversation(c)
		for _, b := range held[c].Bases {
			if !slices.Contains(d.noted[name], b) {
				d.noted[name] = append(d.noted[name], b)
			}
		}
	}
	return nil
}

// bases adds what tails tell of a conversation, and what was noted before kills,
// to what the store has noted, which is the base of its last epoch only.
func (d *damage) bases(conversation string, noted []ledger.Base) []ledger.Base {
	all := slices.Concat(noted, d.noted[conversation])
	for i := range d.tails {
		if b, ok := d.tails[i].base(conversation); ok {
			all = append(all, b)
		}
	}
	return all
}

// isMessage tells whether an entry of the append-only file stores a message of
// this run: what a send leaves, be it one for a log, an inbox, or one that is
// about to be fanned out.
func (s *store) isMessage(e launch.Entry) bool {
	_, ok := s.message(e)
	return ok
}

// message finds the message that an entry stores. One that is taken out again
// at once was pushed without being stored, and only left its seq.
func (s *store) message(e launch.Entry) (lostMessage, bool) {
	for _, c := range e {
		conversation, table, ok := s.parseKey(c)
		if !ok {
			continue
		}
		var id string
		switch {
		case isCommand(c, "XADD", 3) && (table == "log" || table == "inbox"):
			id, _ = strings.CutPrefix(string(c[2]), "0-") // Redis writes the id that it gave
		case isCommand(c, "HSET", 4) && table == "storing":
			id = string(c[2])
		default:
			continue
		}
		seq, err := strconv.ParseUint(id, 10, 64)
		if err == nil && !withdrawn(e, c[1], c[2]) {
			return lostMessage{conversation, seq}, true
		}
	}
	return lostMessage{}, false
}

func isCommand(c [][]byte, name string, arguments int) bool {
	return len(c) >= arguments && bytes.EqualFold(c[0], []byte(name))
}

// withdrawn tells whether an entry deletes what it added.
func withdrawn(e launch.Entry, key, id []byte) bool {
	for _, c := range e {
		if isCommand(c, "XDEL", 3) && bytes.Equal(c[1], key) && bytes.Equal(c[2], id) {
			return true
		}
	}
	return false
}

// parseKey splits the key of a command, NS:{CONVERSATION}:TABLE.
func (s *store) parseKey(c [][]byte) (conversation, table string, ok bool) {
	if len(c) < 2 {
		return "", "", false
	}
	rest, ours := strings.CutPrefix(string(c[1]), s.ns+":{")
	conversation, table, braced := strings.Cut(rest, "}:")
	return conversation, table, ours && braced
}
