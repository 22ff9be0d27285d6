package engine

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"syscall"

	"ackmark/loadgen/client"
)

// classify reduces an error to its kind: the addresses and ports in its text
// would make every error a class of its own.
func classify(err error) string {
	var closed *client.CloseError
	var fault *client.Fault
	var timeout net.Error
	switch {
	case errors.As(err, &closed):
		return fmt.Sprintf("closed by the server (%d %s)", closed.Code, closed.Reason)
	case errors.As(err, &fault):
		return fault.Code
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection ended"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no local port left"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many open files"
	}
	return err.Error()
}

// sentences gives one line per class of trouble, the most frequent first.
func (t *trouble) sentences() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	classes := slices.SortedFunc(maps.Keys(t.counts), func(a, b string) int {
		if d := t.counts[b] - t.counts[a]; d != 0 {
			return int(max(min(d, 1), -1))
		}
		if a < b {
			return -1
		}
		return 1
	})
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = fmt.Sprintf("%d × %s", t.counts[c], c)
	}
	return out
}
