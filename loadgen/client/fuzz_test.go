package client

import (
	"fmt"
	"testing"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
	"ackmark/refserver/wire"
)

// watcher holds the device to its promises whatever a server sends: nothing is
// shown under the same epoch and seq twice, and order is kept within an epoch,
// but for what is placed.
type watcher struct {
	Ignore
	t     *testing.T
	last  map[string]Arrival
	shown map[string]bool
}

func (w *watcher) OnShown(_ int, a Arrival) {
	key := fmt.Sprintf("%s %d/%d", a.Conversation, a.Epoch, a.Seq)
	if w.shown[key] {
		w.t.Errorf("%s shown twice", key)
	}
	w.shown[key] = true
	if a.Placed {
		return
	}
	if l, ok := w.last[a.Conversation]; ok && a.Epoch == l.Epoch && a.Seq <= l.Seq {
		w.t.Errorf("%d/%d shown after %d/%d", a.Epoch, a.Seq, l.Epoch, l.Seq)
	}
	w.last[a.Conversation] = a
}

// ways to pull, of which the first byte of a fuzzed input chooses one.
var ways = []Pulling{
	{}, {Order: Newest}, {Mode: PullPerFriend}, {Mode: PullCountsFirst, Open: 1}, {Groups: AllGroups},
	{Groups: OnDemand, Open: 1}, {Groups: OnDemand, Open: 1, Order: Newest}, {Mode: PullPerFriend, Groups: AllGroups},
}

// FuzzFrames throws frames at a device: after the first byte each chunk of the
// input, whose length stands before it, is one.
func FuzzFrames(f *testing.F) {
	var seed []byte
	waiting := func(ref, epoch uint64) *wire.Page {
		return &wire.Page{
			Ref: ref, Conversation: inbox, Epoch: epoch, After: 1, UpTo: 5, Head: 6, More: true, Sender: "bob",
			Messages: []*wire.Deliver{message(2, "m2"), message(5, "m5")},
		}
	}
	for _, fr := range []*wire.Frame{
		live(1, 2), live(1, 1), live(2, 1), live(1, 4),
		page(&wire.Frame{PageRequest: &wire.PageRequest{Ref: 1}}, 2, 0, 2, 5),
		{Friends: &wire.Friends{Ref: 1, Friends: []string{"bob", "cat"}}},
		{Counts: &wire.Counts{Ref: 1, Counts: []*wire.Count{{Conversation: inbox, Sender: "bob", Unread: 2}}}},
		{Page: waiting(1, 1)}, {Page: waiting(2, 1)}, {Page: waiting(3, 2)},
		{Sync: &wire.Sync{Ref: 1, More: true, Pages: []*wire.Page{{Conversation: room, Epoch: 1, UpTo: 3, Messages: []*wire.Deliver{message(3, "m3")}}}}},
		{Conversation: &wire.Conversation{Ref: 1, Conversation: "g:b", Epoch: 1, Head: 3}},
		{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: 9}},
		{SendResult: &wire.SendResult{Ref: 1, Conversation: room, Epoch: 1, Seq: 7}},
		{Error: &wire.Error{Ref: 1, Code: "overloaded", Retryable: true}},
	} {
		b, err := wire.AppendFrame(nil, fr)
		if err != nil {
			f.Fatal(err)
		}
		seed = append(append(seed, byte(len(b))), b...)
		for way := range ways {
			f.Add(append([]byte{byte(way), byte(len(b))}, b...))
		}
	}
	for way := range ways {
		f.Add(append([]byte{byte(way)}, seed...))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		w := &WebSocket{Clock: func() time.Duration { return time.Hour }}
		fleet, err := NewFleet(Config{
			Driver: w, Clock: w.Clock, Observer: &watcher{t: t, last: map[string]Arrival{}, shown: map[string]bool{}},
			Ack: ackpolicy.Policy{Kind: ackpolicy.Each}, Hold: 4, Dedup: dedup.Config{Recent: 4},
			Pull: ways[int(in[0])%len(ways)],
		})
		if err != nil {
			t.Fatal(err)
		}
		d := fleet.Device(Identity{})
		s := w.session(&stream{}, new(counter), link{d})
		d.sess = s
		link{d}.OnWelcome(0, &Welcome{Conversations: []Standing{
			{Conversation: room, Epoch: 1, Head: 3}, {Conversation: inbox, Epoch: 1, Cursor: 1, Head: 5},
			{Conversation: "g:b", Epoch: 1, Head: 2, CountOnly: fleet.cfg.Pull.Groups == OnDemand},
		}})
		defer d.shutForTest()
		for in = in[1:]; len(in) > 0; {
			n := min(int(in[0]), len(in)-1)
			if err := s.dispatch(in[1 : 1+n]); err != nil {
				return
			}
			in = in[1+n:]
		}
	})
}

func (d *Device) shutForTest() {
	d.mu.Lock()
	d.closing = true
	d.stopTimer()
	d.mu.Unlock()
	d.timed.Wait()
}
