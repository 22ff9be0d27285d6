package server

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"testing"
	"time"

	"github.com/gobwas/ws"
	"golang.org/x/sys/unix"

	"ackmark/refserver/gateway"
	"ackmark/refserver/wire"
)

// crowd is the members of one group, all online, driven by one thread in
// epoll(7): it has to be cheaper than any server, and the same for all.
type crowd struct {
	tb      testing.TB
	to      string
	ep      int
	members map[int32]*crowdMember // by descriptor
	order   []*crowdMember
	events  []unix.EpollEvent
	buf     []byte
	body    []byte
	ack     int // acks every so many deliveries

	sent, delivered, results uint64
}

// crowdMember is one client.
type crowdMember struct {
	fd      int
	rest    []byte // the part of a frame that has come so far
	out     []byte
	view    wire.View
	last    uint64 // newest seq
	epoch   uint64
	unacked int
}

// dialWelcome connects a user by hand and waits for its welcome.
func dialWelcome(ctx context.Context, addr, user string) (fd int, err error) {
	token, err := gateway.NewTokens(DevSecret, time.Now).Mint(user, time.Hour)
	if err != nil {
		return 0, err
	}
	d := ws.Dialer{
		Protocols: []string{wire.SubprotocolBinary},
		Header:    ws.HandshakeHeaderHTTP(http.Header{"Authorization": {"Bearer " + token}}),
		Timeout:   20 * time.Second,
	}
	sock, early, _, err := d.Dial(ctx, "ws://"+addr+"/v1/connect")
	if err != nil {
		return 0, err
	}
	defer sock.Close()
	if early != nil {
		return 0, fmt.Errorf("%s: the server spoke before the hello", user)
	}
	hello, err := wire.AppendFrame(nil, &wire.Frame{Hello: &wire.Hello{}})
	if err != nil {
		return 0, err
	}
	if _, err := sock.Write(wire.AppendMasked(nil, ws.OpBinary, hello, rand.Uint32())); err != nil {
		return 0, err
	}
	var v wire.View
	_, payload, err := wire.NewReader(sock, 1024, 1<<20, false).Next()
	if err == nil {
		err = v.Decode(payload)
	}
	if err != nil || v.Kind != wire.FrameWelcome {
		return 0, fmt.Errorf("%s: got %v, %v, want a welcome", user, v.Kind, err)
	}
	return takeFD(sock)
}

// gather connects a group's members to a child.
func gather(tb testing.TB, c *child, group int) *crowd {
	tb.Helper()
	w := &crowd{
		tb: tb, to: wire.Group(perfGroup(group)), members: make(map[int32]*crowdMember),
		events: make([]unix.EpollEvent, 256), buf: make([]byte, 64<<10), body: bytes.Repeat([]byte{'x'}, 200), ack: 1,
	}
	var err error
	if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.leave)
	for i := range stormSize {
		fd, err := dialWelcome(context.Background(), c.addr, perfUser(group, i))
		if err != nil {
			tb.Fatal(err)
		}
		m := &crowdMember{fd: fd}
		w.members[int32(fd)] = m
		w.order = append(w.order, m)
		if err := watch(w.ep, fd); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

func (w *crowd) leave() {
	for _, m := range w.order {
		_ = unix.Close(m.fd)
	}
	_ = unix.Close(w.ep)
}

// settle is how long a turn waits for the server to read the last acks and to
// store their cursors.
const settle = 20 * time.Millisecond

// patienceFor is how long a delivery may take.
const patienceFor = 10 * time.Second

// run sends messages, from one member after the other, at a rate per second,
// or, with rate 0, as many at once as inFlight allows, until everybody has all
// of them and has acked.
func (w *crowd) run(messages, rate, inFlight int) {
	began, last := time.Now(), time.Now()
	sent, until, before := 0, w.delivered+uint64(messages*(stormSize-1)), w.delivered
	for w.delivered < until {
		now := time.Now()
		wait := patienceFor
		for sent < messages {
			if rate > 0 {
				if wait = began.Add(time.Duration(sent) * time.Second / time.Duration(rate)).Sub(now); wait > 0 {
					break
				}
			} else if sent-int((w.delivered-before)/(stormSize-1)) >= inFlight {
				break
			}
			wait = patienceFor
			w.send()
			sent++
		}
		n, err := unix.EpollWait(w.ep, w.events, int((wait+time.Millisecond-1)/time.Millisecond))
		if err != nil && err != unix.EINTR {
			w.tb.Fatal(err)
		}
		for _, e := range w.events[:max(n, 0)] {
			w.read(w.members[e.Fd])
			last = time.Now()
		}
		if time.Since(last) > patienceFor {
			w.tb.Fatalf("%d of %d deliveries are missing", until-w.delivered, until-before)
		}
	}
	time.Sleep(settle)
}

func (w *crowd) send() {
	m := w.order[w.sent%stormSize]
	w.sent++
	payload := wire.AppendSend(nil, w.sent, w.to, fmt.Sprintf("r1.0.%d", w.sent), w.body)
	w.write(m, wire.AppendMasked(nil, ws.OpBinary, payload, rand.Uint32()))
}

func (w *crowd) write(m *crowdMember, b []byte) {
	if n, err := unix.Write(m.fd, b); n < len(b) {
		w.tb.Fatalf("wrote %d of %d bytes: %v", n, len(b), err)
	}
}

// read takes what has arrived for one member, and acks.
func (w *crowd) read(m *crowdMember) {
	n, err := unix.Read(m.fd, w.buf)
	if n <= 0 {
		if err == unix.EAGAIN || err == unix.EINTR {
			return
		}
		w.tb.Fatalf("the server hung up: %v", err)
	}
	b := w.buf[:n]
	if len(m.rest) > 0 {
		m.rest = append(m.rest, b...)
		b = m.rest
	}
	for {
		head, size := 2, 0
		if len(b) >= 2 {
			size = int(b[1])
		}
		if size == 126 && len(b) >= 4 {
			head, size = 4, int(b[2])<<8|int(b[3])
		}
		if len(b) < head+size || len(b) < 2 {
			break
		}
		if ws.OpCode(b[0]&0xf) == ws.OpPing {
			w.write(m, wire.AppendMasked(nil, ws.OpPong, b[head:head+size], rand.Uint32()))
		} else {
			w.frame(m, b[head:head+size])
		}
		b = b[head+size:]
	}
	m.rest = append(m.rest[:0], b...)
}

func (w *crowd) frame(m *crowdMember, payload []byte) {
	if err := m.view.Decode(payload); err != nil {
		w.tb.Fatal(err)
	}
	switch m.view.Kind {
	case wire.FrameDeliver:
		d := &m.view.Deliver
		w.delivered++
		m.last, m.epoch = d.Seq, d.Epoch
		if m.unacked++; m.unacked >= w.ack {
			w.acknowledge(m)
		}
	case wire.FrameSendResult:
		w.results++
	default:
		w.tb.Fatalf("got a frame of kind %v", m.view.Kind)
	}
}

// acknowledge writes one ack request by itself, as a client does that acks
// what it has shown.
func (w *crowd) acknowledge(m *crowdMember) {
	m.unacked = 0
	m.out = wire.AppendMasked(m.out[:0], ws.OpBinary, wire.AppendAck(nil, 0, w.to, m.epoch, m.last), 0x5a17c0de)
	w.write(m, m.out)
}

// flush acks what is left of the batches.
func (w *crowd) flush() {
	for _, m := range w.order {
		if m.unacked > 0 {
			w.acknowledge(m)
		}
	}
	time.Sleep(settle)
}
