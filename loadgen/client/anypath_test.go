package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ackmark/loadgen/client/ackpolicy"
	"ackmark/refserver/wire"
)

// TestAnyPathShowsOnceAndInOrder throws pushes in any order, twice or not at
// all, drops the connection, and answers every pull: each message is shown once,
// in order, and the cursor never passes what was shown.
func TestAnyPathShowsOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		resume := rapid.SampledFrom([]Resume{FromCursor, FromWatermark}).Draw(rt, "resume")
		every := rapid.IntRange(1, 4).Draw(rt, "every")
		hold := rapid.IntRange(1, 5).Draw(rt, "hold")
		size := uint64(rapid.IntRange(1, 4).Draw(rt, "page"))
		taker := rapid.Bool().Draw(rt, "told of what is in order in one call")
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 40).Draw(rt, "steps")
		r := &replayer{replay: ackpolicy.NewReplay(&ackpolicy.Policy{Kind: ackpolicy.Each}, 0, 1)}
		cfg := Config{Resume: resume, Hold: hold, Pull: Pulling{Page: int(size)}}
		cfg.Ack = ackpolicy.Policy{Kind: ackpolicy.Count, Every: every}
		r.policy = ackpolicy.NewReplay(&cfg.Ack, 0, time.Hour)
		var wrong string // told outside of the bubble, whose goroutine rapid doesn't know
		bad := func(format string, args ...any) {
			if wrong == "" {
				wrong = fmt.Sprintf(format, args...)
			}
		}
		play(t, cfg, func(s *scene) {
			s.dev.cfg.Observer = r
			if taker {
				s.dev.taker = r
			}
			p := s.enter(standing(1, 0, 0, 0))
			var head, cursor uint64
			serve := func() { // everything that the device has asked for
				for synctest.Wait(); len(p.frames) > 0; synctest.Wait() {
					f, ok := <-p.frames
					if !ok {
						return
					}
					ack := uint64(0)
					switch {
					case f.Ack != nil:
						ack = f.Ack.UpTo
					case f.PageRequest != nil:
						q := f.PageRequest
						if q.Ack {
							ack = q.After
						}
						p.put(page(f, 1, q.After, min(q.After+size, head), head))
					}
					cursor = max(cursor, ack)
					if ack > uint64(len(r.shown)) {
						bad("acked %d with %d shown", ack, len(r.shown))
					}
				}
			}
			for i, step := range steps {
				switch {
				case step <= 4: // a new message, pushed
					head++
					p.put(live(1, head))
				case step == 5: // stored, its push dropped
					head++
				case step == 6 && head > 0: // pushed again
					p.put(live(1, 1+uint64(i)%head))
				case step == 7:
					p.put(&wire.Frame{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: head}})
				case step == 8: // two swapped
					p.put(live(1, head+2), live(1, head+1))
					head += 2
				case step == 9:
					serve()
					p.conn.Close()
					p = <-s.srv.conns
					hello := p.next().Hello
					for _, pos := range hello.Resume {
						cursor = max(cursor, pos.Cursor)
					}
					if cursor > uint64(len(r.shown)) {
						bad("resumed at %d with %d shown", cursor, len(r.shown))
					}
					p.put(welcome(standing(1, cursor, head, 0)))
				}
				if step%2 == 0 {
					serve()
				}
			}
			p.put(&wire.Frame{PullNow: &wire.PullNow{Conversation: room, Epoch: 1, Head: head}})
			serve()
			if err := s.dev.Close(s.Context()); err != nil {
				bad("%v", err)
			}
			serve()
			if uint64(len(r.shown)) != head || cursor != head {
				bad("%d of %d shown, cursor at %d: %v", len(r.shown), head, cursor, r.shown)
			}
			if r.decided != r.policy.Acks() {
				bad("%d ack requests by the policy, %d replayed", r.decided, r.policy.Acks())
			}
			for i, seq := range r.shown {
				if seq != uint64(i+1) {
					bad("shown %v", r.shown)
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
