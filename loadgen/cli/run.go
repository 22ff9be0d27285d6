package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/results"
)

func (a *app) runCommand() *cobra.Command {
	var o measureFlags
	cmd := &cobra.Command{
		Use:   "run PROFILE",
		Short: "measure a profile and judge what came out",
		Long: "Measures a profile: a shipped one by name, or a file by path. Starts a private\n" +
			"Redis and a server for it, and leaves nothing of them behind. The table goes to\n" +
			"stdout, progress to stderr; result.json, table.csv, table.md and the histograms\n" +
			"go to a directory of their own under results/runs/.",
		Example: "  loadgen run smoke\n" +
			"  loadgen run ack-storm --variant \"every 10\" --repeats 4\n" +
			"  loadgen run ack-storm --set traffic.group.rate=50/s --out storm50\n" +
			"  loadgen run ./mine.yaml --redis redis://127.0.0.1:6379/1 --json > result.json\n" +
			"  loadgen run smoke --target 127.0.0.1:8490 --token-secret-file token.key \\\n" +
			"      --admin-secret-file admin.key",
		Args: oneArg("a profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.interruptible(func(ctx context.Context) error {
				return a.run(ctx, args[0], &o)
			})
		},
	}
	o.add(cmd)
	return cmd
}

// run measures, writes and prints. The exit code is the verdict's unless
// something failed on the way.
func (a *app) run(ctx context.Context, name string, o *measureFlags) error {
	cfg, err := o.config(a, name)
	if err != nil {
		return err
	}
	p := newProgress(a.Err, o.quiet)
	cfg.Progress = p.show
	for _, s := range cfg.Settings {
		for _, w := range s.Warnings {
			p.line("warning: " + w)
		}
	}
	dir, err := newOutput(o.out, cfg.Source.Name(), time.Now())
	if err != nil {
		return err
	}
	cfg.LogDir, cfg.Histograms = dir.path, dir.histograms
	result, failed := engine.Run(ctx, cfg)
	p.end()
	return a.conclude(dir, result, failed, o)
}

// conclude writes the files, prints the table or the JSON, and turns all that
// happened into one exit code.
func (a *app) conclude(dir *output, result *results.Result, failed error, o *measureFlags) error {
	if failed != nil {
		failed = &failure{exitOf(failed), failed}
	}
	if result == nil || (len(result.Runs) == 0 && !result.Interrupted) {
		return errors.Join(failed, dir.abandon())
	}
	report := results.NewReport(result)
	written := dir.write(result, report)
	if written != nil && result.ExitCode == results.ExitPass {
		// What isn't kept didn't pass, and the table shouldn't say so.
		result.ExitCode, result.Verdict.Status = results.ExitCouldNotRun, results.Invalid
		result.Verdict.Reasons = append(result.Verdict.Reasons, results.Reason{
			Kind: results.ReasonIncomplete, Text: "the result couldn't be written: " + written.Error(),
		})
		report = results.NewReport(result)
	}
	printed := a.show(result, report, o.json)
	if written == nil && !o.quiet {
		fmt.Fprintf(a.Err, "written to %s\n", dir.path)
	}
	a.code = int(result.ExitCode)
	switch {
	case failed != nil:
		return failed
	case written != nil:
		return &failure{results.ExitCouldNotRun, written}
	case printed != nil && result.ExitCode == results.ExitPass:
		// Whoever reads stdout saw no pass, so there is none.
		return printed
	case printed != nil:
		fmt.Fprintf(a.Err, "loadgen: %v\n", printed)
	}
	return nil
}

// exitOf maps kinds of error to exit codes, in one place.
func exitOf(err error) results.ExitCode {
	if errors.Is(err, engine.ErrUsage) {
		return results.ExitUsage
	}
	return results.ExitCouldNotRun
}

func (a *app) show(result *results.Result, report results.Report, asJSON bool) error {
	if asJSON {
		b, err := results.Encode(result)
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return a.print(string(b))
	}
	var b strings.Builder
	if err := results.RenderText(&b, report, a.textOptions()); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return a.print(b.String())
}
