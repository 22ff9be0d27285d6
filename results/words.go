package results

import (
	"fmt"
	"strings"
	"unicode"
)

// Plural counts things: "1 run", "2 runs".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// OneLine keeps a name from breaking a line, steering a terminal, or turning the
// text behind it round.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// EscapeMarkdown keeps names from ending a cell or starting markup.
func EscapeMarkdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "\n", " ").Replace(s)
}
