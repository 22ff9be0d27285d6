package results

import (
	"bytes"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Plural(0, "run"), "0 runs"},
		{Plural(1, "run"), "1 run"},
		{Plural(2, "run"), "2 runs"},
		{OneLine("a\nb\x1b[31m\u0085\u2028\u202ec\xff"), "a b [31m   c\uFFFD"},
		{EscapeMarkdown("a|b*_`c[d]<e>\\\n"), "a\\|b\\*\\_\\`c\\[d]&lt;e>\\\\ "},
		{strings.Join(Similar("live.p98", []string{"sends", "live.p50", "live.p99", "live.p90", "lost"}), " "), "live.p99 live.p90 live.p50"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

// A result file may come from anywhere: its names don't steer a terminal.
func TestReportTamesNames(t *testing.T) {
	const name, tame = "x\n\x1b[31my", "x  [31my"
	r, rules := storm(t)
	Judge(r, rules)
	old := r.Variants[0].Name
	r.Profile.Name, r.Variants[0].Name = name, name
	r.Verdict = Verdict{Status: Invalid, Reasons: []Reason{{Variant: name, Text: "busy\r"}}}
	for i := range r.Runs {
		if r.Runs[i].Variant == old {
			r.Runs[i].Variant = name
			r.Runs[i].Warnings = append(r.Runs[i].Warnings, "\x1b[2J")
		}
	}
	rep := NewReport(r)
	for form, draw := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return RenderText(b, rep, TextOptions{}) },
		"markdown": func(b *bytes.Buffer) error { return RenderMarkdown(b, rep) },
		"csv":      func(b *bytes.Buffer) error { return RenderCSV(b, rep) },
	} {
		var b bytes.Buffer
		if err := draw(&b); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); strings.ContainsAny(out, "\x1b\r") || !strings.Contains(strings.ReplaceAll(out, "\\", ""), tame) {
			t.Errorf("%s:\n%q", form, out)
		}
	}
}
