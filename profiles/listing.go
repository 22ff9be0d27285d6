package profiles

import (
	"fmt"
	"io"
	"strings"
)

// WriteKeys writes the table of keys for a reader: per key its type, unit,
// default, bounds and help, within 100 columns.
func WriteKeys(w io.Writer) error {
	for _, k := range Schema() {
		if k.Type == TypePlanned {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-26s %s\n%s", k.Name, k.facts(), wrap(k.Help, "    ", 96)); err != nil {
			return err
		}
	}
	return nil
}

// facts says what a key takes: "integer, deliveries, default 10, 1 … 65536".
func (k Key) facts() string {
	facts := []string{k.Type}
	if k.Type == TypeChoice {
		facts[0] = strings.Join(k.Values, " | ")
	}
	if k.Unit != "" {
		facts = append(facts, k.Unit)
	}
	switch {
	case k.Required:
		facts = append(facts, "required")
	case k.Default != "":
		facts = append(facts, "default "+k.Default)
	}
	switch {
	case k.Min != "" && k.Max != "":
		facts = append(facts, k.Min+" … "+k.Max)
	case k.Min != "":
		facts = append(facts, "at least "+k.Min)
	case k.Above != "" && k.Max != "":
		facts = append(facts, "above "+k.Above+", up to "+k.Max)
	case k.Above != "":
		facts = append(facts, "above "+k.Above)
	}
	return strings.Join(facts, ", ")
}

// wrap breaks a text into indented lines of at most width characters.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+1+len([]rune(word)) > width && line != indent {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
