package gateway

import (
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// patient is a listener that outlives moments without resources: a server out
// of file descriptors has to go on serving those who are connected, and accept
// again when some have left.
type patient struct {
	net.Listener
	log    *slog.Logger
	serial *atomic.Uint64 // connections accepted so far
}

// accepted is a connection with its place in the order of arrival. Of two
// connections of one user the later one counts, however long their hellos took.
type accepted struct {
	*net.TCPConn
	serial uint64
}

// acceptPause is how long accepting rests when the system has no descriptor left.
const acceptPause = 50 * time.Millisecond

func (p patient) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if tcp, ok := c.(*net.TCPConn); ok {
			return &accepted{tcp, p.serial.Add(1)}, nil
		}
		if err == nil || !passing(err) {
			return c, err
		}
		p.log.Warn("can't accept a connection for the moment", "error", err)
		time.Sleep(acceptPause)
	}
}

// Close may be called more than once.
func (p patient) Close() error {
	if err := p.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func passing(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
