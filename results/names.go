package results

import (
	"fmt"
	"strings"
)

// Files beside FileName in a result's directory.
const (
	TableCSV      = "table.csv"
	TableMarkdown = "table.md"
)

// HlogName returns the name of the .hlog file of one run: the variant's place
// in the profile from 1 on, its name reduced to letters, digits and dashes, and
// the repeat, as in "02-every-10-r1.hlog". The place keeps names apart that
// become the same.
func HlogName(place int, variant string, repeat int) string {
	return fmt.Sprintf("%02d-%s-r%d.hlog", place, slug(variant), repeat)
}

// slug has at most 40 characters, none of which a shell or file system minds.
func slug(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			dash = false
		default:
			dash = true
		}
		if b.Len() >= 40 {
			break
		}
	}
	if b.Len() == 0 {
		return "variant"
	}
	return b.String()
}
