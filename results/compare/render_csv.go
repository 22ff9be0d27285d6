package compare

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// RenderCSV writes a row per variant, metric and side, in the registry's units.
// An empty field is a number not known, or one that doesn't apply. Counts are
// compared by the runs of the same seed: seeds_first and seeds_median are the
// medians of the seeds that both sides have, which ratio and outcome are of.
func (c *Comparison) RenderCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"variant", "metric", "unit", "class", "better", "side", "label", "state", "runs", "median", "low", "high",
		"ratio", "ratio_low", "ratio_high", "p", "adjusted_p", "seeds", "seeds_moved", "seeds_first", "seeds_median", "note", "outcome"}}
	for _, v := range c.Variants {
		for _, m := range v.Metrics {
			for i, cell := range m.Cells {
				seeds := make([]string, 4)
				if by := cell.BySeed; by != nil {
					seeds = []string{strconv.Itoa(by.Seeds), strconv.Itoa(by.Moved), plain(by.First), plain(by.Median)}
				}
				records = append(records, slices.Concat([]string{v.Name, m.Name, m.Unit, string(m.Class), string(m.Better), letter(i), c.Sides[i].Label,
					string(v.Sides[i].State), strconv.Itoa(cell.N), plain(cell.Median), plain(cell.Low), plain(cell.High),
					plain(cell.Ratio), plain(cell.RatioLow), plain(cell.RatioHigh), plain(cell.P), plain(cell.AdjustedP)}, seeds, []string{strings.Join(append(v.unjudged(i, cell), cell.notes...), "; "), string(cell.Outcome)}))
			}
		}
	}
	return out.WriteAll(records)
}

func plain(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
