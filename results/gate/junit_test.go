package gate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ackmark/results"
)

func junit(t interface{ Fatal(...any) }, rep Report) []byte {
	var b bytes.Buffer
	if err := WriteJUnit(&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestJUnitSchema holds what is written against the Surefire and Jenkins
// compatible subset in testdata/junit.xsd. ACKMARK_TEST_XMLLINT=1 says that
// xmllint must be there.
func TestJUnitSchema(t *testing.T) {
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("ACKMARK_TEST_XMLLINT") == "1" {
			t.Fatal("xmllint is missing (Debian: libxml2-utils)")
		}
		t.Skip("no xmllint (Debian: libxml2-utils); TestJUnitStructure looks at the same files")
	}
	validate := func(file string) error {
		out, err := exec.Command(lint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", file).CombinedOutput()
		if err != nil {
			return errors.New(string(out))
		}
		return nil
	}
	dir := t.TempDir()
	for name, rep := range map[string]Report{"pass": passing(t), "troubled": troubled(t), "odd": odd(t), "nothing": Unusable("ci", "a", "b", io.EOF)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name+".xml")
			if err := os.WriteFile(file, junit(t, rep), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := validate(file); err != nil {
				t.Error(err)
			}
		})
	}
	for name, text := range map[string]string{
		"suite without a name":    `<testsuites><testsuite tests="0"/></testsuites>`,
		"case without a name":     `<testsuites><testsuite name="a" tests="1"><testcase classname="b"/></testsuite></testsuites>`,
		"element unknown":         `<testsuites><testsuite name="a" tests="1"><testcase name="b" classname="c"><undecided/></testcase></testsuite></testsuites>`,
		"count is no number":      `<testsuites tests="many"/>`,
		"case outside of a suite": `<testsuites><testcase name="b" classname="c"/></testsuites>`,
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			file := filepath.Join(dir, "wrong.xml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if validate(file) == nil {
				t.Error("accepted")
			}
		})
	}
}

// TestJUnitStructure reads what is written back: the counts are those of the
// cases, and a reader finds all well exactly where the exit code is 0.
func TestJUnitStructure(t *testing.T) {
	outcome := rapid.SampledFrom([]Outcome{Passed, Failed, Bad, Undecided, Reported, Refused, ""})
	rapid.Check(t, func(rt *rapid.T) {
		rep := Report{Profile: rapid.String().Draw(rt, "profile"), Candidate: string(rapid.SliceOf(rapid.Byte()).Draw(rt, "candidate"))}
		for range rapid.IntRange(0, 6).Draw(rt, "checks") {
			rep.Checks = append(rep.Checks, Check{Variant: rapid.SampledFrom([]string{"", "each", "a\x01b", "\xff", "é|"}).Draw(rt, "variant"), Metric: rapid.String().Draw(rt, "metric"),
				Class: rapid.SampledFrom([]results.Class{"", results.Timing, results.Deterministic, results.Invariant}).Draw(rt, "class"),
				Gated: rapid.Bool().Draw(rt, "gated"), Outcome: outcome.Draw(rt, "outcome"), Text: rapid.String().Draw(rt, "text")})
		}
		finish(&rep)
		b := junit(rt, rep)
		d := xml.NewDecoder(bytes.NewReader(b))
		d.Strict = true
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				rt.Fatalf("not well formed: %v\n%s", err, b)
			}
		}
		var got suites
		if err := xml.Unmarshal(b, &got); err != nil {
			rt.Fatal(err)
		}
		var tests, failures, errs, skips int
		for _, s := range got.Suites {
			if s.Name == "" || len(s.Cases) != s.Tests {
				rt.Errorf("suite %q has %d cases, says %d", s.Name, len(s.Cases), s.Tests)
			}
			for _, c := range s.Cases {
				tests++
				for _, p := range []struct {
					there bool
					n     *int
				}{{c.Failure != nil, &failures}, {c.Error != nil, &errs}, {c.Skipped != nil, &skips}} {
					if p.there {
						*p.n++
					}
				}
			}
		}
		if tests != len(rep.Checks) || got.Tests != tests || got.Failures != failures || got.Errors != errs || got.Skipped != skips {
			rt.Errorf("%d cases, %d failures, %d errors, %d skipped; says %+v", tests, failures, errs, skips, got)
		}
		if (failures+errs == 0) != (rep.ExitCode == results.ExitPass) {
			rt.Errorf("%d failures and %d errors with exit %d", failures, errs, rep.ExitCode)
		}
	})
}

func TestJUnitKinds(t *testing.T) {
	var got suites
	if err := xml.Unmarshal(junit(t, troubled(t)), &got); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range got.Suites {
		for _, c := range s.Cases {
			switch {
			case c.Failure != nil:
				kinds = append(kinds, "failure "+c.Failure.Type)
			case c.Error != nil:
				kinds = append(kinds, "error "+c.Error.Type)
			case c.Skipped != nil:
				kinds = append(kinds, "skipped")
			}
		}
	}
	for _, want := range []string{"failure invariant", "failure count", "failure timing", "failure inconclusive", "error invalid", "error refused", "skipped"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no %s among %q", want, kinds)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{"a\tb\nc": "a\tb\nc", "\x00\x1b[1m\x7f": "��[1m\x7f", "\ufffe\uffff": "��", "\xff": "�", "😀": "😀"} {
		if got := clean(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
