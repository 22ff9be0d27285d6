package client

import (
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client/ackpolicy"
)

// A device over HTTP: five messages in pages of two are ⌈5/2⌉ + 1 requests
// (the next page is the ack), a live one is a poll and an ack, and a broken
// connection brings back what wasn't acked.
func TestHTTPDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "u:al")
		w.limit = 2
		w.store("u:al", "bo", 1, 2, 3, 4, 5)
		rec := &recorder{}
		fleet, err := NewFleet(Config{
			Driver: w.driver(), Clock: w.clock, Observer: rec,
			Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 2}, Pull: Pulling{Page: 2},
		})
		if err != nil {
			t.Fatal(err)
		}
		d := fleet.Device(Identity{Index: 1, User: "al", Token: "token-1"})
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.expectAsked(`hello {}; ` +
			`pull {"conversation":"u:al","epoch":1,"limit":2}; ` +
			`pull {"conversation":"u:al","epoch":1,"after":2,"limit":2,"ack":true}; ` +
			`pull {"conversation":"u:al","epoch":1,"after":4,"limit":2,"ack":true}; ` +
			`ack {"conversation":"u:al","epoch":1,"up_to":5}`)
		rec.take()

		if err := d.Send(Message{To: "u:bo", ClientMsgID: "s1", Body: []byte("hi")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expectTold(t, rec, "s1 accepted seq=1 attempts=1 code=")
		w.store("u:al", "bo", 6)
		later(1100 * time.Millisecond)
		expectTold(t, rec, "show 1/6 6")
		w.asked()
		d.Drop() // with 6 unacked: it comes again, and is acked now
		later(200 * time.Millisecond)
		w.expectAsked(`hello {}; pull {"conversation":"u:al","epoch":1,"after":5,"limit":2}; ack {"conversation":"u:al","epoch":1,"up_to":6}`)
		expectTold(t, rec, "up=false; up=true; page of 1; ack 6 n=1 page; sync 1 pages")
		w.store("u:al", "bo", 7)
		later(time.Second)
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if w.cursor["u:al"] != 7 {
			t.Errorf("the cursor stands at %d after close, want 7", w.cursor["u:al"])
		}
		expectTold(t, rec, "show 1/7 7; ack 7 n=1 close")
	})
}

func expectTold(t *testing.T, rec *recorder, want string) {
	t.Helper()
	if got := rec.take(); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}
