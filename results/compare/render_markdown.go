package compare

import (
	"fmt"
	"io"
	"strings"
)

// RenderMarkdown draws the same in GitHub's Markdown, with every column.
func (c *Comparison) RenderMarkdown(w io.Writer) error {
	var b strings.Builder
	for _, s := range c.Sides {
		fmt.Fprintf(&b, "- **%s** %s: %s\n", s.Letter, escape(s.Label), escape(s.about()))
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "\n> Warning: %s\n", escape(warning))
	}
	for _, side := range c.bySide() {
		fmt.Fprintf(&b, "\n%s\n\n", escape(side.title))
		for _, line := range side.lines {
			fmt.Fprintf(&b, "- %s\n", escape(line))
		}
	}
	for _, v := range c.Variants {
		for i := 1; i < len(v.Sides); i++ {
			if rows := c.rows(v, i); v.Sides[i].State == Absent || v.Sides[0].State == Absent || len(rows) == 1 {
				fmt.Fprintf(&b, "\n%s: nothing to show for %s\n", escape(v.Name), letter(i))
			} else {
				markdownTable(&b, fit(rows, 1<<20))
			}
		}
		if line := c.folded(v); line != "" {
			fmt.Fprintf(&b, "\n%s\n", escape(line))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", escape(c.legend()))
	if s := c.summary(); s != "" {
		fmt.Fprintf(&b, "\n**%s**\n", escape(s))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	for j, row := range rows {
		for i, cell := range row {
			cell = escape(strings.Join(strings.Fields(cell), " "))
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

// escape keeps names from ending a cell or starting markup.
func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "\n", " ").Replace(s)
}
