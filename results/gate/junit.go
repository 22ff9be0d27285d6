package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit file as Surefire writes and Jenkins, GitLab and
// GitHub's actions read them.
type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name       string      `xml:"name,attr"`
		Tests      int         `xml:"tests,attr"`
		Failures   int         `xml:"failures,attr"`
		Errors     int         `xml:"errors,attr"`
		Skipped    int         `xml:"skipped,attr"`
		Properties *properties `xml:"properties"`
		Cases      []testcase  `xml:"testcase"`
	}
	properties struct {
		All []property `xml:"property"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Skipped *skipped `xml:"skipped"`
		Error   *problem `xml:"error"`
		Failure *problem `xml:"failure"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
	}
	problem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a suite per variant and one for
// what concerns the whole, a case per check. What failed is a failure, what is
// invalid or refused an error, what is undecided a failure of type inconclusive,
// what is only reported is skipped. So a reader finds all well exactly where the
// exit code is 0.
func WriteJUnit(w io.Writer, rep Report) error {
	all := suites{Name: clean("gate " + rep.Profile)}
	index := map[string]int{}
	for _, c := range rep.Checks {
		i, ok := index[c.Variant]
		if !ok {
			i = len(all.Suites)
			index[c.Variant] = i
			all.Suites = append(all.Suites, suite{Name: clean(c.suite())})
		}
		all.Suites[i].add(rep.testcase(c))
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		if i == 0 {
			s.Properties = &properties{[]property{
				{"mode", clean(string(rep.Mode))}, {"profile", clean(rep.Profile)}, {"candidate", clean(rep.Candidate)}, {"reference", clean(rep.Reference)},
				{"verdict", clean(string(rep.Verdict.Status))}, {"exit_code", fmt.Sprint(int(rep.ExitCode))},
			}}
		}
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	text, err := xml.MarshalIndent(all, "", " ")
	if err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func (s *suite) add(c testcase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// suite is the name of the suite; "(all)" for what concerns every variant.
func (c Check) suite() string {
	if c.Variant == "" {
		return "(all)"
	}
	return c.Variant
}

func (rep Report) testcase(c Check) testcase {
	// A point would start a package in what readers make of a class name.
	class := strings.ReplaceAll(rep.Profile, ".", "_") + "." + strings.ReplaceAll(c.suite(), ".", "_")
	t := testcase{Class: clean(class), Name: clean(spoken(c.Metric))}
	row := c.row()
	text := fmt.Sprintf("%s\nreference %s, now %s, change %s", c.Text, row[2], row[3], row[4])
	if c.Tolerance != nil {
		text += ", allowed " + row[6]
	}
	p := &problem{Type: string(c.Outcome), Message: clean(c.Text), Text: clean(text)}
	switch c.Outcome {
	case Passed:
	case Reported:
		message := fmt.Sprintf("reported, not gated: reference %s, now %s, change %s", row[2], row[3], row[4])
		if c.Reference == nil && c.Candidate == nil && c.Text != "" {
			message = "reported, not gated: " + c.Text
		}
		t.Skipped = &skipped{clean(message)}
	case Failed:
		p.Type = string(c.Class)
		if c.Class == "" {
			p.Type = string(Failed)
		}
		t.Failure = p
	case Undecided:
		t.Failure = p
	case Refused:
		t.Error = p
	default:
		p.Type = string(Bad)
		t.Error = p
	}
	return t
}

// clean replaces what XML 1.0 forbids even as a reference: control characters,
// surrogates and non-characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000 && r <= 0x10FFFF:
			return r
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
