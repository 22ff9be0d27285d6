package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/profiles"
	"ackmark/results"
	"ackmark/results/sweep"
)

func (a *app) profilesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "list, show and check profiles",
		Long: "A profile says what is measured: who exists, what they send, how they ack, how\n" +
			"long, and what must hold. Some are shipped; your own are YAML files.",
		Example: "  loadgen profiles list\n" +
			"  loadgen profiles show ack-storm > mine.yaml\n" +
			"  loadgen profiles check mine.yaml\n" +
			"  loadgen profiles keys\n" +
			"  loadgen profiles metrics",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usagef("no command given; \"loadgen profiles list\" shows what can be run")
		},
	}
	cmd.AddCommand(a.profilesList(), a.profilesShow(), a.profilesCheck(), a.profilesKeys(), a.profilesMetrics())
	return cmd
}

func (a *app) profilesList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the shipped profiles",
		Example: "  loadgen profiles list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			if err := profiles.WriteList(&b); err != nil {
				return err
			}
			return a.print(b.String())
		},
	}
}

func (a *app) profilesShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "print a profile as it was written",
		Example: "  loadgen profiles show smoke\n  loadgen profiles show ack-storm > mine.yaml",
		Args:    oneArg("the name of a profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := profiles.Load(args[0])
			if err != nil {
				return usage(err)
			}
			return a.print(string(s.YAML()))
		},
	}
}

func (a *app) profilesCheck() *cobra.Command {
	var sets []string
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "check a profile and say everything that is wrong with it",
		Long: "Checks a profile without running it: keys, values, and combinations that can't\n" +
			"work. Each problem is a line: FILE:LINE:COL: what is wrong; what would be right.",
		Example: "  loadgen profiles check mine.yaml\n  loadgen profiles check mine.yaml --set clients.window=64",
		Args:    oneArg("a profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			_, settings, err := load(args[0], sets)
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, s := range settings {
				for _, w := range s.Warnings {
					fmt.Fprintf(a.Err, "warning: %s\n", w)
				}
				fmt.Fprintf(&b, "%s: ok, %s\n", s.Name, s.Profile.Hash()[:12])
			}
			return a.print(b.String())
		},
	}
	cmd.Flags().StringArrayVar(&sets, "set", nil, "set `KEY=VALUE` over the profile and its variants; repeatable")
	return cmd
}

func (a *app) profilesKeys() *cobra.Command {
	return &cobra.Command{
		Use:     "keys",
		Short:   "list all keys with type, unit, default and meaning",
		Example: "  loadgen profiles keys",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			if err := profiles.WriteKeys(&b); err != nil {
				return err
			}
			return a.print(b.String())
		},
	}
}

func (a *app) profilesMetrics() *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "list all metrics with unit, class and meaning",
		Long: "What thresholds, --choose, --subject-to, --metric and --metrics may name.\n" +
			"invariant: no tolerance; count: determined by profile and seed; timing: of the\n" +
			"machine too.",
		Example: "  loadgen profiles metrics\n  loadgen profiles metrics | grep ack",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			if err := results.WriteMetrics(&b); err != nil {
				return err
			}
			b.WriteString("\nShort names that loadgen sweep takes\n")
			for _, short := range sweep.Aliases() {
				fmt.Fprintf(&b, "%-33s%s\n", short.Name, short.Metric)
			}
			return a.print(b.String())
		},
	}
}

// load reads a profile and resolves it, and checks that the metrics named in
// its statements exist, which package profiles can't know.
func load(nameOrPath string, sets []string) (*profiles.Source, []profiles.Setting, error) {
	source, err := profiles.Load(nameOrPath)
	if err != nil {
		return nil, nil, usage(err)
	}
	settings, err := source.Resolve(sets)
	if err != nil {
		return nil, nil, usage(err)
	}
	return source, settings, metricsExist(source, settings)
}

// metricsExist checks the metrics that statements of the settings name.
func metricsExist(source *profiles.Source, settings []profiles.Setting) error {
	for _, s := range settings {
		if _, err := results.Conditions(s.Profile.Thresholds, results.FromThreshold); err != nil {
			return usagef("%s: %w", source.File(), err)
		}
		if _, err := results.Conditions(s.Expect, results.FromExpect); err != nil {
			return usagef("%s: variant %s: %w", source.File(), s.Name, err)
		}
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one argument, %s; it was given %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
