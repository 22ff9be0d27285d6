package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ackmark/results"
	"ackmark/results/gate"
)

// gateFile is what the report is called beside the runs.
const gateFile = "gate.json"

// stepSummary names the variable that names the file which GitHub Actions shows
// on a job's page.
const stepSummary = "GITHUB_STEP_SUMMARY"

// caution adds to a report that it held timings by tolerances of another
// machine: they may cry wolf here, or sleep.
func (g *gating) caution(rep *gate.Report, e results.Environment) {
	if g.calibrated == nil {
		return
	}
	if unlike := g.calibrated.Unlike(e); len(unlike) > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("the tolerances of %s are of another machine (%s); calibrate here", g.o.tolerances, strings.Join(unlike, "; ")))
	}
}

// conclude writes the report wherever it was asked for and ends with its exit
// code. What isn't kept didn't pass.
func (g *gating) conclude(rep gate.Report) error {
	g.progress.end()
	var written error
	keep := func(path string, fill func(io.Writer) error) {
		if path != "" {
			var b bytes.Buffer
			written = errors.Join(written, fill(&b), results.WriteFile(path, b.Bytes()))
		}
	}
	encoded := func(w io.Writer) error {
		b, err := gate.Encode(rep)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
	markdown := func(w io.Writer) error { return gate.RenderMarkdown(w, rep) }
	keep(g.o.junit, func(w io.Writer) error { return gate.WriteJUnit(w, rep) })
	keep(g.o.markdown, markdown)
	if path, _ := g.lookup(stepSummary); path != "" {
		written = errors.Join(written, appendFile(path, markdown))
	}
	spoil := func() {
		if written != nil && rep.ExitCode == results.ExitPass {
			rep.ExitCode, rep.Verdict.Status = results.ExitCouldNotRun, results.Invalid
			rep.Verdict.Reasons = append(rep.Verdict.Reasons, results.Reason{
				Kind: results.ReasonIncomplete, Text: "the report couldn't be written: " + written.Error(),
			})
		}
	}
	spoil()
	if g.dir != nil { // the last, so that it says no pass where another couldn't be written
		keep(filepath.Join(g.dir.path, gateFile), encoded)
		spoil()
	}
	printed := g.showReport(rep, encoded)
	if written == nil && g.dir != nil && !g.o.quiet {
		fmt.Fprintf(g.Err, "written to %s\n", g.dir.path)
	}
	g.code = int(rep.ExitCode)
	switch {
	case written != nil: // what failed is still a failure
		return &failure{rep.ExitCode, errors.Join(written, printed)}
	case printed != nil && rep.ExitCode == results.ExitPass:
		return printed // whoever reads stdout saw no pass, so there is none
	case printed != nil:
		fmt.Fprintf(g.Err, "loadgen: %v\n", printed)
	}
	return nil
}

func (g *gating) showReport(rep gate.Report, encoded func(io.Writer) error) error {
	var b strings.Builder
	fill := encoded
	if !g.o.json {
		o := gate.TextOptions{TextOptions: g.textOptions(), Verbose: g.o.verbose}
		fill = func(w io.Writer) error { return gate.RenderText(w, rep, o) }
	}
	if err := fill(&b); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return g.print(b.String())
}

// appendFile adds to a file that others write to as well.
func appendFile(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("appending to $%s: %w", stepSummary, err)
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return fmt.Errorf("appending to $%s %s: %w", stepSummary, path, err)
	}
	return nil
}
