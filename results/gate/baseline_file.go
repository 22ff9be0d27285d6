package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ackmark/results"
)

// maxBaseline bounds what ReadBaseline loads, in bytes.
const maxBaseline = 64 << 20

// ReadBaseline loads a baseline file, strictly: its schema and none else, no
// unknown keys, nothing behind it, every figure a number.
func ReadBaseline(path string) (*Baseline, error) {
	text, err := load("baseline", path, maxBaseline)
	if err != nil {
		return nil, err
	}
	b, err := DecodeBaseline(text)
	if err != nil {
		return nil, fmt.Errorf("reading baseline %s: %w", path, err)
	}
	return b, nil
}

// WriteBaseline stores a baseline so that a reader finds either the whole file
// or what was there before. Its directory is made where it is missing.
func WriteBaseline(path string, b *Baseline) error {
	text, err := EncodeBaseline(b)
	if err != nil {
		return fmt.Errorf("writing baseline %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing baseline %s: %w", path, err)
	}
	return results.WriteFile(path, text)
}

// DecodeBaseline reads the JSON of a baseline.
func DecodeBaseline(text []byte) (*Baseline, error) {
	if err := ofSchema("baseline", text, SchemaBaseline); err != nil {
		return nil, err
	}
	var b Baseline
	if err := strict(text, &b); err != nil {
		return nil, explain("baseline", text, err)
	}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b.normalized(), nil
}

// load reads a file of the gate's: a baseline, or a calibration.
func load(what, path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("reading %s %s: it has more than %d MiB", what, path, most>>20)
	}
	return text, nil
}

// ofSchema refuses what isn't of the one format that this version reads.
func ofSchema(what string, text []byte, schema string) error {
	var head struct {
		Schema *string `json:"schema"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("the file is empty")
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return explain(what, text, err)
	}
	switch {
	case head.Schema == nil:
		return fmt.Errorf("no \"schema\": not a %s (expected %q)", what, schema)
	case *head.Schema != schema:
		return fmt.Errorf("schema %q is not known; this version reads %q", *head.Schema, schema)
	}
	return nil
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func explain(what string, text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(text)) {
		return fmt.Errorf("not a %s: %w", what, err)
	}
	return fmt.Errorf("line %d: not a %s: %w", bytes.Count(text[:offset], []byte("\n"))+1, what, err)
}

// UnmarshalJSON is strict about what a plain []float64 lets pass: null would
// become 0, and a gate would hold against it.
func (m *BaselineMetric) UnmarshalJSON(text []byte) error {
	var in struct {
		Class   results.Class `json:"class"`
		Unit    *string       `json:"unit"`
		Samples []*float64    `json:"samples"`
	}
	if err := strict(text, &in); err != nil {
		return err
	}
	if in.Unit == nil {
		return errors.New("a metric has no unit")
	}
	*m = BaselineMetric{Class: in.Class, Unit: *in.Unit, Samples: make([]float64, len(in.Samples))}
	for i, x := range in.Samples {
		if x == nil {
			return errors.New("a sample is null")
		}
		m.Samples[i] = *x
	}
	return nil
}

// EncodeBaseline returns the JSON of a valid baseline, a metric per line, so
// that a change of one is a line in a review.
func EncodeBaseline(b *Baseline) ([]byte, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(b.normalized(), "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding baseline: %w", err)
	}
	// Inside of a string a line break is escaped, so what has one is layout.
	metric := regexp.MustCompile(`\{\n\s+"class": "[a-z]*",\n\s+"unit": "[^"\n]*",\n\s+"samples": \[[^\]]*\]\n\s+\}`)
	text = metric.ReplaceAllFunc(text, func(m []byte) []byte {
		line := strings.Join(strings.Fields(string(m)), " ")
		return []byte(strings.NewReplacer("{ ", "{", " }", "}", "[ ", "[", " ]", "]").Replace(line))
	})
	return append(text, '\n'), nil
}

func (b *Baseline) normalized() *Baseline {
	c := *b
	if c.Tolerances == nil {
		c.Tolerances = map[string]float64{}
	}
	c.Accepted = slices.Clone(c.Accepted)
	if c.Accepted == nil {
		c.Accepted = []Accepted{}
	}
	for i := range c.Accepted {
		if c.Accepted[i].Worse == nil {
			c.Accepted[i].Worse = []string{}
		}
	}
	return &c
}

// validate checks what makes a baseline one.
func (b *Baseline) validate() error {
	p, e := b.Profile, b.Environment
	hashed := results.FingerprintFrom(results.Facts{CPUModel: e.CPUModel, Cores: e.Cores, RAMBytes: uint64(max(e.RAMGiB, 0)) << 30, Kernel: e.Kernel, OS: e.OS,
		Arch: e.Arch, GoVersion: e.GoVersion, RedisVersion: e.RedisVersion, GOMAXPROCS: e.GOMAXPROCS})
	switch {
	case b.Schema != SchemaBaseline:
		return fmt.Errorf("schema is %q, should be %q", b.Schema, SchemaBaseline)
	case b.Date.IsZero():
		return errors.New("it has no date")
	case p.Name == "" || p.Hash == "":
		return errors.New("profile has no name or no hash")
	case p.Repeats < 1:
		return fmt.Errorf("profile.repeats is %d, should be 1 or more", p.Repeats)
	case e.Hash != hashed.Hash:
		return errors.New("environment.hash is not that of the facts beside it")
	case len(b.Variants) == 0:
		return errors.New("it has no variants")
	}
	seen := map[string]bool{}
	for _, v := range b.Variants {
		if v.Name == "" || v.Hash == "" || seen[v.Name] {
			return fmt.Errorf("variant %q has no name, no hash, or is there twice", v.Name)
		}
		seen[v.Name] = true
		if err := v.validate(p.Repeats); err != nil {
			return fmt.Errorf("variant %s: %w", v.Name, err)
		}
	}
	for _, a := range b.Accepted {
		if a.Date.IsZero() || strings.TrimSpace(a.Reason) == "" {
			return errors.New("accepted: an entry has no date or no reason")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Tolerances)) {
		m, ok := results.Lookup(name)
		t := b.Tolerances[name]
		switch {
		case !ok:
			return fmt.Errorf("tolerances: there is no metric %s", name)
		case m.Class != results.Timing:
			return fmt.Errorf("tolerances: %s is a %s, only timings have one here", name, m.Class)
		case !(t > 0 && t < 1):
			return fmt.Errorf("tolerances: %s is %g, should lie between 0 and 1: 0.05 allows 5 %%", name, t)
		}
	}
	return nil
}

func (v BaselineVariant) validate(repeats int) error {
	if len(v.Metrics) == 0 {
		return errors.New("it has no metrics")
	}
	for _, name := range slices.Sorted(maps.Keys(v.Metrics)) {
		m := v.Metrics[name]
		switch {
		case name == "":
			return errors.New("a metric has no name")
		case m.Class != results.Deterministic && m.Class != results.Timing:
			return fmt.Errorf("%s: class is %q, should be %q or %q", name, m.Class, results.Deterministic, results.Timing)
		case len(m.Samples) != repeats:
			return fmt.Errorf("%s: %s for %s", name, results.Plural(len(m.Samples), "sample"), results.Plural(repeats, "repeat"))
		case slices.ContainsFunc(m.Samples, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }):
			return fmt.Errorf("%s: a sample is no number", name)
		}
	}
	return nil
}
