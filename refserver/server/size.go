package server

import (
	"fmt"
	"strconv"
	"strings"
)

// size is a flag in bytes: 65536, 64KiB, 4MiB, 1GiB.
type size int

var sizeUnits = [...]struct { //nolint:gochecknoglobals // a constant table
	name  string
	bytes int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// parseSize reads a size.
func parseSize(s string) (int, error) {
	number, unit := strings.TrimSpace(s), 1
	for _, u := range sizeUnits {
		if cut, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(cut), u.bytes
			break
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > (1<<50)/unit {
		return 0, fmt.Errorf("%q isn't a size: 65536, 64KiB or 4MiB is right", s)
	}
	return n * unit, nil
}

// formatSize writes a size with the largest unit that divides it.
func formatSize(n int) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && n%u.bytes == 0 && u.bytes > 1 {
			return strconv.Itoa(n/u.bytes) + u.name
		}
	}
	return strconv.Itoa(n) + "B"
}

func (s *size) Set(v string) error {
	n, err := parseSize(v)
	if err == nil {
		*s = size(n)
	}
	return err
}

func (s *size) String() string { return formatSize(int(*s)) }

// Type is what pflag prints for the value.
func (s *size) Type() string { return "SIZE" }
