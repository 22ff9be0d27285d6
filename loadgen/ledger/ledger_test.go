package ledger

import (
	"slices"
	"sync"
	"testing"
	"time"
)

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
		redelivered, twice, disorder, foreign                                                                uint64
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
			got(l, 2, 2, 1, 3)
			got(l, 0, 2, 2, 1) // a new epoch begins anew
			got(l, 1, 2, 2, 2)
		}, store(1, 1, 3, 3), counts{accepted: 3, expected: 6, arrived: 6, disorder: 1}},
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
				r.ArrivedUnknown, r.RefusedArrived, r.Redelivered, r.ShownTwice, r.OutOfOrder, r.Foreign}
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

func TestOutstanding(t *testing.T) {
	l, err := New(Config{
		Conversations: []Conversation{{Name: "g:a", Recipients: []int{0, 1, 2}, Senders: []int{0, 1, 0}}},
		Online:        func(u int) bool { return u != 2 },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := func(n int) {
		t.Helper()
		if have := l.Outstanding(); have != n {
			t.Errorf("%d outstanding, want %d", have, n)
		}
	}
	want(0)
	l.OnAccepted(0, 0, 1, 1) // → 1 (2 is offline)
	l.OnAccepted(0, 1, 1, 2) // → 0
	l.OnUnknown(0, 2)
	want(2)
	got(l, 2, 1, 1, 3) // of unknown fate; makes a gap at 0
	want(2)
	got(l, 0, 1, 1, 1)
	got(l, 1, 0, 1, 2)
	want(0)
}

func TestFanout(t *testing.T) {
	senders := []int{0, 9, 0}
	l, err := New(Config{
		Conversations: []Conversation{{Name: "g:a", Recipients: []int{0, 1, 2, 3, 4}, Senders: senders}},
		Online:        func(u int) bool { return u != 4 },
	})
	if err != nil {
		t.Fatal(err)
	}
	arrive := func(k, to int, at time.Duration) { l.OnArrival(Delivery{Ordinal: k, Recipient: to, At: at}) }
	arrive(0, 1, 20)
	arrive(0, 2, 10) // reported late: still the first
	arrive(0, 1, 99) // redelivered: not counted
	arrive(0, 4, 77) // offline, pulled later: not counted
	arrive(0, 3, 30)
	arrive(1, 0, 0) // the sender isn't a member: four recipients
	arrive(1, 1, 6)
	arrive(1, 2, 7)
	have := slices.Collect(l.Fanouts)
	want := []Fanout{
		{Conversation: 0, Ordinal: 0, Recipients: 3, Reached: 3, First: 10, Median: 10, Last: 30},
		{Conversation: 0, Ordinal: 1, Recipients: 4, Reached: 3, First: 0, Median: 6},
	}
	if !slices.Equal(have, want) {
		t.Errorf("\n got %+v\nwant %+v", have, want)
	}
	if !have[0].Complete() || have[1].Complete() {
		t.Errorf("complete: %v %v, want true false", have[0].Complete(), have[1].Complete())
	}
	for range l.Fanouts { // stopping early is allowed
		break
	}
}

func TestRecipientNamedTwice(t *testing.T) {
	if _, err := New(Config{Conversations: []Conversation{{Name: "g:a", Recipients: []int{1, 1}}}}); err == nil {
		t.Error("no error")
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	senders := make([]int, 10_000)
	for k := range senders {
		senders[k] = k % 3
	}
	l := trio(t, senders...)
	k := 0
	if n := testing.AllocsPerRun(5000, func() {
		for to := range 3 {
			if senders[k] != to {
				got(l, k, to, 1, uint64(k+1))
			}
		}
		k++
	}); n != 0 {
		t.Errorf("%v allocations per message in order", n)
	}
	for p := range l.rooms[0].tracks {
		tr := &l.rooms[0].tracks[p]
		if len(tr.arrived.gaps) != 0 || len(tr.shown.gaps) != 0 {
			t.Errorf("recipient %d keeps gaps %v %v in order", p, tr.arrived.gaps, tr.shown.gaps)
		}
	}
}

func TestConcurrentDevices(t *testing.T) {
	const users, n = 16, 300
	c := Conversation{Name: "g:a", Senders: make([]int, n)}
	for u := range users {
		c.Recipients = append(c.Recipients, u)
	}
	for k := range n {
		c.Senders[k] = k % users
	}
	l, err := New(Config{Conversations: []Conversation{c}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() {
			for k := range n {
				if c.Senders[k] == u {
					l.OnSend(0, k)
					l.OnAccepted(0, k, 1, uint64(k+1))
				} else {
					got(l, k, u, 1, uint64(k+1))
				}
			}
		})
	}
	wg.Wait()
	r := l.Audit(store(1, 1, n, n))
	if r.Arrived != n*(users-1) || r.Lost+r.Pending != 0 || l.Outstanding() != 0 {
		t.Errorf("%+v, want %d arrived", r, n*(users-1))
	}
	for f := range l.Fanouts {
		if !f.Complete() {
			t.Errorf("%+v isn't complete", f)
		}
	}
}

func BenchmarkOnArrivalInOrder(b *testing.B) {
	c := Conversation{Name: "g:a", Senders: make([]int, 1<<20)}
	for u := range 500 {
		c.Recipients = append(c.Recipients, u)
	}
	l, err := New(Config{Conversations: []Conversation{c}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		u, k := 1+i%499, i/499%(1<<20)
		l.OnArrival(Delivery{Ordinal: k, Recipient: u, Epoch: 1, Seq: uint64(k + 1), At: time.Duration(i)})
		l.OnShown(Delivery{Ordinal: k, Recipient: u, Epoch: 1, Seq: uint64(k + 1)})
	}
}
