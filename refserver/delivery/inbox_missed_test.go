package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// A receiver that goes while its message gets a seq is stored for, and the
// sender is answered only then: it arrives once, at the next login.
func TestReceiverGoesMeanwhile(t *testing.T) {
	r := newRig(t, forOffline, push.Config{})
	bob := r.connect(t, "bob")
	bob.welcome("u:bob")
	ann := r.connect(t, "ann")
	ann.welcome("u:ann")
	r.store.hold = true
	ann.send("u:bob", "m1")
	bob.end()
	r.store.release()
	if got := ann.result(2); !got.Offline || got.Duplicate {
		t.Errorf("%v, want stored under a seq of its own", got)
	}
	ann.send("u:bob", "m1")
	if got := ann.result(2); !got.Offline || !got.Duplicate {
		t.Errorf("resend: %v", got)
	}
	bob = r.connect(t, "bob")
	if c := bob.welcome("u:bob"); c.Cursor != 1 || c.Head != 2 || c.State != "behind" {
		t.Errorf("welcome %v", c)
	}
	if got := pageSeqs(bob.pull("u:bob", 1, 0, 9)); !slices.Equal(got, []uint64{2}) {
		t.Errorf("page %v", got)
	}
}

// A receiver that can't keep up is stored for, from the first message on that
// its queue doesn't take, and gets them in order.
func TestSlowReceiverIsStoredFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, forOffline, push.Config{QueueBytes: 8 << 10}) // about seven messages
		body := strings.Repeat("x", 1<<10)
		bob := r.login(t, "bob", &wire.Hello{})
		bob.welcome("u:bob")
		synctest.Wait()
		// All in one batch: each was to be pushed when it was sent.
		ann := r.connect(t, "ann")
		ann.welcome("u:ann")
		r.store.hold = true
		const n = 40
		for i := range n {
			ann.handle(&wire.Frame{Send: &wire.Send{Ref: 1, To: "u:bob", ClientMsgId: fmt.Sprint("m", i), Body: body}})
		}
		r.store.release()
		offline := 0
		for range n {
			f := ann.next()
			if f.SendResult == nil {
				t.Fatalf("got %v", f)
			}
			if f.SendResult.Offline {
				offline++
			}
		}
		got, pages := []string{}, 0
		for len(got) < n {
			f := bob.next()
			switch {
			case f.Deliver != nil:
				got = append(got, f.Deliver.ClientMsgId)
			case f.PullNow != nil:
				for after, more := uint64(0), true; more; pages++ {
					p := bob.pull("u:bob", 1, after, 10)
					for _, m := range p.Messages {
						got = append(got, m.ClientMsgId)
					}
					after, more = p.UpTo, p.More
				}
			default:
				t.Fatalf("got %v", f)
			}
		}
		for i, id := range got {
			if id != fmt.Sprint("m", i) {
				t.Fatalf("%d-th is %s: %v", i, id, got)
			}
		}
		if offline == 0 || pages == 0 || len(got)-offline == 0 {
			t.Errorf("%d of %d were stored, in %d pages: nothing was tested", offline, n, pages)
		}
		synctest.Wait()
		bob.quiet()
		if rows := r.inboxRows(); rows != nil {
			t.Errorf("stored %v", rows)
		}
	})
}

// A receiver that comes while its message is being stored is pushed to, and the
// row doesn't stay for another login.
func TestReceiverComesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, forOffline, push.Config{})
		ann := r.connect(t, "ann")
		ann.welcome("u:ann")
		r.store.hold = true
		ann.send("u:bob", "m1") // bob is offline
		r.store.mu.Lock()
		held := r.store.held
		r.store.hold, r.store.held = false, nil
		r.store.mu.Unlock()
		bob := r.connect(t, "bob")
		bob.welcome("u:bob")
		for _, a := range held {
			if err := r.store.Append(a); err != nil {
				t.Fatal(err)
			}
		}
		bob.deliver(1)
		if got := ann.result(1); got.Offline {
			t.Errorf("%v: it was pushed", got)
		}
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if rows := r.inboxRows(); rows != nil {
			t.Errorf("stored %v after the push", rows)
		}
	})
}

// The push missed its receiver, and then the store was away: the sender has no
// answer, and its resend stores the message instead of finding a duplicate.
func TestResendAfterAMissedPush(t *testing.T) {
	r := newRig(t, forOffline, push.Config{})
	bob := r.connect(t, "bob")
	bob.welcome("u:bob")
	ann := r.connect(t, "ann")
	ann.welcome("u:ann")
	r.store.hold = true
	ann.send("u:bob", "m1")
	bob.end()
	r.store.mu.Lock()
	r.store.downAfter = 1 // the send itself is still stored
	r.store.mu.Unlock()
	r.store.release()
	if e := ann.fault(wire.CodeUnavailable); !e.Retryable {
		t.Errorf("%v", e)
	}
	r.store.mu.Lock()
	r.store.down = false
	r.store.mu.Unlock()
	ann.send("u:bob", "m1")
	if got := ann.result(2); !got.Offline {
		t.Errorf("%v", got)
	}
	if rows := r.inboxRows(); !slices.Equal(rows, []uint64{2}) {
		t.Errorf("stored %v, want [2]", rows)
	}
	if s := r.Stats(); s.SendsStored != 1 || s.SendsFailed != 1 || s.SendsDuplicate != 0 {
		t.Errorf("stats %+v", s)
	}
	if n := len(r.missed.set); n != 0 {
		t.Errorf("%d sends are still noted as missed", n)
	}
}

// A queue that is full of sends counts as away.
func TestMissedPushMeetsAFullQueue(t *testing.T) {
	r := newRig(t, forOffline, push.Config{})
	bob := r.connect(t, "bob")
	bob.welcome("u:bob")
	ann := r.connect(t, "ann")
	ann.welcome("u:ann")
	r.store.hold = true
	ann.send("u:bob", "m1")
	bob.end()
	r.store.mu.Lock()
	r.store.full = true
	r.store.mu.Unlock()
	r.store.release()
	if e := ann.fault(wire.CodeOverloaded); !e.Retryable {
		t.Errorf("%v", e)
	}
	r.store.mu.Lock()
	r.store.full = false
	r.store.mu.Unlock()
	ann.send("u:bob", "m1")
	if got := ann.result(2); !got.Offline {
		t.Errorf("%v, want stored", got)
	}
}
