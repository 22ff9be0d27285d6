package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/gate"
)

// tolerances reads --tolerances. A file that proposes none is an error: a gate by
// it would hold nothing.
func tolerances(file string) (*gate.Calibration, error) {
	if file == "" {
		return nil, nil
	}
	c, err := gate.ReadCalibration(file)
	switch {
	case err != nil:
		return nil, usagef("--tolerances: %w", err)
	case len(c.Gated()) == 0:
		return nil, usagef("--tolerances %s: it proposes none, every timing was too noisy; name timings with --metrics, or calibrate with more pairs or longer runs", file)
	}
	return c, nil
}

// gatedTimings are those that were calibrated, with those that --metrics names
// over them; nil where there are neither.
func gatedTimings(c *gate.Calibration, metrics []string) ([]gate.Gated, error) {
	var out []gate.Gated
	if c != nil {
		out = c.Gated()
	}
	if slices.Equal(metrics, []string{"none"}) {
		return []gate.Gated{}, nil
	}
	seen := map[string]bool{}
	for _, text := range metrics {
		m, err := gatedTiming(text)
		if err != nil {
			return nil, err
		}
		if seen[m.Metric] {
			return nil, usagef("--metrics names %s twice", m.Metric)
		}
		seen[m.Metric] = true
		out = slices.DeleteFunc(out, func(g gate.Gated) bool { return g.Metric == m.Metric })
		out = append(out, m)
	}
	return out, nil
}

// gatedTiming reads NAME=TOLERANCE, the tolerance as 5% or 0.05.
func gatedTiming(text string) (gate.Gated, error) {
	name, tolerance, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	m, known := results.Lookup(name)
	switch {
	case !known:
		return gate.Gated{}, usagef("--metrics %s: there is no metric %q; \"loadgen report RESULT --format json\" shows what a result has", text, name)
	case m.Class == results.Invariant:
		return gate.Gated{}, usagef("--metrics %s: %s is an invariant, which is gated always and has no tolerance", text, name)
	case m.Class == results.Deterministic:
		return gate.Gated{}, usagef("--metrics %s: %s is a count, which is gated always", text, name)
	case m.Better == results.Neither:
		return gate.Gated{}, usagef("--metrics %s: %s can't become worse, so it can't be gated", text, name)
	case !ok:
		return gate.Gated{}, usagef("--metrics %s: say how much worse it may be: %s=10%%", text, name)
	}
	share, scale := strings.TrimSpace(tolerance), 1.0
	if s, percent := strings.CutSuffix(share, "%"); percent {
		share, scale = strings.TrimSpace(s), 100
	}
	x, err := strconv.ParseFloat(share, 64)
	if x /= scale; err != nil || !(x > 0 && x < 1) {
		return gate.Gated{}, usagef("--metrics %s: %q isn't a tolerance; it should lie between 0 and 100%%, such as 10%% or 0.1", text, tolerance)
	}
	return gate.Gated{Metric: m.Name, Tolerance: x}, nil
}

// empty finds flags that were given without a value, as by a script whose variable
// isn't set: something else would be measured, and pass.
func (g *gating) empty(given func(flag string) bool) error {
	o := g.o
	for _, f := range []struct{ name, value string }{
		{"baseline", o.baseline}, {"result", o.result}, {"against", o.against}, {"candidate", o.candidate}, {"against-target", o.againstTarget},
		{"against-token-secret-file", *o.againstSecret["token-secret"]}, {"against-admin-secret-file", *o.againstSecret["admin-secret"]},
		{"tolerances", o.tolerances}, {"metrics", strings.Join(o.metrics, "")}, {"junit", o.junit}, {"markdown", o.markdown},
		{"redis", o.redis}, {"target", o.target}, {"out", o.out},
	} {
		if given(f.name) && strings.TrimSpace(f.value) == "" {
			return usagef("--%s is there without a value; give one, or leave it out", f.name)
		}
	}
	return nil
}

// outputs finds a report that would be written over another, or over what is
// judged or judged by, or that can't be: what was measured for it would be lost.
func (g *gating) outputs() error {
	o := g.o
	type file struct{ name, path string }
	taken := []file{{"--baseline", o.baseline}, {"--tolerances", o.tolerances}, {"--against", o.against}, {"--candidate", o.candidate}, {"--result", o.result}}
	if o.result != "" {
		taken = append(taken, file{"what --result names", filepath.Join(o.result, results.FileName)})
	}
	if g.profile != g.name {
		taken = append(taken, file{"the profile", g.profile})
	}
	summary, _ := g.lookup(stepSummary)
	if o.update || o.calibrate > 0 {
		summary = "" // nothing is appended
	}
	for _, f := range []file{{"$" + stepSummary, summary}, {"--junit", o.junit}, {"--markdown", o.markdown}} {
		if f.path == "" {
			continue
		}
		for _, t := range taken {
			if overwrites(f.path, t.path) {
				return usagef("%s %s is the file of %s; name another", f.name, f.path, t.name)
			}
		}
		if err := writable(f.path); err != nil {
			return usagef("%s %s: %w", f.name, f.path, err)
		}
		if f.name[0] == '$' {
			f.name += ", to which it is appended anyway"
		}
		taken = append(taken, f)
	}
	return nil
}

// writable finds a path that no file can be at.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a directory; name a file in it")
	}
	switch info, err := os.Stat(filepath.Dir(path)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory %s doesn't exist; make it first", filepath.Dir(path))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", filepath.Dir(path))
	}
	return nil
}

// whose says, with something around it, which baseline a profile in a file is held
// against where it has the name of a shipped one; "" elsewhere.
func (g *gating) whose(before, after string) string {
	if g.profile == g.name || g.o.given("baseline") {
		return ""
	}
	if _, err := profiles.Load(g.name); err != nil {
		return ""
	}
	return fmt.Sprintf("%sthe baseline of the shipped profile %s, since %s says name: %s; give it a name of its own, or name its baseline with --baseline%s", before, g.name, g.profile, g.name, after)
}

// overwrites tells whether writing to one would write over the other. Devices keep
// nothing.
func overwrites(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(x, y) && x.Mode().IsRegular()
	}
	a, err = filepath.Abs(a)
	b, err2 = filepath.Abs(b)
	return err == nil && err2 == nil && a == b
}

// listed writes numbers as a flag takes them.
func listed(numbers []int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}
