package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/loadgen/engine"
	"ackmark/profiles"
	"ackmark/results/gate"
)

// gateOptions are the flags of gate.
type gateOptions struct {
	baseline    string
	result      string
	update      bool
	acceptWorse string

	candidate     string
	against       string
	againstTarget string
	againstSecret map[string]*string // files, by what they hold
	looks         []int              // numbers of pairs
	calibrate     int

	metrics    []string
	tolerances string
	timings    string

	measureFlags
	junit    string
	markdown string
	verbose  bool
}

func (a *app) gateCommand() *cobra.Command {
	o := gateOptions{againstSecret: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "gate PROFILE",
		Short: "may this change pass? against a baseline file, or another build",
		Long: "Measures a profile and decides whether what was measured may pass.\n\n" +
			"Against a baseline file (the default): invariants have no tolerance, counts\n" +
			"that profile and seed determine are held within 1 % (memory 2 %), repeat by\n" +
			"repeat, timings with 5 repeats or more, only on the machine that the baseline\n" +
			"comes from; elsewhere they are refused, exit code 3, unless --timings report\n" +
			"asks only to see them. The file is results/baselines/NAME.json, NAME being what\n" +
			"the profile says below name:, whatever its own file is called.\n\n" +
			"Exit code 3 is a machine that was too busy (run it again), or a comparison that\n" +
			"can't be made, as with another profile, seed, --set, --repeats or --variant than\n" +
			"the baseline's (it won't help): the message says which.\n\n" +
			"Against another build (--against), beside it on this machine: pairs of runs with\n" +
			"one seed, in turns AB BA AB, until every gated metric is decided or the most\n" +
			"pairs are measured (exit code 4). The load comes from this build for both. What\n" +
			"is missing, empty or not to be trusted is never a pass. Every run is kept below\n" +
			"--out; one for which this machine was too busy is measured again.\n\n" +
			"How small a worsening can be told from chance depends on the machine:\n" +
			"--calibrate measures that, and --tolerances gates by what it proposes.",
		Example: "  loadgen gate ci --timings report --junit gate.xml\n" +
			"  loadgen gate ci --update-baseline\n" +
			"  loadgen gate ci --update-baseline --accept-worse \"acks carry a trace id now\"\n" +
			"  loadgen gate ci --result results/runs/20260102T030405Z-ci --timings report\n" +
			"  loadgen gate ack-storm --variant each --against ../base/bin/loadgen \\\n" +
			"      --metrics server_cpu_us_per_delivery=5% --pairs 8,16,24\n" +
			"  loadgen gate ack-storm --variant each --calibrate 16 --out aa\n" +
			"  loadgen gate ack-storm --variant each --against ../base/bin/loadgen \\\n" +
			"      --tolerances aa/calibration.json",
		Args: oneArg("a profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.interruptible(func(ctx context.Context) error { return a.gate(ctx, args[0], &o) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.baseline, "baseline", "", "hold against the baseline in `FILE` (default results/baselines/NAME.json, by the name: in the profile)")
	f.StringVar(&o.result, "result", "", "judge what was measured already: a result file or its directory, `PATH`")
	f.BoolVar(&o.update, "update-baseline", false, "write the baseline instead, from a result that passes; never over one that promises more")
	f.StringVar(&o.acceptWorse, "accept-worse", "", "write it over one that promises more; the file keeps the `REASON`")
	f.StringVar(&o.against, "against", "", "hold against another build of loadgen or refserver, the executable at `PATH`, in interleaved pairs")
	f.StringVar(&o.candidate, "candidate", "", "judge the server of the executable at `PATH` instead of this one's; with --against or --calibrate")
	f.StringVar(&o.againstTarget, "against-target", "", "hold the server at --target against the one at `HOST:PORT`, in interleaved pairs; --metrics says which timings")
	for _, kind := range secretKinds() {
		o.againstSecret[kind] = f.String("against-"+kind+"-file", "", "`FILE` that holds the "+strings.Replace(kind, "-", " ", 1)+" of --against-target, where it isn't the target's")
	}
	f.IntSliceVar(&o.looks, "pairs", nil, "decide timings after `N,N,…` pairs, the last is the cap (default "+listed(gate.DefaultPairOptions().Looks)+"); counts after 3")
	f.IntVar(&o.calibrate, "calibrate", 0, "measure `K` pairs, 8 or more, of this build with itself: the machine's own spread, and the tolerances that it allows")
	f.StringVar(&o.tolerances, "tolerances", "", "gate the timings with the tolerances in `FILE`, as --calibrate writes it")
	f.StringSliceVar(&o.metrics, "metrics", nil, "gate these timings, `NAME=TOLERANCE`, as in live.p99=20%; \"none\": counts and invariants alone")
	f.StringVar(&o.timings, "timings", string(gate.GateTimings), "gate timings against a baseline, or only report them: `MODE` gate or report; with --update-baseline: whether worse ones need --accept-worse")
	f.StringVar(&o.junit, "junit", "", "write the checks as JUnit to `FILE`")
	f.StringVar(&o.markdown, "markdown", "", "write them as Markdown to `FILE`; also appended to $GITHUB_STEP_SUMMARY where that is set")
	f.BoolVar(&o.verbose, "verbose", false, "list checks that passed one by one")
	o.add(cmd)
	f.Lookup("json").Usage = "print the report as JSON to stdout, and nothing else"
	return cmd
}

func secretKinds() []string { return []string{"token-secret", "admin-secret"} }

// gating is one call of gate, its flags read.
type gating struct {
	*app
	o        *gateOptions
	cfg      engine.Config // what every run has in common
	profile  string        // as it was asked for: a shipped one's name, or a file
	name     string        // of the profile, as it says itself
	settings []profiles.Setting
	metrics  []gate.Gated // timings to gate, those of --tolerances and --metrics; nil: the usual ones
	progress *progress
	dir      *output // nil until something is measured
	repeated int     // runs that were measured again

	calibrated *gate.Calibration // of --tolerances; nil without
	doubts     []string          // in what --result contradicts itself
}

// gate reads the flags and does what they ask for.
func (a *app) gate(ctx context.Context, name string, o *gateOptions) error {
	g := &gating{app: a, o: o, profile: name, progress: newProgress(a.Err, o.quiet)}
	if err := g.check(o.given); err != nil {
		return err
	}
	var err error
	if g.cfg, err = o.config(a, name); err != nil {
		return err
	}
	g.name, g.settings = g.cfg.Source.Name(), g.cfg.Settings
	for _, s := range g.settings {
		for _, w := range s.Warnings {
			g.progress.line("warning: " + w)
		}
	}
	if o.baseline == "" {
		o.baseline = filepath.Join("results", "baselines", g.name+".json")
	}
	if c := g.calibrated; c != nil && c.Profile != g.name {
		return usagef("--tolerances %s: calibrated was the profile %s; calibrate %s", o.tolerances, c.Profile, g.name)
	}
	if err := g.outputs(); err != nil {
		return err
	}
	switch {
	case o.calibrate > 0:
		return g.calibration(ctx)
	case g.paired():
		return g.pairs(ctx)
	}
	if text := g.whose("", ""); text != "" {
		g.progress.line(fmt.Sprintf("note: %s is %s", o.baseline, text))
	}
	switch {
	case o.update:
		return g.updateBaseline(ctx)
	}
	return g.againstBaseline(ctx)
}

// paired tells whether two servers are measured beside each other.
func (g *gating) paired() bool { return g.o.against != "" || g.o.againstTarget != "" }

// check finds flags that contradict each other.
func (g *gating) check(given func(flag string) bool) error {
	o := g.o
	pairs := g.paired() || o.calibrate > 0
	if err := g.empty(given); err != nil {
		return err
	}
	switch {
	case o.against != "" && (o.againstTarget != "" || o.target != ""):
		return usagef("--against starts a build, --target and --against-target name servers that run; give two of a kind")
	case o.againstTarget != "" && o.target == "":
		return usagef("--against-target needs the server that is judged: --target")
	case o.againstTarget == "" && (given("against-token-secret-file") || given("against-admin-secret-file")):
		return usagef("--against-token-secret-file and --against-admin-secret-file are for --against-target")
	case o.againstTarget != "" && len(o.metrics) == 0 && o.tolerances == "":
		return usagef("--against-target: nothing is known of what its server and Redis cost; say with --metrics which timings are held, as in live.p99=20%%, or none")
	case given("calibrate") && o.calibrate < leastCalibrated:
		return usagef("--calibrate %d: the spread of fewer than %d pairs is a guess", o.calibrate, leastCalibrated)
	case o.calibrate > mostCalibrated:
		return usagef("--calibrate %d: more than %d pairs are never worth their time", o.calibrate, mostCalibrated)
	case o.calibrate > 0 && (g.paired() || o.target != "" || len(o.metrics) > 0 || o.tolerances != ""):
		return usagef("--calibrate measures one build with itself and finds tolerances; leave --against, --target, --metrics and --tolerances out")
	case o.calibrate > 0 && (o.junit != "" || o.markdown != ""):
		return usagef("--calibrate judges nothing; leave --junit and --markdown out")
	case o.candidate != "" && !pairs:
		return usagef("--candidate is for --against and --calibrate")
	case pairs && (o.result != "" || o.update || given("baseline")):
		return usagef("pairs are held against another build, not a baseline; leave --baseline, --result and --update-baseline out")
	case pairs && o.embedded:
		return usagef("pairs need a real Redis, whose costs they hold; leave --embedded out")
	case pairs && given("timings"):
		return usagef("--timings is for a baseline; --metrics says which timings pairs gate")
	case pairs && given("repeats"):
		return usagef("--repeats is for a baseline; --pairs says how many pairs there are")
	case !pairs && given("pairs"):
		return usagef("--pairs is for --against and --calibrate")
	case o.update && (o.junit != "" || o.markdown != "" || len(o.metrics) > 0 || o.tolerances != ""):
		return usagef("--update-baseline writes what was measured and writes no report; leave --junit, --markdown, --metrics and --tolerances out")
	case given("accept-worse") && !o.update:
		return usagef("--accept-worse is for --update-baseline")
	case given("accept-worse") && strings.TrimSpace(o.acceptWorse) == "":
		return usagef("--accept-worse needs a reason, which the file keeps")
	case o.result != "" && (len(o.sets) > 0 || len(o.variants) > 0 || given("repeats") || given("seed") || o.redis != "" || o.embedded || o.target != "" || o.out != ""):
		return usagef("--result was measured already; leave out what says how to measure")
	case o.timings != string(gate.GateTimings) && o.timings != string(gate.ReportTimings):
		return usagef("--timings %q: it should be gate or report", o.timings)
	}
	var err error
	if g.calibrated, err = tolerances(o.tolerances); err == nil {
		g.metrics, err = gatedTimings(g.calibrated, o.metrics)
	}
	return err
}

// The least and the greatest number of pairs of a calibration.
const (
	leastCalibrated = 8
	mostCalibrated  = 1000
)

var errNoBaseline = errors.New("there is no baseline yet; --update-baseline writes the first one")
