package push

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func stands(t *testing.T, what string, m *Member, cursor uint64, state State, inFlight int) {
	t.Helper()
	if c, _, s := m.Status(); c != cursor || s != state || m.conn.inFlight != inFlight {
		t.Errorf("%s: cursor %d, %v, in flight %d; want %d, %v, %d", what, c, s, m.conn.inFlight, cursor, state, inFlight)
	}
}

// A member that is live from the head on has nothing in flight of what waits
// below, and that isn't sent again; its acks move the cursor through it.
func TestLiveFromTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{}
		for seq := uint64(1); seq <= 8; seq++ {
			log.msgs = append(log.msgs, message(seq, "a"))
		}
		h := startHub(t, Config{Retransmit: 8 * time.Second}, log)
		room := h.NewRoom("u:b", 1, 5, false)
		b := connect(t, h, "b")
		m, _ := room.Join(b.conn, 2, JoinOptions{Live: true})
		stands(t, "joined", m, 2, Live, 0)
		room.Deliver(log.msgs[5:])
		b.expect(t, "deliver 6", "deliver 7", "deliver 8")
		stands(t, "pushed", m, 2, Live, 3)

		m.AckIDs([]uint64{3, 7}) // 3 lies below: the store's business
		stands(t, "7 by id", m, 2, Live, 2)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		b.expect(t, "deliver 6", "deliver 8")
		b.quiet(t)

		m.Ack(4)
		stands(t, "up to 4", m, 4, Live, 2)
		m.AckIDs([]uint64{6})
		stands(t, "6 by id", m, 4, Live, 1)
		m.Ack(5)
		stands(t, "up to 5: 6 and 7 follow", m, 7, Live, 1)
		m.Ack(8)
		stands(t, "up to 8", m, 8, Live, 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.quiet(t)
	})
}

// Its own messages stand in the live part or follow an ack, as everybody's do.
func TestOwnMessagesOfALiveMember(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 5, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 2, JoinOptions{Live: true})
	room.Deliver([]Message{sent(6, b), message(7, "a"), sent(8, b)})
	b.expect(t, "result 6", "deliver 7", "result 8")
	stands(t, "sent", m, 2, Live, 2) // 7, and 8 behind it
	if cursor, moved := m.Ack(5); cursor != 6 || !moved {
		t.Errorf("acked 5: cursor %d, want 6, its own", cursor)
	}
	if cursor, _ := m.Ack(7); cursor != 8 {
		t.Errorf("acked 7: cursor %d, want 8, its own", cursor)
	}
	stands(t, "acked", m, 8, Live, 0)
}

func TestClosedAtFirst(t *testing.T) {
	for _, tc := range []struct {
		name string
		live bool
		want State
	}{{"opened behind", false, Behind}, {"opened live", true, Live}} {
		t.Run(tc.name, func(t *testing.T) {
			h := startHub(t, Config{}, &memLog{})
			room := h.NewRoom("g:1", 1, 3, false)
			b := connect(t, h, "b")
			m, _ := room.Join(b.conn, 1, JoinOptions{Closed: true, Live: tc.live})
			room.Deliver([]Message{message(4, "a")})
			stands(t, "closed", m, 1, CountOnly, 0)
			if got := m.SetOpen(true); got != tc.want {
				t.Errorf("opened: %v, want %v", got, tc.want)
			}
			stands(t, "opened", m, 1, tc.want, 0)
			if !tc.live {
				_ = m.Page(pageFrame(t, b.conn, 4, false), Paged{UpTo: 4})
				b.expect(t, "page 4")
				stands(t, "paged", m, 1, Live, 3)
			}
			room.Deliver([]Message{message(5, "a")})
			b.expect(t, "deliver 5")
		})
	}
}

// Closing takes what is in flight out of it: a client that never acks a closed
// group must not lose its window to it.
func TestClosingEndsWhatIsInFlight(t *testing.T) {
	h := startHub(t, Config{Window: 2}, &memLog{})
	one, two := h.NewRoom("g:1", 1, 0, false), h.NewRoom("g:2", 1, 0, false)
	b := connect(t, h, "b")
	m, _ := one.Join(b.conn, 0, JoinOptions{})
	two.Join(b.conn, 0, JoinOptions{})
	one.Deliver([]Message{message(1, "a"), message(2, "a")})
	m.SetOpen(false)
	stands(t, "closed", m, 0, CountOnly, 0)
	two.Deliver([]Message{message(1, "a"), message(2, "a")})
	b.expect(t, "deliver 1", "deliver 2", "deliver 1", "deliver 2")
	m.Ack(2) // it had them
	stands(t, "acked after", m, 2, CountOnly, 2)
	if got := m.SetOpen(true); got != Live {
		t.Errorf("opened with nothing missed: %v", got)
	}
}

