package gateway

import (
	"context"

	"github.com/valyala/fasthttp"
)

// access says who may use a route.
type access uint8

const (
	anyone access = iota // health and metrics
	user                 // a user's token
	admin                // the admin secret
)

// route is one operation. handle returns what the answer's JSON is made of;
// nil when it has written the answer itself.
type route struct {
	method, path string
	access       access
	queryToken   bool     // the token may come as ?token=, for clients that can't set a header
	query        []string // query parameters that it knows; others are refused
	whileDrained bool     // answered while the server drains
	handle       func(r *request) (any, error)
}

// request is one HTTP request on its way through a handler. http belongs to
// fasthttp and must not be kept.
type request struct {
	ctx  context.Context
	http *fasthttp.RequestCtx
	who  identity
}

// routes is the HTTP API, whole.
func (g *Gateway) routes() []route {
	return []route{
		{method: "GET", path: "/v1/connect", access: user, queryToken: true, query: []string{"token"}, handle: g.connect},

		{method: "POST", path: "/v1/hello", access: user, handle: post(g, g.svc.Hello)},
		{method: "POST", path: "/v1/send", access: user, handle: post(g, g.send)},
		{method: "POST", path: "/v1/pull", access: user, handle: post(g, g.svc.Pull)},
		{method: "POST", path: "/v1/sync", access: user, handle: post(g, g.svc.Sync)},
		{method: "POST", path: "/v1/ack", access: user, handle: post(g, g.svc.Ack)},
		{method: "GET", path: "/v1/counts", access: user, query: []string{"senders"}, handle: g.counts},
		{method: "GET", path: "/v1/friends", access: user, query: []string{"after", "limit"}, handle: g.friends},

		{method: "POST", path: "/v1/admin/users", access: admin, handle: g.createUsers},
		{method: "POST", path: "/v1/admin/groups", access: admin, handle: g.createGroups},
		{method: "POST", path: "/v1/admin/members/remove", access: admin, handle: g.removeMembers},
		{method: "POST", path: "/v1/admin/friends", access: admin, handle: g.createFriends},

		{method: "GET", path: "/metrics", whileDrained: true, handle: g.metrics},
		{method: "GET", path: "/healthz", whileDrained: true, handle: g.healthz},
		{method: "GET", path: "/readyz", whileDrained: true, handle: g.readyz},
	}
}

func tableOf(routes []route) map[string]map[string]*route {
	table := make(map[string]map[string]*route, len(routes))
	for i := range routes {
		r := &routes[i]
		if table[r.path] == nil {
			table[r.path] = make(map[string]*route, 1)
		}
		table[r.path][r.method] = r
	}
	return table
}
