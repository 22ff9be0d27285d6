package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
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
			"valid counts.\n\n" +
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
	for _, w := range s.warnings() {
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

// dryRun prints what would be measured.
func (a *app) dryRun(s *sweeping, o *sweepOptions) error {
	if o.json {
		b, err := s.plan.Encode()
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return a.print(string(b))
	}
	var b strings.Builder
	turns := append(s.plan.Missing(s.kept), s.plan.Again(s.kept)...)
	points, crashes := s.rows(), ""
	if n := len(s.plan.Points); n > points {
		crashes = fmt.Sprintf(", with crash variants %d settings,", n)
	}
	fmt.Fprintf(&b, "%s: %s%s × %s = %s", s.cfg.Source.Name(), results.Plural(points, "point"), crashes,
		results.Plural(s.plan.Repeats, "repeat"), results.Plural(len(s.plan.Turns()), "run"))
	if n := len(s.kept); n > 0 {
		fmt.Fprintf(&b, ", %d of them measured", n)
	}
	if n := len(s.plan.Again(s.kept)); n > 0 {
		fmt.Fprintf(&b, ", %d of those to be measured again", n)
	}
	fmt.Fprintf(&b, ", about %s\n", roughly(s.timeLeft(turns)))
	for _, axis := range s.plan.Vary {
		fmt.Fprintf(&b, "%s: %s\n", axis.Key, strings.Join(axis.Values, ", "))
	}
	fmt.Fprintf(&b, "store: %s; seed of the order: %d\n", s.plan.Store, s.plan.Order)
	for _, p := range s.plan.Points {
		fmt.Fprintf(&b, "  %s\n", p.Name)
	}
	for _, left := range s.left {
		fmt.Fprintf(&b, "left out: %s\n", left.Error())
	}
	return a.print(b.String())
}

// rows is how many points the table will have: a crash variant shares the row of
// what it is with crashes, where that is measured, too.
func (s *sweeping) rows() int {
	all := len(s.cfg.Settings)
	for _, set := range s.cfg.Settings {
		if set.CrashOf != "" && slices.ContainsFunc(s.cfg.Settings, func(of profiles.Setting) bool { return of.Name == set.CrashOf }) {
			all--
		}
	}
	return all
}

func (a *app) showSweep(r *results.Result, t *sweep.Table, o *sweepOptions) error {
	if o.json {
		text, err := sweepJSON(r, t)
		if err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
		return a.print(text)
	}
	width, isTerminal := terminal(a.Out)
	noColor, _ := a.lookup("NO_COLOR")
	var b strings.Builder
	if err := t.RenderText(&b, results.TextOptions{Width: width, Color: results.UseColor(isTerminal, noColor)}); err != nil {
		return &failure{results.ExitCouldNotRun, err}
	}
	return a.print(b.String())
}

// roughly writes a length of time for people who wait.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0fm", d.Minutes())
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
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
