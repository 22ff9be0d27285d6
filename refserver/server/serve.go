package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// startTimeout bounds how long the store may take to answer at the start.
const startTimeout = 10 * time.Second

func (p *program) serveCommand() *cobra.Command {
	o := defaultOptions()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve until SIGTERM or SIGINT",
		Long: "Serves HTTP and WebSocket clients until SIGTERM or SIGINT, then drains: nobody\n" +
			"new comes in, acks are flushed, connections are closed with a reason (1001). A\n" +
			"second signal cuts that short.",
		Example: "  refserver serve --insecure-dev\n" +
			"  refserver serve --listen :8490 --redis redis://10.0.0.5:6379 \\\n" +
			"      --token-secret-file ./token --admin-secret-file ./admin\n" +
			"  ACKMARK_REDIS=unix:///run/redis.sock ACKMARK_INSECURE_DEV=true refserver serve",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := applyEnv(cmd.Flags(), p.lookup); err != nil {
				return usage(err)
			}
			return p.serve(cmd.Context(), o)
		},
	}
	settings := o.settings()
	for _, s := range settings {
		s.bind(cmd.Flags(), s.name, s.help)
	}
	cmd.Flags().SortFlags = false
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "%s\n\nUsage\n  %s\n\nExamples\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
		writeSettings(w, cmd.Flags(), settings)
		fmt.Fprint(w, "\nEach setting can be given in the environment too: --max-body is\n"+
			"ACKMARK_MAX_BODY. The command line wins. TIME is like 250ms, 15s or 2m, SIZE\n"+
			"like 65536, 64KiB or 4MiB.\n\n"+
			"Exit codes\n"+
			"  0    stopped by a signal, drained\n"+
			"  2    a flag, a variable or a file is wrong\n"+
			"  5    could not run: no Redis, an evicting Redis, a busy port, or acks that\n"+
			"       could not be flushed at the end\n"+
			"  130  a second signal cut the drain short\n")
	})
	return cmd
}

// gcPercent is how much garbage may gather before it is collected, in percent
// of what lives. What an idle server holds is its connections, and little
// garbage comes of a delivery or an ack, so half of Go's default costs next to
// no CPU and saves a quarter of the memory.
const gcPercent = 50

// leanHeap sets it, unless the environment says otherwise, until the returned
// function is called.
func leanHeap() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}

func (p *program) serve(ctx context.Context, o *options) error {
	log, err := logger(p.stderr, o.logLevel, o.logFormat)
	if err != nil {
		return usage(err)
	}
	if err := o.readSecrets(); err != nil {
		return usage(err)
	}
	if err := o.Validate(); err != nil {
		return usage(err)
	}
	srv, err := New(o.Config, log)
	if err != nil {
		return usage(err)
	}

	defer leanHeap()()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)

	if err := p.start(ctx, srv, signals); err != nil {
		return err
	}
	why, err := p.ready(ctx, srv, o, log, signals)
	if o.addrFile != "" {
		defer removeAddr(o.addrFile, srv.Addr())
	}
	if err == nil {
		log.Info("stopping", "why", why, "drain_timeout", o.DrainTimeout)
	}
	return errors.Join(err, p.stop(srv, o.DrainTimeout, log, signals))
}

// start starts the server; a signal gives up on a store that doesn't answer.
func (p *program) start(ctx context.Context, srv *Server, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	started := make(chan error, 1)
	go func() { started <- srv.Start(ctx) }()
	select {
	case err := <-started:
		if err != nil {
			return &exit{ExitCannotRun, err}
		}
		return nil
	case s := <-signals:
		cancel()
		if err := <-started; err == nil {
			stopCtx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = srv.Stop(stopCtx)
		}
		return &exit{ExitInterrupted, fmt.Errorf("%s while starting", s)}
	}
}

// ready tells the world, and waits for a reason to stop.
func (p *program) ready(ctx context.Context, srv *Server, o *options, log *slog.Logger, signals <-chan os.Signal) (why string, err error) {
	if o.addrFile != "" {
		if err := writeAddr(o.addrFile, srv.Addr()); err != nil {
			return "", &exit{ExitCannotRun, err}
		}
	}
	if o.InsecureDev {
		log.Warn("insecure-dev: everybody on this machine knows the secrets")
	}
	log.Info("serving", "address", srv.Addr(), "epoch", srv.store.Epoch(), "admin", srv.cfg.AdminSecret != "", "version", version())
	gone := make(chan struct{})
	if o.exitWithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, p.stdin)
			close(gone)
		}()
	}
	select {
	case s := <-signals:
		return s.String(), nil
	case <-gone:
		return "standard input ended", nil
	case <-ctx.Done():
		return "asked to", nil
	case err := <-srv.Failed():
		return "", &exit{ExitCannotRun, err}
	}
}

func (p *program) stop(srv *Server, timeout time.Duration, log *slog.Logger, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(ctx) }()
	select {
	case err := <-stopped:
		if err != nil {
			return &exit{ExitCannotRun, err}
		}
		log.Info("stopped")
		return nil
	case s := <-signals:
		cancel()
		<-stopped //nolint:errcheck // cut short: the second signal is the reason that counts
		return &exit{ExitInterrupted, fmt.Errorf("%s while draining: stopped at once", s)}
	}
}
