package ledger

import (
	"slices"
	"sync"
	"testing"
	"time"
)

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
