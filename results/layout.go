package results

// stacked is one of the tables that stand above each other: its columns by
// index.
type stacked struct {
	title   string
	columns []int
}

// layout gives each table of the model its columns. One that is wider than the
// terminal is cut into as few as possible of about the same width.
func (rep Report) layout(width int) []stacked {
	if len(rep.Rows) == 0 {
		return nil
	}
	widths := make([]int, len(rep.Columns))
	natural := rep.variantWidth()
	for i := range widths {
		widths[i] = gap + rep.columnWidth(i) + rep.verdictWidth(i)
		natural += widths[i]
	}
	width = min(width, natural)
	var out []stacked
	for start := 0; start < len(rep.Columns); {
		end := start
		for end < len(rep.Columns) && rep.Columns[end].Table == rep.Columns[start].Table {
			end++
		}
		parts := rep.cut(widths, start, end, width)
		for narrower := width - 1; narrower > 0; narrower-- {
			p := rep.cut(widths, start, end, narrower)
			if len(p) > len(parts) {
				break
			}
			parts = p
		}
		for i, p := range parts {
			title := rep.Columns[start].Table
			if i > 0 {
				title += ", continued"
			}
			out = append(out, stacked{title, p})
		}
		start = end
	}
	return out
}

// cut fills tables up to a width, with one column at least in each.
func (rep Report) cut(widths []int, start, end, width int) [][]int {
	var out [][]int
	used := 0
	for i := start; i < end; i++ {
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
func (rep Report) verdictWidth(column int) int {
	if column < len(rep.Columns)-1 {
		return 0
	}
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
