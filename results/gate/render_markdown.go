package gate

import (
	"fmt"
	"io"
	"strings"

	"ackmark/results"
)

// RenderMarkdown draws the report in GitHub's Markdown, for a step's summary:
// the verdict and what did not pass, then everything, folded.
func RenderMarkdown(w io.Writer, rep Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Gate %s: %s\n\n", escapeMarkdown(rep.Profile), rep.Verdict.Status)
	fmt.Fprintf(&b, "%s against %s: %s.\n", escapeMarkdown(rep.Candidate), escapeMarkdown(rep.Reference), meaning(rep.Verdict.Status))
	if rep.Pairs > 0 || rep.Discarded > 0 {
		fmt.Fprintf(&b, "\n%s.\n", rep.pairsText())
	}
	if len(rep.Differences) > 0 {
		fmt.Fprintf(&b, "\n> Another machine: %s\n", escapeMarkdown(differencesText(rep.Differences)))
	}
	list(&b, rep.Verdict.Reasons, func(r results.Reason) string { return escapeMarkdown(r.String()) })
	if rows := shownRows(rep, false); len(rows) > 1 {
		markdownTable(&b, rows)
	}
	list(&b, rep.folded(false), escapeMarkdown)
	list(&b, rep.Notes, func(note string) string { return "note: " + escapeMarkdown(note) })
	if rows := shownRows(rep, true); len(rows) > 1 {
		fmt.Fprintf(&b, "\n<details><summary>All %s</summary>\n", results.Plural(len(rows)-1, "check"))
		markdownTable(&b, rows)
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func list[T any](b *strings.Builder, items []T, text func(T) string) {
	for i, item := range items {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + text(item) + "\n")
	}
}

func markdownTable(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + escapeMarkdown(cell) + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j := range row {
			side := "--:"
			if j < 2 || j == len(row)-1 {
				side = ":--"
			}
			b.WriteString("|" + side)
		}
		b.WriteString("|\n")
	}
}

// escapeMarkdown keeps names from ending a cell, starting markup, mentioning
// somebody or becoming a link.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`",
		"[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~", "@", "&#64;", "://", ":&#47;/").Replace(results.OneLine(s))
}
