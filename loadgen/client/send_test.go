package client

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/wire"
)

func stored(f *wire.Frame, epoch, seq uint64) *wire.Frame {
	return &wire.Frame{SendResult: &wire.SendResult{
		Ref: f.Send.Ref, ClientMsgId: f.Send.ClientMsgId, Conversation: f.Send.To, Epoch: epoch, Seq: seq,
	}}
}

func failed(f *wire.Frame, code wire.Code) *wire.Frame {
	return &wire.Frame{Error: &wire.Error{Ref: f.Send.Ref, Code: string(code), Message: "x", Retryable: code.Retryable()}}
}

func (s *scene) send(id string) {
	s.Helper()
	if err := s.dev.Send(Message{To: room, ClientMsgID: id, Body: []byte("hi"), Intended: s.dev.cfg.Clock()}); err != nil {
		s.Fatal(err)
	}
}

func TestOwnSendFillsItsGap(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.rec.take()
		s.send("a")
		req := p.want("send a")
		p.put(live(1, 2)) // 1 may be the own one
		p.quiet()
		p.put(stored(req, 1, 1))
		p.want("ack 1/2")
		s.told("a accepted seq=1 attempts=1 code=; show 1/2 m2; ack 2 n=1 count")
		// the answer comes first, and what lies before it is on its way
		s.send("b")
		req = p.want("send b")
		p.put(stored(req, 1, 4))
		p.quiet()
		p.put(live(1, 3))
		p.want("ack 1/3")
		p.put(live(1, 5))
		p.want("ack 1/5") // 4 is covered
		time.Sleep(time.Minute)
		p.quiet() // no pull was needed
	})
}

func TestGapBesideOwnSendIsPulledAfterAMoment(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.send("a")
		send := p.want("send a")
		p.put(live(1, 2))
		time.Sleep(99 * time.Millisecond)
		p.quiet()
		time.Sleep(2 * time.Millisecond)
		req := p.want("pull 1/0")
		p.put(stored(send, 1, 3)) // it was another's after all
		p.put(page(req, 1, 0, 2, 3))
		req = p.want("ack 1/2", "pull 1/2 ack")
		answer := page(req, 1, 2, 3, 3)
		answer.Page.Messages = nil // the own one isn't in it
		p.put(answer)
		p.want("ack 1/3")
		p.quiet()
	})
}

func TestSendIsRetriedUnderItsIDThenUnknown(t *testing.T) {
	play(t, Config{Send: Sending{Timeout: time.Second, Retries: 2}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.rec.take()
		s.send("a")
		p.want("send a", "send a", "send a")
		time.Sleep(2 * time.Second)
		s.told("a unknown seq=0 attempts=3 code=")
		p.quiet()
	})
}

func TestLateAnswerStillFillsTheGap(t *testing.T) {
	play(t, Config{Send: Sending{Timeout: time.Second}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.send("a")
		req := p.want("send a")
		time.Sleep(2 * time.Second)
		p.put(stored(req, 1, 1))
		s.told("up=true; sync 0 pages; a unknown seq=0 attempts=1 code=")
		p.put(live(1, 2))
		p.want("ack 1/2")
	})
}

