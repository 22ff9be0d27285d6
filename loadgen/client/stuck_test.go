package client

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// stuck is a server that reads only what it is told to.
type stuck struct {
	t    *testing.T
	conn net.Conn
}

func net2(t *testing.T) (*stuck, func(context.Context, Identity, string) (net.Conn, error)) {
	mine, theirs := net.Pipe()
	return &stuck{t, mine}, func(context.Context, Identity, string) (net.Conn, error) { return theirs, nil }
}

func (s *stuck) upgrade() {
	up := ws.Upgrader{Protocol: func(b []byte) bool { return string(b) == wire.SubprotocolBinary }}
	if _, err := up.Upgrade(s.conn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stuck) readHello() {
	if _, _, err := wire.NewReader(s.conn, 256, 1<<20, true).Next(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stuck) write(f *wire.Frame) {
	b, err := wire.AppendFrame(nil, f)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.conn.Write(wire.AppendMessage(nil, ws.OpBinary, b)); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}
