package profiles

import (
	"encoding"
	"strings"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want time.Duration
		text string
	}{
		{"500ms", 500 * time.Millisecond, "500ms"}, {"1m0s", time.Minute, "1m"}, {"90s", 90 * time.Second, "1m30s"},
		{"2h", 2 * time.Hour, "2h"}, {"2h5s", 2*time.Hour + 5*time.Second, "2h0m5s"}, {"0s", 0, "0s"}, {"0", 0, "0s"},
		{"1.5s", 1500 * time.Millisecond, "1.5s"}, {"10m", 10 * time.Minute, "10m"}, {"20ns", 20, "20ns"},
	} {
		d, err := ParseDuration(tc.in)
		if err != nil || d.Std() != tc.want || d.String() != tc.text {
			t.Errorf("%q: %v %q, %v; want %v %q", tc.in, d.Std(), d, err, tc.want, tc.text)
		}
	}
}

func TestRate(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want float64
		text string
	}{
		{"20/s", 20, "20/s"}, {"1200/m", 20, "20/s"}, {"100/m", 100.0 / 60, "100/m"}, {"0.5/s", 0.5, "30/m"},
		{"7/h", 7.0 / 3600, "7/h"}, {"0/s", 0, "0/s"}, {"0.001/s", 0.001, "0.001/s"},
	} {
		r, err := ParseRate(tc.in)
		if err != nil || r.PerSecond() != tc.want || r.String() != tc.text {
			t.Errorf("%q: %v %q, %v; want %v %q", tc.in, r.PerSecond(), r, err, tc.want, tc.text)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, tc := range []struct {
		in   string
		of   int
		want int
		text string
	}{{"100%", 500, 500, "100%"}, {"12.5%", 1000, 125, "12.5%"}, {"0%", 10, 0, "0%"}, {"33%", 10, 3, "33%"}} {
		p, err := ParsePercent(tc.in)
		if err != nil || p.Of(tc.of) != tc.want || p.String() != tc.text {
			t.Errorf("%q of %d: %d %q, %v; want %d %q", tc.in, tc.of, p.Of(tc.of), p, err, tc.want, tc.text)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int
		text string
	}{{"200", 200, "200"}, {"200B", 200, "200"}, {"64KiB", 65536, "64KiB"}, {"1024", 1024, "1KiB"}, {"1536", 1536, "1536"},
		{"2MiB", 2 << 20, "2MiB"}, {"1GiB", 1 << 30, "1GiB"}, {"0", 0, "0"}, {"007", 7, "7"}} {
		b, err := ParseBytes(tc.in)
		if err != nil || int(b) != tc.want || b.String() != tc.text {
			t.Errorf("%q: %d %q, %v; want %d %q", tc.in, int(b), b, err, tc.want, tc.text)
		}
	}
}

// The exact words a user reads.
func TestValueErrors(t *testing.T) {
	duration := func(s string) error { _, err := ParseDuration(s); return err }
	rate := func(s string) error { _, err := ParseRate(s); return err }
	percent := func(s string) error { _, err := ParsePercent(s); return err }
	size := func(s string) error { _, err := ParseBytes(s); return err }
	const (
		notDuration = ` is not a duration; a number with a unit (ns, us, ms, s, m, h), e.g. 500ms`
		notRate     = ` is not a rate; a number per s, m or h, e.g. 20/s or 1200/m`
		notSize     = ` is not a size; a whole number of bytes, or of KiB, MiB or GiB, e.g. 200 or 64KiB`
	)
	for _, tc := range []struct {
		parse    func(string) error
		in, want string
	}{
		{duration, "10", "10 has no unit; write the unit too, e.g. 10ms or 10s"},
		{duration, "", `""` + notDuration},
		{duration, "5 s", `"5 s"` + notDuration},
		{duration, "5d", `"5d"` + notDuration},
		{duration, "off", `"off"` + notDuration},
		{duration, "1e3s", `"1e3s"` + notDuration},
		{duration, "9999999h", `"9999999h"` + notDuration},
		{duration, "-5s", "-5s is negative; 0s or more"},
		{rate, "20", "20 has no unit; write the unit too, e.g. 20/s"},
		{rate, "fast", `"fast"` + notRate},
		{rate, "/s", `"/s"` + notRate},
		{rate, "20/d", `"20/d" is not a rate: unknown unit "d"; a number per s, m or h, e.g. 20/s or 1200/m`},
		{rate, "1e9/s", `"1e9/s"` + notRate},
		{rate, "Inf/s", `"Inf/s"` + notRate},
		{rate, "NaN/s", `"NaN/s"` + notRate},
		{rate, "-3/s", "-3/s is negative; more than 0"},
		{percent, "80", "80 has no % sign; write the sign too, e.g. 80%"},
		{percent, "all", `"all" is not a percentage; 0% to 100%, e.g. 80%`},
		{percent, "%", `"%" is not a percentage; 0% to 100%, e.g. 80%`},
		{percent, "-1%", `"-1%" is not a percentage; 0% to 100%, e.g. 80%`},
		{percent, "101%", "101% is too large; at most 100%"},
		{size, "64KB", `"64KB"` + notSize},
		{size, "KiB", `"KiB"` + notSize},
		{size, "1.5KiB", `"1.5KiB"` + notSize},
		{size, "-1", `"-1"` + notSize},
		{size, "99999999999GiB", "99999999999GiB is too large; less than 8GiB"},
	} {
		if err := tc.parse(tc.in); err == nil || err.Error() != tc.want {
			t.Errorf("%q:\n got %v\nwant %s", tc.in, err, tc.want)
		}
	}
}

// reread is the property that every value type keeps: what String writes reads
// back as the same value, and refusals say both halves.
func reread[T comparable](t *testing.T, in string, parse func(string) (T, error), text func(T) string) {
	v, err := parse(in)
	if err != nil {
		if e, ok := err.(*ValueError); !ok || e.What == "" || e.Right == "" || strings.Contains(e.What, "\n") {
			t.Fatalf("%q: error %q doesn't say what is wrong and what would be right, in a line", in, err)
		}
		return
	}
	again, err := parse(text(v))
	if err != nil || again != v {
		t.Fatalf("%q reads as %v, printed as %q, read again as %v (%v)", in, v, text(v), again, err)
	}
}

func marshal[T encoding.TextMarshaler](v T) string { b, _ := v.MarshalText(); return string(b) }

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"500ms", "1h0m5s", "-1s", "10", "0", "1.5h", "2562047h47m16.854775807s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { reread(t, s, ParseDuration, marshal[Duration]) })
}

func FuzzRate(f *testing.F) {
	for _, s := range []string{"20/s", "1200/m", "1/h", "0.1/s", "1e3/s", "20", "99999999999999999999/m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { reread(t, s, ParseRate, marshal[Rate]) })
}

func FuzzPercent(f *testing.F) {
	for _, s := range []string{"100%", "12.5%", "101%", "%", "0.000001%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { reread(t, s, ParsePercent, marshal[Percent]) })
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{"200", "64KiB", "9999999999999GiB", "B", "1024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { reread(t, s, ParseBytes, marshal[Bytes]) })
}
