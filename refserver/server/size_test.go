package server

import "testing"

func TestSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
		out  string
	}{
		{"0", 0, "0B"},
		{"65536", 65536, "64KiB"},
		{"64KiB", 65536, "64KiB"},
		{"4 MiB", 4 << 20, "4MiB"},
		{"1GiB", 1 << 30, "1GiB"},
		{"100B", 100, "100B"},
		{"1025", 1025, "1025B"},
	} {
		got, err := parseSize(c.in)
		if err != nil || got != c.want || formatSize(got) != c.out {
			t.Errorf("%q: %d (%s), %v; want %d (%s)", c.in, got, formatSize(got), err, c.want, c.out)
		}
	}
	for _, in := range []string{"", "KiB", "-1", "1.5MiB", "64K", "64kb", "99999999999999999999", "9999999GiB"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q was taken as %d", in, got)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("64KiB")
	f.Add("1 GiB")
	f.Fuzz(func(t *testing.T, in string) {
		n, err := parseSize(in)
		if err != nil {
			return
		}
		if n < 0 {
			t.Errorf("%q: %d", in, n)
		}
		if again, err := parseSize(formatSize(n)); err != nil || again != n {
			t.Errorf("%q: %d is written as %s and read as %d, %v", in, n, formatSize(n), again, err)
		}
	})
}
