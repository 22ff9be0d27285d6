package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

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

// terminal gives the width of the terminal that w is; ok is false for a file, a
// pipe, or a writer of a test, whose width is that of $COLUMNS, 0 without.
func terminal(w io.Writer) (width int, ok bool) {
	if f, isFile := w.(*os.File); isFile {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			return int(size.Col), true
		}
	}
	return columns(os.Getenv("COLUMNS")), false
}

// columns is the width that a text of an environment variable says; 0 for none.
func columns(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < leastWidth || n > mostWidth {
		return 0
	}
	return n
}

// The widths that output is fitted to.
const leastWidth, mostWidth = 40, 1000
