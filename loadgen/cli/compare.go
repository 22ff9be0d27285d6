package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/results"
	"ackmark/results/compare"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	format   string
	json     bool
	out      string
	labels   []string
	metrics  []string
	variants []string
	all      bool
	anyway   bool
	plot     string
}

func compareFormats() []string { return []string{"text", "markdown", "csv", "json", "bench"} }

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare A B …",
		Short: "hold results against each other, metric by metric",
		Long: "Holds results against the first one: medians, what they changed by, and whether\n" +
			"that is more than chance. A, B … are result files, directories with a\n" +
			results.FileName + ", or directories of such directories, whose runs are then all\n" +
			"samples of one side; a copy of a result is counted once. Shown are invariants,\n" +
			"CPU and latency, and whatever else changed; fewer metrics at once are told apart\n" +
			"with fewer runs.\n" +
			"\n" +
			"It judges nothing: the exit code is 0 when the sides were compared, 3 when one\n" +
			"of them holds no valid run, 2 when one can't be read, 5 when the output couldn't\n" +
			"be written. \"loadgen gate\" passes or fails.\n" +
			"\n" +
			"--format bench is Go's benchmark format, a line per valid run. One side is\n" +
			"enough for it; several have a line \"side:\" each, for \"benchstat -col side\",\n" +
			"and the settings and seeds they differ in as notes. benchstat sets CPUs and\n" +
			"versions of Redis apart, and settings in files made one by one, unless told\n" +
			"otherwise: \"-ignore profile-hash\".",
		Example: "  loadgen compare results/runs/old results/runs/new\n" +
			"  loadgen compare before.json after.json --variant \"every 10\" --metric live.p99\n" +
			"  loadgen compare before.json after.json --plot live\n" +
			"  loadgen compare before after --format bench > sides.txt\n" +
			"  go tool benchstat -col side -filter .unit:live-p50-us sides.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && o.format != "bench" {
				return usagef("compare needs two results or more; \"loadgen report\" shows one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.format == "md" {
				o.format = "markdown"
			}
			if o.json && cmd.Flags().Changed("format") && o.format != "json" {
				return usagef("--json is --format json, and --format %s was given as well", o.format)
			}
			if o.json {
				o.format = "json"
			}
			return a.compare(args, &o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.labels, "label", nil, "call the sides `NAME`, one --label per side in their order (default: their paths' last elements)")
	f.StringArrayVar(&o.variants, "variant", nil, "only the variant `NAME`; may be repeated")
	f.StringArrayVar(&o.metrics, "metric", nil, "only the metric `NAME`, such as live.p99; may be repeated")
	f.BoolVar(&o.all, "all", false, "every metric that was measured")
	f.BoolVar(&o.anyway, "anyway", false, "conclude from timings even though they come from different environments")
	f.StringVar(&o.plot, "plot", "", "draw the percentiles of `HISTOGRAM`, such as live, instead of tables")
	f.StringVar(&o.format, "format", "text", "`FORMAT` to show it in: "+strings.Join(compareFormats(), ", ")+" (md is markdown)")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.StringVar(&o.out, "out", "", "write to `FILE` instead of stdout, over what is there")
	return cmd
}

// check finds flags that contradict each other, before anything is read.
func (o *compareOptions) check(sides int) error {
	switch {
	case !slices.Contains(compareFormats(), o.format):
		return usagef("--format %q: it should be one of %s", o.format, strings.Join(compareFormats(), ", "))
	case len(o.labels) > 0 && len(o.labels) != sides:
		return usagef("%d --label for %d sides; each needs one", len(o.labels), sides)
	case o.all && len(o.metrics) > 0:
		return usagef("--all and --metric contradict each other")
	case slices.ContainsFunc(o.labels, func(l string) bool { return strings.TrimSpace(results.OneLine(l)) == "" }):
		return usagef("a --label is empty")
	case o.plot != "" && o.format != "text":
		return usagef("--plot is text; it doesn't go with --format %s", o.format)
	case o.plot != "" && (o.all || len(o.metrics) > 0):
		return usagef("--plot draws a histogram and shows no metrics; leave --all and --metric out")
	case o.format == "bench" && (o.all || len(o.metrics) > 0):
		return usagef("--format bench holds every metric; benchstat -filter picks some")
	case o.plot != "":
		if err := compare.CheckHistogram(o.plot); err != nil {
			return usagef("--plot: %w", err)
		}
	}
	return checkOut(o.out)
}

func (a *app) compare(paths []string, o *compareOptions) error {
	if err := o.check(len(paths)); err != nil {
		return err
	}
	sides, err := readSides(paths, o)
	if err != nil {
		return err
	}
	c, err := compare.New(sides, compare.Options{
		Metrics: o.metrics, Variants: o.variants, All: o.all, Anyway: o.anyway, SingleSided: o.format == "bench",
	})
	if err != nil {
		return usage(err)
	}
	var b bytes.Buffer
	if err := a.drawComparison(&b, c, o); err != nil {
		return usage(err) // a histogram that can't be read
	}
	if o.out != "" {
		if err := results.WriteFile(o.out, b.Bytes()); err != nil {
			return &failure{results.ExitCouldNotRun, err}
		}
	} else if err := a.print(b.String()); err != nil {
		return err
	}
	a.code = int(c.ExitCode)
	silent := o.plot != "" || o.format == "csv" // what was written has no place for warnings
	unseen := o.format != "text" || o.out != ""
	if silent || unseen && c.ExitCode != results.ExitPass {
		for _, w := range c.Warnings {
			fmt.Fprintf(a.Err, "warning: %s\n", w)
		}
	}
	return nil
}

func (a *app) drawComparison(b io.Writer, c *compare.Comparison, o *compareOptions) error {
	switch {
	case o.plot != "":
		return c.RenderPlot(b, o.plot)
	case o.format == "markdown":
		return c.RenderMarkdown(b)
	case o.format == "csv":
		return c.RenderCSV(b)
	case o.format == "bench":
		return c.RenderBench(b)
	case o.format == "json":
		text, err := c.Encode()
		if err == nil {
			_, err = b.Write(text)
		}
		return err
	}
	text := results.TextOptions{}
	if o.out == "" {
		text = a.textOptions()
	}
	return c.RenderText(b, text)
}

// readSides reads a side per path and labels them.
func readSides(paths []string, o *compareOptions) ([]compare.Side, error) {
	labels := o.labels
	if len(labels) == 0 {
		labels = sideLabels(paths)
	}
	var sides []compare.Side
	var problems []error
	var names []string // as outputs write them
	for i, path := range paths {
		files, err := resultFiles(path)
		problems = append(problems, err, spare(o.out, files...))
		all, err := readAll(files)
		problems = append(problems, err)
		name := strings.Join(strings.Fields(results.OneLine(labels[i])), " ")
		if slices.Contains(names, name) {
			problems = append(problems, fmt.Errorf("two sides are called %q; name them with --label", name))
		}
		names = append(names, name)
		sides = append(sides, compare.Side{Label: labels[i], Results: all})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, usage(err)
	}
	return sides, nil
}
