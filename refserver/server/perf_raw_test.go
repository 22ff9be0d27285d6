package server

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/gobwas/ws"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"

	"ackmark/refserver/wire"
)

// The raw gateway is what the bare one stands on: one thread that waits in
// epoll(7), reads with read(2) and writes the same bytes with write(2). It
// knows a send by its size and stores nothing.
type raw struct {
	ep int

	mu  sync.Mutex
	fds []int       // by connection
	of  map[int]int // fd → connection

	seq  uint64
	acks uint64
}

// takeFD takes a connection's descriptor away from Go's own poller.
func takeFD(c net.Conn) (fd int, err error) {
	rc, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var dupErr error
	if err := rc.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return 0, err
	}
	if dupErr != nil {
		return 0, dupErr
	}
	return fd, c.Close()
}

func watch(ep, fd int) error {
	return unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func rawGateway() (addr string, stop func(), err error) {
	g := &raw{of: make(map[int]int)}
	if g.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return "", nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if err := g.take(c); err != nil {
				fmt.Fprintln(os.Stderr, "raw gateway:", err)
			}
		}
	}()
	go g.loop()
	return ln.Addr().String(), func() { ln.Close() }, nil
}

func (g *raw) take(c net.Conn) error {
	if err := welcomed(c, wire.NewReader(c, 512, 256<<10, true)); err != nil {
		return err
	}
	fd, err := takeFD(c)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.of[fd] = len(g.fds)
	g.fds = append(g.fds, fd)
	g.mu.Unlock()
	return watch(g.ep, fd)
}

func (g *raw) loop() {
	runtime.LockOSThread()
	events := make([]unix.EpollEvent, 256)
	buf := make([]byte, 64<<10)
	var batch []outgoing
	var shared []byte
	for {
		n, err := unix.EpollWait(g.ep, events, -1)
		if err == unix.EINTR {
			continue
		} else if err != nil {
			return
		}
		batch = batch[:0]
		for _, e := range events[:n] {
			fd := int(e.Fd)
			n, err := unix.Read(fd, buf)
			if n <= 0 {
				if err != unix.EAGAIN {
					_ = unix.EpollCtl(g.ep, unix.EPOLL_CTL_DEL, fd, nil)
				}
				continue
			}
			batch = g.frames(fd, buf[:n], batch)
		}
		if len(batch) == 0 {
			continue
		}
		shared = appendShared(shared[:0], batch)
		for i, fd := range g.fds {
			b := joinedFor(i, batch, shared)
			if n, err := unix.Write(fd, b); n < len(b) {
				fmt.Fprintln(os.Stderr, "raw gateway: short write:", n, err)
				return
			}
		}
	}
}

// frames counts acks, which are short, and takes sends, which aren't.
func (g *raw) frames(fd int, b []byte, batch []outgoing) []outgoing {
	for len(b) > 0 {
		size := int(b[1] & 0x7f)
		if size < 126 {
			g.acks++
			b = b[6+size:]
			continue
		}
		size = int(b[2])<<8 | int(b[3])
		payload := b[8 : 8+size]
		ws.Cipher(payload, [4]byte(b[4:8]), 0)
		_, _, n := protowire.ConsumeTag(payload)
		body, _ := protowire.ConsumeBytes(payload[n:])
		var v wire.SendView
		if err := v.Decode(body); err != nil {
			panic(err)
		}
		g.seq++
		batch = append(batch, newOutgoing(g.of[fd], g.seq, &v))
		b = b[8+size:]
	}
	return batch
}
