package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ackmark/loadgen/engine"
)

// progress tells on stderr what goes on: one status line that is drawn over
// again on a terminal, plain lines elsewhere. Calls don't overlap.
type progress struct {
	w        io.Writer
	quiet    bool
	terminal bool
	width    int
	drawn    bool      // a status line stands
	last     time.Time // of a plain line
	before   int64     // deliveries at the last tick

	left func() string // said behind the number of the run; nil: nothing
}

// plainEvery is how often a long phase says that it lives, where there is no
// status line.
const plainEvery = 30 * time.Second

func newProgress(w io.Writer, quiet bool) *progress {
	width, ok := terminal(w)
	if width <= 0 {
		width = 80
	}
	return &progress{w: w, quiet: quiet, terminal: ok, width: width}
}

func (p *progress) show(e engine.Progress) {
	if e.Kind == engine.Note {
		p.line(e.Note)
		return
	}
	if p.quiet {
		return
	}
	left := ""
	if p.left != nil {
		left = ", " + p.left()
	}
	who := fmt.Sprintf("[%d/%d%s] %s", e.Run, e.Runs, left, e.Variant)
	if e.Repeat > 1 || e.Runs > 1 {
		who += fmt.Sprintf(", repeat %d", e.Repeat)
	}
	switch e.Kind {
	case engine.RunEnded:
		p.line(who + ": " + e.Note)
		p.before = 0
	case engine.PhaseBegan:
		if e.Phase == "start" {
			p.before = 0
		}
		text := who + ": " + e.Phase
		if e.Planned > 0 {
			text += fmt.Sprintf(", %v", e.Planned.Round(time.Second))
		}
		p.status(text, e.Phase == "start" || e.Phase == "measure")
	case engine.Tick:
		if e.Total > 0 {
			p.status(fmt.Sprintf("%s: %s, %d of %d messages", who, e.Phase, e.Done, e.Total), time.Since(p.last) >= plainEvery)
			return
		}
		text := fmt.Sprintf("%s: %s %v of %v, %d deliveries/s", who, e.Phase,
			e.Elapsed.Round(time.Second), e.Planned.Round(time.Second), e.Deliveries-p.before)
		p.before = e.Deliveries
		p.status(text, time.Since(p.last) >= plainEvery)
	}
}

// status draws the status line. Where there is none, the text becomes a line
// if it is worth one.
func (p *progress) status(text string, worth bool) {
	if p.terminal {
		if r := []rune(text); len(r) >= p.width {
			text = string(r[:p.width-1])
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		p.drawn = true
		return
	}
	if worth {
		p.line(text)
	}
}

// line writes a line of its own, above the status line.
func (p *progress) line(text string) {
	p.end()
	fmt.Fprintln(p.w, strings.TrimRight(text, "\n"))
	p.last = time.Now()
}

// end takes the status line away.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
