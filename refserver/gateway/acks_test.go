package gateway

import (
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// Acks are handled where the reader holds the socket's read lock; these are
// the ways out of there.

func ack(upTo uint64) *wire.Frame {
	return &wire.Frame{Ack: &wire.Ack{Ref: upTo, Conversation: "g:g1", Epoch: fakeEpoch, UpTo: upTo}}
}

func TestAcksAndOtherFramesKeepTheirOrder(t *testing.T) {
	h := start(t, nil)
	p := h.dial("alice", wire.SubprotocolBinary)
	p.hello()
	var joined []byte
	for _, f := range []*wire.Frame{ack(1), ack(2), {Send: &wire.Send{Ref: 9, To: "g:g1", ClientMsgId: "m"}}, ack(3), ack(ackAnswered)} {
		b, err := wire.AppendFrame(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		joined = append(joined, wire.AppendMasked(nil, ws.OpBinary, b, 7)...)
	}
	for _, b := range joined { // in the smallest pieces
		if _, err := p.sock.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if f := p.next(); f.SendResult == nil || f.SendResult.Ref != 9 {
		t.Errorf("got %v, want the result of the send", f)
	}
	if f := p.next(); f.AckResult == nil || f.AckResult.Ref != ackAnswered {
		t.Errorf("got %v, want the answer to the last ack", f)
	}
	h.svc.mu.Lock()
	defer h.svc.mu.Unlock()
	if got := h.svc.acks; len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("acks %v, want 1 2 3", got)
	}
}

// A connection may be ended by its own reader, or while the reader waits.
func TestAbortUnderTheReadLock(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(h *harness, p *peer)
	}{
		{"by the reader", func(_ *harness, p *peer) { p.send(ack(ackAborts)) }},
		{"while it waits", func(h *harness, _ *peer) { h.hub.Online("alice").Abort() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, nil)
			p := h.dial("alice", wire.SubprotocolBinary)
			p.hello()
			p.send(ack(ackAnswered)) // from here on the reader is where acks are handled
			p.next()
			_ = p.sock.SetReadDeadline(time.Now().Add(5 * time.Second))
			c.end(h, p)
			p.wantEnd()
		})
	}
}

func TestPanicAtAnAckEndsOneConnection(t *testing.T) {
	h := start(t, nil)
	p, other := h.dial("alice", wire.SubprotocolBinary), h.dial("bob", wire.SubprotocolBinary)
	p.hello()
	other.hello()
	p.send(ack(ackPanics))
	if f := p.next(); f.Error == nil || f.Error.Code != string(wire.CodeInternal) {
		t.Errorf("got %v, want an internal error", f)
	}
	p.wantClose(ws.StatusInternalServerError, "")
	other.send(ack(ackAnswered))
	if f := other.next(); f.AckResult == nil {
		t.Errorf("got %v, want an answer", f)
	}
}

func TestHangUpIsNoticedAfterAcks(t *testing.T) {
	h := start(t, nil)
	p := h.dial("alice", wire.SubprotocolBinary)
	p.hello()
	p.send(ack(ackAnswered))
	p.next()
	p.sock.Close()
	deadline := time.Now().Add(5 * time.Second)
	for h.hub.Connections() > 0 {
		if time.Now().After(deadline) {
			t.Fatal("the connection is still there")
		}
	}
}
