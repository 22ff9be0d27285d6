package client

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

func TestAcksOfOneReadLeaveInOneWrite(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.told("up=true; sync 0 pages")
		before := s.srv.writes.Load()
		p.put(lives(1, 1, 3)...)
		p.want("ack 1/1", "ack 1/2", "ack 1/3")
		if n := s.srv.writes.Load() - before; n != 1 {
			t.Errorf("three acks took %d writes, want 1", n)
		}
		s.told("show 1/1 m1; ack 1 n=1 count; show 1/2 m2; ack 2 n=1 count; show 1/3 m3; ack 3 n=1 count")
	})
}

// A redelivered message isn't shown, but it is acked again: the first ack may
// have been lost (apache/pulsar#7683).
func TestRedeliveredIsAckedAgain(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 4, 4, 0))
		p.put(live(1, 5))
		p.want("ack 1/5")
		s.rec.take()
		p.put(live(1, 5))
		p.want("ack 1/5")
		s.told("ack 5 n=1 count")
		if st := s.dev.Stats(); st.Redelivered != 1 || st.Deliveries != 2 || st.AckRequests != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestGapIsPulledAndNeverAckedOver(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(live(1, 1), live(1, 4), live(1, 3))
		p.want("ack 1/1")
		req := p.want("pull 1/1")
		p.quiet()
		s.rec.take()
		p.put(page(req, 1, 1, 2, 2)) // the page was read before 3 and 4 were stored
		s.told("show 1/2 m2; show 1/3 m3; ack 3 n=1 count; show 1/4 m4; ack 4 n=1 count; page of 1; ack 4 n=1 page")
		p.want("ack 1/3", "ack 1/4", "ack 1/4")
		p.quiet()
	})
}

func TestGapThatTheServerDoesntKnowEndsThePull(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(live(1, 3))
		req := p.want("pull 1/0")
		p.put(page(req, 1, 0, 0, 0))
		p.quiet() // no loop
		if st := s.dev.Stats(); st.Pulling != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// What is behind a gap and over the limit comes again by the pull.
func TestHoldIsBounded(t *testing.T) {
	play(t, Config{Hold: 2, Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 100}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 2, 6)...)
		req := p.want("pull 1/0")
		if st := s.dev.Stats(); st.NotHeld != 3 {
			t.Errorf("%d not held, want 3", st.NotHeld)
		}
		s.rec.take()
		p.put(page(req, 1, 0, 1, 1))
		p.want("ack 1/3")
		req = p.want("pull 1/3") // 4 to 6 are known to exist
		p.put(page(req, 1, 3, 6, 6))
		p.want("ack 1/6")
		s.told("show 1/1 m1; show 1/2 m2; show 1/3 m3; page of 1; ack 3 n=3 page; " +
			"show 1/4 m4; show 1/5 m5; show 1/6 m6; page of 3; ack 6 n=3 page")
	})
}

// The live channel is joined before the backlog is pulled; both streams meet at
// the watermark (skycoin/skywire#2630).
func TestLiveBeforeBacklog(t *testing.T) {
	play(t, Config{Pull: Pulling{Page: 2}}, func(s *scene) {
		p := s.enter(standing(1, 0, 3, 0))
		req := p.want("pull 1/0")
		p.put(live(1, 4)) // stored and pushed while the pages are on their way
		p.put(page(req, 1, 0, 2, 3))
		req = p.want("pull 1/2 ack")
		p.put(page(req, 1, 2, 4, 4), live(1, 5))
		p.want("ack 1/4", "ack 1/4", "ack 1/5")
		s.told("up=true; show 1/1 m1; show 1/2 m2; page of 2; ack 2 n=2 page carried; " +
			"show 1/3 m3; show 1/4 m4; ack 4 n=1 count; page of 2; ack 4 n=2 page; sync 2 pages; show 1/5 m5; ack 5 n=1 count")
	})
}

// A cumulative ack may fall in the middle of what was delivered; delivery
// resumes right after it (apache/pulsar#4931).
func TestAckInTheMiddleOfABatch(t *testing.T) {
	play(t, Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 3}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 1, 5)...)
		p.want("ack 1/3")
		p.quiet()
		p.conn.Close()
		p = s.accept("hello", standing(1, 3, 5, 0))
		req := p.want("pull 1/3")
		s.rec.take()
		p.put(page(req, 1, 3, 5, 5), live(1, 6))
		p.want("ack 1/5")
		s.told("page of 2; ack 5 n=2 page; sync 1 pages; show 1/6 m6")
		if st := s.dev.Stats(); st.Redelivered != 2 || st.Reconnects != 1 || st.Unacked != 1 {
			t.Errorf("%+v", st)
		}
	})
}

