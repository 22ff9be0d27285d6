package gate

import (
	"math"
	"strconv"
	"strings"

	"ackmark/results"
)

// spoken writes a metric's name as people say it: live.p99.9 for live.p999.
func spoken(name string) string {
	if base, ok := strings.CutSuffix(name, ".p999"); ok {
		return base + ".p99.9"
	}
	return name
}

// changeText writes a relative change: "+5.2 %", "−12 %", "×31", "was 0".
func changeText(change float64) string {
	sign := "+"
	switch {
	case math.IsInf(change, 0):
		return "was 0"
	case change == 0:
		return "0 %"
	case change >= 9:
		return "×" + strconv.FormatFloat(math.Round(change+1), 'f', 0, 64)
	case change < 0:
		sign = "−"
	}
	return sign + percent(math.Abs(change))
}

// percent writes a share in per cent: "0 %", "0.3 %", "12 %".
func percent(share float64) string {
	v := share * 100
	switch a := math.Abs(v); {
	case a == 0:
		return "0 %"
	case a < 0.01:
		return "<0.01 %"
	case a < 10:
		return strconv.FormatFloat(v, 'g', 2, 64) + " %"
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " %"
}

// wrap is results.Wrap for texts that may hold anything.
func wrap(text string, width int, indent string) []string {
	return results.Wrap(results.OneLine(text), width, indent)
}

func paint(s, code string) string { return "\x1b[" + code + "m" + s + "\x1b[0m" }

// The colours are those of the results' own tables.
const (
	green  = "32"
	red    = "31;1"
	yellow = "33;1"
	plain  = "0"
)

func color(o Outcome) string {
	switch o {
	case Passed:
		return green
	case Failed:
		return red
	case Reported:
		return plain
	}
	return yellow
}

func statusColor(s results.Status) string {
	switch s {
	case results.Pass:
		return green
	case results.Fail:
		return red
	}
	return yellow
}
