package results

import (
	"math"
	"strings"
	"unicode/utf8"
)

// texts writes the cells of one column so that points stand under points and
// spreads under spreads. Every cell has the same width.
func (c Column) texts(cells []Cell) []string {
	decimals := c.decimals(cells)
	values, spreads := make([]string, len(cells)), make([]string, len(cells))
	width, spreadWidth, moved := 0, 0, false
	for i, cell := range cells {
		values[i] = formatCell(cell.Value, decimals)
		if cell.Spread != nil {
			spreads[i] = spreadText(*cell.Spread)
			moved = moved || *cell.Spread >= shownSpread
		}
		width, spreadWidth = max(width, runes(values[i])), max(spreadWidth, runes(spreads[i]))
	}
	for i := range values {
		values[i] = padLeft(values[i], width)
		if moved { // a column of ±0% only takes room
			values[i] += " " + padLeft(spreads[i], spreadWidth)
		}
	}
	return values
}

// decimals gives the least figure of a column two significant digits and the
// greatest three, or two below 1.
func (c Column) decimals(cells []Cell) int {
	least, greatest := math.Inf(1), 0.0
	whole := true
	for _, cell := range cells {
		if cell.Value == nil || *cell.Value == 0 {
			continue
		}
		v := math.Abs(*cell.Value)
		least, greatest = min(least, v), max(greatest, v)
		whole = whole && v == math.Trunc(v)
	}
	if greatest == 0 || whole {
		return c.least
	}
	digits := 3
	if greatest < 1 {
		digits = 2
	}
	return min(max(decimalsFor(least, 2), decimalsFor(greatest, digits), c.least), maxDecimals)
}

// maxDecimals bounds the width of a column; what is smaller is shown as less
// than the last digit, never as 0.
const maxDecimals = 4

func formatCell(v *float64, decimals int) string {
	if v == nil {
		return noValue
	}
	unit := math.Pow(10, -float64(decimals))
	if *v != 0 && math.Abs(*v) < unit/2 {
		return "<" + fixed(unit, decimals)
	}
	return fixed(*v, decimals)
}

// shownSpread is the least spread that a table shows, in per cent; what is
// less would be ±0%.
const shownSpread = 0.5

func spreadText(v float64) string { return "±" + fixed(v, 0) + "%" }

func runes(s string) int { return utf8.RuneCountInString(s) }

func padLeft(s string, width int) string { return strings.Repeat(" ", max(0, width-runes(s))) + s }
