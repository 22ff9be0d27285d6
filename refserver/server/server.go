package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"ackmark/refserver/delivery"
	"ackmark/refserver/gateway"
	"ackmark/refserver/push"
	"ackmark/refserver/redisstore"
)

// goingAway is RFC 6455's close code for a server that stops.
const goingAway = 1001

// Server is the rooms of one node, built from one Config.
type Server struct {
	cfg     Config
	log     *slog.Logger
	store   *redisstore.Store
	hub     *push.Hub
	svc     *delivery.Service
	gw      *gateway.Gateway
	profile *profiler // nil: off

	ln     net.Listener
	failed chan error
	wg     sync.WaitGroup // serving
}

// New builds a server; nothing runs and nothing is connected before Start.
func New(cfg Config, log *slog.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withSecrets()
	store, err := redisstore.New(redisstore.Config{
		URL: cfg.Redis, Namespace: cfg.Namespace, DedupFor: cfg.DedupFor, FriendsOnly: cfg.FriendsOnly,
		Group: cfg.Group, Cursor: cfg.Cursor, StoreFor: cfg.StoreFor, SenderIndex: cfg.SenderIndex, DedupOff: cfg.DedupOff,
	}, log)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: log, store: store, failed: make(chan error, 1)}
	retransmit := cfg.Retransmit
	if retransmit == 0 {
		retransmit = -1 // push's word for never
	}
	s.hub = push.New(push.Config{
		QueueFrames: cfg.Queue, QueueBytes: cfg.QueueBytes, Window: cfg.Window,
		Retransmit: retransmit, WriteTimeout: cfg.WriteTimeout,
	})
	s.svc = delivery.New(delivery.Config{
		Group: cfg.Group, Cursor: cfg.Cursor, StoreFor: cfg.StoreFor, Remove: cfg.Remove,
		SenderIndex: cfg.SenderIndex, DedupOff: cfg.DedupOff, MaxResponse: cfg.MaxResponse, MaxFriends: cfg.MaxFriends,
		AckJoin: cfg.AckJoin, AckFlush: cfg.AckFlush, Page: cfg.Page, MaxPage: cfg.MaxPage,
		MaxBody: cfg.MaxBody, MaxInFlight: cfg.MaxInFlight, Retention: cfg.Retention,
	}, store, s.hub, log)
	metrics := newMetrics(s.snapshot)
	s.gw = gateway.New(gateway.Config{
		Tokens: gateway.NewTokens(cfg.TokenSecret, time.Now), AdminSecret: cfg.AdminSecret,
		MaxFrame: cfg.MaxFrame, MaxAdminBody: cfg.MaxAdminBody, MaxAdminItems: cfg.MaxAdminNames,
		MaxConnections: cfg.MaxConnections, MaxHTTPConnections: cfg.MaxHTTPConnections, MaxRequests: cfg.MaxRequests,
		HelloTimeout: cfg.HelloTimeout, IdleTimeout: cfg.IdleTimeout, ReadTimeout: cfg.ReadTimeout,
		WriteTimeout: cfg.WriteTimeout, RequestTimeout: cfg.RequestTimeout,
		Ready: store.Ping, Metrics: func(w io.Writer) error { return metrics.write(w) }, Log: log,
	}, gateway.Deliver(s.svc), s.hub)
	return s, nil
}

// Start takes the address, connects to the store and serves. An error leaves
// nothing running; it is one line that says what to do.
func (s *Server) Start(ctx context.Context) (err error) {
	s.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: stop the program that has it, or choose another --listen (port 0 takes a free one)", s.cfg.Listen)
	} else if err != nil {
		return fmt.Errorf("can't listen on %s: %w", s.cfg.Listen, err)
	}
	if s.cfg.Pprof != "" {
		if s.profile, err = startProfiler(ctx, s.cfg.Pprof); err != nil {
			_ = s.ln.Close()
			return err
		}
	}
	if err := s.store.Start(ctx, s.svc); err != nil {
		_ = s.ln.Close()
		s.profile.stop()
		return err
	}
	s.hub.Start(s.svc)
	if err := s.svc.Start(ctx); err != nil {
		_ = s.ln.Close()
		s.hub.Close(ctx, goingAway, "")
		s.profile.stop()
		return errors.Join(err, s.store.Close(ctx))
	}
	s.wg.Go(func() {
		if err := s.gw.Serve(s.ln); err != nil {
			s.failed <- fmt.Errorf("can't accept connections any more: %w", err)
		}
	})
	return nil
}

// Addr returns HOST:PORT, once started.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Failed tells when the server can't go on by itself; Stop it then.
func (s *Server) Failed() <-chan error { return s.failed }

// answerWait bounds how long Stop waits for the answers to sends that it has taken.
const answerWait = time.Second

// Stop drains: nobody new comes in, sends that were taken are answered,
// connections are closed with 1001 and a reason, acks are flushed. Connections
// get three quarters of ctx's time, the acks the rest at least. An error means
// that not everything could be stored; nothing is left running either way.
func (s *Server) Stop(ctx context.Context) error {
	polite, cancel := context.WithCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		cancel()
		polite, cancel = context.WithTimeout(ctx, time.Until(end)*3/4)
	}
	defer cancel()
	s.gw.Drain()
	s.awaitAnswers(polite)
	s.hub.CloseAll(goingAway, "server is shutting down")
	if err := s.gw.Close(polite); err != nil {
		s.log.Warn("not everybody left in time", "connections", s.hub.Connections(), "error", err)
	}
	s.wg.Wait()
	s.hub.Close(polite, goingAway, "server is shutting down")
	err := s.svc.Close(ctx)
	if err != nil {
		err = fmt.Errorf("not all acks could be flushed; they will be delivered again: %w", err)
	}
	err = errors.Join(err, s.store.Close(ctx))
	s.profile.stop()
	return err
}

// awaitAnswers waits until every send that was taken has its answer queued.
func (s *Server) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for settled := 0; settled < 2; { // counted a moment before the answer is queued
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		st := s.svc.Stats()
		if st.SendsStored+st.SendsDuplicate+st.SendsRefused+st.SendsFailed >= s.gw.Stats().Sends {
			settled++
		} else {
			settled = 0
		}
	}
}

// snapshot gathers every room's counters.
func (s *Server) snapshot() snapshot {
	return snapshot{delivery: s.svc.Stats(), push: s.hub.Stats(), gateway: s.gw.Stats(), store: s.store.Stats(), epoch: s.store.Epoch()}
}
