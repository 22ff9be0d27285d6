package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/results"
	"ackmark/results/sweep"
)

// sweepOptions are the flags of sweep.
type sweepOptions struct {
	measureFlags
	vary      []string
	skip      bool
	orderSeed uint64
	resume    string
	choose    string
	subjectTo []string
	pareto    string
	dryRun    bool

	run func(context.Context, engine.Config) (*results.Result, error) // engine.Run; tests have others
}

func (a *app) sweepCommand() *cobra.Command { return a.sweepCommandOf(&sweepOptions{run: engine.Run}) }

func (a *app) sweepCommandOf(o *sweepOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep PROFILE",
		Short: "measure a profile over a grid of settings and recommend one",
		Long: "Measures a profile at each combination of the values that --vary, or the\n" +
			"profile, lists. The order is random and seeded; each run is kept as it ends, and\n" +
			"--resume measures only what is missing.\n\n" +
			"The table has a row per point and marks the Pareto front: the points of which no\n" +
			"other costs less at no more risk, or risks less at no more cost. It recommends\n" +
			"the point that is best in --choose among those that passed and meet all of\n" +
			"--subject-to; if there is none, the exit code is 1.\n\n" +
			"A point that can't be measured, since its server refuses it for instance, is\n" +
			"passed over, and tried again by --resume after the others; the exit code is 5.\n" +
			"If the first two points fail, or three for the same reason, it gives up.\n\n" +
			"A run that is invalid because this machine was too busy for the generator is\n" +
			"measured again after the others, twice at most. Of its tries the last that is\n" +
			"valid counts. The recommendation says how many points could not be judged, since\n" +
			"their runs are invalid or missing: they might be better. Where one point alone\n" +
			"could be judged, it is printed as no choice.\n\n" +
			"Metrics are named as in thresholds; short names:\n" + aliasLines(),
		Example: "  loadgen sweep batch-ack-sweep\n" +
			"  loadgen sweep ack-storm --variant \"10 or 500ms\" \\\n" +
			"      --vary clients.ack.every=1,10,100 --vary clients.ack.interval=50ms,1s \\\n" +
			"      --choose cpu --subject-to \"unacked_window_mean <= 20, live.p99 < 200ms\"\n" +
			"  loadgen sweep batch-ack-sweep --dry-run\n" +
			"  loadgen sweep --resume results/runs/20260102T030405Z-batch-ack-sweep",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.given("resume") {
				return nil
			}
			return oneArg("a profile")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.interruptible(func(ctx context.Context) error {
				return a.sweep(ctx, strings.Join(args, ""), o)
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.vary, "vary", nil, "measure at each value in `KEY=A,B,C`; repeatable. What the profile varies is left out then")
	f.StringVar(&o.choose, "choose", "", "recommend the point that is best in `METRIC`")
	f.StringArrayVar(&o.subjectTo, "subject-to", nil, "consider only points that meet `STATEMENTS`, e.g. \"live.p99 < 200ms, lost == 0\"; repeatable. \"none\" drops what the profile or the sweep had")
	f.StringVar(&o.pareto, "pareto", "", "mark the Pareto front of `COST,RISK`, two metrics")
	f.BoolVar(&o.skip, "skip-impossible", false, "leave impossible combinations out instead of refusing them")
	f.Uint64Var(&o.orderSeed, "order-seed", 0, "start the random order at `N` instead of the profile's seed")
	f.StringVar(&o.resume, "resume", "", "go on with the sweep in `DIR`: measure what is missing. The profile and other flags may be left out, except --redis, and --target with its secrets")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the points and how long they would take, and measure nothing")
	o.add(cmd)
	return cmd
}

func aliasLines() string {
	var b strings.Builder
	for _, al := range sweep.Aliases() {
		fmt.Fprintf(&b, "  %-12s %s\n", al.Name, al.Metric)
	}
	return b.String()
}

// sweep plans or goes on with a sweep, measures, writes and prints.
func (a *app) sweep(ctx context.Context, name string, o *sweepOptions) error {
	s := &sweeping{progress: newProgress(a.Err, o.quiet), said: map[string]bool{}, kept: sweep.Tries{}, run: o.run,
		failed: failures{known: map[sweep.Turn]error{}, fresh: map[sweep.Turn]error{}}}
	defer s.close()
	if err := s.take(o); err != nil {
		return err
	}
	if err := a.planSweep(s, name, o); err != nil {
		return err
	}
	warnings := s.warnings()
	if !o.given("resume") { // which can't take the advice
		warnings = append(warnings, s.idleAxes()...)
	}
	for _, w := range warnings {
		s.progress.line("warning: " + w)
	}
	if o.dryRun {
		return a.dryRun(s, o)
	}
	for _, left := range s.left {
		s.progress.line("left out: " + left.Error())
	}
	if err := s.open(o); err != nil {
		return err
	}
	if s.question.Objective.Name != "" && o.given("resume") {
		s.say("%s", s.asked(o))
	}
	failed := withoutOut(s.measure(ctx))
	s.progress.end()
	return a.concludeSweep(s, failed, o)
}

func (a *app) showSweep(r *results.Result, t *sweep.Table, o *sweepOptions) error {
	if o.json {
		text, err := sweepJSON(r, t)
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return a.print(text)
	}
	var b strings.Builder
	if err := t.RenderText(&b, a.textOptions()); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return a.print(b.String())
}

// sweepJSON is the table and the result in one document.
func sweepJSON(r *results.Result, t *sweep.Table) (string, error) {
	b, err := results.Encode(r)
	if err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(struct {
		Table  sweep.Document  `json:"table"`
		Result json.RawMessage `json:"result"`
	}{t.Document(), b}, "", "  ")
	return string(out) + "\n", err
}
