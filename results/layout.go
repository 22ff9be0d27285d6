package results

import "slices"

// stacked is one of the tables that stand above each other: its columns by
// index.
type stacked struct {
	title   string
	columns []int
}

// shown returns the columns of the tables, without those that have nothing to
// say and may be left out.
func (rep Report) shown() []int {
	var out []int
	for i, c := range rep.Columns {
		has := func(row Row) bool { v := row.Cells[i].Value; return v != nil && (*v != 0 || !c.seldom) }
		if !c.optional && !c.seldom || slices.ContainsFunc(rep.Rows, has) {
			out = append(out, i)
		}
	}
	return out
}

// isLast tells whether the verdict stands behind these columns.
func (rep Report) isLast(columns []int) bool {
	shown := rep.shown()
	return columns[len(columns)-1] == shown[len(shown)-1]
}

// layout gives each table of the model its columns. One that is wider than the
// terminal is cut into as few as possible of about the same width.
func (rep Report) layout(width int) []stacked {
	if len(rep.Rows) == 0 {
		return nil
	}
	shown := rep.shown()
	widths := make([]int, len(rep.Columns))
	natural := rep.variantWidth()
	for n, i := range shown {
		widths[i] = gap + rep.columnWidth(i)
		if n == len(shown)-1 {
			widths[i] += rep.verdictWidth()
		}
		natural += widths[i]
	}
	width = min(width, natural)
	var out []stacked
	for len(shown) > 0 {
		title := rep.Columns[shown[0]].Table
		end := slices.IndexFunc(shown, func(i int) bool { return rep.Columns[i].Table != title })
		if end < 0 {
			end = len(shown)
		}
		parts := rep.cut(widths, shown[:end], width)
		for narrower := width - 1; narrower > 0; narrower-- {
			p := rep.cut(widths, shown[:end], narrower)
			if len(p) > len(parts) {
				break
			}
			parts = p
		}
		for n, p := range parts {
			if n == 1 {
				title += ", continued"
			}
			out = append(out, stacked{title, p})
		}
		shown = shown[end:]
	}
	return out
}

// cut fills tables up to a width, with one column at least in each.
func (rep Report) cut(widths, columns []int, width int) [][]int {
	var out [][]int
	used := 0
	for _, i := range columns {
		if len(out) == 0 || used+widths[i] > width {
			out, used = append(out, nil), rep.variantWidth()
		}
		out[len(out)-1] = append(out[len(out)-1], i)
		used += widths[i]
	}
	return out
}

func (rep Report) variantWidth() int {
	width := runes("variant")
	for _, row := range rep.Rows {
		width = max(width, runes(row.Variant))
	}
	return width
}

// verdictWidth is what the verdict takes behind the last column.
func (rep Report) verdictWidth() int {
	width := runes("verdict")
	for _, row := range rep.Rows {
		width = max(width, runes(string(row.Status)))
	}
	return gap + width
}

func (rep Report) columnWidth(i int) int {
	width := runes(rep.columnTexts(i)[0])
	for _, h := range rep.Columns[i].Head {
		width = max(width, runes(h))
	}
	return width
}

func (rep Report) columnTexts(i int) []string {
	cells := make([]Cell, len(rep.Rows))
	for j, row := range rep.Rows {
		cells[j] = row.Cells[i]
	}
	return rep.Columns[i].texts(cells)
}