func TestResumeFromWatermark(t *testing.T) {
	play(t, Config{Resume: FromWatermark, Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 3}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 1, 5)...)
		p.want("ack 1/3")
		s.dev.Drop()
		p = s.accept("hello g:a@1/5", standing(1, 5, 6, 0))
		req := p.want("pull 1/5")
		p.put(page(req, 1, 5, 6, 6))
		p.want("ack 1/6")
	})
}

// Both ways to resume must not lose a new message under a reused seq, nor show
// a resent old one twice.
func TestEpochChangeWithLostTail(t *testing.T) {
	for name, resume := range map[string]Resume{"hello": FromCursor, "hello g:a@1/5": FromWatermark} {
		t.Run(name, func(t *testing.T) {
			play(t, Config{Resume: resume}, func(s *scene) {
				p := s.enter(standing(1, 0, 0, 0))
				p.put(lives(1, 1, 5)...)
				p.want("ack 1/1", "ack 1/2", "ack 1/3", "ack 1/4", "ack 1/5")
				p.conn.Close()
				p = s.accept(name, standing(2, 3, 6, 3)) // 4 and 5 are gone, three others came
				req := p.want("pull 2/3")
				s.rec.take()
				answer := page(req, 2, 3, 6, 6)
				answer.Page.Messages[0].ClientMsgId = "new4" // a reused seq
				answer.Page.Messages[1].ClientMsgId = "m4"   // m4 again: its answer was lost too
				answer.Page.Messages[2].ClientMsgId = "new6"
				p.put(answer)
				p.want("ack 2/6")
				s.told("show 2/4 new4; show 2/6 new6; page of 3; ack 6 n=3 page; sync 1 pages")
			})
		})
	}
}

// Other epochs lie between a device's and the present one. How far back they
// began nobody knows any more, so base says nothing of the device's seqs: it goes
// back to the server's cursor, and sees what took the seqs of what it had seen.
func TestSeveralEpochsBehind(t *testing.T) {
	const now = 1796009045662 // as the reference server numbers them
	for name, resume := range map[string]Resume{"hello": FromCursor, "hello g:a@1/5": FromWatermark} {
		for _, passing := range []bool{false, true} { // the device learns of it while it is connected
			t.Run(fmt.Sprintf("%s, in passing %v", name, passing), func(t *testing.T) {
				play(t, Config{Resume: resume, Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 2}}, func(s *scene) {
					p := s.enter(standing(1, 0, 0, 0))
					p.put(lives(1, 1, 5)...)
					p.want("ack 1/2", "ack 1/4")
					if passing {
						p.put(liveAs(now, 8, "new8"))
						synctest.Wait()
						if !p.gone.Load() {
							t.Fatal("the connection goes on, though nobody can tell how far back the device has to go")
						}
					} else {
						p.conn.Close()
					}
					// The second epoch began at 2; then came new messages under 3 to 7,
					// and all of them were there when this epoch began.
					p = s.accept(name, standing(now, 2, 7, 7))
					req := p.want(fmt.Sprintf("pull %d/2", now))
					s.rec.take()
					answer := page(req, now, 2, 7, 7)
					for i, m := range answer.Page.Messages {
						m.ClientMsgId = fmt.Sprintf("new%d", 3+i)
					}
					answer.Page.Messages[1].ClientMsgId = "m4" // was lost before its sender had its answer, and sent again
					p.put(answer)
					p.want(fmt.Sprintf("ack %d/7", now))
					s.told(fmt.Sprintf("show %[1]d/3 new3; show %[1]d/5 new5; show %[1]d/6 new6; show %[1]d/7 new7; page of 5; ack 7 n=5 page; sync 1 pages", now))
				})
			})
		}
	}
}

// The epoch changes under a live connection: the device learns of it from a
// delivery and asks how far its watermark still holds.
func TestEpochChangeInPassing(t *testing.T) {
	play(t, Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 2}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 1, 5)...)
		p.want("ack 1/2", "ack 1/4")
		s.rec.take()
		p.put(liveAs(2, 5, "new5"), liveAs(1, 6, "stale"))
		req := p.want("pull 1/5") // nothing is acked while the watermark's worth isn't known
		p.quiet()
		answer := page(req, 2, 3, 5, 5)
		answer.Page.Messages[0].ClientMsgId = "new4"
		answer.Page.Messages[1].ClientMsgId = "new5"
		p.put(answer, live(2, 6))
		p.want("ack 2/5", "ack 2/5")
		s.told("show 2/4 new4; show 2/5 new5; ack 5 n=2 count; page of 2; ack 5 n=2 page; show 2/6 m6")
	})
}

func TestPullNowFlushesAndPagesToTheEnd(t *testing.T) {
	play(t, Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 10}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 1, 2)...)
		p.quiet()
		p.put(&wire.Frame{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: 7}})
		p.want("ack 1/2")
		req := p.want("pull 1/2")
		p.put(page(req, 1, 2, 4, 7))
		req = p.want("pull 1/4 ack")
		p.put(page(req, 1, 4, 6, 7))
		req = p.want("pull 1/6 ack")
		p.put(page(req, 1, 6, 7, 7))
		p.want("ack 1/7")
		p.quiet()
		p.put(&wire.Frame{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: 7}})
		req = p.want("pull 1/7") // nothing is missing, but pushing goes on only after a page at the head
		p.put(page(req, 1, 7, 7, 7))
		p.quiet()
	})
}

