package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ackmark/profiles"
	"ackmark/results"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main is another program's command line: arguments without its name, streams,
// exit code.
type Main func(args []string, in io.Reader, out, err io.Writer) int

// Run runs loadgen with args (without the program's name) and returns the exit
// code, one of results.ExitCodes. refserver is what the hidden command
// "refserver" runs: the generator starts its own executable again as the server
// under load. When Run returns because of a second SIGINT, the first one's
// clean-up is still under way; the caller should exit at once.
func Run(args []string, s Streams, refserver Main) int {
	a := &app{Streams: s, refserver: refserver, lookup: os.LookupEnv}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	ran, err := root.ExecuteC()
	return a.finish(ran, err)
}

// app is one run of the command line.
type app struct {
	Streams
	refserver Main
	lookup    func(string) (string, bool) // environment
	code      int                         // exit code of a command that ended without an error
}

// failure is an error that knows the exit code it ends the program with.
type failure struct {
	code results.ExitCode
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usage(err error) error { return &failure{results.ExitUsage, err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// finish says what went wrong and turns it into an exit code.
func (a *app) finish(ran *cobra.Command, err error) int {
	if err == nil {
		return a.code
	}
	var f *failure
	if !errors.As(err, &f) { // cobra's own: unknown command, too many arguments
		f = &failure{results.ExitUsage, err}
	}
	text := strings.TrimRight(f.Error(), "\n")
	var problems profiles.Problems
	if !errors.As(err, &problems) { // problems begin with a position, a line each, as a compiler lists them
		text = "loadgen: " + text
	}
	fmt.Fprintln(a.Err, text)
	if f.err == err {
		fmt.Fprintf(a.Err, "%q shows what there is.\n", ran.CommandPath()+" --help")
	}
	return int(f.code)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "loadgen",
		Short: "Ackmark's load generator: what does reliable delivery cost?",
		Long: "loadgen measures reliable message delivery in instant messaging: it simulates\n" +
			"devices that send, receive and acknowledge, audits every message, and says what\n" +
			"each delivery cost. It starts what it needs and leaves nothing behind.",
		Example: "  loadgen run smoke                     does everything work here?\n" +
			"  loadgen run ack-storm                 what does each ack policy cost?\n" +
			"  loadgen run ack-storm --set traffic.group.rate=50/s --variant \"every 10\"\n" +
			"  loadgen profiles list                 what can be run",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usagef("no command given; \"loadgen run smoke\" is a good first one")
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; %q lists the flags", err, cmd.CommandPath()+" --help")
	})
	root.SetHelpCommand(&cobra.Command{Use: "help", Hidden: true, RunE: func(*cobra.Command, []string) error {
		return root.Help()
	}})
	root.AddCommand(a.runCommand(), a.sweepCommand(), a.reportCommand(), a.compareCommand(), a.gateCommand(), a.profilesCommand(), a.versionCommand(), a.refserverCommand(), a.stubCommand(), a.selftestCommand())
	return root
}

// refserverCommand hands everything on to the server's own command line.
func (a *app) refserverCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "refserver",
		Short:              "the reference server, as loadgen starts it",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if a.refserver == nil {
				return usagef("this program was built without the reference server; run refserver itself")
			}
			a.code = a.refserver(args, a.In, a.Out, a.Err)
			return nil
		},
	}
}
