package engine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"ackmark/loadgen/client"
)

func TestClassify(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{Port: 1234}, Err: syscall.ECONNREFUSED}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("connect: %w", refused), "connection refused"},
		{syscall.ECONNRESET, "connection reset"},
		{io.ErrUnexpectedEOF, "connection ended"},
		{&client.CloseError{Code: 1001, Reason: "shutting down"}, "closed by the server (1001 shutting down)"},
		{fmt.Errorf("x: %w", &client.Fault{Code: "overloaded", Message: "32 sends wait"}), "overloaded"},
		{errors.New("whatever"), "whatever"},
	} {
		if got := classify(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
	var tr trouble
	for i := range 100 {
		tr.note("connection lost", fmt.Errorf("class %d", i))
	}
	tr.note("connection lost", refused)
	tr.note("connection lost", refused)
	if s := tr.sentences(); len(s) != maxClasses+1 || s[0] != fmt.Sprintf("%d × other", 100-maxClasses+2) {
		t.Errorf("%d classes, the first %q", len(s), s[0])
	}
}
