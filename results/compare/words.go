package compare

import (
	"math"
	"strconv"
	"strings"

	"ackmark/results"
)

// noValue stands where there is no number.
const noValue = "–"

// scale is the unit in which a metric's row is written.
type scale struct {
	name   string // "", "ms"
	factor float64
}

// scaleOf picks one unit for all numbers of a row, so that they can be compared
// by eye.
func scaleOf(m Metric) scale {
	greatest := 0.0
	for _, c := range m.Cells {
		if c.Median != nil {
			greatest = max(greatest, math.Abs(*c.Median))
		}
	}
	switch {
	case m.Unit == results.Microseconds && greatest >= 1000:
		return scale{"ms", 1e-3}
	case m.Unit == results.Microseconds:
		return scale{"µs", 1}
	case m.Unit == "bytes" && greatest >= 10<<20:
		return scale{"MiB", 1. / (1 << 20)}
	case m.Unit == "bytes" && greatest >= 100<<10:
		return scale{"KiB", 1. / (1 << 10)}
	case m.Unit == "percent":
		return scale{"%", 1}
	case m.Unit == "ratio", m.Unit == "/s":
		return scale{"", 1}
	}
	return scale{m.Unit, 1}
}

// title is the metric with its unit: "live p99, ms".
func (m Metric) title() string {
	s := scaleOf(m)
	title := strings.ReplaceAll(m.Title, " per ", "/")
	if s.name == "" || strings.Contains(title, s.name) {
		return title
	}
	return title + ", " + s.name
}

// number writes v with three significant digits or all before the point, and a
// comma per thousand.
func number(v float64) string {
	decimals := 0
	if a := math.Abs(v); a != 0 && v != math.Trunc(v) || a != 0 && a < 100 && v != math.Trunc(v) {
		decimals = min(max(0, 2-int(math.Floor(math.Log10(a)))), 9)
	}
	if math.Abs(v) >= 1e15 { // no number of anything real, nor one to read
		return strings.Replace(strconv.FormatFloat(v, 'e', 2, 64), "-", "−", 1)
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, dotted := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(whole, "0.,") != "" {
		return "−" + whole
	}
	return whole
}

// spread is the wider half of the median's interval in per cent of it; "" where
// there is no interval.
func (c Cell) spread() string {
	if c.Median == nil || c.Low == nil || c.High == nil || *c.Median == 0 {
		return ""
	}
	half := max(*c.High-*c.Median, *c.Median-*c.Low) / math.Abs(*c.Median)
	switch {
	case half == 0:
		return ""
	case half >= 9.995:
		return "±>999%"
	}
	return "±" + strconv.FormatFloat(max(half*100, 1), 'f', 0, 64) + "%"
}

// change words a ratio to the first side: "−11 %", "+0.4 %", "×31", "×>999".
func change(ratio float64) string {
	switch d := (ratio - 1) * 100; {
	case ratio >= 9.995:
		return times(math.Round(ratio))
	case d == 0:
		return "0 %"
	default:
		return signed(d) + " %"
	}
}

// times words a ratio; above 999 it only says so.
func times(ratio float64) string {
	if ratio >= 999.5 {
		return "×>999"
	}
	return "×" + number(ratio)
}

func signed(percent float64) string {
	sign := "+"
	if percent < 0 {
		sign = "−"
	}
	a := math.Abs(percent)
	switch {
	case a < 0.05:
		return "0"
	case a < 9.95:
		return sign + strconv.FormatFloat(a, 'f', 1, 64)
	}
	return sign + strconv.FormatFloat(a, 'f', 0, 64)
}

// change is that of a cell's median, or of a count's seeds.
func (c Cell) change(first Cell) string {
	switch {
	case c.Median == nil || first.Median == nil:
		return ""
	case c.BySeed == nil && *first.Median == *c.Median:
		return "0 %"
	case c.Ratio == nil && *first.Median != 0:
		return "was 0 in a seed"
	case c.Ratio == nil:
		return "was 0"
	case *c.Ratio < 0:
		return "" // of errors, which may have either sign, no ratio says anything
	}
	return change(*c.Ratio)
}

// interval is that of the change.
func (c Cell) interval() string {
	if c.RatioLow == nil || c.RatioHigh == nil {
		return ""
	}
	low, high := *c.RatioLow, *c.RatioHigh
	if low >= 9.995 || high >= 9.995 {
		return times(low) + " … " + times(high)
	}
	return signed((low-1)*100) + " … " + signed((high-1)*100) + " %"
}

// pText is the adjusted p-value.
func (c Cell) pText() string {
	switch {
	case c.AdjustedP == nil:
		return ""
	case *c.AdjustedP < 0.001:
		return "<0.001"
	case *c.AdjustedP > 0.9995:
		return "1"
	case *c.AdjustedP >= 0.1:
		return strconv.FormatFloat(*c.AdjustedP, 'f', 2, 64)
	}
	return strconv.FormatFloat(*c.AdjustedP, 'f', 3, 64)
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}
