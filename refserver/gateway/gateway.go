package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"ackmark/refserver/push"
)

// Gateway serves HTTP and reads WebSocket connections.
type Gateway struct {
	cfg   Config
	svc   Service
	hub   *push.Hub
	log   *slog.Logger
	http  *fasthttp.Server
	table map[string]map[string]*route // path → method → route
	admin [sha256.Size]byte            // of the admin secret
	stats counters
	views views

	draining atomic.Bool
	ctx      context.Context // ends when Close gives up on what still runs
	cancel   context.CancelFunc

	mu      sync.Mutex // guards these and the Add side of wg
	ln      net.Listener
	stopped bool           // no listener is served any more
	closed  bool           // no connection is taken any more
	wg      sync.WaitGroup // one per WebSocket connection being read
}

// New makes a gateway in front of a service and a hub.
func New(cfg Config, svc Service, hub *push.Hub) *Gateway {
	cfg = cfg.withDefaults()
	g := &Gateway{cfg: cfg, svc: svc, hub: hub, log: cfg.Log, admin: sha256.Sum256([]byte(cfg.AdminSecret))}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.table = tableOf(g.routes())
	g.http = &fasthttp.Server{
		Handler:        g.serveHTTP,
		ErrorHandler:   g.unreadable,
		HeaderReceived: g.bodyLimit,
		Logger:         libraryLog{cfg.Log},
		Name:           "ackmark",

		// The limit that clients are told about is MaxHTTPConnections; the
		// margin lets those above it read why they are refused.
		Concurrency:        cfg.MaxHTTPConnections + cfg.MaxHTTPConnections/4 + 16,
		ReadBufferSize:     cfg.MaxHeader,
		MaxRequestBodySize: max(cfg.MaxFrame, cfg.MaxAdminBody),
		ReadTimeout:        cfg.ReadTimeout,
		WriteTimeout:       cfg.WriteTimeout,
		IdleTimeout:        cfg.IdleTimeout,

		// A hijacked connection outlives its handler, so that the handler's
		// goroutine and request are freed while the connection idles.
		KeepHijackedConns:            true,
		CloseOnShutdown:              true,
		DisablePreParseMultipartForm: true,
		SecureErrorLogMessage:        true,
		MaxIdleWorkerDuration:        time.Second,
	}
	return g
}

// Serve accepts connections until Close, which closes the listener; it returns
// nil then, and an error when the listener breaks.
func (g *Gateway) Serve(ln net.Listener) error {
	p := patient{ln, g.log, new(atomic.Uint64)}
	g.mu.Lock()
	if g.stopped { // fasthttp would serve a listener that comes after its Shutdown
		g.mu.Unlock()
		return p.Close()
	}
	g.ln = p
	g.mu.Unlock()
	return g.http.Serve(p)
}

// Drain refuses what is new from now on, with a typed answer: readyz says no,
// requests and handshakes get shutting_down. What is running goes on.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Close stops accepting, waits for the requests being served and for the
// connections to end, and gives up on what still runs when ctx ends. Whoever
// calls it has closed the hub's connections.
func (g *Gateway) Close(ctx context.Context) error {
	g.Drain()
	g.mu.Lock()
	g.stopped = true
	ln := g.ln
	g.mu.Unlock()
	var err error
	if ln != nil { // fasthttp may not know it yet
		err = ln.Close()
	}
	err = errors.Join(err, g.http.ShutdownWithContext(ctx))

	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	ended := make(chan struct{})
	go func() { g.wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		g.cancel()
		g.hub.CloseAll(1001, "server is shutting down")
		if err == nil {
			err = ctx.Err()
		}
	}
	g.cancel()
	return err
}

// begin counts a connection in; false once the gateway is closed.
func (g *Gateway) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	g.stats.connections.Add(1)
	return true
}

func (g *Gateway) end() {
	g.stats.connections.Add(-1)
	g.wg.Done()
}

// libraryLog takes what fasthttp has to say; none of it asks for an operator.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	l.log.Debug("http", "event", fmt.Sprintf(format, args...))
}
