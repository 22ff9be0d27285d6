package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/results"
)

const helpWidth = 80

// help prints a command's help: what it is for, how to call it, examples,
// flags, exit codes. Nothing is wider than helpWidth.
func help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(text), useLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-10s %s\n", c.Name(), c.Short)
			}
		}
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		b.WriteString("\nFlags:\n")
		b.WriteString(flags.FlagUsagesWrapped(helpWidth))
	}
	b.WriteString("\nExit codes:\n")
	for _, c := range results.ExitCodes() {
		fmt.Fprintf(&b, "  %-4d %s\n", c, c.Meaning())
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String())
}

func useLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if _, args, ok := strings.Cut(cmd.Use, " "); ok {
		line += " " + args
	}
	if cmd.HasAvailableSubCommands() {
		line += " COMMAND"
	}
	return line + " [flags]"
}
