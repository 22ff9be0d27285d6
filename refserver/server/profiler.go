package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profiler serves /debug/pprof/ on an address of its own, so that it can't be
// reached through the service's.
type profiler struct {
	srv  *http.Server
	done chan struct{}
}

func startProfiler(ctx context.Context, address string) (*profiler, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("can't serve profiles on --pprof %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	p := &profiler{srv: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = p.srv.Serve(ln) // ends with stop
	}()
	return p, nil
}

func (p *profiler) stop() {
	if p == nil {
		return
	}
	_ = p.srv.Close()
	<-p.done
}
