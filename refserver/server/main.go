package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes, the same for every command of the project that they concern.
const (
	ExitOK          = 0
	ExitUsage       = 2   // a flag, a variable or a file is wrong
	ExitCannotRun   = 5   // no Redis, no port, or it broke while it ran
	ExitInterrupted = 130 // a second signal cut the drain short
)

// exit is an error with the code that it ends the program with.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

func usage(err error) error { return &exit{ExitUsage, err} }

// Main is the program `refserver`: it runs args (without the program's name)
// and returns the exit code. It may be called in any process: it uses the
// streams that it is given, doesn't exit, and leaves nothing running but, with
// --exit-with-stdin, a reader that waits for stdin to end. While it serves,
// SIGTERM and SIGINT of the process stop it.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Run(context.Background(), args, stdin, stdout, stderr)
}

// Run is Main with a context: when it ends the server drains and stops.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, lookup: os.LookupEnv}
	cmd := p.command()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	// One line: what is wrong and what would be right.
	fmt.Fprintf(stderr, "refserver: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	var e *exit
	if !errors.As(err, &e) { // cobra's own: unknown command, too many arguments
		e = &exit{ExitUsage, err}
	}
	if e.code == ExitUsage {
		fmt.Fprintf(stderr, "`%s --help` explains every setting.\n", ran.CommandPath())
	}
	return e.code
}

// program is one run of the command line.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         func(string) (string, bool) // environment
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "refserver",
		Short: "Ackmark's reference server: reliable message delivery, measured",
		Long: "refserver stores messages in Redis and delivers them over WebSocket and HTTP:\n" +
			"groups with one cursor per member, direct messages with an inbox per user.",
		Example: "  refserver serve --insecure-dev          try it on this machine\n" +
			"  refserver token --user alice --insecure-dev\n" +
			"  refserver serve --help                  every setting explained",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(p.serveCommand(), p.tokenCommand(), p.versionCommand())
	return root
}

// logger writes structured logs to w.
func logger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	switch level {
	case "debug", "info", "warn", "error":
		_ = l.UnmarshalText([]byte(level))
	default:
		return nil, fmt.Errorf("--log-level %q: debug, info, warn or error is right", level)
	}
	opts := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("--log-format %q: text or json is right", format)
}
