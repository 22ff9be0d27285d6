package profiles

import (
	"strconv"
	"strings"
	"unicode"
)

// parse reads the text of a scalar key into the Go value of its type, within
// the key's bounds. Integers come as uint64: no key is ever negative.
func (k Key) parse(text string) (any, *ValueError) {
	if k.Off && text == "off" {
		return Duration(0), nil
	}
	v, err := k.parseType(text)
	if err != nil {
		return nil, err
	}
	return v, k.inBounds(text, v)
}

func (k Key) parseType(text string) (any, *ValueError) {
	var v any
	var err error
	switch k.Type {
	case TypeText:
		return text, checkText(text)
	case TypeName:
		return text, checkName(text)
	case TypeChoice:
		return text, k.checkChoice(text)
	case TypeMetric:
		return text, checkMetric(text)
	case TypeInteger:
		return k.parseInteger(text)
	case TypeDuration:
		v, err = ParseDuration(text)
	case TypeRate:
		v, err = ParseRate(text)
	case TypePercent:
		v, err = ParsePercent(text)
	case TypeBytes:
		v, err = ParseBytes(text)
	}
	if err != nil {
		return nil, err.(*ValueError) // what the parsers promise
	}
	return v, nil
}

func (k Key) parseInteger(text string) (any, *ValueError) {
	digits, negative := strings.CutPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, valueErrorf("a whole number"+k.example(), "%q is not a whole number", text)
	}
	if negative {
		return nil, valueErrorf("at least "+k.Min, "%s is too small", text)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		most := k.Max
		if most == "" {
			most = "18446744073709551615"
		}
		return nil, valueErrorf("at most "+most, "%s is too large", text)
	}
	return n, nil
}

func (k Key) inBounds(text string, v any) *ValueError {
	bound := func(s string) float64 { b, _ := k.parseType(s); return magnitude(b) }
	n := magnitude(v)
	switch {
	case k.Zero && n == 0:
	case k.Zero && n < bound(k.Min):
		return valueErrorf("0, or at least "+k.Min, "%s is too small", text)
	case k.Above != "" && n <= bound(k.Above):
		return valueErrorf("more than "+k.Above, "%s is too small", text)
	case k.Min != "" && n < bound(k.Min):
		return valueErrorf("at least "+k.Min, "%s is too small", text)
	case k.Max != "" && n > bound(k.Max):
		return valueErrorf("at most "+k.Max, "%s is too large", text)
	}
	return nil
}

func magnitude(v any) float64 {
	switch v := v.(type) {
	case uint64:
		return float64(v)
	case Duration:
		return float64(v)
	case Rate:
		return float64(v)
	case Percent:
		return float64(v)
	case Bytes:
		return float64(v)
	}
	return 0
}

func (k Key) checkChoice(text string) *ValueError {
	for _, v := range k.Values {
		if text == v {
			return nil
		}
	}
	for _, v := range k.Planned {
		if text == v {
			return valueErrorf("supported: "+strings.Join(k.Values, ", "), "%s is not supported yet", text)
		}
	}
	right := "one of " + strings.Join(k.Values, ", ")
	if len(k.Values) == 1 {
		right = "only " + k.Values[0] + " is supported"
	}
	if n := nearest(text, k.Values); n != "" && len(k.Values) > 1 {
		right = "did you mean " + n + "? " + right
	}
	return valueErrorf(right, "%q is not known", text)
}

const (
	maxText = 4096 // characters of a text
	maxName = 40   // characters of a profile's or variant's name
)

func checkText(s string) *ValueError {
	if n := len([]rune(s)); n > maxText {
		return valueErrorf("at most "+strconv.Itoa(maxText), "a text of %d characters is too long", n)
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return valueErrorf("printable characters only", "%U can't be printed", r)
		}
	}
	return nil
}

func checkName(s string) *ValueError {
	if s == "" || len(s) > maxName || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s[0] == '-' {
		return valueErrorf("1 to 40 small letters, digits or '-', e.g. ack-storm", "%q is not a name", s)
	}
	return nil
}

func checkMetric(s string) *ValueError {
	if !metricName(s) {
		return valueErrorf("the name of a metric, e.g. cpu or live.p99", "%s", notAMetric(s))
	}
	return nil
}

// example ends a sentence about the type with a value of it.
func (k Key) example() string {
	switch {
	case k.Default != "":
		return ", e.g. " + k.Default
	case len(k.Values) > 0:
		return ", e.g. " + k.Values[0]
	case k.Type == TypeDuration:
		return ", e.g. 5s"
	}
	return ""
}

// wants names the type in a sentence: "wants a whole number".
func (k Key) wants() string {
	switch k.Type {
	case TypeText, TypeName:
		return "a text"
	case TypeChoice:
		return "one of " + strings.Join(k.Values, ", ")
	case TypeInteger:
		return "a whole number" + k.example()
	case TypeChecks:
		return `a list of statements, e.g. ["lost == 0"]`
	case TypeMetric:
		return "the name of a metric, e.g. cpu"
	case TypeMetrics:
		return "a cost and a risk, e.g. [cpu, redelivered_per_crash]"
	case TypeAxes:
		return "keys in full with lists of values, e.g. {clients.ack.every: [1, 10, 100]}"
	case TypeSettings:
		return "keys in full with values, e.g. {clients.ack.policy: each}"
	case TypeList:
		return "a list of sections, each beginning with '-'"
	}
	name := k.Type // a duration, a rate
	switch k.Type {
	case TypePercent:
		name = "percentage"
	case TypeBytes:
		name = "size"
	}
	return "a " + name + k.example()
}
