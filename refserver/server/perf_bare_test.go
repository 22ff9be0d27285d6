package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gobwas/ws"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"

	"ackmark/refserver/wire"
)

// The bare gateway does the least that the shape of the storm asks for: it
// answers WebSocket handshakes, adds each send to a Redis stream with all that
// wait in one pipeline, writes the message's one frame to all others, what
// waits for a connection joined into one write, and reads and counts acks. No
// tokens, no members, no dedup, no cursors, no redelivery, no bounds.

// gatewayEpoch is what the children that aren't servers call their epoch.
const gatewayEpoch = 1

// outgoing is one stored message on its way: to its sender goes the result.
type outgoing struct {
	sender        int
	frame, result []byte
}

func newOutgoing(sender int, seq uint64, send *wire.SendView) outgoing {
	record := wire.AppendRecord(nil, perfUser(0, sender), string(send.ClientMsgID), string(send.Body), time.Now().UnixMilli())
	return outgoing{
		sender: sender,
		frame:  wire.AppendDeliverMessage(nil, string(send.To), gatewayEpoch, seq, record),
		result: wire.AppendMessage(nil, ws.OpBinary, wire.AppendSendResult(nil, &wire.SendResultView{
			Ref: send.Ref, ClientMsgID: send.ClientMsgID, Conversation: send.To, Epoch: gatewayEpoch, Seq: seq,
		})),
	}
}

// joinedFor is what one connection gets of a batch; shared is what everybody
// gets who sent nothing of it.
func joinedFor(i int, batch []outgoing, shared []byte) []byte {
	for _, o := range batch {
		if o.sender != i {
			continue
		}
		var own []byte
		for _, o := range batch {
			if o.sender == i {
				own = append(own, o.result...)
			} else {
				own = append(own, o.frame...)
			}
		}
		return own
	}
	return shared
}

func appendShared(dst []byte, batch []outgoing) []byte {
	for _, o := range batch {
		dst = append(dst, o.frame...)
	}
	return dst
}

// welcomed answers a handshake and the hello behind it.
func welcomed(conn net.Conn, r *wire.Reader) error {
	u := ws.Upgrader{Protocol: func(p []byte) bool { return string(p) == wire.SubprotocolBinary }}
	if _, err := u.Upgrade(conn); err != nil {
		return err
	}
	if _, _, err := r.Next(); err != nil {
		return err
	}
	payload, err := wire.AppendFrame(nil, &wire.Frame{Welcome: &wire.Welcome{Epoch: gatewayEpoch}})
	if err != nil {
		return err
	}
	_, err = conn.Write(wire.AppendMessage(nil, ws.OpBinary, payload))
	return err
}

type bareConn struct {
	fd   int
	acks uint64
}

type bareSend struct {
	sender  int
	payload []byte
	view    wire.SendView
}

type bare struct {
	redis  *redis.Client
	sends  chan bareSend
	stored chan outgoing

	mu    sync.Mutex
	conns []*bareConn
}

// waiting takes one value from a channel and all others that wait, at most most.
func waiting[T any](ch chan T, batch []T, most int) []T {
	v, ok := <-ch
	if !ok {
		return nil
	}
	batch = append(batch, v)
	for len(batch) < most {
		select {
		case v, ok := <-ch:
			if !ok {
				return batch
			}
			batch = append(batch, v)
		default:
			return batch
		}
	}
	return batch
}

func bareGateway() (addr string, stop func(), err error) {
	runtime.GOMAXPROCS(1) // threads that wake each other cost CPU, and it has nothing to do side by side
	opt, err := redis.ParseURL(os.Getenv(perfRedis))
	if err != nil {
		return "", nil, err
	}
	g := &bare{redis: redis.NewClient(opt), sends: make(chan bareSend, 1024), stored: make(chan outgoing, 1024)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go g.store()
	go g.fanOut()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go g.serve(c)
		}
	}()
	return ln.Addr().String(), func() { ln.Close() }, nil
}

func (g *bare) serve(sock net.Conn) {
	if err := welcomed(sock, wire.NewReader(sock, 512, 256<<10, true)); err != nil {
		fmt.Fprintln(os.Stderr, "bare gateway:", err)
		return
	}
	rc, err := sock.(syscall.Conn).SyscallConn()
	if err != nil {
		return
	}
	c := &bareConn{}
	_ = rc.Control(func(fd uintptr) { c.fd = int(fd) })
	g.mu.Lock()
	me := len(g.conns)
	g.conns = append(g.conns, c)
	g.mu.Unlock()
	src := &tryReader{fd: c.fd}
	r := wire.NewReader(src, 512, 256<<10, true)
	_ = rc.Read(func(uintptr) bool {
		src.drained = false
		for {
			_, payload, err := r.Next()
			if err != nil {
				return err != errDrained
			}
			g.frame(c, me, payload)
		}
	})
}

func (g *bare) frame(c *bareConn, me int, payload []byte) {
	switch kind, _, n := protowire.ConsumeTag(payload); wire.FrameKind(kind) {
	case wire.FrameAck:
		c.acks++
	case wire.FrameSend:
		own := append([]byte(nil), payload[n:]...)
		b, _ := protowire.ConsumeBytes(own)
		s := bareSend{sender: me, payload: own}
		if err := s.view.Decode(b); err != nil {
			panic(err)
		}
		g.sends <- s
	}
}

var errDrained = errors.New("nothing more has come")

// tryReader reads without waiting, and spares the read(2) that would only say
// that nothing more has come: the one before wasn't full.
type tryReader struct {
	fd      int
	drained bool
}

func (t *tryReader) Read(p []byte) (int, error) {
	if t.drained {
		return 0, errDrained
	}
	n, err := unix.Read(t.fd, p)
	t.drained = n < len(p)
	switch {
	case n > 0:
		return n, nil
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, errDrained
	case err != nil:
		return 0, err
	}
	return 0, io.EOF
}

func (g *bare) store() {
	ctx := context.Background()
	var batch []bareSend
	for {
		if batch = waiting(g.sends, batch[:0], 512); batch == nil {
			return
		}
		pipe := g.redis.Pipeline()
		for i := range batch {
			pipe.XAdd(ctx, &redis.XAddArgs{Stream: "bare", ID: "0-*", Values: []any{"r", batch[i].payload}})
		}
		cmds, err := pipe.Exec(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bare gateway:", err)
			return
		}
		for i := range batch {
			var seq uint64
			if _, err := fmt.Sscanf(cmds[i].(*redis.StringCmd).Val(), "0-%d", &seq); err != nil {
				fmt.Fprintln(os.Stderr, "bare gateway:", err)
				return
			}
			g.stored <- newOutgoing(batch[i].sender, seq, &batch[i].view)
		}
	}
}

func (g *bare) fanOut() {
	var batch []outgoing
	var shared []byte
	for {
		if batch = waiting(g.stored, batch[:0], 64); batch == nil {
			return
		}
		shared = appendShared(shared[:0], batch)
		for i, c := range g.conns { // all are here before the first send
			b := joinedFor(i, batch, shared)
			if n, err := unix.Write(c.fd, b); n < len(b) { // the crowd never has that much under way
				fmt.Fprintln(os.Stderr, "bare gateway: short write:", n, err)
				return
			}
		}
	}
}
