package push

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestRetransmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{}
		for seq := uint64(1); seq <= 4; seq++ {
			sender := "a"
			if seq == 3 {
				sender = "b" // the member's own: never sent to it
			}
			log.msgs = append(log.msgs, message(seq, sender))
		}
		h := startHub(t, Config{Retransmit: 8 * time.Second}, log) // looked at each second
		room := h.NewRoom("g:1", 1, 0, false)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 0, JoinOptions{})
		room.Deliver(log.msgs)
		b.expect(t, "deliver 1", "deliver 2", "deliver 4")

		time.Sleep(7900 * time.Millisecond)
		synctest.Wait()
		b.quiet(t)
		time.Sleep(1100 * time.Millisecond) // at most an eighth late
		b.expect(t, "deliver 1", "deliver 2", "deliver 4")

		time.Sleep(14 * time.Second) // the pause has doubled to 16 s
		synctest.Wait()
		b.quiet(t)
		time.Sleep(2 * time.Second)
		b.expect(t, "deliver 1", "deliver 2", "deliver 4")

		// An ack in the middle: the rest comes from right after it, after one timeout.
		m.Ack(1)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		b.expect(t, "deliver 2", "deliver 4")
		b.quiet(t)

		m.Ack(4)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.quiet(t)
		if got := h.Stats().Retransmitted; got != 8 {
			t.Errorf("retransmitted %d, want 3 + 3 + 2", got)
		}
	})
}

func TestRetransmissionWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{msgs: []Message{message(1, "a")}}
		log.fail(errAway)
		h := startHub(t, Config{Retransmit: 8 * time.Second}, log)
		room := h.NewRoom("g:1", 1, 0, false)
		b := connect(t, h, "b")
		room.Join(b.conn, 0, JoinOptions{})
		room.Deliver(log.msgs)
		b.expect(t, "deliver 1")
		time.Sleep(time.Minute)
		synctest.Wait()
		b.quiet(t)
		log.fail(nil)
		time.Sleep(time.Second)
		b.expect(t, "deliver 1")
	})
}
