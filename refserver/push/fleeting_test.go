package push

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// In a fleeting room nothing is in flight: the window never fills and nothing
// is sent again; acks move the cursor all the same.
func TestFleetingPushIsDoneOnceQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{Window: 2, Retransmit: time.Second}, &memLog{msgs: []Message{message(1, "a")}})
		room := h.NewRoom("g:1", 1, 0, true)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 0, JoinOptions{})
		for seq := uint64(1); seq <= 5; seq++ {
			sender := "a"
			if seq == 3 {
				sender = "b"
			}
			msgs := []Message{message(seq, sender)}
			if room.Deliver(msgs); msgs[0].Pushed != (sender == "a") {
				t.Errorf("seq %d of %s: pushed %v", seq, sender, msgs[0].Pushed)
			}
		}
		b.expect(t, "deliver 1", "deliver 2", "deliver 4", "deliver 5")
		time.Sleep(time.Hour)
		synctest.Wait()
		b.quiet(t)
		if b.conn.inFlight != 0 {
			t.Errorf("in flight %d, want 0", b.conn.inFlight)
		}
		if cursor, moved := m.Ack(4); cursor != 4 || !moved || b.conn.inFlight != 0 {
			t.Errorf("acked 4: cursor %d, %v, in flight %d", cursor, moved, b.conn.inFlight)
		}
		m.Leave()
		if b.conn.inFlight != 0 {
			t.Errorf("left: in flight %d, want 0", b.conn.inFlight)
		}
	})
}

// Who is reached is who gets it.
func TestReaches(t *testing.T) {
	h := startHub(t, Config{QueueFrames: 1, QueueBytes: 1 << 20}, &memLog{})
	for _, tc := range []struct {
		user string
		join func(room *Room) *Conn
		want bool
	}{
		{"live", func(room *Room) *Conn {
			p := connect(t, h, "live")
			room.Join(p.conn, 1, JoinOptions{})
			return p.conn
		}, true},
		{"nobody", func(*Room) *Conn { return nil }, false},
		{"behind", func(room *Room) *Conn {
			p := connect(t, h, "behind")
			room.Join(p.conn, 0, JoinOptions{})
			return p.conn
		}, false},
		{"closed", func(room *Room) *Conn {
			p := connect(t, h, "closed")
			room.Join(p.conn, 1, JoinOptions{Closed: true})
			return p.conn
		}, false},
		{"ending", func(room *Room) *Conn {
			p := connect(t, h, "ending")
			room.Join(p.conn, 1, JoinOptions{})
			p.conn.Close(ws.StatusGoingAway, "bye")
			return p.conn
		}, false},
		{"full", func(room *Room) *Conn {
			p := dial(h, "full") // it doesn't begin: its queue only grows
			room.Join(p.conn, 1, JoinOptions{})
			_ = p.conn.SendControl([]byte("x"))
			return p.conn
		}, false},
	} {
		t.Run(tc.user, func(t *testing.T) {
			room := h.NewRoom("u:"+tc.user, 1, 1, true)
			if c := tc.join(room); c != nil {
				defer c.Abort()
			}
			if got := room.Reaches(tc.user); got != tc.want {
				t.Errorf("reached: %v", got)
			}
			msgs := []Message{message(2, "a")}
			if room.Deliver(msgs); msgs[0].Pushed != tc.want {
				t.Errorf("pushed: %v", msgs[0].Pushed)
			}
		})
	}
}

// A page that is read after a message was stored and before it is dispatched
// carries it: it isn't pushed again, and it isn't missed.
func TestPageAheadOfTheRoom(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("u:b", 1, 1, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	_ = m.Page(pageFrame(t, b.conn, 2, false), Paged{UpTo: 2})
	room.Deliver([]Message{message(2, "a"), message(3, "a")})
	b.expect(t, "page 2", "deliver 3")
	if b.conn.inFlight != 3 {
		t.Errorf("in flight %d, want 3", b.conn.inFlight)
	}
	m.Ack(3)
	if b.conn.inFlight != 0 {
		t.Errorf("acked: in flight %d, want 0", b.conn.inFlight)
	}
}

// A large answer counts as half a queue: what comes right behind it is no
// reason to end a client that reads.
func TestLargeAnswer(t *testing.T) {
	h := startHub(t, Config{QueueBytes: 1 << 10}, &memLog{})
	b := dial(h, "b")
	defer b.conn.Abort()
	large, err := b.conn.Form().encode(&wire.Frame{Friends: &wire.Friends{Friends: []string{strings.Repeat("x", 1<<20)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range [][]byte{large, {1}, {2}} { // still queued: the connection has not begun
		if err := b.conn.SendControl(frame); err != nil {
			t.Fatal(err)
		}
	}
	room := h.NewRoom("u:b", 1, 0, false)
	room.Join(b.conn, 0, JoinOptions{})
	msgs := []Message{message(1, "a")}
	if room.Deliver(msgs); !msgs[0].Pushed {
		t.Error("a message behind it finds no room")
	}
	if got := b.conn.bytes; got >= 2<<10 {
		t.Errorf("%d bytes queued, want less than twice the limit", got)
	}
}

// A client that takes a large answer slowly, but steadily, gets all of it.
func TestLargeAnswerToASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHub(t, Config{WriteTimeout: 10 * time.Second}, &memLog{})
		server, client := net.Pipe()
		defer client.Close()
		c := h.NewConn("b", server, Binary)
		defer c.Abort()
		if err := c.Begin(&wire.Frame{Welcome: &wire.Welcome{}}); err != nil {
			t.Fatal(err)
		}
		const size = 5*writePart + 1
		if err := c.SendControl(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		began, got, buf := time.Now(), 0, make([]byte, writePart/2)
		for got < size {
			time.Sleep(4 * time.Second) // 8 s for a part, 40 s for all
			n, err := client.Read(buf)
			if err != nil {
				t.Fatalf("after %d bytes and %s: %v", got, time.Since(began), err)
			}
			got += n
		}
	})
}