// Until Resume a member is not pushed to: what is dispatched meanwhile is pulled.
func TestHoldAndResume(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cursor uint64 // that the store names
		want   State
	}{{"nothing stored up to the head then", 3, Behind}, {"something stored", 1, Behind}, {"and nothing since", 4, Live}} {
		t.Run(tc.name, func(t *testing.T) {
			h := startHub(t, Config{}, &memLog{})
			room := h.NewRoom("g:1", 1, 3, true)
			b := connect(t, h, "b")
			m, head := room.Join(b.conn, 0, JoinOptions{Hold: true})
			if head != 3 || room.Reaches("b") {
				t.Errorf("head %d, reached %v; want 3, false", head, room.Reaches("b"))
			}
			msgs := []Message{message(4, "a")}
			if room.Deliver(msgs); msgs[0].Pushed {
				t.Error("pushed to a member that is held")
			}
			m.Resume(tc.cursor)
			stands(t, "resumed", m, tc.cursor, tc.want, 0)
			m.Resume(0) // once
			stands(t, "resumed again", m, tc.cursor, tc.want, 0)
		})
	}
}

// A page that is queued already, as a part of a sync, makes its member live, or
// tells it to pull on.
func TestPageOfASync(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("g:1", 1, 2, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	room.Deliver([]Message{message(3, "a")}) // since the page was read
	_ = b.conn.SendControl(pageFrame(t, b.conn, 2, false))
	_ = m.Page(nil, Paged{UpTo: 2})
	b.expect(t, "page 2", "pull-now 3")
	stands(t, "behind", m, 0, Behind, 2)
	_ = b.conn.SendControl(pageFrame(t, b.conn, 3, false))
	_ = m.Page(nil, Paged{UpTo: 3})
	room.Deliver([]Message{message(4, "a")})
	b.expect(t, "page 3", "deliver 4")
	stands(t, "live", m, 0, Live, 4)
}

func TestNewestPageMakesLive(t *testing.T) {
	h := startHub(t, Config{}, &memLog{})
	room := h.NewRoom("u:b", 1, 9, false)
	b := connect(t, h, "b")
	m, _ := room.Join(b.conn, 0, JoinOptions{})
	_ = m.Page(pageFrame(t, b.conn, 4, true), Paged{UpTo: 4, More: true, Newest: true}) // a part below the head
	stands(t, "lower part", m, 0, Behind, 0)
	_ = m.Page(pageFrame(t, b.conn, 9, true), Paged{UpTo: 9, More: true, Newest: true})
	stands(t, "newest part", m, 0, Live, 0)
	room.Deliver([]Message{message(10, "a")})
	b.expect(t, "page 4", "page 9", "deliver 10")
	stands(t, "pushed", m, 0, Live, 1)
}

// Whatever happens to a member, what its connection counts as in flight is what
// the member has in flight, and its cursor never goes back or past what it was sent.
func TestInFlightIsAccounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(Config{Window: 8})
		head := rapid.Uint64Range(0, 5).Draw(t, "head")
		room := h.NewRoom("u:b", 1, head, rapid.Bool().Draw(t, "fleeting"))
		b := dial(h, "b")
		defer b.sock.Close()
		defer b.conn.Abort()
		m, _ := room.Join(b.conn, rapid.Uint64Range(0, 6).Draw(t, "cursor"), JoinOptions{
			Live: rapid.Bool().Draw(t, "live"), Closed: rapid.Bool().Draw(t, "closed"), Hold: rapid.Bool().Draw(t, "hold"),
		})
		last := uint64(0)
		seq := rapid.Custom(func(t *rapid.T) uint64 { return rapid.Uint64Range(0, room.Head()+2).Draw(t, "seq") })
		deliver := func(t *rapid.T) {
			by := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "sender")
			room.Deliver([]Message{{Seq: room.Head() + rapid.Uint64Range(1, 2).Draw(t, "step"), Sender: by}})
		}
		for range rapid.IntRange(0, 3).Draw(t, "before Resume") {
			deliver(t)
		}
		m.Resume(seq.Draw(t, "cursor"))
		t.Repeat(map[string]func(*rapid.T){
			"deliver": deliver,
			"ack":     func(t *rapid.T) { m.Ack(seq.Draw(t, "up to")) },
			"ids":     func(t *rapid.T) { m.AckIDs(rapid.SliceOfN(seq, 1, 3).Draw(t, "ids")) },
			"open":    func(t *rapid.T) { m.SetOpen(rapid.Bool().Draw(t, "open")) },
			"page": func(t *rapid.T) {
				p := Paged{UpTo: seq.Draw(t, "up to"), Newest: rapid.Bool().Draw(t, "newest")}
				p.More = p.UpTo < room.Head()
				p.Gone = rapid.SliceOfN(rapid.Uint64Range(0, min(p.UpTo, room.Head())), 0, 2).Draw(t, "gone")
				_ = m.Page([]byte("page"), p)
			},
			"": func(t *rapid.T) {
				cursor, head, _ := m.Status()
				if cursor < last || cursor > max(head, m.pushed) { // a page may be ahead of the room
					t.Fatalf("cursor %d after %d, head %d", cursor, last, head)
				}
				last = cursor
				if got := m.flight(); got < 0 || got != b.conn.inFlight {
					t.Fatalf("the member has %d in flight, its connection %d", got, b.conn.inFlight)
				}
				b.conn.queue, b.conn.bytes = nil, 0
			},
		})
		m.Leave()
		if b.conn.inFlight != 0 {
			t.Fatalf("left with %d in flight", b.conn.inFlight)
		}
	})
}
