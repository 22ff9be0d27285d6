package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ackmark/results"
)

// RenderMarkdown draws the same in GitHub's Markdown, with every column that
// holds anything.
func (c *Comparison) RenderMarkdown(w io.Writer) error {
	var b strings.Builder
	for _, s := range c.Sides {
		fmt.Fprintf(&b, "- **%s** %s: %s\n", s.Letter, results.EscapeMarkdown(s.Label), results.EscapeMarkdown(s.about()))
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "\n> Warning: %s\n", results.EscapeMarkdown(warning))
	}
	for _, side := range c.bySide() {
		fmt.Fprintf(&b, "\n%s\n\n", results.EscapeMarkdown(side.title))
		for _, line := range side.lines {
			fmt.Fprintf(&b, "- %s\n", results.EscapeMarkdown(line))
		}
	}
	for _, v := range c.Variants {
		for i := 1; i < len(v.Sides); i++ {
			if rows := c.rows(v, i); v.Sides[i].State == Absent || v.Sides[0].State == Absent || len(rows) == 1 {
				fmt.Fprintf(&b, "\n%s: nothing to show for %s\n", results.EscapeMarkdown(v.Name), letter(i))
			} else {
				markdownTable(&b, fit(rows, 1<<20))
			}
		}
		for _, line := range slices.Concat([]string{c.folded(v)}, c.missing(v), c.notes(v)) {
			if line != "" {
				fmt.Fprintf(&b, "\n%s\n", results.EscapeMarkdown(line))
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", results.EscapeMarkdown(c.legend()))
	if s := c.summary(); s != "" {
		fmt.Fprintf(&b, "\n**%s**\n", results.EscapeMarkdown(s))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	for j, row := range rows {
		for i, cell := range row {
			cell = results.EscapeMarkdown(strings.Join(strings.Fields(cell), " "))
			if last := i == len(row)-1; last && j > 0 && Outcome(cell).concludes() {
				cell = "**" + cell + "**"
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if j == 0 {
			b.WriteString("|:--" + strings.Repeat("|--:", len(row)-2) + "|:--|\n")
		}
	}
}
