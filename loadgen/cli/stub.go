package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ackmark/loadgen/stub"
	"ackmark/results"
)

// stubOptions are the flags of stub: those that launch gives to a server, and a
// plan of lies.
type stubOptions struct {
	listen, addrFile string
	withStdin        bool
	delay, answer    string
	cfg              stub.Config
}

// stubCommand is the server that selftest starts as a child, so that it doesn't
// share the generator's scheduler. Hidden: it measures nothing by itself.
func (a *app) stubCommand() *cobra.Command {
	var o stubOptions
	cmd := &cobra.Command{
		Use:   "stub",
		Short: "a server that delays, loses and repeats by plan, as selftest starts it",
		Long: "A server that delays, loses, repeats and stalls exactly as it is told, and says\n" +
			"at GET /v1/admin/truth what it really caused. loadgen selftest starts it. Its\n" +
			"secrets are ACKMARK_TOKEN_SECRET and ACKMARK_ADMIN_SECRET.",
		Example: "  loadgen stub --listen 127.0.0.1:8491 --delay \"uniform 40ms 90ms\" --lose 0.01",
		Args:    cobra.NoArgs,
		Hidden:  true,
		RunE: func(*cobra.Command, []string) error {
			return a.interruptible(func(ctx context.Context) error { return a.stub(ctx, &o) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on `HOST:PORT` of this machine; port 0 is any free one")
	f.StringVar(&o.addrFile, "addr-file", "", "write the address to `FILE` when ready")
	f.BoolVar(&o.withStdin, "exit-with-stdin", false, "end when stdin is closed")
	f.Uint64Var(&o.cfg.Seed, "seed", 1, "start all randomness at `N`")
	f.StringVar(&o.delay, "delay", "constant 0s", "delay deliveries by `DISTRIBUTION`: constant D, uniform LOW HIGH, log-normal MEDIAN SIGMA, bimodal FAST SLOW SHARE")
	f.StringVar(&o.answer, "answer", "constant 0s", "delay answers to sends likewise, by `DISTRIBUTION`")
	for _, s := range []struct {
		to         *float64
		name, what string
	}{
		{&o.cfg.Inject.Lose, "lose", "of the deliveries are lost"},
		{&o.cfg.Inject.Again, "again", "are written twice"},
		{&o.cfg.Inject.Twice, "twice", "of the messages are stored twice"},
		{&o.cfg.Inject.Swap, "swap", "of the deliveries overtake the one before"},
		{&o.cfg.Inject.Late, "late", "are shown after later ones"},
		{&o.cfg.Inject.Renumber, "renumber", "come under another seq"},
	} {
		f.Float64Var(s.to, s.name, 0, "this `SHARE`, 0 to 1, "+s.what)
	}
	f.DurationVar(&o.cfg.Stall.At, "stall-at", 0, "stand still this `TIME` after the first send")
	f.DurationVar(&o.cfg.Stall.For, "stall-for", 0, "for this `TIME`; 0s is not at all")
	return cmd
}

func (a *app) stub(ctx context.Context, o *stubOptions) error {
	host, port, err := net.SplitHostPort(o.listen)
	n, portErr := strconv.Atoi(port)
	if err != nil || portErr != nil || host != "127.0.0.1" {
		return usagef("--listen %q: it should be 127.0.0.1:PORT", o.listen)
	}
	o.cfg.Port = n
	if o.cfg.Delay, err = stub.ParseDelay(o.delay); err != nil {
		return usagef("--delay: %w", err)
	}
	if o.answer != "constant 0s" {
		if o.cfg.Answer, err = stub.ParseDelay(o.answer); err != nil {
			return usagef("--answer: %w", err)
		}
	}
	o.cfg.TokenSecret, _ = a.lookup("ACKMARK_TOKEN_SECRET")
	o.cfg.AdminSecret, _ = a.lookup("ACKMARK_ADMIN_SECRET")
	s, err := stub.Start(o.cfg)
	if err != nil {
		return usage(err)
	}
	if err := announce(o.addrFile, s.Addr()); err != nil {
		return &failure{results.ExitCouldNotRun, errors.Join(err, s.Close())}
	}
	if o.withStdin {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_, _ = io.Copy(io.Discard, a.In) // ends with the pipe, whatever the reason
		}()
		select {
		case <-closed:
		case <-ctx.Done():
		}
	} else {
		<-ctx.Done()
	}
	return s.Close()
}

// announce writes the address in one piece, so that whoever waits for the file
// never reads a half of it.
func announce(path, addr string) error {
	if path == "" {
		return nil
	}
	draft := filepath.Join(filepath.Dir(path), fmt.Sprintf(".addr-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.WriteFile(draft, []byte(addr+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	return nil
}
