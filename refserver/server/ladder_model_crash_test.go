package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pgregory.net/rapid"

	"ackmark/refserver/delivery"
	"ackmark/refserver/wire"
)

// disconnected is what the end of the server does to its clients: each takes in
// what has arrived, or crashes as well.
func (w *ladder) disconnected(rt *rapid.T) {
	for _, u := range w.users {
		if u.phone == nil {
			continue
		}
		u.phone.ended()
		if !oneIn(rt, 3, "crashes as well") {
			u.receive(len(u.phone.pending))
		}
		u.crash()
	}
}

// restart ends the server, in good order or not, and starts another one.
func (w *ladder) restart(rt *rapid.T, crash bool) {
	w.stop(crash)
	w.disconnected(rt)
	w.start()
}

// redisRestart kills Redis, which loses nothing, and waits until the server has
// noticed: an epoch begins.
func (w *ladder) redisRestart(rt *rapid.T) {
	old := w.srv.store.Epoch()
	w.redis.Kill()
	w.redis.Restart()
	w.eventually("a new epoch", func() bool {
		_, err := w.srv.svc.Counts(context.Background(), w.users[0].name, &wire.CountsRequest{})
		return err == nil && w.srv.store.Epoch() > old
	})
	w.disconnected(rt)
}

// storm is a crash of the server in the middle of sends and acks. Each sender
// resends until it has its answer: then nothing is doubled and nothing dropped,
// whatever was half-way.
func (w *ladder) storm(rt *rapid.T) {
	w.storming = true
	type try struct {
		u   *modelUser
		c   *modelConv
		m   *wire.Send
		got *wire.SendResult
	}
	tries := make([]*try, between(rt, 1, 5, "sends"))
	for i := range tries {
		u := w.anyone(rt, "sender")
		id := fmt.Sprintf("storm%d", between(rt, 0, 9, "id"))
		tries[i] = &try{u: u, c: w.convs[pick(rt, w.targets(u), "to")], m: &wire.Send{ClientMsgId: id, Body: bodyOf(id)}}
		tries[i].m.To = tries[i].c.name
	}
	online := map[*modelUser]bool{}
	for _, u := range w.users {
		online[u] = u.phone != nil
		if u.phone != nil && len(w.rung.acks) > 0 && rapid.Bool().Draw(rt, "acks") {
			u.ackAll()
		}
	}
	after := time.Duration(between(rt, 0, 2500, "crash after µs")) * time.Microsecond
	var wg sync.WaitGroup
	for _, t := range tries {
		wg.Go(func() {
			got := &wire.SendResult{}
			if w.post(t.u.name, "/v1/send", t.m, got) == nil {
				t.got = got
			}
		})
	}
	time.Sleep(after)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.srv.Stop(ctx)
	wg.Wait()
	w.tally()
	for _, t := range tries {
		if t.got == nil {
			w.total["unanswered"]++
		}
	}
	for _, u := range w.users {
		if u.phone != nil {
			u.phone.ended()
		}
	}
	w.http.CloseIdleConnections()
	w.start()
	for _, t := range tries {
		got := &wire.SendResult{}
		w.call(t.u.name, "/v1/send", t.m, got)
		if t.got != nil && (t.got.Seq != got.Seq || !got.Duplicate) {
			rt.Fatalf("%s: answered %v, and then %v", t.m, t.got, got)
		}
		w.survived(t.u, t.c, got, online)
	}
	w.storming = false
	for _, c := range w.convs {
		w.finishHalfWay(c)
	}
	for _, u := range w.users {
		if u.phone == nil {
			continue
		}
		for _, f := range u.phone.pending { // what has come is known by now
			u.known(f.Deliver.Conversation, f.Deliver)
		}
		if !oneIn(rt, 3, "crashes as well") {
			u.receive(len(u.phone.pending))
		}
		u.crash()
	}
}

// survived notes a message that was sent in a storm.
func (w *ladder) survived(u *modelUser, c *modelConv, got *wire.SendResult, online map[*modelUser]bool) {
	key := u.name + " " + got.ClientMsgId
	if m := c.sent[key]; m != nil {
		if m.seq != got.Seq {
			w.rt.Fatalf("resend of %s to %s: %v, want a duplicate of %d", key, c.name, got, m.seq)
		}
		return
	}
	if m := c.bySeq[got.Seq]; m != nil {
		w.rt.Fatalf("%s: %v has the seq of %v", c.name, got, m)
	}
	before := map[string]rowState{}
	for _, name := range c.members {
		before[name] = w.user(name).rows[c.name][got.Seq]
	}
	w.stored(u, c, key, got.Seq)
	if w.rung.storeFor != delivery.StoreForOffline || !w.rung.rows(c.name) {
		return
	}
	for _, name := range c.members {
		r := w.user(name)
		switch {
		case r == u:
		case before[name] == rowMaybe: // it was pushed: no row, or one by whoever has finished it
			r.rows[c.name][got.Seq] = rowMaybe
		case online[r]: // it may have been pushed to a connection that was about to end
			r.rows[c.name][got.Seq] = rowMaybe
			r.saved[c.name].may[key] = true
		}
	}
}

// finishHalfWay has rows finished that were left half-way: whoever opens the
// conversation does that.
func (w *ladder) finishHalfWay(c *modelConv) {
	_, err := w.srv.svc.Hello(context.Background(), c.members[0], &wire.Hello{})
	w.must(err)
}

// ackAll acks everything and doesn't wait for it: the rows may go.
func (u *modelUser) ackAll() {
	for _, name := range u.conversations() {
		s := u.saved[name]
		upTo := s.watermark()
		if upTo == 0 || s.epoch != u.w.srv.store.Epoch() {
			continue
		}
		u.phone.write(&wire.Frame{Ack: &wire.Ack{Conversation: name, Epoch: s.epoch, UpTo: upTo}})
		for seq := range u.rows[name] {
			if seq <= upTo {
				u.rows[name][seq] = rowMaybe
			}
		}
	}
}
