package results

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// TextOptions says where a report is shown.
type TextOptions struct {
	Width int  // columns of the terminal; 0 means 100
	Color bool // see UseColor
}

// UseColor tells whether colour is welcome: on a terminal, unless NO_COLOR is
// set to anything (no-color.org).
func UseColor(terminal bool, noColor string) bool { return terminal && noColor == "" }

const gap = 2 // spaces between columns

// RenderText draws the report for a terminal. Columns that don't fit the width
// move to a further table below.
func RenderText(w io.Writer, rep Report, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	var b strings.Builder
	for _, line := range Wrap(rep.Title, o.Width, "  ") {
		fmt.Fprintln(&b, line)
	}
	for _, banner := range rep.Banners {
		for _, line := range Wrap(banner, o.Width, "  ") {
			fmt.Fprintln(&b, paint(line, "33;1", o.Color))
		}
	}
	for _, t := range rep.layout(o.Width) {
		fmt.Fprintln(&b)
		if err := rep.drawTable(&b, t, o); err != nil {
			return err
		}
	}
	if rep.Legend != "" && len(rep.Rows) > 0 {
		fmt.Fprintln(&b)
		for _, line := range Wrap(rep.Legend, o.Width, "") {
			fmt.Fprintln(&b, line)
		}
	}
	if err := rep.drawChecks(&b, o); err != nil {
		return err
	}
	for i, note := range rep.Notes {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		for _, line := range Wrap("note: "+note, o.Width, "  ") {
			fmt.Fprintln(&b, line)
		}
	}
	rep.drawVerdict(&b, o)
	_, err := io.WriteString(w, b.String())
	return err
}

func (rep Report) drawTable(w io.Writer, s stacked, o TextOptions) error {
	heads := [][]string{{s.title, "variant"}}
	rows := make([][]string, len(rep.Rows))
	for j, row := range rep.Rows {
		rows[j] = []string{row.Variant}
	}
	for _, i := range s.columns {
		heads = append(heads, rep.Columns[i].Head)
		for j, text := range rep.columnTexts(i) {
			rows[j] = append(rows[j], text)
		}
	}
	align := make([]tw.Align, len(heads), len(heads)+1)
	for i := range align {
		align[i] = tw.AlignRight
	}
	align[0] = tw.AlignLeft
	if rep.isLast(s.columns) {
		heads, align = append(heads, []string{"verdict"}), append(align, tw.AlignLeft)
		for j, row := range rep.Rows {
			rows[j] = append(rows[j], paint(string(row.Status), row.Status.color(), o.Color))
		}
	}
	return drawPlain(w, heads, rows, align)
}

// drawPlain draws a table with a line below the header and nothing else, since
// borders would take 30 of 100 columns. Headers stand at the bottom. The gap
// is part of the text: with a padding of its own per column, tablewriter 1.1.5
// counts it into the width and then cuts the text.
func drawPlain(w io.Writer, heads [][]string, rows [][]string, align []tw.Align) error {
	space := strings.Repeat(" ", gap)
	height := 0
	for _, h := range heads {
		height = max(height, len(h))
	}
	header := make([]string, len(heads))
	for i, h := range heads {
		// The name of the table stands in its first column, at the top.
		blank := strings.Repeat("\n", height-len(h))
		header[i] = blank + indented(h, space)
		if i == 0 && len(h) > 1 {
			header[i] = h[0] + blank + "\n" + strings.Join(h[1:], "\n")
		} else if i == 0 {
			header[i] = blank + h[0]
		}
	}
	spaced := make([][]string, len(rows))
	for j, row := range rows {
		spaced[j] = slices.Clone(row)
		for i := 1; i < len(row); i++ {
			spaced[j][i] = space + row[i]
		}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding:    tw.CellPadding{Global: tw.PaddingNone},
		Alignment:  tw.CellAlignment{PerColumn: align},
	}
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.SeparatorsNone,
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimLine(tw.Off),
	)
	t.Header(header)
	if err := t.Bulk(spaced); err != nil {
		return fmt.Errorf("drawing a table: %w", err)
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("drawing a table: %w", err)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func indented(lines []string, space string) string {
	return space + strings.Join(lines, "\n"+space)
}

// drawChecks draws a line per variant: the exact check and the closed form.
func (rep Report) drawChecks(w io.Writer, o TextOptions) error {
	if len(rep.Checks) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, c := range rep.Checks {
		texts := c.texts()
		state := Pass
		if !c.ReplayOK() {
			state = Invalid
		}
		texts[4] = paint(texts[4], state.color(), o.Color)
		rows = append(rows, texts)
	}
	align := []tw.Align{tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignLeft, tw.AlignRight, tw.AlignLeft}
	return drawPlain(w, checkHeads(), rows, align)
}

func (rep Report) drawVerdict(w io.Writer, o TextOptions) {
	fmt.Fprintln(w)
	status := rep.Verdict.Status
	line := "verdict: " + paint(string(status), status.color(), o.Color)
	if status == Pass {
		fmt.Fprintln(w, line)
		return
	}
	fmt.Fprintf(w, "%s (%s)\n", line, status.Meaning())
	for _, r := range rep.Verdict.Reasons {
		for _, line := range Wrap("  "+r.String(), o.Width, "    ") {
			fmt.Fprintln(w, line)
		}
	}
}

// String writes the reason with the run that it concerns.
func (r Reason) String() string {
	switch {
	case r.Variant == "":
		return OneLine(r.Text)
	case r.Repeat == 0:
		return OneLine(r.Variant + ": " + r.Text)
	}
	return OneLine(fmt.Sprintf("%s, repeat %d: %s", r.Variant, r.Repeat, r.Text))
}

// Meaning says in a few words what a status means.
func (s Status) Meaning() string {
	switch s {
	case Pass:
		return "everything holds"
	case Fail:
		return "what is measured isn't good enough"
	case Inconclusive:
		return "the repeats disagree; measure longer or more often"
	}
	return "the measurement can't be trusted"
}

// color is the ANSI code of a status.
func (s Status) color() string {
	switch s {
	case Pass:
		return "32"
	case Fail:
		return "31;1"
	}
	return "33;1"
}

func paint(s, code string, color bool) string {
	if !color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// glued stands for the space before a per cent sign while lines are broken.
const glued = "\uE000"

// Wrap breaks text at spaces, but not before a per cent sign; further lines begin
// with indent. The first line keeps the spaces that it begins with.
func Wrap(text string, width int, indent string) []string {
	var out []string
	text = strings.ReplaceAll(text, " %", glued+"%")
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && runes(line)+1+runes(word) > width {
			out, line, empty = append(out, line), indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	out = append(out, line)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], glued, " ")
	}
	return out
}