func TestUnansweredIsResentOnReconnect(t *testing.T) {
	play(t, Config{Send: Sending{Timeout: 5 * time.Second, Retries: 1}}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.send("a")
		s.send("b")
		p.want("send a", "send b")
		p.conn.Close()
		p = s.accept("hello", standing(1, 1, 1, 0)) // a was stored and moved the cursor, its answer was lost
		s.rec.take()
		a := p.want("send a")
		b := p.want("send b")
		p.put(stored(a, 1, 1), stored(b, 1, 2))
		s.told("a accepted seq=1 attempts=2 code=; b accepted seq=2 attempts=2 code=")
		if st := s.dev.Stats(); st.Resends != 2 || st.Unanswered != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestSendErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []wire.Code // to each attempt, "" stores it
		want    string
	}{
		{"refused", []wire.Code{wire.CodeNotMember}, "fault not_member; a refused seq=0 attempts=1 code=not_member"},
		{"retried", []wire.Code{wire.CodeOverloaded, wire.CodeUnavailable, ""}, "fault overloaded; fault unavailable; a accepted seq=1 attempts=3 code="},
		{"used up", []wire.Code{wire.CodeOverloaded, wire.CodeOverloaded, wire.CodeUnavailable},
			"fault overloaded; fault overloaded; fault unavailable; a unknown seq=0 attempts=3 code=unavailable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, Config{Send: Sending{Retries: 2}}, func(s *scene) {
				p := s.enter(standing(1, 0, 0, 0))
				s.rec.take()
				begin := s.dev.cfg.Clock()
				s.send("a")
				for i, code := range tt.answers {
					f := p.want("send a")
					if code == "" {
						p.put(stored(f, 1, 1))
					} else {
						p.put(failed(f, code))
					}
					// 50 ms doubled, each between half and whole
					if gone := s.dev.cfg.Clock() - begin; i == 2 && (gone < 75*time.Millisecond || gone > 150*time.Millisecond) {
						t.Errorf("the third attempt came after %v, want 75 to 150 ms", gone)
					}
				}
				s.told(tt.want)
			})
		})
	}
}

func TestSendWithoutAConnectionLeavesWithTheNext(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		p.conn.Close()
		synctest.Wait()
		s.send("a")
		p = s.accept("hello", standing(1, 0, 0, 0))
		p.want("send a")
		p.quiet()
	})
}

func TestCloseEndsUnansweredSendsAsUnknown(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.send("a")
		p.want("send a")
		s.rec.take()
		if err := s.dev.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.told("a unknown seq=0 attempts=1 code=")
	})
}

func TestConnecting(t *testing.T) {
	const unauthenticated = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 71\r\n\r\n" +
		`{"code":"unauthenticated","message":"the token has expired, mint a new"}`
	const busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
	for _, tt := range []struct {
		name, refuse, want string
		tries              func(int64) bool
	}{
		{"refused for good", unauthenticated[:len(unauthenticated)-1], "HTTP status 401", func(n int64) bool { return n == 1 }},
		{"refused for good, with a reason", strings.Replace(unauthenticated, "71", "72", 1), "the token has expired", func(n int64) bool { return n == 1 }},
		{"busy", busy, "unavailable", func(n int64) bool { return n > 5 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, Config{}, func(s *scene) {
				s.srv.refuse = tt.refuse
				ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
				defer cancel()
				err := s.dev.Start(ctx)
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "device ann: connect") {
					t.Errorf("start: %v, want %q", err, tt.want)
				}
				if n := s.srv.dials.Load(); !tt.tries(n) {
					t.Errorf("%d dials", n)
				}
			})
		})
	}
}

func TestReconnectBacksOff(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		s.srv.refuse = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
		p.conn.Close()
		synctest.Wait()
		time.Sleep(time.Minute)
		// 50 ms doubling to 5 s: 8 tries take up to 12.7 s, then one each 2.5 to 5 s
		if n := s.srv.dials.Load() - 1; n < 16 || n > 28 {
			t.Errorf("%d dials in a minute, want 16 to 28", n)
		}
	})
}

func TestReplacedDeviceStaysAway(t *testing.T) {
	play(t, Config{}, func(s *scene) {
		p := s.enter(standing(1, 0, 0, 0))
		_, _ = p.conn.Write(wire.AppendClose(nil, 4001, "replaced by a newer connection", false))
		<-s.dev.Done()
		if n := s.srv.dials.Load(); n != 1 {
			t.Errorf("%d dials, want 1", n)
		}
	})
}

func TestWindowBelowCountIsRefused(t *testing.T) {
	cfg := Config{}
	cfg.Ack.Kind, cfg.Ack.Every = 2, 300
	play(t, cfg, func(s *scene) {
		started := make(chan error, 1)
		go func() { started <- s.dev.Start(s.Context()) }()
		s.accept("hello", standing(1, 0, 0, 0))
		if err := <-started; err == nil || !strings.Contains(err.Error(), "lower ack.every") {
			t.Errorf("started with %v, want what would be right", err)
		}
	})
}
