package push

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"ackmark/refserver/wire"
)

func TestDeliverInOrderAndOwnResultInPlace(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 0, false)
	a, b, c := connect(t, h, "a"), connect(t, h, "b"), connect(t, h, "c")
	for _, p := range []*peer{a, b, c} {
		room.Join(p.conn, 0, JoinOptions{})
	}
	room.Deliver([]Message{sent(1, a), sent(2, b), sent(3, a)})
	room.Deliver([]Message{message(4, "offline")})
	a.expect(t, "result 1", "deliver 2", "result 3", "deliver 4")
	b.expect(t, "deliver 1", "result 2", "deliver 3", "deliver 4")
	c.expect(t, "deliver 1", "deliver 2", "deliver 3", "deliver 4")
	if got := h.Stats().Pushed; got != 9 { // 3 sends × 2 others + 1 send × 3
		t.Errorf("pushed %d, want 9", got)
	}
}

func TestStoredTwiceAsOneIsOnlyAnswered(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 0, false)
	a, b := connect(t, h, "a"), connect(t, h, "b")
	room.Join(a.conn, 0, JoinOptions{})
	room.Join(b.conn, 0, JoinOptions{})
	room.Deliver([]Message{sent(1, a)})
	room.Deliver([]Message{sent(1, a), sent(2, a)})
	a.expect(t, "result 1", "result 1", "result 2")
	b.expect(t, "deliver 1", "deliver 2")
}

// The reply of a send from before the connection joined, or from another
// conversation's member, comes too: the sender need not be in the room.
func TestResultToSenderOutsideTheRoom(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	inbox := h.NewRoom("u:b", 1, 0, false)
	a, b := connect(t, h, "a"), connect(t, h, "b")
	inbox.Join(b.conn, 0, JoinOptions{})
	inbox.Deliver([]Message{sent(1, a)})
	a.expect(t, "result 1")
	b.expect(t, "deliver 1")
}

func TestUntoldMessagesMakeMembersPull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{}, &memLog{})
		room := h.NewRoom("g:1", 1, 0, false)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 0, JoinOptions{})
		room.Deliver([]Message{message(1, "a"), message(3, "a")}) // 2 was stored through another node
		synctest.Wait()
		b.expect(t, "deliver 1", "pull-now 2")
		b.quiet(t)
		if err := m.Page(pageFrame(t, b.conn, 3, false), Paged{UpTo: 3, More: false}); err != nil {
			t.Fatal(err)
		}
		room.Deliver([]Message{message(4, "a")})
		b.expect(t, "page 3", "deliver 4")
	})
}

func TestWindowFullTellsToPullOnceThenPageMakesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{Window: 3, Retransmit: -1}, nil)
		room := h.NewRoom("g:1", 1, 0, false)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 0, JoinOptions{})
		for seq := uint64(1); seq <= 6; seq++ {
			room.Deliver([]Message{message(seq, "a")})
		}
		synctest.Wait()
		b.expect(t, "deliver 1", "deliver 2", "deliver 3", "pull-now 4")
		b.quiet(t)
		m.Ack(3)
		// A page that stops short of the head leaves the member behind …
		_ = m.Page(pageFrame(t, b.conn, 5, true), Paged{UpTo: 5, More: true})
		room.Deliver([]Message{message(7, "a")})
		// … one that reached the head when it was read, but no longer does, is followed by pull-now …
		_ = m.Page(pageFrame(t, b.conn, 6, false), Paged{UpTo: 6, More: false})
		synctest.Wait()
		b.expect(t, "page 5", "page 6", "pull-now 7")
		b.quiet(t)
		// … and the one that reaches it makes the member live.
		_ = m.Page(pageFrame(t, b.conn, 7, false), Paged{UpTo: 7, More: false})
		m.Ack(7)
		room.Deliver([]Message{message(8, "a")})
		b.expect(t, "page 7", "deliver 8")
	})
}

// The window counts over all conversations of a connection.
func TestWindowIsPerConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{Window: 2, Retransmit: -1}, nil)
		b := connect(t, h, "b")
		one, two := h.NewRoom("g:1", 1, 0, false), h.NewRoom("g:2", 1, 0, false)
		m1, _ := one.Join(b.conn, 0, JoinOptions{})
		two.Join(b.conn, 0, JoinOptions{})
		one.Deliver([]Message{message(1, "a")})
		two.Deliver([]Message{message(1, "a")})
		two.Deliver([]Message{message(2, "a")})
		b.expect(t, "deliver 1", "deliver 1", "pull-now 2")
		m1.Ack(1)
		one.Deliver([]Message{message(2, "a")})
		b.expect(t, "deliver 2")
		m1.Leave() // what was in flight there is no longer
		if b.conn.inFlight != 1 {
			t.Errorf("in flight %d, want 1", b.conn.inFlight)
		}
	})
}

func TestOwnMessagesFillTheirGap(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 0, false)
	a := connect(t, h, "a")
	m, _ := room.Join(a.conn, 0, JoinOptions{})
	room.Deliver([]Message{sent(1, a), message(2, "b"), sent(3, a)})
	a.expect(t, "result 1", "deliver 2", "result 3")
	if cursor, _, _ := m.Status(); cursor != 1 {
		t.Errorf("cursor %d, want 1: the own message moved it, 2 isn't acked", cursor)
	}
	if cursor, moved := m.Ack(99); cursor != 3 || !moved {
		t.Errorf("ack past the head: cursor %d, want 3", cursor)
	}
	if _, moved := m.Ack(2); moved {
		t.Error("an older ack moved the cursor")
	}
	if a.conn.inFlight != 0 {
		t.Errorf("in flight %d, want 0", a.conn.inFlight)
	}
}

