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

// textOptions are those of text that goes to stdout: as wide as the terminal, or
// as $COLUMNS says for a file or a pipe.
func (a *app) textOptions() results.TextOptions {
	width, isTerminal := terminal(a.Out)
	if !isTerminal {
		columns, _ := a.lookup("COLUMNS")
		width = columnsOf(columns)
	}
	noColor, _ := a.lookup("NO_COLOR")
	return results.TextOptions{Width: width, Color: results.UseColor(isTerminal, noColor)}
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

// The widths that output is fitted to.
const leastWidth, mostWidth = 40, 1000

// columnsOf is the width that a text says; 0 is none.
func columnsOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < leastWidth || n > mostWidth {
		return 0
	}
	return n
}
