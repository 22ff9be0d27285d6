package gate

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ackmark/results"
)

// RenderCalibration draws a calibration for a terminal: a line per timing, then
// what to hold.
func RenderCalibration(w io.Writer, c *Calibration, o results.TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	var b strings.Builder
	para := func(text, indent string) {
		for _, line := range wrap(text, o.Width, indent) {
			fmt.Fprintln(&b, line)
		}
	}
	para(fmt.Sprintf("calibration of %s: %s against itself", c.Profile, c.Build), "  ")
	pairs := results.Plural(c.Pairs, "pair") + " measured"
	if c.Discarded > 0 {
		pairs += fmt.Sprintf(", %d more discarded, since one side was invalid", c.Discarded)
	}
	para(pairs, "  ")
	fmt.Fprintln(&b)
	rows := [][]string{{"variant", "metric", "A/A", "spread", "tolerance", "finds", "for 5 %", "pairs", ""}}
	for i, row := range c.Metrics {
		variant := results.OneLine(row.Variant)
		if i > 0 && c.Metrics[i-1].Variant == row.Variant {
			variant = ""
		}
		rows = append(rows, append([]string{variant, spoken(row.Metric)}, row.cells()...))
	}
	rows = narrowed(rows, o.Width)
	if o.Color {
		for i, row := range rows[1:] {
			if c.Metrics[i].Held {
				row[len(row)-1] = paint(row[len(row)-1], green)
			}
		}
	}
	if err := results.RenderRows(&b, rows, 2); err != nil {
		return err
	}
	fmt.Fprintln(&b)
	para(c.legend(rows[0]), "")
	if texts := c.unknown(); len(texts) > 0 {
		fmt.Fprintln(&b)
		for _, text := range texts {
			para(text, "  ")
		}
	}
	fmt.Fprintln(&b)
	for _, note := range c.Notes {
		para("note: "+note, "  ")
	}
	if len(c.Notes) > 0 {
		fmt.Fprintln(&b)
	}
	para(c.proposal(), "  ")
	_, err := io.WriteString(w, b.String())
	return err
}

// legend explains the columns that are there.
func (c *Calibration) legend(heads []string) string {
	var out []string
	for _, l := range []struct{ head, text string }{
		{"A/A", "A/A: the ratio, 0 % but for chance."},
		{"spread", "Spread: standard deviation of a pair."},
		{"tolerance", fmt.Sprintf("Tolerance: the least with which gates of at most %s pass in %s when nothing changed.",
			results.Plural(c.Looks[len(c.Looks)-1], "pair"), percent(passShare))},
		{"finds", fmt.Sprintf("Finds: the worsening that they find in %s.", percent(findShare))},
		{"for 5 %", "For 5 %: pairs that a tolerance of 5 % needs."},
	} {
		if slices.Contains(heads, l.head) {
			out = append(out, l.text)
		}
	}
	return strings.Join(out, " ")
}

// cells are a row's figures and what becomes of it.
func (row Calibrated) cells() []string {
	share := func(p *float64) string {
		if p == nil {
			return ""
		}
		return percent(*p)
	}
	out := []string{"", share(row.Spread), share(row.Tolerance), share(row.Finds), "", strconv.Itoa(row.Pairs), "shown"}
	if row.Ratio != nil {
		out[0] = changeText(*row.Ratio - 1)
	}
	switch {
	case row.PairsFor5 != nil:
		out[4] = strconv.Itoa(*row.PairsFor5)
	case row.Spread != nil:
		out[4] = ">" + strconv.Itoa(maxPairs)
	}
	switch {
	case row.Held:
		out[6] = "held"
	case row.Spread == nil:
		out[6] = "not known"
	case slices.Contains(holdable(), row.Metric):
		out[6] = "too noisy"
	}
	return out
}

// unknown says why figures aren't known.
func (c *Calibration) unknown() []string {
	var out []string
	for _, row := range c.Metrics {
		if row.Spread == nil {
			out = append(out, row.Variant+": "+row.Text)
		}
	}
	return out
}

func (c *Calibration) proposal() string {
	if len(c.Tolerances) == 0 {
		return "proposed: nothing. Every timing is too noisy here; measure longer, or on a quieter machine"
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(c.Tolerances)) {
		flags = append(flags, fmt.Sprintf("%s=%g%%", name, float64(int(c.Tolerances[name]*100+0.5))))
	}
	return "proposed: --metrics " + strings.Join(flags, ",")
}

// narrowed takes from the table what it can do without, and the middles of long
// names.
func narrowed(rows [][]string, width int) [][]string {
	for _, head := range []string{"pairs", "A/A", "for 5 %"} {
		if tableWidth(rows) > width {
			rows = without(rows, column(rows, head))
		}
	}
	squeeze(rows, width, 8)
	return rows
}
