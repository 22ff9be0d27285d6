package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/wire"
)

func TestHTTPRequests(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(s Session)
		asked string
		heard string
	}{
		{"send", func(s Session) { s.Send(&Outgoing{Ref: 7, To: "u:bo", ClientMsgID: "m1", Body: []byte("häy")}) },
			`send {"to":"u:bo","client_msg_id":"m1","body":"häy"}`, "answer 7 u:bo 1/1 offline=true"},
		{"ack", func(s Session) { s.Ack("g:a", 1, 2) }, `ack {"conversation":"g:a","epoch":1,"up_to":2}`, ""},
		{"ack by ids", func(s Session) { s.AckIDs("u:al", 1, []uint64{3, 5}) }, `ack {"conversation":"u:al","epoch":1,"ids":[3,5]}`, ""},
		{"pull", func(s Session) {
			s.Pull(&PullRequest{Ref: 8, Conversation: "g:a", Epoch: 1, After: 1, Limit: 5, Ack: true})
		},
			`pull {"conversation":"g:a","epoch":1,"after":1,"limit":5,"ack":true}`, "page 8 g:a (1,2] 2"},
		{"pull of a sender", func(s Session) { s.Pull(&PullRequest{Ref: 9, Conversation: "g:a", Epoch: 1, Sender: "cy", All: true}) },
			`pull {"conversation":"g:a","epoch":1,"sender":"cy","all":true}`, "page 9 g:a (0,2] 2"},
		{"pull newest first", func(s Session) {
			s.Pull(&PullRequest{Ref: 9, Conversation: "g:a", Epoch: 1, Newest: true, Before: 3, IDs: []uint64{4}})
		}, `pull {"conversation":"g:a","epoch":1,"newest":true,"before":3,"ids":[4]}`, "page 9 g:a (0,2] 1 2"},
		{"sync", func(s Session) {
			s.Sync(&SyncRequest{Ref: 10, After: []Position{{"g:a", 1, 1}}, Limit: 9, Ack: true})
		}, `sync {"after":[{"conversation":"g:a","epoch":1,"cursor":1}],"limit":9,"ack":true}`, "sync 10 more=false, g:a (1,2] 2"},
		{"counts", func(s Session) { s.Counts(11, false) }, "counts", "counts 11 [{Conversation:g:a Sender: Unread:2 Cursor:0 Head:2}]"},
		{"counts by sender", func(s Session) { s.Counts(11, true) }, "counts?senders=1", "counts 11 [{Conversation:u:al Sender:bo Unread:3 Cursor:0 Head:5} {Conversation:g:a Sender: Unread:2 Cursor:0 Head:2}]"},
		{"friends", func(s Session) { s.Friends(12, "", 0) }, "friends", "friends 12 [bo cy] more=true"},
		{"more friends", func(s Session) { s.Friends(12, "a.b", 100) }, "friends?after=a.b&limit=100", "friends 12 [bo cy] more=true"},
		{"open", func(s Session) { s.Open(13, "g:a") }, "counts", "conversation 13 g:a behind=true closed=false"},
		{"close", func(s Session) { s.CloseConversation(14, "g:a") }, "", "conversation 14 g:a behind=false closed=true"},
		{"close of nobody's", func(s Session) { s.CloseConversation(15, "g:z") }, "", "0s fault 15 not_member retryable=false"},
		{"open of nobody's", func(s Session) { s.Open(15, "g:z") }, "counts", "0s fault 15 not_member retryable=false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWebServer(t, "g:a")
				w.store("g:a", "bo", 1)
				w.store("g:a", "cy", 2)
				v := w.visit(w.driver(), Hello{})
				w.asked()
				v.expect("welcome g:a 0-2 behind")
				c.do(v.s)
				w.expectAsked(c.asked)
				v.expect(c.heard)
				v.close()
			})
		})
	}
}

