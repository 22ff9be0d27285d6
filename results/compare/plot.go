package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ackmark/results"
)

// The size of a plot: what a terminal shows without scrolling.
const (
	plotWidth  = 80
	plotHeight = 20 // lines, axis and legend among them
	labelWidth = 9
	plotCols   = plotWidth - labelWidth - 1
	plotRows   = plotHeight - 4
)

// RenderPlot draws one histogram of every variant as percentiles against
// latency, a mark per side.
func (c *Comparison) RenderPlot(w io.Writer, name string) error {
	i := slices.IndexFunc(results.Histograms(), func(h results.HistogramMetric) bool { return h.Name == name })
	if i < 0 {
		return CheckHistogram(name)
	}
	title := results.Histograms()[i].Title
	for n, v := range c.Variants {
		var curves []curve
		for k, side := range v.Sides {
			h, overflow, err := merge(side.runs, name)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Sides[k].Label, err)
			}
			line := curve{Label: letter(k) + ": " + c.Sides[k].Label, Mark: []rune(letter(k))[0], h: h, overflow: overflow}
			line.invalid = side.State == Spoiled
			curves = append(curves, line)
		}
		if n > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := plot(w, results.OneLine(v.Name)+": "+title, curves); err != nil {
			return err
		}
	}
	return nil
}

// CheckHistogram says which histograms there are, if this is none.
func CheckHistogram(name string) error {
	var names []string
	for _, h := range results.Histograms() {
		names = append(names, h.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("there is no histogram %q; there are %s", name, strings.Join(names, ", "))
}

// several marks a place where curves lie on each other.
const several = '#'

// plot draws curves in 80 columns and 20 lines: percentiles by their nines
// against latency on a logarithmic axis.
func plot(w io.Writer, title string, curves []curve) error {
	var b strings.Builder
	fmt.Fprintln(&b, clipped(title, plotWidth))
	low, high := math.Inf(1), 0.0
	columns := make([][]float64, len(curves)) // value per column, 0 for none
	for i, c := range curves {
		columns[i] = make([]float64, plotCols)
		for x := range columns[i] {
			if v, ok := c.at(float64(x) * nines / (plotCols - 1)); ok {
				v = max(v, 0.5) // what a histogram of whole µs calls 0
				columns[i][x] = v
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high == 0 {
		fmt.Fprintln(&b, "  no data")
		_, err := io.WriteString(w, b.String())
		return err
	}
	if high < low*1.5 { // a flat curve has room above and below
		low, high = low/1.5, high*1.5
	}
	rowOf := func(v float64) int {
		return int(math.Round((math.Log(v) - math.Log(low)) / (math.Log(high) - math.Log(low)) * (plotRows - 1)))
	}
	grid := make([][]rune, plotRows)
	for r := range grid {
		grid[r] = slices.Repeat([]rune{' '}, plotCols)
	}
	owner := map[[2]int]int{}
	for i, c := range curves {
		before := -1
		for x, v := range columns[i] {
			if v == 0 {
				break
			}
			row := rowOf(v)
			for r := min(max(before+1, 0), row); r <= row; r++ {
				if before < 0 && r < row {
					continue // a curve begins at its value, not at the bottom
				}
				mark := c.Mark
				if other, taken := owner[[2]int{r, x}]; taken && other != i {
					mark = several
				}
				owner[[2]int{r, x}], grid[r][x] = i, mark
			}
			before = row
		}
	}
	labels := ticks(low, high, rowOf)
	for r := plotRows - 1; r >= 0; r-- {
		axis := "│"
		if labels[r] != "" {
			axis = "┤"
		}
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%*s%s%s", labelWidth, labels[r], axis, string(grid[r])), " "))
	}
	plotFoot(&b, curves)
	_, err := io.WriteString(w, b.String())
	return err
}

// ticks labels rows with 1, 2 and 5 times a power of ten, at the row that lies
// nearest, and not closer than two rows.
func ticks(low, high float64, rowOf func(float64) int) map[int]string {
	out := map[int]string{}
	last := -2
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, power)
			if v < low || v > high {
				continue
			}
			if r := rowOf(v); r >= last+2 {
				out[r], last = latency(v)+" ", r
			}
		}
	}
	return out
}

// latency writes a time: 500 µs, 20 ms, 1 s.
func latency(us float64) string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch {
	case us >= 1e6:
		return text(us/1e6) + " s"
	case us >= 1e3:
		return text(us/1e3) + " ms"
	}
	return text(us) + " µs"
}

func plotFoot(b *strings.Builder, curves []curve) {
	axis := slices.Repeat([]rune{'─'}, plotCols)
	names := []rune(strings.Repeat(" ", plotWidth+2))
	for _, p := range []float64{0, 50, 90, 99, 99.9, 99.99} {
		x := int(math.Round(-math.Log10(1-p/100) * (plotCols - 1) / nines))
		axis[x] = '┴'
		text := strconv.FormatFloat(p, 'f', -1, 64)
		at := min(labelWidth+1+x-len(text)/2, plotWidth-len(text))
		copy(names[at:], []rune(text))
	}
	fmt.Fprintf(b, "%s└%s\n%s\n", strings.Repeat(" ", labelWidth), string(axis), strings.TrimRight(string(names), " "))
	fmt.Fprintln(b, clipped(strings.TrimRight(legend(curves), " "), plotWidth))
}

// legend names the curves. Where there is no room for all names, the longest
// ones are cut, so that none hides the others.
func legend(curves []curve) string {
	names, notes := make([]string, len(curves)), make([]string, len(curves))
	longest := 0
	for i, c := range curves {
		names[i] = c.Label
		longest = max(longest, utf8.RuneCountInString(c.Label))
		switch {
		case c.h == nil && c.overflow == 0:
			notes[i] = " (no data)"
		case c.overflow > 0:
			notes[i] = fmt.Sprintf(" (%d above the range)", c.overflow)
		}
		if c.invalid {
			notes[i] += " (invalid)"
		}
	}
	for ; ; longest-- {
		line := "percentile"
		for i := range names {
			line += "   " + clipped(names[i], longest) + notes[i]
		}
		if len(curves) > 1 {
			line += "   " + string(several) + ": several"
		}
		if utf8.RuneCountInString(line) <= plotWidth || longest <= leastLabel {
			return line
		}
	}
}

// leastLabel is how far a side's label is cut: its letter and a few more.
const leastLabel = 6

func clipped(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
