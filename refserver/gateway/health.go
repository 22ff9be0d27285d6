package gateway

import (
	"context"
	"time"

	"ackmark/refserver/wire"
)

// readyWait bounds how long the store may take to show that it is there:
// whoever asks for readiness asks again soon.
const readyWait = time.Second

type healthAnswer struct {
	Status string `json:"status"`
}

// healthz says that the process is alive, also while it drains.
func (g *Gateway) healthz(*request) (any, error) { return healthAnswer{"ok"}, nil }

// readyz says whether work may be sent here: the store answers and the server
// isn't shutting down.
func (g *Gateway) readyz(r *request) (any, error) {
	if g.draining.Load() {
		return nil, shuttingDown()
	}
	if g.cfg.Ready != nil {
		ctx, cancel := context.WithTimeout(r.ctx, readyWait)
		defer cancel()
		if err := g.cfg.Ready(ctx); err != nil {
			g.log.Warn("not ready", "error", err)
			return nil, wire.Faultf(wire.CodeUnavailable, "the store doesn't answer")
		}
	}
	return healthAnswer{"ready"}, nil
}

func (g *Gateway) metrics(r *request) (any, error) {
	if g.cfg.Metrics == nil {
		return nil, wire.Faultf(wire.CodeNotFound, "this server has no metrics")
	}
	r.http.SetContentType("text/plain; version=0.0.4; charset=utf-8")
	if err := g.cfg.Metrics(r.http.Response.BodyWriter()); err != nil {
		r.http.Response.ResetBody()
		return nil, err
	}
	return nil, nil
}