// Everything that is told by an answer's JSON is told of it by Bytes, too.
func TestHTTPTellsSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		w.store("g:a", "bo", 1)
		v := w.visit(w.driver(), Hello{})
		read, written := v.s.Bytes()
		all, polls := v.s.(Requester).Requests()
		if read == 0 || written == 0 || all != 1 || polls != 0 {
			t.Errorf("after hello: %d read, %d written, %d requests, %d polls", read, written, all, polls)
		}
		v.s.Friends(1, "", 0)
		synctest.Wait()
		const body = `{"friends":["bo","cy"],"more":true}`
		if more, _ := v.s.Bytes(); more < read+uint64(len(body)) || more > read+uint64(len(body))+200 {
			t.Errorf("an answer of %d bytes and its header are counted as %d", len(body), more-read)
		}
		v.close()
	})
}

func TestHTTPPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		w.limit = 2
		w.store("g:a", "bo", 1)
		w.cursor["g:a"] = 1
		v := w.visit(w.driver(), Hello{})
		v.expect("welcome g:a 1-1")
		w.expectAsked(`hello {}; pull {"conversation":"g:a","epoch":1,"after":1}`) // the first device's turn is at 0s
		later(1100 * time.Millisecond)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"after":1}`)
		w.store("g:a", "bo", 2, 3, 4)
		w.store("g:a", "al", 5) // its own isn't delivered, but goes by
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"after":1}; pull {"conversation":"g:a","epoch":1,"after":3}`)
		v.expect("2s g:a 1/2 bo 2; 2s g:a 1/3 bo 3; 2s g:a 1/4 bo 4")
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"after":5}`)
		if all, polls := v.s.(Requester).Requests(); all != 6 || polls != 5 {
			t.Errorf("%d requests, %d polls; want 6, 5", all, polls)
		}
		v.close()
		later(5 * time.Second)
		w.expectAsked("")
		if w.dials != 1 {
			t.Errorf("%d connections for requests that came one after the other", w.dials)
		}
	})
}

// What waits at login is the device's to pull. Polling begins where its last
// page ended.
func TestHTTPPollsFromWhereThePullsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		w.limit = 2
		w.store("g:a", "bo", 1, 2, 3)
		v := w.visit(w.driver(), Hello{})
		later(3 * time.Second)
		w.expectAsked(`hello {}`)
		v.s.Pull(&PullRequest{Ref: 1, Conversation: "g:a", Epoch: 1})
		later(3 * time.Second) // one page isn't all
		w.expectAsked(`pull {"conversation":"g:a","epoch":1}`)
		v.s.Pull(&PullRequest{Ref: 2, Conversation: "g:a", Epoch: 1, After: 2})
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"after":2}; pull {"conversation":"g:a","epoch":1,"after":3}`)
		v.expect("welcome g:a 0-3 behind; page 1 g:a (0,2] 1 2; page 2 g:a (2,3] 3")
		v.close()
	})
}

func TestHTTPLiveAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a", "u:al")
		w.store("g:a", "bo", 1, 2, 3)
		w.store("u:al", "bo", 4, 5)
		v := w.visit(w.driver(), Hello{Live: true, Closed: true})
		later(500 * time.Millisecond)
		v.expect("welcome g:a 0-3 closed u:al 0-2")
		w.expectAsked(`hello {"live":true,"closed":true}; pull {"conversation":"u:al","epoch":1,"after":2}`)
		w.store("g:a", "bo", 6) // while it was closed: for the device to pull
		v.s.Open(1, "g:a")
		v.expect("conversation 1 g:a behind=false closed=false")
		w.expectAsked("counts")
		w.store("g:a", "bo", 7)
		v.s.CloseConversation(2, "u:al")
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"after":4}`)
		v.expect("conversation 2 u:al behind=false closed=true; 1s g:a 1/5 bo 7")
		// a sender's page says nothing of the rest
		v.s.Pull(&PullRequest{Ref: 3, Conversation: "g:a", Epoch: 1, Sender: "cy"})
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":1,"sender":"cy"}; pull {"conversation":"g:a","epoch":1,"after":5}`)
		v.close()
	})
}

// Only hello tells what a new epoch means for a conversation.
func TestHTTPOpensIntoANewEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		v := w.visit(w.driver(), Hello{Closed: true})
		w.mu.Lock()
		w.epoch = 2
		w.mu.Unlock()
		v.s.Open(1, "g:a")
		if err := <-v.done; !errors.Is(err, errNewEpoch) {
			t.Errorf("served until %v", err)
		}
	})
}

