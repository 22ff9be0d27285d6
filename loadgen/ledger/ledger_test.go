package ledger

import "testing"

// trio is one group of users 0, 1, 2 whose messages come from the given senders.
func trio(t testing.TB, senders ...int) *Ledger {
	t.Helper()
	l, err := New(Config{Conversations: []Conversation{{Name: "g:a", Recipients: []int{2, 0, 1}, Senders: senders}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// got is a delivery that arrives and is shown.
func got(l *Ledger, k, to int, epoch, seq uint64) {
	d := Delivery{Ordinal: k, Recipient: to, Epoch: epoch, Seq: seq}
	l.OnArrival(d)
	l.OnShown(d)
}

// store is a view of one conversation in epoch e with equal cursors.
func store(epoch, first, head, cursor uint64, bases ...Base) StoreView {
	return func(int) (Stored, bool) {
		return Stored{Epoch: epoch, First: first, Head: head, Bases: bases,
			Cursor: func(int) (uint64, bool) { return cursor, true }}, true
	}
}

func TestAuditByHand(t *testing.T) {
	type counts struct {
		accepted, expected, arrived, pending, lost, acked, notShown, unknown, arrivedUnknown, refusedArrived int
		redelivered, twice, disorder, mismatch, foreign                                                      uint64
	}
	for _, tt := range []struct {
		name    string
		senders []int
		play    func(l *Ledger)
		view    StoreView
		want    counts
	}{
		{"all arrive", []int{0, 1}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			l.OnAccepted(0, 1, 1, 2)
			got(l, 0, 1, 1, 1)
			got(l, 0, 2, 1, 1)
			got(l, 1, 0, 1, 2)
			got(l, 1, 2, 1, 2)
		}, store(1, 3, 2, 2), counts{accepted: 2, expected: 4, arrived: 4}},
		{"stored in another order than scheduled", []int{0, 0}, func(l *Ledger) {
			l.OnAccepted(0, 1, 1, 1)
			l.OnAccepted(0, 0, 1, 2)
			for _, u := range []int{1, 2} {
				got(l, 1, u, 1, 1)
				got(l, 0, u, 1, 2)
			}
		}, store(1, 1, 2, 2), counts{accepted: 2, expected: 4, arrived: 4}},
		{"pending above the cursor, in the store", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 7)
			got(l, 0, 1, 1, 7)
		}, store(1, 7, 7, 6), counts{accepted: 1, expected: 2, arrived: 1, pending: 1}},
		{"lost because trimmed", []int{0}, func(l *Ledger) { l.OnAccepted(0, 0, 1, 7) },
			store(1, 8, 9, 6), counts{accepted: 1, expected: 2, lost: 2}},
		{"lost because the cursor covers it", []int{0}, func(l *Ledger) { l.OnAccepted(0, 0, 1, 7) },
			store(1, 1, 9, 7), counts{accepted: 1, expected: 2, lost: 2, acked: 2}},
		{"lost with the tail: its seq now means another", []int{0, 0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 7)
			l.OnAccepted(0, 1, 2, 7)
			got(l, 1, 1, 2, 7)
		}, store(2, 1, 7, 6, Base{2, 6}), counts{accepted: 2, expected: 4, arrived: 1, pending: 1, lost: 2}},
		{"kept across epochs", []int{0}, func(l *Ledger) { l.OnAccepted(0, 0, 1, 5) },
			store(3, 1, 7, 4, Base{2, 6}, Base{3, 5}), counts{accepted: 1, expected: 2, pending: 2}},
		{"a store that can't be asked", []int{0}, func(l *Ledger) { l.OnAccepted(0, 0, 1, 7) },
			nil, counts{accepted: 1, expected: 2, lost: 2}},
		{"redelivered, not shown twice", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			got(l, 0, 1, 1, 1)
			l.OnArrival(Delivery{Recipient: 1, Epoch: 1, Seq: 1})
			got(l, 0, 2, 1, 1)
		}, store(1, 1, 1, 1), counts{accepted: 1, expected: 2, arrived: 2, redelivered: 1}},
		{"stored twice, shown twice", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			got(l, 0, 1, 1, 1)
			got(l, 0, 1, 1, 2)
			got(l, 0, 2, 1, 1)
		}, store(1, 1, 2, 2), counts{accepted: 1, expected: 2, arrived: 2, redelivered: 1, twice: 1}},
		{"out of order, judged within an epoch", []int{0, 0, 0}, func(l *Ledger) {
			for k := range 3 {
				l.OnAccepted(0, k, 1, uint64(k+1))
			}
			for _, k := range []int{0, 2, 1} {
				got(l, k, 1, 1, uint64(k+1))
			}
			for k := range 3 {
				got(l, k, 2, 1, uint64(k+1))
			}
		}, store(1, 1, 3, 3), counts{accepted: 3, expected: 6, arrived: 6, disorder: 1}},
		{"a later epoch gives lost seqs to others", []int{0, 0, 0, 0}, func(l *Ledger) {
			for k := range 2 {
				l.OnAccepted(0, k, 1, uint64(k+1))
				l.OnAccepted(0, k+2, 2, uint64(k+1)) // the store came up empty
			}
			for u := 1; u <= 2; u++ {
				for k := range 4 {
					got(l, k, u, uint64(k/2+1), uint64(k%2+1))
				}
			}
		}, store(2, 1, 2, 2, Base{2, 0}), counts{accepted: 4, expected: 8, arrived: 8}},
		{"what an earlier epoch stored comes before a later one's", []int{0, 0, 0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			l.OnAccepted(0, 1, 1, 2)
			l.OnAccepted(0, 2, 2, 3)
			got(l, 0, 1, 1, 1)
			got(l, 2, 1, 2, 3)
			got(l, 1, 1, 3, 2) // it survived, is shown last, and by then the epoch is 3
			got(l, 1, 2, 1, 2)
			got(l, 0, 2, 2, 1) // first of its epoch, yet stored before what was shown
			got(l, 2, 2, 2, 3)
		}, store(3, 1, 3, 3, Base{2, 2}, Base{3, 3}), counts{accepted: 3, expected: 6, arrived: 6, disorder: 2}},
		{"without an answer, a later epoch isn't judged", []int{0, 0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 2)
			l.OnUnknown(0, 1)
			got(l, 0, 1, 1, 2)
			got(l, 1, 1, 2, 1)
			got(l, 0, 2, 1, 2)
		}, store(2, 1, 2, 2, Base{2, 2}), counts{accepted: 1, unknown: 1, expected: 2, arrived: 2, arrivedUnknown: 1}},
		{"under another seq than its sender was told", []int{0, 0}, func(l *Ledger) {
			got(l, 1, 1, 1, 1) // before both answers
			got(l, 0, 1, 1, 2)
			l.OnAccepted(0, 0, 1, 1)
			got(l, 0, 2, 1, 1) // as told, and before the second answer
			got(l, 1, 2, 1, 2)
			l.OnAccepted(0, 1, 1, 2)
		}, store(1, 1, 2, 2), counts{accepted: 2, expected: 4, arrived: 4, mismatch: 2}},
		{"after the answer, and once a recipient", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			got(l, 0, 1, 1, 2)
			l.OnArrival(Delivery{Recipient: 1, Epoch: 1, Seq: 3})
			got(l, 0, 2, 2, 5) // another epoch contradicts nothing
		}, store(1, 1, 5, 5), counts{accepted: 1, expected: 2, arrived: 2, redelivered: 1, mismatch: 1}},
		{"without an answer, what most recipients got counts", []int{3}, func(l *Ledger) {
			l.OnUnknown(0, 0)
			for u, seq := range []uint64{5, 6, 6} {
				got(l, 0, u, 1, seq)
			}
		}, store(1, 1, 6, 6), counts{unknown: 1, arrivedUnknown: 3, mismatch: 1}},
		{"arrived, lost with the tail, and nobody was told", []int{0, 0}, func(l *Ledger) {
			l.OnUnknown(0, 0)
			l.OnAccepted(0, 1, 1, 8)
			for k := range 2 {
				l.OnArrival(Delivery{Ordinal: k, Recipient: 1, Epoch: 1, Seq: uint64(k + 7)})
			}
			got(l, 1, 2, 1, 8)
		}, store(2, 1, 6, 6, Base{2, 6}), counts{accepted: 1, unknown: 1, expected: 2, arrived: 2, arrivedUnknown: 1, notShown: 1}},
		{"arrived, never shown", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			got(l, 0, 1, 1, 1)
			l.OnArrival(Delivery{Recipient: 2, Epoch: 1, Seq: 1})
		}, store(1, 1, 1, 1), counts{accepted: 1, expected: 2, arrived: 2, notShown: 1}},
		{"arrived behind a gap that is still to be pulled", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 2)
			got(l, 0, 1, 1, 2)
			l.OnArrival(Delivery{Recipient: 2, Epoch: 1, Seq: 2})
		}, store(1, 1, 2, 0), counts{accepted: 1, expected: 2, arrived: 2}},
		{"unknown may arrive or not", []int{0, 0}, func(l *Ledger) {
			l.OnUnknown(0, 0)
			l.OnUnknown(0, 1)
			got(l, 0, 1, 1, 1)
		}, store(1, 1, 1, 1), counts{unknown: 2, arrivedUnknown: 1}},
		{"refused but there", []int{0}, func(l *Ledger) {
			l.OnRefused(0, 0)
			got(l, 0, 1, 1, 1)
		}, store(1, 1, 1, 1), counts{refusedArrived: 1}},
		{"an answer stands", []int{0}, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 1)
			l.OnUnknown(0, 0)
		}, store(1, 1, 1, 0), counts{accepted: 1, expected: 2, pending: 2}},
		{"foreign", []int{0}, func(l *Ledger) {
			l.OnUnknown(0, 0)
			got(l, 5, 1, 1, 1)                                    // no such message: arrival and showing
			l.OnArrival(Delivery{Conversation: 3, Recipient: 1})  // no such conversation
			l.OnArrival(Delivery{Recipient: 9})                   // not a member
			l.OnArrival(Delivery{Recipient: 0, Epoch: 1, Seq: 1}) // its own
			l.OnForeign(1, 1, 9, "someone-else")                  // not of this run
			l.OnAccepted(0, 7, 1, 1)                              // a send that was never scheduled
		}, store(1, 1, 1, 1), counts{unknown: 1, foreign: 7}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := trio(t, tt.senders...)
			for k := range tt.senders {
				l.OnSend(0, k)
			}
			tt.play(l)
			r := l.Audit(tt.view)
			if err := r.Balance(); err != nil {
				t.Error(err)
			}
			have := counts{r.Accepted, r.Expected, r.Arrived, r.Pending, r.Lost, r.AckedNotReceived, r.NotShown, r.Unknown,
				r.ArrivedUnknown, r.RefusedArrived, r.Redelivered, r.ShownTwice, r.OutOfOrder, r.SeqMismatch, r.Foreign}
			if have != tt.want {
				t.Errorf("\n got %+v\nwant %+v\nexamples %+v", have, tt.want, r.Examples)
			}
		})
	}
}

func TestExamplesAreTheFirstOfEachKind(t *testing.T) {
	l := trio(t, make([]int, 20)...)
	for k := range 20 {
		l.OnAccepted(0, k, 1, uint64(k+1))
	}
	r := l.Audit(store(1, 21, 20, 0))
	if r.Lost != 40 || len(r.Examples) != 5 {
		t.Fatalf("%d lost with %d examples, want 40 with 5", r.Lost, len(r.Examples))
	}
	want := Example{Kind: Lost, Ordinal: 0, Recipient: 1, Epoch: 1, Seq: 1, Detail: "it was trimmed: the log begins at 21"}
	if r.Examples[0] != want {
		t.Errorf("first example %+v, want %+v", r.Examples[0], want)
	}
}

func TestUnsentAndInFlight(t *testing.T) {
	l := trio(t, 0, 0, 0)
	l.OnSend(0, 1)
	r := l.Audit(nil)
	if r.Scheduled != 3 || r.Unsent != 2 || r.Sends != 1 || r.InFlight != 1 || r.Balance() != nil {
		t.Errorf("%+v, want 2 unsent, 1 in flight", r)
	}
}
