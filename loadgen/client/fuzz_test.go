package client

import (
	"testing"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

// watcher holds the device to its promises whatever a server sends: nothing is
// shown under the same epoch and seq twice, and order is kept within an epoch.
type watcher struct {
	Ignore
	t    *testing.T
	last map[string]Arrival
}

func (w *watcher) OnShown(_ int, a Arrival) {
	if l, ok := w.last[a.Conversation]; ok && a.Epoch == l.Epoch && a.Seq <= l.Seq {
		w.t.Errorf("%d/%d shown after %d/%d", a.Epoch, a.Seq, l.Epoch, l.Seq)
	}
	w.last[a.Conversation] = a
}

// FuzzFrames throws frames at a device: each chunk of the input, whose length
// stands before it, is one.
func FuzzFrames(f *testing.F) {
	var seed []byte
	for _, fr := range []*wire.Frame{
		live(1, 2), live(1, 1), live(2, 1), live(1, 4),
		page(&wire.Frame{PageRequest: &wire.PageRequest{Ref: 1}}, 2, 0, 2, 5),
		{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: 9}},
		{SendResult: &wire.SendResult{Ref: 1, Conversation: room, Epoch: 1, Seq: 7}},
		{Error: &wire.Error{Ref: 1, Code: "overloaded", Retryable: true}},
	} {
		b, err := wire.AppendFrame(nil, fr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append([]byte{byte(len(b))}, b...))
		seed = append(append(seed, byte(len(b))), b...)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, in []byte) {
		w := &WebSocket{Clock: func() time.Duration { return time.Hour }}
		fleet, err := NewFleet(Config{Driver: w, Clock: w.Clock, Observer: &watcher{t: t, last: map[string]Arrival{}},
			Ack: ackpolicy.Policy{Kind: ackpolicy.Each}, Hold: 4, Recent: 4})
		if err != nil {
			t.Fatal(err)
		}
		d := fleet.Device(Identity{})
		s := w.session(&stream{}, new(counter), link{d})
		d.sess = s
		link{d}.OnWelcome(0, &Welcome{Conversations: []Standing{{Conversation: room, Epoch: 1}}})
		defer d.shutForTest()
		for len(in) > 0 {
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