func TestPageAcks(t *testing.T) {
	for _, tt := range []struct {
		ack  PullAck
		want string
	}{
		{AckNextPage, "pull 1/0; pull 1/2 ack; pull 1/4 ack; ack 1/5"}, // ⌈n/P⌉ + 1
		{AckPage, "pull 1/0; ack 1/2; pull 1/2; ack 1/4; pull 1/4; ack 1/5"},
		{AckEachMessage, "pull 1/0; ack 1/1; ack 1/2; pull 1/2; ack 1/3; ack 1/4; pull 1/4; ack 1/5"},
		{AckNothing, "pull 1/0; pull 1/2; pull 1/4"},
	} {
		play(t, Config{Pull: Pulling{Page: 2, Ack: tt.ack}}, func(s *scene) {
			p := s.enter(standing(1, 0, 5, 0))
			var got []string
			for {
				synctest.Wait()
				if len(p.frames) == 0 {
					break
				}
				f := p.next()
				got = append(got, short(f))
				if r := f.PageRequest; r != nil {
					p.put(page(f, 1, r.After, min(r.After+2, 5), 5))
				}
			}
			if have := strings.Join(got, "; "); have != tt.want {
				t.Errorf("requests %q, want %q", have, tt.want)
			}
		})
	}
}

func TestPullIsRetried(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 1, 0))
		req := p.want("pull 1/0")
		p.put(&wire.Frame{Error: &wire.Error{Ref: req.PageRequest.Ref, Code: "overloaded", Retryable: true}})
		p.want("pull 1/0")       // after a backoff
		req = p.want("pull 1/0") // after a timeout
		p.put(page(req, 1, 0, 1, 1))
		p.want("ack 1/1")
		s.told("up=true; fault overloaded; show 1/1 m1; page of 1; ack 1 n=1 page; sync 1 pages")
	})
}

// One timer serves all conversations: each batch is acked T after its first
// delivery, to the nanosecond of the bubble's clock.
func TestIntervalTimer(t *testing.T) {
	const T = 500 * time.Millisecond
	play(t, Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Interval, Interval: T}}, func(s *scene) {
		other := standing(1, 0, 0, 0)
		other.Conversation = "g:b"
		p := s.enter(standing(1, 0, 0, 0), other)
		begin := s.dev.cfg.Clock()
		second := live(1, 1)
		second.Deliver.Conversation = "g:b"
		p.put(live(1, 1))
		time.Sleep(100 * time.Millisecond)
		p.put(live(1, 2), second)
		time.Sleep(time.Second)
		p.want("ack 1/2", "ack 1/1")
		time.Sleep(time.Minute)
		p.quiet()
		for i, want := range []AckSent{{Conversation: room, N: 2, Oldest: begin}, {Conversation: "g:b", N: 1, Oldest: begin + 100*time.Millisecond}} {
			a := s.rec.acks[i]
			if a.Conversation != want.Conversation || a.N != want.N || a.Oldest != want.Oldest || a.At != want.Oldest+T {
				t.Errorf("ack %d: %+v, want %+v at %v", i, a, want, want.Oldest+T)
			}
		}
	})
}

func TestCloseFlushesAndShakesHands(t *testing.T) {
	play(t, Config{Ack: ackpolicy.Policy{Kind: ackpolicy.Count, Every: 10}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.put(lives(1, 1, 3)...)
		p.put(live(1, 5)) // behind a gap: not acked
		p.want("ack 1/3") // flushed, since the gap is pulled
		p.want("pull 1/3")
		p.put(live(1, 4))
		if err := s.dev.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		p.want("ack 1/5")
		if code := <-p.closed; code != 1000 {
			t.Errorf("closed with %d, want 1000", code)
		}
		if err := s.dev.Send(Message{To: room, ClientMsgID: "late"}); err == nil {
			t.Error("a closed device took a message")
		}
		if err := s.dev.Close(context.Background()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestCloseGivesUpOnAServerThatReadsNothing(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		mine, theirs := net2(t)
		defer mine.conn.Close()
		s.dev.cfg.Driver = &WebSocket{URL: "ws://test/", Clock: s.dev.cfg.Clock, Dial: theirs}
		go func() { _ = s.dev.Start(context.Background()) }() // ended by Close
		mine.upgrade()
		mine.readHello()
		mine.write(welcome(standing(1, 0, 0, 0)))
		mine.write(live(1, 1)) // its ack is never read
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.dev.Close(ctx); err == nil || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("closed with %v, want a deadline that passed", err)
		}
	})
}
