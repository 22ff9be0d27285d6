package delivery

import (
	"context"
	"testing"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// The way of an ack allocates nothing: neither for those whose cursor moves
// nor for those that come twice.
func TestAckAllocatesNothing(t *testing.T) {
	const messages = 200
	r := newRig(t, Config{AckFlush: time.Hour}, push.Config{})
	mustAdd(t, r, "a-group-with-a-name-longer-than-a-small-string", "a", "b")
	a, b := r.connect(t, "a"), r.connect(t, "b")
	const group = "g:a-group-with-a-name-longer-than-a-small-string"
	a.welcome(group)
	b.welcome(group)
	for i := range messages {
		a.send(group, string(rune('A'+i%26))+string(rune('a'+i/26)))
		a.result(uint64(i + 1))
		b.deliver(uint64(i + 1))
	}
	v := wire.View{Kind: wire.FrameAck}
	for _, c := range []struct {
		name string
		step uint64
	}{{"moves", 1}, {"again", 0}} {
		if got := testing.AllocsPerRun(messages/2-2, func() {
			v.Ack.UpTo += c.step
			payload := append(v.Ack.Conversation[:0], group...)
			v.Ack = wire.AckView{Conversation: payload, Epoch: 1, UpTo: v.Ack.UpTo}
			if err := b.session.Handle(context.Background(), &v); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%s: %.2f allocations per ack, want 0", c.name, got)
		}
	}
	if s := r.Stats(); s.AckRequests == 0 || s.AcksIgnored == 0 {
		t.Errorf("stats %+v", s)
	}
}
