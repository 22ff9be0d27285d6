package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ackmark/loadgen/selftest"
	"ackmark/results"
)

// selftestOptions are the flags of selftest.
type selftestOptions struct {
	json  bool
	quiet bool
	all   bool
}

func (a *app) selftestCommand() *cobra.Command {
	var o selftestOptions
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "can the generator be trusted on this machine? (a minute)",
		Long: "Runs the generator against a server that delays, stalls, loses and repeats by\n" +
			"plan, and compares what the generator reports with what the server says it did:\n" +
			"percentiles within 1 %, counts exactly. Needs no Redis. On a machine that does\n" +
			"other work at the same time the answer may be 3: too busy to tell.",
		Example: "  loadgen selftest\n" +
			"  loadgen selftest --all                every check, not only the telling ones\n" +
			"  loadgen selftest --json > selftest.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.interruptible(func(ctx context.Context) error { return a.selftest(ctx, &o) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.all, "all", false, "show also the checks for what wasn't injected and wasn't found")
	f.BoolVar(&o.json, "json", false, "print the checks as JSON to stdout, and nothing else")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on stderr; errors still")
	return cmd
}

func (a *app) selftest(ctx context.Context, o *selftestOptions) error {
	p := newProgress(a.Err, o.quiet)
	rep, err := selftest.Run(ctx, selftest.Config{ToolVersion: version(), Progress: func(text string, ended bool) {
		switch {
		case o.quiet:
		case ended:
			p.line(text)
		default:
			p.status(text, false)
		}
	}})
	p.end()
	switch {
	case ctx.Err() != nil:
		return &failure{results.ExitInterrupted, errors.New("interrupted: the self-test says nothing")}
	case err != nil:
		return &failure{results.ExitCouldNotRun, err}
	}
	text := ""
	if o.json {
		b, err := json.MarshalIndent(rep, "", " ")
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		text = string(b) + "\n"
	} else if text, err = selftestText(rep, o.all); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	if err := a.print(text); err != nil {
		if rep.ExitCode == results.ExitPass {
			return err // whoever reads stdout saw no pass, so there is none
		}
		fmt.Fprintf(a.Err, "loadgen: %v\n", err)
	}
	a.code = int(rep.ExitCode)
	return nil
}

// selftestText is the table of checks and the verdict. Where not all are asked
// for, those that found nothing where nothing was are only counted.
func selftestText(rep *selftest.Report, all bool) (string, error) {
	rows := [][]string{{"case", "check", "expected", "found", "off", ""}}
	nothing, last := 0, ""
	for _, c := range rep.Checks {
		if c.Status == selftest.OK && !all && c.Expected == 0 {
			nothing++
			continue
		}
		name := c.Case
		if name == last {
			name = ""
		}
		last = c.Case
		found, off := "–", ""
		if c.Found != nil {
			found = results.FormatValue(c.Unit, *c.Found)
			if c.Timing && c.Expected != 0 {
				off = fmt.Sprintf("%+.2f %%", 100*(*c.Found/c.Expected-1))
			}
		}
		rows = append(rows, []string{name, c.What, results.FormatValue(c.Unit, c.Expected), found, strings.ReplaceAll(off, "-", "−"), string(c.Status)})
	}
	var b strings.Builder
	if err := results.RenderRows(&b, rows, 2); err != nil {
		return "", err
	}
	b.WriteByte('\n')
	if nothing > 0 {
		fmt.Fprintf(&b, "%d more checks found nothing where nothing was injected (--all shows them).\n", nothing)
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	took := time.Duration(rep.Seconds * float64(time.Second)).Round(time.Second)
	switch rep.Verdict {
	case results.Pass:
		fmt.Fprintf(&b, "verdict: pass (the generator reports what happened: %d checks in %v)\n", len(rep.Checks), took)
	case results.Fail:
		fmt.Fprintf(&b, "verdict: fail (the generator reports something else than what happened; %v)\n", took)
	default:
		fmt.Fprintf(&b, "verdict: invalid (this machine is too busy to tell; try again when it is idle; %v)\n", took)
	}
	return b.String(), nil
}
