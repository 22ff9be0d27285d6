package results

import (
	"math"
	"strconv"
	"strings"
)

// noValue stands where a number is null.
const noValue = "–"

// FormatValue writes one number with its unit for sentences: "312 ms",
// "99.2 %", "1,080/s", "3". Times keep three significant digits in ms, or in
// µs below one, so that nothing is 0.000.
func FormatValue(unit string, v float64) string {
	switch unit {
	case Microseconds:
		if math.Abs(v) < 1000 {
			return significant(v, 3) + " µs"
		}
		return significant(v/1000, 3) + " ms"
	case "bytes":
		return formatBytes(v)
	case "percent":
		return significant(v, 3) + " %"
	case "/s":
		return significant(v, 4) + "/s"
	}
	return significant(v, 4)
}

func formatBytes(v float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(v) >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return significant(v, 3) + " " + units[i]
}

// significant writes v with n significant digits, never rounding whole digits
// away, without trailing zeros after the point.
func significant(v float64, n int) string {
	s := fixed(v, decimalsFor(v, n))
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// decimalsFor returns how many digits behind the point show n significant ones.
func decimalsFor(v float64, n int) int {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
}

// fixed writes v with a number of decimals and a comma per thousand.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	sign, digits := "", s
	if strings.HasPrefix(s, "-") {
		sign, digits = "−", s[1:]
		if strings.Trim(digits, "0.") == "" { // what rounds to 0 has no sign
			sign = ""
		}
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// percent writes a share in per cent: "0 %", "0.3 %", "1 %", "12 %".
func percent(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0 %"
	case a < 0.01:
		return "<0.01 %"
	case a < 10:
		return significant(v, 2) + " %"
	}
	return fixed(v, 0) + " %"
}

// spoken writes a metric's name as people say it: live.p99.9 for live.p999.
func spoken(name string) string {
	if base, ok := strings.CutSuffix(name, ".p999"); ok {
		return base + ".p99.9"
	}
	return name
}