// An ack and the member's own sends cross: whoever only writes from then on
// has nothing left to ack, so the ack has to carry the cursor over its own
// messages, or trimming would wait for ever.
func TestAckJumpsOverOwnMessagesThatFollow(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 0, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	room.Deliver([]Message{message(1, "a"), sent(2, b), sent(3, b)})
	if cursor, moved := m.Ack(1); cursor != 3 || !moved {
		t.Errorf("cursor %d, want 3", cursor)
	}
	room.Deliver([]Message{sent(4, b)})
	if cursor, _, _ := m.Status(); cursor != 4 {
		t.Errorf("cursor %d, want 4", cursor)
	}
	// Runs apart: each ack reaches the end of the run right behind it, no further.
	room.Deliver([]Message{message(5, "a"), sent(6, b), message(7, "a"), sent(8, b)})
	for _, step := range []struct{ upTo, cursor uint64 }{{5, 5}, {7, 8}} {
		if cursor, _ := m.Ack(step.upTo); cursor != step.cursor {
			t.Errorf("ack %d: cursor %d, want %d", step.upTo, cursor, step.cursor)
		}
	}
	if b.conn.inFlight != 0 {
		t.Errorf("in flight %d, want 0", b.conn.inFlight)
	}
}

// Seqs that a page of an inbox lacks were acked by id: they are not in flight.
func TestGoneSeqsOfAPageAreNotInFlight(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("u:b", 1, 300, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	var gone []uint64
	for seq := uint64(2); seq <= 300; seq++ {
		gone = append(gone, seq)
	}
	_ = m.Page(pageFrame(t, b.conn, 300, false), Paged{UpTo: 300, Gone: gone})
	m.AckIDs([]uint64{1})
	if cursor, _, state := m.Status(); cursor != 300 || state != Live || b.conn.inFlight != 0 {
		t.Errorf("cursor %d, %v, in flight %d; want 300, live, 0", cursor, state, b.conn.inFlight)
	}
}

func TestAckIDs(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("u:b", 1, 0, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	room.Deliver([]Message{message(1, "a"), message(2, "a"), message(3, "a")})
	for _, step := range []struct {
		ids    []uint64
		cursor uint64
	}{{[]uint64{3, 99}, 0}, {[]uint64{1}, 1}, {[]uint64{2}, 3}} {
		m.AckIDs(step.ids)
		if cursor, _, _ := m.Status(); cursor != step.cursor {
			t.Errorf("after %v: cursor %d, want %d", step.ids, cursor, step.cursor)
		}
	}
	if b.conn.inFlight != 0 {
		t.Errorf("in flight %d, want 0", b.conn.inFlight)
	}
}

func TestCountOnlyIsNeitherPushedNorRetransmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{msgs: []Message{message(1, "a"), message(2, "a")}}
		h := startHub(t, Config{Retransmit: time.Second}, log)
		room := h.NewRoom("g:1", 1, 0, false)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 0, JoinOptions{})
		room.Deliver(log.msgs[:1])
		b.expect(t, "deliver 1")
		m.SetOpen(false)
		room.Deliver(log.msgs[1:])
		time.Sleep(time.Minute)
		synctest.Wait()
		b.quiet(t)
		if state := m.SetOpen(true); state != Behind {
			t.Errorf("opened with a message missed: %v, want behind", state)
		}
		_ = m.Page(pageFrame(t, b.conn, 2, false), Paged{UpTo: 2, More: false})
		room.Deliver([]Message{message(3, "a")})
		b.expect(t, "page 2", "deliver 3")
	})
}

// One encoding per message, whatever the number of members: what a delivery
// adds to each member's queue allocates nothing.
func TestDeliverAllocatesPerMessageNotPerDelivery(t *testing.T) {
	h := New(Config{})
	room := h.NewRoom("g:1", 1, 0, false)
	var conns []*Conn
	for range 500 {
		server, _ := net.Pipe()
		c := h.NewConn("b", server, Binary) // not begun: the queue only grows
		c.queue = make([][]byte, 0, 8)
		room.Join(c, 0, JoinOptions{})
		conns = append(conns, c)
	}
	seq := uint64(0)
	msg := []Message{message(0, "a")}
	allocs := testing.AllocsPerRun(100, func() {
		seq++
		msg[0].Seq = seq
		room.Deliver(msg)
		for _, c := range conns {
			c.queue, c.bytes, c.inFlight = c.queue[:0], 0, 0
		}
	})
	if perDelivery := allocs / 500; perDelivery > 0.01 {
		t.Errorf("%.0f allocations for 500 deliveries", allocs)
	}
	for _, c := range conns {
		c.Abort()
	}
}

func TestJSONForm(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	server, client := net.Pipe()
	defer client.Close()
	c := h.NewConn("b", server, JSON)
	defer c.Abort()
	room := h.NewRoom("g:1", 7, 0, false)
	room.Join(c, 0, JoinOptions{})
	if err := c.Begin(&wire.Frame{Welcome: &wire.Welcome{User: "b"}}); err != nil {
		t.Fatal(err)
	}
	room.Deliver([]Message{{Seq: 1, Sender: "a", Record: wire.AppendRecord(nil, "a", "m1", "hi", 5)}})
	r := wire.NewReader(client, 512, 1<<20, false)
	for _, want := range []string{
		`{"welcome":{"user":"b"}}`,
		`{"deliver":{"conversation":"g:1","epoch":7,"seq":1,"sender":"a","client_msg_id":"m1","body":"hi","time_ms":5}}`,
	} {
		_, payload, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if string(payload) != want {
			t.Errorf("got %s\nwant %s", payload, want)
		}
	}
}
