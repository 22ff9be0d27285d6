package delivery

import (
	"fmt"
	"slices"
	"testing"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

var forOffline = Config{StoreFor: StoreForOffline, Remove: RemoveOnPull}

// sent sends one direct message to bob over HTTP.
func (r *rig) sent(t testing.TB, sender, id string) *wire.SendResult {
	t.Helper()
	got, err := r.Send(t.Context(), sender, &wire.Send{To: "u:bob", ClientMsgId: id, Body: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Who is live is pushed to and leaves no row, who is offline is stored for, and
// the sender is told which; the seqs are contiguous all the same.
func TestStoredForWhoIsOffline(t *testing.T) {
	for _, remove := range []Remove{RemoveOnPull, RemoveOnAck} {
		t.Run(string(remove), func(t *testing.T) {
			r := newRig(t, Config{StoreFor: StoreForOffline, Remove: remove}, push.Config{Window: 2})
			for i := range 3 {
				if got := r.sent(t, "ann", fmt.Sprint("off", i)); got.Seq != uint64(i+1) || !got.Offline {
					t.Fatalf("%v, want stored for an offline receiver", got)
				}
			}
			d := r.connect(t, "bob")
			if c := d.welcome("u:bob"); c.State != "behind" || c.Cursor != 0 || c.Head != 3 {
				t.Fatalf("welcome %v", c)
			}
			if got := r.sent(t, "ann", "behind"); got.Seq != 4 || !got.Offline {
				t.Fatalf("%v: who is behind is stored for", got)
			}
			if got := pageSeqs(d.pull("u:bob", 1, 0, 100)); !slices.Equal(got, upTo(4)) {
				t.Fatalf("page %v", got)
			}
			if remove == RemoveOnAck {
				d.handle(&wire.Frame{Ack: &wire.Ack{Ref: 1, Conversation: "u:bob", Epoch: 1, UpTo: 4}})
				d.next()
			}
			for seq := uint64(5); seq < 15; seq++ { // past the window: nothing is in flight
				if got := r.sent(t, "ann", fmt.Sprint("live", seq)); got.Seq != seq || got.Offline {
					t.Fatalf("%v, want seq %d, pushed", got, seq)
				}
				d.deliver(seq)
			}
			if again := r.sent(t, "ann", "live7"); again.Seq != 7 || !again.Duplicate || again.Offline {
				t.Errorf("resend of a pushed message: %v", again)
			}
			if rows := r.inboxRows(); rows != nil {
				t.Errorf("stored %v, want nothing", rows)
			}
			d.end()
			d = r.connect(t, "bob")
			if c := d.welcome("u:bob"); c.State != "live" || c.Cursor != 14 || c.Head != 14 || c.First != 15 {
				t.Errorf("welcome %v: nothing is stored, so nothing is behind", c)
			}
			d.end()
			if got := r.sent(t, "ann", "last"); got.Seq != 15 || !got.Offline {
				t.Errorf("%v", got)
			}
			d = r.connect(t, "bob")
			if c := d.welcome("u:bob"); c.State != "behind" || c.Cursor != 14 {
				t.Errorf("welcome %v, want one message behind", c)
			}
		})
	}
}

// Over WebSocket the answer says the same.
func TestSenderLearnsWhetherTheReceiverIsOffline(t *testing.T) {
	for _, cfg := range []Config{{}, forOffline} {
		r := newRig(t, cfg, push.Config{})
		ann := r.connect(t, "ann")
		ann.welcome("u:ann")
		ann.send("u:bob", "m1")
		if got := ann.result(1); !got.Offline {
			t.Errorf("%+v: %v", cfg, got)
		}
		bob := r.connect(t, "bob")
		bob.welcome("u:bob")
		bob.pull("u:bob", 1, 0, 9)
		ann.send("u:bob", "m2")
		if got := ann.result(2); got.Offline {
			t.Errorf("%+v: %v", cfg, got)
		}
		bob.deliver(2)
	}
}

// Messages that are stored or pushed between login, backlog and live arrive in
// order, each shown once by a client that dedups by seq (skycoin/skywire#2630),
// in each combination of store_for and remove.
func TestNothingFallsBetweenBacklogAndLiveOfAnInbox(t *testing.T) {
	for _, cfg := range []Config{{}, {Remove: RemoveOnPull}, forOffline, {StoreFor: StoreForOffline}} {
		t.Run(fmt.Sprint(cfg.StoreFor, " ", cfg.Remove), func(t *testing.T) {
			r := newRig(t, cfg, push.Config{})
			const backlog, live = 100, 300
			direct(t, r, backlog, "ann")
			done := make(chan error, 1)
			go func() {
				var err error
				for i := 0; i < live && err == nil; i++ {
					_, err = r.Send(t.Context(), "zoe", &wire.Send{To: "u:bob", ClientMsgId: fmt.Sprint("l", i)})
				}
				done <- err
			}()
			b := r.connect(t, "bob")
			at, shown := b.welcome("u:bob").Cursor, 0
			ask := func() {
				b.handle(&wire.Frame{PageRequest: &wire.PageRequest{Conversation: "u:bob", Epoch: 1, After: at, Limit: 7}})
			}
			ask()
			for shown < backlog+live {
				switch f := b.next(); {
				case f.Page != nil:
					for _, m := range f.Page.Messages {
						if m.Seq <= at {
							t.Fatalf("page brings %d after %d", m.Seq, at)
						}
						at = m.Seq
						shown++
					}
					if at = max(at, f.Page.UpTo); f.Page.More {
						ask()
					}
				case f.Deliver != nil:
					switch {
					case f.Deliver.Seq > at+1:
						t.Fatalf("got %d after %d", f.Deliver.Seq, at)
					case f.Deliver.Seq == at+1:
						at++
						shown++
					}
					b.ack("u:bob", 1, at)
				case f.PullNow != nil:
					ask()
				}
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if shown != backlog+live || at != backlog+live {
				t.Errorf("%d shown, up to %d", shown, at)
			}
		})
	}
}
