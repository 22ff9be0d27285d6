package ledger

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTallyIsASet holds the watermark and its gaps against a plain set.
func TestTallyIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		mine := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "mine")
		messages := make([]message, n)
		for k := range messages {
			if messages[k].sender = 1; mine[k] {
				messages[k].sender = 7
			}
		}
		skip := own{messages, 7}
		var ta tally
		set := map[int32]bool{}
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			k := int32(rapid.IntRange(0, n-1).Draw(t, "k"))
			if mine[k] {
				continue
			}
			if fresh := ta.add(k, skip); fresh == set[k] {
				t.Fatalf("add(%d) = %v, in set %v", k, fresh, set[k])
			}
			set[k] = true
			missing := 0
			for j := range int32(n) {
				if !mine[j] && ta.has(j) != set[j] {
					t.Fatalf("has(%d) = %v, in set %v; %+v", j, ta.has(j), set[j], ta)
				}
				if j < ta.next && !mine[j] && !set[j] {
					missing++
				}
			}
			if len(ta.gaps) > missing {
				t.Fatalf("%d gaps for %d missing ordinals: %+v", len(ta.gaps), missing, ta)
			}
		}
	})
}

// channel is what a run did wrong, counted as it is injected.
type channel struct {
	lost, pending, acked, redelivered, twice, disorder, notShown, unknownArrived int
}

// TestAuditFindsExactlyWhatWasInjected: a channel that loses, delays,
// duplicates and reorders; the audit must count what was injected, and nothing
// when nothing was.
func TestAuditFindsExactlyWhatWasInjected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		users := rapid.IntRange(2, 5).Draw(t, "users")
		n := rapid.IntRange(0, 25).Draw(t, "messages")
		trouble := rapid.Bool().Draw(t, "trouble")
		c := Conversation{Name: "g:a"}
		for u := range users {
			c.Recipients = append(c.Recipients, u)
		}
		c.Senders = rapid.SliceOfN(rapid.IntRange(0, users-1), n, n).Draw(t, "senders")
		l, err := New(Config{Conversations: []Conversation{c}})
		if err != nil {
			t.Fatal(err)
		}
		// the store gives seqs in an order of its own; some sends are never answered
		ordinals := make([]int, n)
		for k := range ordinals {
			ordinals[k] = k
		}
		log := rapid.Permutation(ordinals).Draw(t, "log")
		seqOf := make([]uint64, n)
		answered := make([]bool, n)
		accepted := 0
		for i, k := range log {
			seqOf[k] = uint64(i + 1)
			l.OnSend(0, k)
			if answered[k] = !trouble || rapid.IntRange(0, 5).Draw(t, "answer") > 0; answered[k] {
				l.OnAccepted(0, k, 1, seqOf[k])
				accepted++
			} else {
				l.OnUnknown(0, k)
			}
		}
		var want channel
		cursors := make([]uint64, users)
		for u := range users {
			cursors[u] = want.deliver(t, l, u, log, c.Senders, seqOf, answered, trouble)
		}
		r := l.Audit(func(int) (Stored, bool) {
			return Stored{Epoch: 1, First: 1, Head: uint64(n), Cursor: func(u int) (uint64, bool) { return cursors[u], true }}, true
		})
		have := channel{r.Lost, r.Pending, r.AckedNotReceived, int(r.Redelivered), int(r.ShownTwice), int(r.OutOfOrder), r.NotShown, r.ArrivedUnknown}
		if have != want {
			t.Fatalf("found %+v, injected %+v", have, want)
		}
		if err := r.Balance(); err != nil {
			t.Fatal(err)
		}
		if !trouble && (have != channel{}) {
			t.Fatalf("nothing was injected, found %+v", have)
		}
		if r.Accepted != accepted || r.Unknown != n-accepted || r.Expected != accepted*(users-1) {
			t.Fatalf("%d accepted, %d unknown, %d expected of %d sends with %d answered", r.Accepted, r.Unknown, r.Expected, n, accepted)
		}
	})
}

// deliver brings the log to one recipient over the channel and returns where
// its cursor ends.
func (ch *channel) deliver(t *rapid.T, l *Ledger, u int, log, senders []int, seqOf []uint64, answered []bool, trouble bool) uint64 {
	due := []int{}
	for _, k := range log {
		if senders[k] != u {
			due = append(due, k)
		}
	}
	cursor := uint64(len(log)) // acks everything, whatever came
	if trouble {
		if rapid.Bool().Draw(t, "reorder") {
			due = rapid.Permutation(due).Draw(t, "order")
		}
		cursor = uint64(rapid.IntRange(0, len(log)).Draw(t, "cursor"))
	}
	var top uint64
	for _, k := range due {
		d := Delivery{Ordinal: k, Recipient: u, Epoch: 1, Seq: seqOf[k]}
		fate := 0
		if trouble {
			fate = rapid.IntRange(0, 6).Draw(t, "fate")
		}
		if fate == 1 { // never arrives
			switch {
			case !answered[k]:
			case seqOf[k] > cursor:
				ch.pending++
			default:
				ch.lost++
				ch.acked++
			}
			continue
		}
		taken := fate != 2 && rapid.Bool().Draw(t, "in one call")
		if taken {
			l.OnTaken(d)
		} else {
			l.OnArrival(d)
		}
		if !answered[k] {
			ch.unknownArrived++
		}
		if fate == 2 { // arrives, and is taken for a duplicate
			if seqOf[k] <= cursor {
				ch.notShown++
			}
			continue
		}
		if !taken {
			l.OnShown(d)
		}
		if d.Seq < top {
			ch.disorder++
		}
		top = max(top, d.Seq)
		for range rapid.IntRange(0, 2).Draw(t, "again") * min(fate, 1) {
			l.OnArrival(d)
			ch.redelivered++
			if fate == 3 {
				l.OnShown(d)
				ch.twice++
			}
		}
	}
	return cursor
}
