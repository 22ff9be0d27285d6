package profiles

import (
	"fmt"
	"io"
	"strings"
)

// columns is how wide the listings are.
const columns = 80

// WriteKeys writes the table of keys for a reader: per key its type, unit,
// default, bounds and help, within 80 columns.
func WriteKeys(w io.Writer) error {
	for _, k := range Schema() {
		if k.Type == TypePlanned {
			continue
		}
		if _, err := io.WriteString(w, beside(k.Name, 26, k.facts())+wrap(k.Help, "    ", columns)); err != nil {
			return err
		}
	}
	return nil
}

// WriteList writes the shipped profiles for a reader: per profile the question
// it answers and its size, within 80 columns.
func WriteList(w io.Writer) error {
	for _, p := range List() {
		question, _, _ := strings.Cut(p.About, "\n")
		if _, err := io.WriteString(w, beside(p.Name, 16, question)+strings.Repeat(" ", 17)+p.size()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (p Info) size() string {
	text := "1 variant"
	if p.Variants != 1 {
		text = fmt.Sprintf("%d variants", p.Variants)
	}
	if p.Repeats != 1 {
		return fmt.Sprintf("%s, %d repeats", text, p.Repeats)
	}
	return text + ", 1 repeat"
}

// beside sets a text in a column of its own beside a name.
func beside(name string, width int, text string) string {
	indent := strings.Repeat(" ", width+1)
	lines := wrap(text, indent, columns)
	return fmt.Sprintf("%-*s ", width, name) + strings.TrimPrefix(lines, indent)
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
	case k.Zero && k.Max != "":
		facts = append(facts, "0 or "+k.Min+" … "+k.Max)
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