// The store lost all above seq 1: what it then hands out is delivered in the
// new epoch.
func TestHTTPPollsIntoANewEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		w.store("g:a", "bo", 1, 2, 3)
		w.cursor["g:a"] = 3
		v := w.visit(w.driver(), Hello{})
		v.expect("welcome g:a 3-3")
		w.mu.Lock()
		w.epoch, w.bases["g:a"], w.logs["g:a"] = 2, 1, nil
		w.mu.Unlock()
		w.store("g:a", "bo", 9)
		later(1500 * time.Millisecond)
		v.expect("1s g:a 2/2 bo 9")
		w.asked()
		later(time.Second)
		w.expectAsked(`pull {"conversation":"g:a","epoch":2,"after":2}`)
		v.close()
	})
}

// What a poll was given is handed on, even when the session knows better by then:
// where pulls remove, the server has it no more. Where the session stands doesn't
// go back.
func TestHTTPHandsOnWhateverAPollBrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		v := w.visit(w.driver(), Hello{})
		v.expect("welcome g:a 0-0")
		s, _ := v.s.(*httpSession)
		p := s.places["g:a"]
		s.mu.Lock()
		p.Epoch, p.pos = 2, 5
		s.mu.Unlock()
		for _, epoch := range []uint64{1, 2} {
			s.news(p, &wire.Page{Conversation: "g:a", Epoch: epoch, UpTo: 4, Head: 4, Messages: []*wire.Deliver{{Seq: 4, Sender: "bo", ClientMsgId: "x"}}}, 0)
			v.expect(fmt.Sprintf("0s g:a %d/4 bo x", epoch))
			if p.Epoch != 2 || p.pos != 5 {
				t.Errorf("stands at %d/%d", p.Epoch, p.pos)
			}
		}
		v.close()
	})
}

func TestHTTPFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		d := w.driver()
		v := w.visit(d, Hello{})
		v.expect("welcome g:a 0-0")
		later(time.Millisecond)

		w.refuse("/v1/pull", wire.Faultf(wire.CodeOverloaded, "later").Frame(0))
		v.s.Pull(&PullRequest{Ref: 4, Conversation: "g:a", Epoch: 1})
		v.expect("1ms fault 4 overloaded retryable=true")
		later(time.Second)
		v.expect("1s fault 0 overloaded retryable=true") // a poll
		later(time.Second)
		v.expect("2s fault 0 overloaded retryable=true") // polling goes on

		w.refuse("/v1/pull", wire.Faultf(wire.CodeNotMember, "removed").Frame(0))
		later(5 * time.Second)
		v.expect("3s fault 0 not_member retryable=false") // and ends for what isn't the user's

		w.hang("/v1/send")
		v.s.Send(&Outgoing{Ref: 5, To: "g:a", ClientMsgID: "m"})
		later(defaultRequest)
		v.expect("17.001s fault 5 unavailable retryable=true")
		v.close()

		w.refuse("/v1/hello", wire.Faultf(wire.CodeShuttingDown, "bye").Frame(0))
		var fault *Fault
		if _, err := d.Connect(t.Context(), Identity{Token: "token-1"}, Hello{}, v); !errors.As(err, &fault) || fault.Code != "shutting_down" || !fault.Retryable {
			t.Errorf("hello while the server drains: %v", err)
		}
		if _, err := d.Connect(t.Context(), Identity{Token: "other"}, Hello{}, v); !errors.As(err, &fault) || fault.Code != "unauthenticated" || fault.Retryable {
			t.Errorf("hello with a bad token: %v", err)
		}
		if _, err := (&HTTP{URL: "ws://x", Clock: w.clock}).Connect(t.Context(), Identity{}, Hello{}, v); !errors.As(err, &fault) || fault.Retryable {
			t.Errorf("an address of another kind: %v", err)
		}
		secure := w.driver()
		secure.URL = "https://server"
		if _, err := secure.Connect(t.Context(), Identity{}, Hello{}, v); err == nil || errors.As(err, &fault) && !fault.Retryable {
			t.Errorf("TLS with a server that has none: %v", err)
		}
	})
}

