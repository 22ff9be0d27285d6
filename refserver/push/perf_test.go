package push

import (
	"net"
	"syscall"
	"testing"
	"time"

	"ackmark/refserver/wire"
	"ackmark/results/pair"
)

// fanoutMembers is the group of the ack storm.
const fanoutMembers = 500

// perTurn is how many messages a turn of a comparison fans out; a client's
// socket buffer holds them all, it is emptied between turns.
const perTurn = 40

type sockets struct {
	servers []net.Conn
	clients []int // descriptors
}

func openSockets(b testing.TB, n int) *sockets {
	b.Helper()
	s := &sockets{}
	for range n {
		server, client := tcpPair(b)
		s.servers = append(s.servers, server)
		s.clients = append(s.clients, takeFD(b, client))
	}
	return s
}

// takeFD takes a client's descriptor away from Go's poller: what arrives there
// would wake whatever thread of this process waits in it, and count as the
// sender's CPU.
func takeFD(b testing.TB, c net.Conn) (fd int) {
	b.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	if err := raw.Control(func(old uintptr) { fd, err = syscall.Dup(int(old)) }); err != nil {
		b.Fatal(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	_ = c.Close()
	b.Cleanup(func() { _ = syscall.Close(fd) })
	return fd
}

// drain empties what the clients have received.
func (s *sockets) drain() {
	buf := make([]byte, 256<<10)
	for _, fd := range s.clients {
		for {
			if n, err := syscall.Read(fd, buf); n <= 0 || err != nil {
				break
			}
		}
	}
}

func fanoutMessage(seq uint64) Message {
	body := string(make([]byte, 200))
	return Message{Seq: seq, Sender: "a", Record: wire.AppendRecord(nil, "a", "r1.0.12345", body, 1<<40)}
}

// fanout is the push room with all members online.
func fanout(b testing.TB, joined int) (pair.Side, func()) {
	socks := openSockets(b, fanoutMembers)
	h := New(Config{Window: 1 << 30, Retransmit: -1})
	h.Start(nil)
	room := h.NewRoom("g:storm", 1, 0, false)
	var members []*Member
	for i, server := range socks.servers {
		c := h.NewConn("u"+string(rune('0'+i%10)), server, Binary)
		if err := c.Begin(&wire.Frame{Welcome: &wire.Welcome{}}); err != nil {
			b.Fatal(err)
		}
		m, _ := room.Join(c, 0, JoinOptions{})
		members = append(members, m)
	}
	seq := uint64(0)
	record := fanoutMessage(1).Record
	msgs := make([]Message, joined)
	written := func(want uint64) {
		for h.stats.frames.Load() < want {
			time.Sleep(200 * time.Microsecond)
		}
	}
	written(fanoutMembers)
	socks.drain()
	side := pair.Side{
		Name: "push",
		Run: func(deliveries int) {
			before := h.Stats().Frames
			for range deliveries / fanoutMembers / joined {
				for i := range msgs {
					seq++
					msgs[i] = Message{Seq: seq, Sender: "a", Record: record}
				}
				room.Deliver(msgs)
				before += uint64(fanoutMembers * joined)
				written(before) // else messages would be joined that a slower sender doesn't join
			}
		},
		Reset: func() {
			socks.drain()
			for _, m := range members {
				m.Ack(seq)
			}
		},
	}
	return side, func() {
		for _, c := range h.snapshot() {
			c.Abort()
		}
		close(h.stop)
		for _, f := range h.flushers {
			f.close()
		}
		h.wg.Wait()
	}
}

// bare writes the prebuilt frame of each message to each connection, with one
// net.Conn.Write each (raw: write(2)), joined frames at a time.
func bare(b testing.TB, joined int, raw bool) pair.Side {
	socks := openSockets(b, fanoutMembers)
	m := fanoutMessage(1)
	var frames []byte
	for range joined {
		frames = wire.AppendDeliverMessage(frames, "g:storm", 1, m.Seq, m.Record)
	}
	fds := make([]int, len(socks.servers))
	for i, c := range socks.servers {
		conn, err := c.(syscall.Conn).SyscallConn()
		if err != nil {
			b.Fatal(err)
		}
		_ = conn.Control(func(fd uintptr) { fds[i] = int(fd) })
	}
	return pair.Side{
		Name: "bare",
		Run: func(deliveries int) {
			for range deliveries / fanoutMembers / joined {
				for i, c := range socks.servers {
					var err error
					if raw {
						_, err = syscall.Write(fds[i], frames)
					} else {
						_, err = c.Write(frames)
					}
					if err != nil {
						panic(err)
					}
				}
			}
		},
		Reset: socks.drain,
	}
}

// BenchmarkFanout holds pushing one message to 500 connections against bare
// writes of prebuilt frames, at most 1.25 × the CPU and no allocation per delivery.
func BenchmarkFanout(b *testing.B) {
	for _, c := range []struct {
		name   string
		joined int
	}{{"each", 1}, {"joined10", 10}} {
		b.Run(c.name, func(b *testing.B) {
			ours, stop := fanout(b, c.joined)
			defer stop()
			pair.Bench(b, perTurn*fanoutMembers, bare(b, c.joined, false), ours)
			pair.Limit(b, 1.25)
		})
	}
}

// BenchmarkFanoutFloor shows that the floor is honest: at most 1.2 × write(2).
func BenchmarkFanoutFloor(b *testing.B) {
	pair.Require(b, pair.Bench(b, perTurn*fanoutMembers, bare(b, 1, true), bare(b, 1, false)), 1.2)
}
