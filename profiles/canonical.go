package profiles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// text is a parsed value in canonical text.
func (s *schema) text(name string, v any) string {
	k := s.byName[name]
	switch v := v.(type) {
	case Duration:
		if k.Off && v == 0 {
			return "off"
		}
		return v.String()
	case []string:
		return "[" + strings.Join(quoteAll(v), ", ") + "]"
	case []element:
		var parts []string
		for _, f := range s.faultsOf(v) {
			parts = append(parts, f.String())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Value:
		return s.text(name, v.Interface())
	}
	return fmt.Sprint(v)
}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return out
}

// Canonical is the resolved profile as lines of "key = value", sorted by key:
// all that decides what is measured, defaults included, but for those of keys
// that came later (Key.Later). Name, about, seed, repeats and thresholds aren't
// part of it: they can change without making two results incomparable, or are
// compared on their own.
func (p *Profile) Canonical() string {
	s := newSchema()
	var lines []string
	for _, k := range s.keys {
		f, ok := fieldOf(reflect.ValueOf(p), k.Name, false)
		if !k.Workload || !ok || k.Type == TypeList {
			continue
		}
		text := s.text(k.Name, f)
		if k.Later && (text == k.Default || text == "") { // "": resolved before the key came
			continue
		}
		lines = append(lines, k.Name+" = "+text)
	}
	for i, f := range p.Faults {
		lines = append(lines, fmt.Sprintf("faults[%d] = %s", i, f))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// Hash is the SHA-256 of Canonical in hexadecimal.
func (p *Profile) Hash() string {
	sum := sha256.Sum256([]byte(p.Canonical()))
	return hex.EncodeToString(sum[:])
}

// HashSettings is the hash of a profile with all its variants: the SHA-256
// over each variant's name and hash, in order.
func HashSettings(settings []Setting) string {
	h := sha256.New()
	for _, s := range settings {
		fmt.Fprintf(h, "%q %s\n", s.Name, s.Profile.Hash())
	}
	return hex.EncodeToString(h.Sum(nil))
}
