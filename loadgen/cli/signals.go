package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"ackmark/results"
)

// errTwice ends a command at a second signal.
var errTwice = errors.New("interrupted twice: ending at once; children end with this process, the next run sweeps what is left on disk")

// interruptible runs a command under a context that the first SIGINT, SIGTERM or SIGHUP
// ends, so that it can stop in order and write what it has. At a second one it
// returns at once. SIGPIPE is caught, since its default would end the program
// in the middle of its clean-up, because somebody closed stdout; SIGXFSZ
// likewise, where a file got larger than the process may write.
func (a *app) interruptible(command func(context.Context) error) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE, syscall.SIGXFSZ)
	defer signal.Stop(pipes)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- command(ctx) }()
	select {
	case err := <-done:
		return err
	case <-signals:
		cancel()
	}
	select {
	case err := <-done:
		return err
	case <-signals:
		return &failure{results.ExitInterrupted, errTwice}
	}
}
