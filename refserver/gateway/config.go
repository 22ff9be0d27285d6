package gateway

import (
	"context"
	"io"
	"log/slog"
	"time"
)

// Config sets a gateway's secrets and limits. Zero limits are replaced by the
// defaults; Tokens and Log are required.
type Config struct {
	Tokens      *Tokens // verifies users
	AdminSecret string  // opens /v1/admin; empty: nobody gets in

	MaxFrame           int // largest WebSocket message and largest JSON request, bytes; default 256 KiB
	MaxAdminBody       int // largest admin request, bytes; default 4 MiB
	MaxAdminItems      int // most names in one admin request; default 10,000
	MaxHeader          int // largest HTTP request head, bytes; default 8 KiB
	MaxConnections     int // most WebSocket connections; default 100,000
	MaxHTTPConnections int // most HTTP connections, handshakes included; default 16,384
	MaxRequests        int // most HTTP requests being served; default 4,096

	HelloTimeout   time.Duration // from the handshake to the hello; default 10 s
	IdleTimeout    time.Duration // a silent connection is pinged after it and ended after twice that; default 60 s
	ReadTimeout    time.Duration // to read one HTTP request; default 10 s
	WriteTimeout   time.Duration // to write one HTTP response; default 10 s
	RequestTimeout time.Duration // to serve one HTTP request or one hello; default 10 s

	Ready   func(ctx context.Context) error // asks the store; nil: always ready
	Metrics func(w io.Writer) error         // writes Prometheus' text format; nil: no /metrics
	Now     func() time.Time                // nil: time.Now
	Log     *slog.Logger
}

func (c Config) withDefaults() Config {
	set(&c.MaxFrame, 256<<10)
	set(&c.MaxAdminBody, 4<<20)
	set(&c.MaxAdminItems, 10_000)
	set(&c.MaxHeader, 8<<10)
	set(&c.MaxConnections, 100_000)
	set(&c.MaxHTTPConnections, 16<<10)
	set(&c.MaxRequests, 4<<10)
	set(&c.HelloTimeout, 10*time.Second)
	set(&c.IdleTimeout, 60*time.Second)
	set(&c.ReadTimeout, 10*time.Second)
	set(&c.WriteTimeout, 10*time.Second)
	set(&c.RequestTimeout, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func set[T int | time.Duration](v *T, byDefault T) {
	if *v <= 0 {
		*v = byDefault
	}
}
