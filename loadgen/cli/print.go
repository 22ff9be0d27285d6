package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"ackmark/results"
)

// print writes a command's result to stdout. A stdout that can't be written is
// an infrastructure failure: whoever reads the pipe must not take silence for
// success.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.Out, text); err != nil {
		return &failure{results.ExitCouldNotRun, fmt.Errorf("writing to stdout: %w", err)}
	}
	return nil
}

// terminal gives the width of the terminal that w is; ok is false for a file,
// a pipe, or a writer of a test.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
