package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ackmark/results"
	"ackmark/results/sweep"
)

// concludeSweep writes the files, prints the table or JSON, and turns all that
// happened into one exit code.
func (a *app) concludeSweep(s *sweeping, failed error, o *sweepOptions) error {
	hint := s.hint()
	result, err := s.result()
	if result == nil || err != nil { // no run ended
		a.code = int(results.ExitInterrupted)
		if failed = errors.Join(failed, err); failed == nil {
			s.progress.line(hint)
			return nil
		}
		if result == nil && !s.abandon() && hint != "" {
			s.progress.line(hint)
		}
		return &failure{codeOf(failed), failed}
	}
	table, err := sweep.NewTable(result, s.question)
	if err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	written := withoutOut(s.write(result, table))
	printed := a.showSweep(result, table, o)
	if !o.quiet && written == nil {
		fmt.Fprintf(a.Err, "written to %s\n", s.dir.path)
	}
	if hint != "" {
		fmt.Fprintln(a.Err, hint)
	}
	a.code = int(sweepCode(result, table))
	switch {
	case failed != nil:
		return &failure{codeOf(failed), failed}
	case written != nil && s.failed.runs == 0 && s.complete(): // the answer stands, and was asked for
		fmt.Fprintf(a.Err, "warning: the answer is printed only: %s\n", indented(written))
		return printed
	case written != nil:
		return &failure{results.ExitCouldNotRun, written}
	case printed != nil && a.code == 0:
		return printed
	case printed != nil:
		fmt.Fprintf(a.Err, "loadgen: %v\n", printed)
	}
	return nil
}

// hint says how to go on; "" where nothing is left to do, or nothing to go on with.
func (s *sweeping) hint() string {
	all := s.plan.Missing(s.kept)
	missing, again := len(all), len(s.plan.Again(s.kept))
	if missing+again == 0 || s.dirGone() {
		return ""
	}
	call := "loadgen sweep --resume " + sweep.Quoted(s.dir.path)
	if flag := storeFlag(s.plan.Store); flag != "" {
		call += ", with " + flag + ","
	}
	var what []string
	if missing > 0 {
		text := fmt.Sprintf("the %d of %s missing", missing, results.Plural(len(s.plan.Turns()), "run"))
		if slices.ContainsFunc(all, s.late) && slices.ContainsFunc(all, func(t sweep.Turn) bool { return !s.late(t) }) {
			text += " (what failed, after the others)"
		}
		what = append(what, text)
	}
	if again > 0 {
		what = append(what, results.Plural(again, "run")+" again for which the machine was too busy")
	}
	return call + " measures " + strings.Join(what, ", and ")
}

// withoutOut takes back the advice to choose another directory: a sweep that has
// begun stays in its own.
func withoutOut(err error) error {
	if err == nil {
		return nil
	}
	text := strings.NewReplacer("; choose another with --out", "", ", or choose another directory with --out", "").Replace(err.Error())
	return &reworded{text, err}
}

// reworded is an error that says something else.
type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// codeOf is exitOf for errors that may know their code.
func codeOf(err error) results.ExitCode {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitOf(err)
}

// sweepCode is the verdict's code; that no point is eligible is a fail, unless
// what was measured can't be trusted anyway.
func sweepCode(r *results.Result, t *sweep.Table) results.ExitCode {
	none := t.Choice != nil && t.Choice.Point == nil
	if none && (r.ExitCode == results.ExitPass || r.ExitCode == results.ExitInconclusive) {
		return results.ExitFail
	}
	return r.ExitCode
}

func (s *sweeping) write(r *results.Result, t *sweep.Table) error {
	fill := func(name string, draw func(io.Writer) error) error {
		var b strings.Builder
		if err := draw(&b); err != nil {
			return err
		}
		return results.WriteFile(filepath.Join(s.dir.path, name), []byte(b.String()))
	}
	return errors.Join(
		results.Write(filepath.Join(s.dir.path, results.FileName), r),
		fill(results.TableMarkdown, t.RenderMarkdown), fill(results.TableCSV, t.RenderCSV))
}
