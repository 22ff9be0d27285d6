package ledger

import "testing"

// rows is a view of a store that keeps a row per message and recipient:
// which seqs wait for a user; every other one was acked where acks is set, else
// there is just no row.
func rows(epoch uint64, acks bool, waiting map[int][]uint64, bases ...Base) StoreView {
	return func(int) (Stored, bool) {
		return Stored{Epoch: epoch, Bases: bases, Row: func(user int, seq uint64) Row {
			for _, s := range waiting[user] {
				if s == seq {
					return Waiting
				}
			}
			if acks {
				return Acked
			}
			return NoRow
		}}, true
	}
}

// drop is a delivery that a crash takes before it is shown.
func drop(l *Ledger, k, to int, epoch, seq uint64) {
	d := Delivery{Ordinal: k, Recipient: to, Epoch: epoch, Seq: seq}
	l.OnArrival(d)
	l.OnDropped(d)
}

// TestRungsByHand: one group of three, user 0 sends; every message makes two
// deliveries.
func TestRungsByHand(t *testing.T) {
	type counts struct {
		expected, arrived, pending, lost, acked, dropped, lostDropped, lostTail, cut, notShown, twiceStored int
		redelivered, twice, disorder, mismatch                                                              uint64
	}
	stored := func(l *Ledger, n int) {
		for k := range n {
			l.OnAccepted(0, k, 1, uint64(k+1))
		}
	}
	for _, tt := range []struct {
		name     string
		messages int
		repeats  bool
		play     func(l *Ledger)
		view     StoreView
		want     counts
	}{
		{"rows that wait, one with holes", 3, false, func(l *Ledger) {
			stored(l, 3)
			got(l, 1, 1, 1, 2) // acked by id: 1 and 3 still wait
		}, rows(1, false, map[int][]uint64{1: {1, 3}, 2: {1, 2, 3}}), counts{expected: 6, arrived: 1, pending: 5}},
		{"no row, never arrived: a fan-out that stopped half-way", 2, false, func(l *Ledger) {
			stored(l, 2)
			got(l, 0, 1, 1, 1)
		}, rows(1, false, map[int][]uint64{1: {2}, 2: {2}}), counts{expected: 4, arrived: 1, pending: 2, lost: 1}},
		{"a row that an ack took before it arrived", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
		}, rows(1, true, nil), counts{expected: 2, arrived: 1, lost: 1, acked: 1}},
		{"removed on pull, and the page went down with the client", 3, false, func(l *Ledger) {
			stored(l, 3)
			for k := range 3 {
				got(l, k, 1, 1, uint64(k+1))
			}
			got(l, 0, 2, 1, 1)
			drop(l, 1, 2, 1, 2)
			drop(l, 2, 2, 1, 3)
		}, rows(1, false, nil), counts{expected: 6, arrived: 4, lost: 2, dropped: 2, lostDropped: 2}},
		{"removed on ack: what a crash took comes again", 2, false, func(l *Ledger) {
			stored(l, 2)
			got(l, 0, 1, 1, 1)
			got(l, 1, 1, 1, 2)
			drop(l, 0, 2, 1, 1)
			drop(l, 1, 2, 1, 2)
			got(l, 0, 2, 1, 1)
			got(l, 1, 2, 1, 2)
		}, rows(1, true, nil), counts{expected: 4, arrived: 4, dropped: 2, redelivered: 2}},
		{"removed on ack, crashed and not back yet: it waits", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			drop(l, 0, 2, 1, 1)
		}, rows(1, false, map[int][]uint64{2: {1}}), counts{expected: 2, arrived: 1, pending: 1, dropped: 1}},
		{"removed on ack, acked and then lost in a crash: the client lied", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			drop(l, 0, 2, 1, 1)
		}, store(1, 1, 1, 1), counts{expected: 2, arrived: 1, lost: 1, acked: 1, dropped: 1, lostDropped: 1}},
		{"a redelivery went down: its user has it", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			got(l, 0, 2, 1, 1)
			drop(l, 0, 2, 1, 1)
		}, rows(1, false, nil), counts{expected: 2, arrived: 2, redelivered: 1}},
		{"dropped without having been told as an arrival", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			l.OnDropped(Delivery{Recipient: 2, Epoch: 1, Seq: 1})
			l.OnDropped(Delivery{Recipient: 0, Epoch: 1, Seq: 1}) // its own: nothing
		}, rows(1, false, nil), counts{expected: 2, arrived: 1, lost: 1, dropped: 1, lostDropped: 1}},
		{"dropped without having been told as an arrival, then delivered again", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			l.OnDropped(Delivery{Recipient: 2, Epoch: 1, Seq: 1})
			got(l, 0, 2, 1, 1)
		}, rows(1, false, nil), counts{expected: 2, arrived: 2, dropped: 1, redelivered: 1}},
		{"crashed, received again and still not shown", 1, false, func(l *Ledger) {
			stored(l, 1)
			got(l, 0, 1, 1, 1)
			drop(l, 0, 2, 1, 1)
			drop(l, 0, 2, 1, 1)
		}, rows(1, false, map[int][]uint64{2: {1}}), counts{expected: 2, arrived: 1, pending: 1, dropped: 1, redelivered: 1}},
		{"the tail is cut: what nobody had is lost, what was delivered isn't", 4, false, func(l *Ledger) {
			stored(l, 3)
			got(l, 1, 1, 1, 2) // user 1 was online
			got(l, 2, 1, 1, 3)
			l.OnAccepted(0, 3, 2, 2) // sent afterwards, under a seq of the cut
			got(l, 3, 1, 2, 2)
			got(l, 3, 2, 2, 2)
		}, rows(2, false, map[int][]uint64{1: {1}, 2: {1}}, Base{2, 1}),
			counts{expected: 8, arrived: 4, pending: 2, lost: 2, lostTail: 2, cut: 2}},
		{"cut twice", 3, false, func(l *Ledger) {
			stored(l, 2)             // 1 and 2; 2 is cut
			l.OnAccepted(0, 2, 2, 2) // then this one is cut as well
		}, store(3, 1, 1, 0, Base{2, 1}, Base{3, 1}), counts{expected: 6, pending: 2, lost: 4, lostTail: 4, cut: 2}},
		{"newest first isn't judged for order, live still is", 6, false, func(l *Ledger) {
			stored(l, 6)
			for _, k := range []int{2, 3, 0, 1} { // two pages, the newest first
				d := Delivery{Ordinal: k, Recipient: 1, Epoch: 1, Seq: uint64(k + 1), Placed: true}
				l.OnArrival(d)
				l.OnShown(d)
				d.Recipient = 2
				l.OnTaken(d)
			}
			for _, u := range []int{1, 2} {
				got(l, 5, u, 1, 6)
				got(l, 4, u, 1, 5) // live, and late
			}
		}, rows(1, false, nil), counts{expected: 12, arrived: 12, disorder: 2}},
		{"an old page doesn't make what is live late", 3, false, func(l *Ledger) {
			stored(l, 3)
			got(l, 2, 1, 1, 3)
			for k := range 2 {
				d := Delivery{Ordinal: k, Recipient: 1, Epoch: 1, Seq: uint64(k + 1), Placed: true}
				l.OnTaken(d)
			}
		}, rows(1, false, map[int][]uint64{2: {1, 2, 3}}), counts{expected: 6, arrived: 3, pending: 3}},
		{"idempotent sends off: each attempt is a message of its own", 3, true, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 2) // the first attempt, 1, was never answered
			got(l, 0, 1, 1, 1)
			got(l, 0, 1, 1, 2)
			got(l, 0, 2, 1, 1)
			l.OnArrival(Delivery{Recipient: 2, Epoch: 1, Seq: 2})
			got(l, 1, 1, 1, 3) // two attempts, both before the answer
			got(l, 1, 2, 1, 4)
			l.OnAccepted(0, 1, 1, 4)
			l.OnAccepted(0, 2, 1, 5)
			got(l, 2, 1, 1, 5)
			got(l, 2, 2, 1, 5)
		}, rows(1, false, nil), counts{expected: 6, arrived: 6, redelivered: 2, twice: 1, twiceStored: 2}},
		{"the same with idempotent sends: seqs contradict", 2, false, func(l *Ledger) {
			l.OnAccepted(0, 0, 1, 2)
			got(l, 0, 1, 1, 1)
			got(l, 0, 2, 1, 1)
			got(l, 1, 1, 1, 3)
			got(l, 1, 2, 1, 4)
			l.OnAccepted(0, 1, 1, 4)
		}, rows(1, false, nil), counts{expected: 4, arrived: 4, mismatch: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := New(Config{
				Conversations: []Conversation{{Name: "g:a", Recipients: []int{0, 1, 2}, Senders: make([]int, tt.messages)}},
				Repeats:       tt.repeats,
			})
			if err != nil {
				t.Fatal(err)
			}
			for k := range tt.messages {
				l.OnSend(0, k)
			}
			tt.play(l)
			r := l.Audit(tt.view)
			if err := r.Balance(); err != nil {
				t.Error(err)
			}
			have := counts{r.Expected, r.Arrived, r.Pending, r.Lost, r.AckedNotReceived, r.Dropped, r.LostDropped, r.LostWithTail, r.CutAccepted,
				r.NotShown, r.StoredAgain, r.Redelivered, r.ShownTwice, r.OutOfOrder, r.SeqMismatch}
			if have != tt.want {
				t.Errorf("\n got %+v\nwant %+v\nexamples %+v", have, tt.want, r.Examples)
			}
		})
	}
}

// TestTaken: what a crash took is neither outstanding nor done.
func TestTaken(t *testing.T) {
	l := trio(t, 0, 0)
	l.OnAccepted(0, 0, 1, 1)
	l.OnAccepted(0, 1, 1, 2)
	want := func(outstanding, taken int) {
		t.Helper()
		if o, n := l.Outstanding(), l.Taken(); o != outstanding || n != taken {
			t.Errorf("%d outstanding, %d taken; want %d, %d", o, n, outstanding, taken)
		}
	}
	want(4, 0)
	got(l, 0, 1, 1, 1)
	got(l, 1, 1, 1, 2)
	want(2, 0)
	drop(l, 0, 2, 1, 1)
	l.OnDropped(Delivery{Ordinal: 1, Recipient: 2, Epoch: 1, Seq: 2}) // not told as an arrival
	want(0, 2)
	got(l, 0, 2, 1, 1)
	want(0, 1)
	got(l, 1, 2, 1, 2)
	want(0, 0)
}
