package push

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
)

// What is pushed before it is stored reaches who is live and has room, and
// nobody twice; the others pull once it is stored for them.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{QueueFrames: 4}, &memLog{})
		room := h.NewRoom("g:1", 1, 5, true)
		live, behind, closed, late := connect(t, h, "live"), connect(t, h, "behind"), connect(t, h, "closed"), connect(t, h, "late")
		sender := connect(t, h, "sender")
		room.Join(live.conn, 5, JoinOptions{})
		room.Join(sender.conn, 5, JoinOptions{})
		slow, _ := room.Join(behind.conn, 3, JoinOptions{})
		room.Join(closed.conn, 5, JoinOptions{Closed: true})

		msg := sent(6, sender)
		reached := map[string]struct{}{}
		room.Ahead(&msg, reached)
		if got := slices.Sorted(maps.Keys(reached)); !slices.Equal(got, []string{"live"}) {
			t.Fatalf("reached %v, want live alone", got)
		}
		clear(reached)
		if room.Ahead(&msg, reached); len(reached) != 1 { // tried again: told again, not pushed again
			t.Fatalf("reached %v the second time, want live alone", reached)
		}
		if room.Head() != 5 {
			t.Fatalf("head %d before it is stored, want 5", room.Head())
		}
		synctest.Wait()
		live.expect(t, "deliver 6")
		sender.quiet(t) // its answer waits for the store

		lateMember, _ := room.Join(late.conn, 5, JoinOptions{}) // between the push and the store
		msg.Ahead = true
		room.Deliver([]Message{msg})
		synctest.Wait()
		sender.expect(t, "result 6")
		late.expect(t, "pull-now 6")
		for _, p := range []*peer{live, behind, closed, late, sender} {
			p.quiet(t)
		}
		if _, _, state := lateMember.Status(); state != Behind {
			t.Errorf("who came in between is %v, want behind", state)
		}
		if err := slow.Page(pageFrame(t, behind.conn, 6, false), Paged{UpTo: 6}); err != nil {
			t.Fatal(err)
		}
		next := message(7, "sender")
		clear(reached)
		room.Ahead(&next, reached)
		if _, ok := reached["behind"]; !ok {
			t.Errorf("who has caught up isn't reached: %v", reached)
		}
		// One that doesn't follow the head would be taken for a gap.
		hole := message(9, "sender")
		clear(reached)
		room.Ahead(&hole, reached)
		if len(reached) != 0 {
			t.Errorf("%v reached over a hole", reached)
		}
	})
}

// Without room in its queue nobody is reached.
func TestAheadWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{QueueFrames: 2}, &memLog{})
		room := h.NewRoom("g:1", 1, 0, true)
		p := dial(h, "slow") // nobody reads
		defer func() { p.conn.Abort(); p.sock.Close() }()
		room.Join(p.conn, 0, JoinOptions{})
		reached := map[string]struct{}{}
		for seq := uint64(1); seq <= 3; seq++ {
			clear(reached)
			msg := message(seq, "a")
			room.Ahead(&msg, reached)
			if want := seq <= 2; (len(reached) == 1) != want {
				t.Fatalf("seq %d: reached %v, want %v with a queue of 2", seq, reached, want)
			}
			msg.Ahead = true
			room.Deliver([]Message{msg})
		}
	})
}
