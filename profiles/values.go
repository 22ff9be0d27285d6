package profiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ValueError says what is wrong with one value and what would be right.
type ValueError struct {
	What  string // "\"20\" is not a rate"
	Right string // "messages per time, e.g. 20/s or 1200/m"
}

// Error joins both halves as the problems of a file do.
func (e *ValueError) Error() string { return e.What + "; " + e.Right }

func valueErrorf(right, format string, args ...any) *ValueError {
	return &ValueError{What: fmt.Sprintf(format, args...), Right: right}
}

// Duration is a length of time, zero or more. Text: 500ms, 15s, 1m30s.
type Duration time.Duration

// Std gives the standard library's form.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String gives the canonical text, without zero parts: 1m, not 1m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText gives String, UnmarshalText is ParseDuration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(b []byte) (err error) { *d, err = ParseDuration(string(b)); return }

const rightDuration = "a number with a unit (ns, us, ms, s, m, h), e.g. 500ms"

// ParseDuration reads a duration. The error is a *ValueError.
func ParseDuration(s string) (Duration, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n != 0 {
		return 0, valueErrorf("write the unit too, e.g. "+s+"ms or "+s+"s", "%s has no unit", s)
	}
	if s == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, valueErrorf(rightDuration, "%q is not a duration", s)
	case d < 0:
		return 0, valueErrorf("0s or more", "%s is negative", s)
	}
	return Duration(d), nil
}

// Rate is a number of events per second. Text: 20/s, 1200/m, 0.5/s, 90/h.
type Rate float64

// PerSecond gives the rate as a plain number.
func (r Rate) PerSecond() float64 { return float64(r) }

// String gives the canonical text: per second, or per minute or hour where
// only that is a whole number.
func (r Rate) String() string {
	v := float64(r)
	if v != math.Trunc(v) {
		for _, u := range []rateUnit{{"m", 60}, {"h", 3600}} {
			if n := math.Round(v * u.seconds); n/u.seconds == v {
				return strconv.FormatFloat(n, 'f', -1, 64) + "/" + u.name
			}
		}
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "/s"
}

type rateUnit struct {
	name    string
	seconds float64
}

// MarshalText gives String, UnmarshalText is ParseRate.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Rate) UnmarshalText(b []byte) (err error) { *r, err = ParseRate(string(b)); return }

const rightRate = "a number per s, m or h, e.g. 20/s or 1200/m"

// ParseRate reads a rate. The error is a *ValueError.
func ParseRate(s string) (Rate, error) {
	num, unit, found := strings.Cut(s, "/")
	if !found {
		if _, ok := decimal(s); ok {
			return 0, valueErrorf("write the unit too, e.g. "+s+"/s", "%s has no unit", s)
		}
		return 0, valueErrorf(rightRate, "%q is not a rate", s)
	}
	seconds, ok := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	if !ok {
		return 0, valueErrorf(rightRate, "%q is not a rate: unknown unit %q", s, unit)
	}
	if rest, neg := strings.CutPrefix(num, "-"); neg {
		if _, ok := decimal(rest); ok {
			return 0, valueErrorf("more than 0", "%s is negative", s)
		}
	}
	n, ok := decimal(num)
	if !ok {
		return 0, valueErrorf(rightRate, "%q is not a rate", s)
	}
	return Rate(n / seconds), nil
}

// Percent is a share of 0 to 100. Text: 100%, 12.5%.
type Percent float64

// Of gives the share of n, rounded to the nearest whole number.
func (p Percent) Of(n int) int { return int(math.Round(float64(n) * float64(p) / 100)) }

// String gives the canonical text.
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%" }

// MarshalText gives String, UnmarshalText is ParsePercent.
func (p Percent) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Percent) UnmarshalText(b []byte) (err error) { *p, err = ParsePercent(string(b)); return }

// ParsePercent reads a percentage. The error is a *ValueError.
func ParsePercent(s string) (Percent, error) {
	num, found := strings.CutSuffix(s, "%")
	n, ok := decimal(num)
	switch {
	case !ok:
		return 0, valueErrorf("0% to 100%, e.g. 80%", "%q is not a percentage", s)
	case !found:
		return 0, valueErrorf("write the sign too, e.g. "+s+"%", "%s has no %% sign", s)
	case n > 100:
		return 0, valueErrorf("at most 100%", "%s is too large", s)
	}
	return Percent(n), nil
}

// Bytes is a size. Text: 200, 200B, 64KiB, 1MiB, 2GiB.
type Bytes int

// String gives the canonical text: the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range byteUnits() {
		if n := int(b); n != 0 && u.size > 1 && n%u.size == 0 {
			return strconv.Itoa(n/u.size) + u.name
		}
	}
	return strconv.Itoa(int(b))
}

type byteUnit struct {
	name string
	size int
}

// byteUnits are ordered from large to small; B comes last because the others
// end in B too.
func byteUnits() []byteUnit {
	return []byteUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// MarshalText gives String, UnmarshalText is ParseBytes.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (b *Bytes) UnmarshalText(t []byte) (err error) { *b, err = ParseBytes(string(t)); return }

// ParseBytes reads a size. The error is a *ValueError.
func ParseBytes(s string) (Bytes, error) {
	const right = "a whole number of bytes, or of KiB, MiB or GiB, e.g. 200 or 64KiB"
	num, size := s, 1
	for _, u := range byteUnits() {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			num, size = rest, u.size
			break
		}
	}
	if num == "" || strings.Trim(num, "0123456789") != "" {
		return 0, valueErrorf(right, "%q is not a size", s)
	}
	n, err := strconv.Atoi(num)
	if err != nil || n > math.MaxInt/size {
		return 0, valueErrorf("less than 8GiB", "%s is too large", s)
	}
	return Bytes(n * size), nil
}

// decimal reads digits with an optional fraction; no sign, exponent, hex,
// underscore, infinity or NaN, which strconv would let through.
func decimal(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}
