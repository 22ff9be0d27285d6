package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results"
)

// runOptions are the flags of run.
type runOptions struct {
	sets            []string
	variants        []string
	repeats         int
	seed            uint64
	redis           string
	embedded        bool
	target          string
	tokenSecret     string
	tokenSecretFile string
	adminSecret     string
	adminSecretFile string
	out             string
	json            bool
	quiet           bool
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interruptible(func(ctx context.Context) error {
				return a.run(ctx, args[0], &o, cmd.Flags().Changed)
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.sets, "set", nil, "set `KEY=VALUE` over the profile and its variants; repeatable. \"loadgen profiles keys\" lists the keys")
	f.StringArrayVar(&o.variants, "variant", nil, "measure only the variant `NAME`; repeatable")
	f.IntVar(&o.repeats, "repeats", 0, "measure each variant `N` times instead of what the profile says")
	f.Uint64Var(&o.seed, "seed", 0, "start all randomness at `N` instead of the profile's seed")
	f.StringVar(&o.redis, "redis", "", "use the Redis at `URL` instead of a private one; its other keys are left alone")
	f.BoolVar(&o.embedded, "embedded", false, "use the embedded store: to try things without Redis, never for a baseline")
	f.StringVar(&o.target, "target", "", "drive the running server at `HOST:PORT`; needs its two secrets")
	f.StringVar(&o.tokenSecret, "token-secret", "", "the target's token `SECRET`; others on this machine can see flags, prefer the file or ACKMARK_TOKEN_SECRET")
	f.StringVar(&o.tokenSecretFile, "token-secret-file", "", "`FILE` that holds the target's token secret")
	f.StringVar(&o.adminSecret, "admin-secret", "", "the target's admin `SECRET`; prefer the file or ACKMARK_ADMIN_SECRET")
	f.StringVar(&o.adminSecretFile, "admin-secret-file", "", "`FILE` that holds the target's admin secret")
	f.StringVar(&o.out, "out", "", "write to the new directory `DIR` (default results/runs/TIME-PROFILE)")
	f.BoolVar(&o.json, "json", false, "print the result as JSON to stdout, and nothing else")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on stderr; errors and warnings still")
	return cmd
}

// run measures, writes and prints. The exit code is the verdict's unless
// something failed on the way.
func (a *app) run(ctx context.Context, name string, o *runOptions, given func(flag string) bool) error {
	sets := slices.Clone(o.sets)
	if given("repeats") {
		sets = append(sets, "repeats="+strconv.Itoa(o.repeats))
	}
	if given("seed") {
		sets = append(sets, "seed="+strconv.FormatUint(o.seed, 10))
	}
	source, settings, err := load(name, sets)
	if err != nil {
		return err
	}
	if settings, err = choose(settings, o.variants); err != nil {
		return err
	}
	cfg := engine.Config{
		Source: source, Settings: settings, Sets: sets, RedisURL: o.redis, Embedded: o.embedded, Target: o.target,
		ToolVersion: version(),
	}
	if cfg.TokenSecret, err = a.secretOf("token-secret", o.tokenSecret, o.tokenSecretFile, o.target != ""); err != nil {
		return err
	}
	if cfg.AdminSecret, err = a.secretOf("admin-secret", o.adminSecret, o.adminSecretFile, o.target != ""); err != nil {
		return err
	}
	if err := cfg.Check(); err != nil {
		return usage(err)
	}
	p := newProgress(a.Err, o.quiet)
	cfg.Progress = p.show
	for _, s := range settings {
		for _, w := range s.Warnings {
			p.line("warning: " + w)
		}
	}
	dir, err := newOutput(o.out, source.Name(), time.Now())
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
func (a *app) conclude(dir *output, result *results.Result, failed error, o *runOptions) error {
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
	width, isTerminal := terminal(a.Out)
	noColor, _ := a.lookup("NO_COLOR")
	var b strings.Builder
	if err := results.RenderText(&b, report, results.TextOptions{Width: width, Color: results.UseColor(isTerminal, noColor)}); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return a.print(b.String())
}

// choose keeps the variants that were asked for, in the order of the profile.
func choose(settings []profiles.Setting, names []string) ([]profiles.Setting, error) {
	if len(names) == 0 {
		return settings, nil
	}
	var known []string
	for _, s := range settings {
		known = append(known, strconv.Quote(s.Name))
	}
	for _, n := range names {
		if !slices.ContainsFunc(settings, func(s profiles.Setting) bool { return s.Name == n }) {
			return nil, usagef("--variant %q: there is no such variant; the profile has %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(settings), func(s profiles.Setting) bool { return !slices.Contains(names, s.Name) }), nil
}

// secretOf reads a secret of the target from its flag, its file or, with a
// target, the environment.
func (a *app) secretOf(flag, value, file string, target bool) (string, error) {
	switch {
	case value != "" && file != "":
		return "", usagef("--%s and --%s-file say the same thing; give one", flag, flag)
	case value != "":
		return value, nil
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return "", usagef("--%s-file: %w", flag, err)
		}
		text := strings.TrimSpace(string(b))
		if text == "" {
			return "", usagef("--%s-file: %s is empty; it should hold the secret", flag, file)
		}
		return text, nil
	case target:
		v, _ := a.lookup("ACKMARK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")))
		return v, nil
	}
	return "", nil
}
