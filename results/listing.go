package results

import (
	"fmt"
	"io"
	"strings"
)

// Listings are 80 columns wide; names have a column of their own.
const listingWidth, nameWidth = 80, 33

// WriteMetrics writes the registry for a reader, within 80 columns: per metric its
// unit, how it is compared, which direction is better, and what it counts; then
// the histograms, whose figures are metrics too.
func WriteMetrics(w io.Writer) error {
	var b strings.Builder
	for _, m := range Metrics() {
		b.WriteString(beside(m.Name, m.facts()))
		for _, line := range Wrap(m.Help, listingWidth-4, "") {
			b.WriteString("    " + line + "\n")
		}
	}
	fmt.Fprintf(&b, "\nHistograms, in µs: NAME.%s; NAME.count\n", strings.Join(durations(), ", ."))
	for _, h := range Histograms() {
		b.WriteString(beside(h.Name, h.Help))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// beside sets a text in a column of its own beside a name.
func beside(name, text string) string {
	lines := Wrap(text, listingWidth-nameWidth, "")
	return fmt.Sprintf("%-*s%s\n", nameWidth, name, strings.Join(lines, "\n"+strings.Repeat(" ", nameWidth)))
}

// durations are the statistics that are times.
func durations() []string {
	var out []string
	for _, s := range Statistics() {
		if s != "count" {
			out = append(out, statTitle(s))
		}
	}
	return out
}

// facts says how a metric is read and compared: "us, timing, lower is better".
func (m Metric) facts() string {
	class := string(m.Class)
	if m.byPolicy {
		class += ", under ack policies each and count a " + string(Deterministic)
	}
	facts := []string{class}
	if m.Unit != "" {
		facts = []string{m.Unit, class}
	}
	if m.Better != Neither {
		facts = append(facts, string(m.Better)+" is better")
	}
	return strings.Join(facts, ", ")
}