// A poll that is refused for good ends the session, with the fault.
func TestHTTPPollRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		v := w.visit(w.driver(), Hello{})
		later(time.Millisecond)
		w.refuse("/v1/pull", wire.Faultf(wire.CodeUnauthenticated, "expired").Frame(0))
		later(time.Second)
		var fault *Fault
		if err := <-v.done; !errors.As(err, &fault) || fault.Code != "unauthenticated" {
			t.Errorf("served until %v", err)
		}
	})
}

// Requests that come while all connections are at work wait, in their order.
func TestHTTPParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		w.store("g:a", "bo", 1) // behind: isn't polled
		d := w.driver()
		d.Parallel = 2
		v := w.visit(d, Hello{})
		w.hang("/v1/ack")
		for i := range uint64(3) {
			v.s.Ack("g:a", 1, i+1)
		}
		v.s.Counts(1, false)
		synctest.Wait()
		if got := w.asked(); strings.Count(got, "ack ") != 2 || strings.Contains(got, `"up_to":3`) || strings.Contains(got, "counts") {
			t.Errorf("with two connections %q is under way at once", got)
		}
		w.hang()
		later(defaultRequest)
		if got := w.asked(); !strings.Contains(got, `"up_to":3`) || !strings.Contains(got, "counts") {
			t.Errorf("afterwards %q", got)
		}
		v.close()
		if w.dials < 3 || w.dials > 4 { // two broke with their requests
			t.Errorf("%d connections in all", w.dials)
		}
	})
}

// Close lets what is queued through; Abort doesn't wait.
func TestHTTPEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWebServer(t, "g:a")
		v := w.visit(w.driver(), Hello{})
		for i := range uint64(20) {
			v.s.Ack("g:a", 1, i+1)
		}
		v.close()
		if w.cursor["g:a"] != 20 {
			t.Errorf("closed with the cursor at %d of 20", w.cursor["g:a"])
		}
		v.s.Ack("g:a", 1, 99) // does nothing any more

		v = w.visit(w.driver(), Hello{})
		w.hang("/v1/ack")
		v.s.Ack("g:a", 1, 21)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := v.s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close while the server doesn't answer: %v", err)
		}
		<-v.done

		v = w.visit(w.driver(), Hello{})
		v.s.Ack("g:a", 1, 21)
		v.s.Abort()
		if err := <-v.done; !errors.Is(err, errAborted) {
			t.Errorf("aborted: %v", err)
		}

		v = w.visit(w.driver(), Hello{})
		w.http.Close()
		w.Close()
		v.s.Counts(1, false)
		if err := <-v.done; err == nil {
			t.Error("served without a server")
		}
		if err := v.s.Close(t.Context()); err == nil {
			t.Error("closed in order after the server had gone")
		}
	})
}

// What isn't the server's own answer ends the session: nobody knows what it
// means.
func TestHTTPGarbage(t *testing.T) {
	for _, c := range []struct{ name, answer string }{
		{"no HTTP", "hello\r\n\r\n"},
		{"no JSON", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<a>"},
		{"another answer", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}"},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"},
		{"more than was asked for", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}"},
		{"too large", "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"},
		{"an early end", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			d := &HTTP{URL: "http://x", Clock: since(time.Now()), MaxAnswer: 1 << 20, Dial: func(context.Context, Identity, string) (net.Conn, error) { return ours, nil }}
			go func() {
				b := make([]byte, 1024)
				_, _ = theirs.Read(b)
				_, _ = theirs.Write([]byte(c.answer))
				theirs.Close()
			}()
			s, err := d.Connect(t.Context(), Identity{}, Hello{}, &heard{})
			if err == nil {
				s.Abort()
				t.Error("taken for a welcome")
			}
		})
	}
}

func TestHTTPStatusWithoutABody(t *testing.T) {
	for _, c := range []struct {
		status    int
		body      string
		code      string
		retryable bool
	}{
		{502, "<html>", "internal", true},
		{503, "", "unavailable", true},
		{429, "{}", "overloaded", true},
		{401, `{"code":""}`, "unauthenticated", false},
		{404, "", "not_found", false},
		{413, `{"code":"too_large","message":"m"}`, "too_large", false},
	} {
		if f := faultOfStatus(c.status, []byte(c.body)); f.Code != c.code || f.Retryable != c.retryable {
			t.Errorf("%d %q: %+v", c.status, c.body, f)
		}
	}
}
