package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"ackmark/refserver/wire"
)

// serveHTTP is fasthttp's handler: limits, route, identity, handler, answer.
func (g *Gateway) serveHTTP(ctx *fasthttp.RequestCtx) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			g.stats.panics.Add(1)
			g.log.Error("panic while serving a request", "method", string(ctx.Method()), "path", string(ctx.Path()),
				"panic", p, "stack", string(debug.Stack()))
			ctx.Response.Reset()
			g.fail(ctx, wire.Faultf(wire.CodeInternal, "the server failed at this request; its log says how"))
		}
		g.account(ctx, began)
	}()
	defer g.stats.inFlight.Add(-1)
	if n := g.stats.inFlight.Add(1); n > int64(g.cfg.MaxRequests) {
		g.fail(ctx, wire.Faultf(wire.CodeOverloaded, "%d requests are being served, the most this server takes: try again", g.cfg.MaxRequests))
		return
	}
	if int(g.http.GetCurrentConcurrency()) > g.cfg.MaxHTTPConnections {
		ctx.SetConnectionClose()
		g.fail(ctx, wire.Faultf(wire.CodeOverloaded, "%d HTTP connections are open, the most this server takes: try again", g.cfg.MaxHTTPConnections))
		return
	}
	g.dispatch(ctx)
}

func (g *Gateway) dispatch(ctx *fasthttp.RequestCtx) {
	methods := g.table[string(ctx.Path())]
	rt := methods[string(ctx.Method())]
	switch {
	case methods == nil:
		g.fail(ctx, wire.Faultf(wire.CodeNotFound, "no such path; refserver/wire/openapi.yaml lists them"))
		return
	case rt == nil:
		allowed := make([]string, 0, 1)
		for m := range methods {
			allowed = append(allowed, m)
		}
		allow := strings.Join(allowed, ", ")
		g.fail(ctx, wire.Faultf(wire.CodeNotFound, "this path takes %s", allow))
		ctx.SetStatusCode(fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set("Allow", allow)
		return
	case g.draining.Load() && !rt.whileDrained:
		ctx.SetConnectionClose()
		g.fail(ctx, shuttingDown())
		return
	}
	who, err := g.identify(ctx, rt)
	if err == nil {
		err = checkQuery(ctx, rt)
	}
	if err != nil {
		g.fail(ctx, err)
		return
	}
	bounded, cancel := context.WithTimeout(g.ctx, g.cfg.RequestTimeout)
	defer cancel()
	answer, err := rt.handle(&request{ctx: bounded, http: ctx, who: who})
	switch {
	case err != nil:
		g.fail(ctx, err)
	case answer != nil:
		g.answer(ctx, answer)
	}
}

func shuttingDown() error {
	return wire.Faultf(wire.CodeShuttingDown, "this server is shutting down: connect again")
}

// checkQuery refuses query parameters that the route doesn't know.
func checkQuery(ctx *fasthttp.RequestCtx, rt *route) error {
	for k := range ctx.QueryArgs().All() {
		if !slices.Contains(rt.query, string(k)) {
			if len(rt.query) == 0 {
				return wire.Faultf(wire.CodeBadRequest, "unknown query parameter %q: %s takes none", k, rt.path)
			}
			return wire.Faultf(wire.CodeBadRequest, "unknown query parameter %q: %s takes %s", k, rt.path, strings.Join(rt.query, ", "))
		}
	}
	return nil
}

// account counts and, at level debug, logs one answered request. Path only:
// the query may hold a token.
func (g *Gateway) account(ctx *fasthttp.RequestCtx, began time.Time) {
	status := ctx.Response.StatusCode()
	g.stats.requests.Add(1)
	switch {
	case status >= 500:
		g.stats.failed.Add(1)
	case status >= 400:
		g.stats.refused.Add(1)
	}
	if g.log.Enabled(g.ctx, slog.LevelDebug) {
		g.log.Debug("request", "method", string(ctx.Method()), "path", string(ctx.Path()), "status", status,
			"took", time.Since(began), "from", ctx.RemoteAddr().String())
	}
}

// bodyLimit is asked once a request's head is read: admin requests may be larger.
func (g *Gateway) bodyLimit(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	limit := g.cfg.MaxFrame
	if strings.HasPrefix(string(h.RequestURI()), "/v1/admin/") {
		limit = g.cfg.MaxAdminBody
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: limit}
}

// unreadable answers a request that fasthttp couldn't read.
func (g *Gateway) unreadable(ctx *fasthttp.RequestCtx, err error) {
	began := time.Now()
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		g.fail(ctx, wire.Faultf(wire.CodeTooLarge, "the request body is larger than %d bytes", g.bodyLimit(&ctx.Request.Header).MaxRequestBodySize))
	case errors.As(err, &small):
		g.fail(ctx, wire.Faultf(wire.CodeTooLarge, "the request head is larger than %d bytes", g.cfg.MaxHeader))
		ctx.SetStatusCode(fasthttp.StatusRequestHeaderFieldsTooLarge)
	case errors.As(err, &netErr) && netErr.Timeout():
		g.fail(ctx, wire.Faultf(wire.CodeBadRequest, "the request wasn't complete within %s", g.cfg.ReadTimeout))
		ctx.SetStatusCode(fasthttp.StatusRequestTimeout)
	default:
		g.fail(ctx, wire.Faultf(wire.CodeBadRequest, "this isn't a valid HTTP request"))
	}
	g.account(ctx, began)
}
