package client

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/loadgen/client/dedup"
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

// Where a pull removes, a poll and a page of the device's own that are under way
// at once would share what waits between them, and whichever is answered first
// says that the rest isn't there. So one waits for the other, and what the server
// gave away is shown, whatever happened meanwhile.
func TestHTTPPollAndPullNeverShareWhatWaits(t *testing.T) {
	for _, mode := range []dedup.Mode{dedup.Watermark, dedup.Set, dedup.None} {
		synctest.Test(t, func(t *testing.T) {
			w := newWebServer(t, "u:al")
			w.onPull, w.limit = true, 1
			w.store("u:al", "bo", 1)
			w.cursor["u:al"] = 1
			rec := &recorder{}
			fleet, err := NewFleet(Config{
				Driver: w.driver(), Clock: w.clock, Observer: rec, Dedup: dedup.Config{Mode: mode},
				Ack: ackpolicy.Policy{Kind: ackpolicy.None}, Pull: Pulling{Page: 1, Ack: AckNothing},
			})
			if err != nil {
				t.Fatal(err)
			}
			d := fleet.Device(Identity{Index: 0, User: "al", Token: "token-1"})
			if err := d.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			later(500 * time.Millisecond)
			w.asked()
			rec.take()

			w.store("u:al", "bo", 2, 3, 4, 5, 6)
			w.mu.Lock()
			w.gone["u:al 2"] = true // pulled by an earlier life of the device
			w.mu.Unlock()
			w.slowAfter(1)
			later(time.Second)
			// The first poll brings 3, behind a gap that the device pulls. A second
			// poll is under way by then: it has taken 4, and isn't answered.
			w.expectAsked(`pull {"conversation":"u:al","epoch":1,"after":1}; pull {"conversation":"u:al","epoch":1,"after":3}`)
			close(w.slow)
			later(5 * time.Second)
			got := rec.take()
			for k := 3; k <= 6; k++ {
				if show := fmt.Sprintf("show 1/%d %d", k, k); strings.Count(got, show) != 1 {
					t.Errorf("mode %v: told %q; want %q once", mode, got, show)
				}
			}
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func expectTold(t *testing.T, rec *recorder, want string) {
	t.Helper()
	if got := rec.take(); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}
