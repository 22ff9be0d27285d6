package results

import (
	"fmt"
	"io"
	"strings"
)

// RenderMarkdown draws the same tables in GitHub's Markdown.
func RenderMarkdown(w io.Writer, rep Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", EscapeMarkdown(rep.Title))
	for _, banner := range rep.Banners {
		fmt.Fprintf(&b, "\n> %s\n", EscapeMarkdown(banner))
	}
	fmt.Fprintf(&b, "\nVerdict: **%s**\n", rep.Verdict.Status)
	for i, r := range rep.Verdict.Reasons {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(r.String()))
	}
	const unlimited = 1 << 20
	for _, t := range rep.layout(unlimited) {
		heads, align := []string{t.title}, []string{":--"}
		rows := make([][]string, len(rep.Rows))
		for j, row := range rep.Rows {
			rows[j] = []string{row.Variant}
		}
		for _, i := range t.columns {
			heads, align = append(heads, headline(rep.Columns[i].Head)), append(align, "--:")
			for j, text := range rep.columnTexts(i) {
				rows[j] = append(rows[j], strings.Join(strings.Fields(text), " "))
			}
		}
		if rep.isLast(t.columns) {
			heads, align = append(heads, "verdict"), append(align, ":--")
			for j, row := range rep.Rows {
				rows[j] = append(rows[j], string(row.Status))
			}
		}
		markdownTable(&b, heads, align, rows)
	}
	if rep.Legend != "" && len(rep.Rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n", rep.Legend)
	}
	if len(rep.Checks) > 0 {
		var heads []string
		for _, h := range checkHeads() {
			heads = append(heads, headline(h))
		}
		heads[0] = "ack checks"
		var rows [][]string
		for _, c := range rep.Checks {
			rows = append(rows, c.texts())
		}
		markdownTable(&b, heads, []string{":--", "--:", "--:", "--:", ":--", "--:", ":--"}, rows)
	}
	for i, note := range rep.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "- note: %s\n", EscapeMarkdown(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// headline joins the lines of a header; a hyphen at a line's end was there for
// the break.
func headline(lines []string) string {
	return strings.ReplaceAll(strings.Join(lines, " "), "- ", "")
}

func markdownTable(b *strings.Builder, heads, align []string, rows [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + EscapeMarkdown(c) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteByte('\n')
	line(heads)
	b.WriteString("|" + strings.Join(align, "|") + "|\n")
	for _, row := range rows {
		line(row)
	}
}
