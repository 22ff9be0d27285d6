package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"ackmark/refserver/wire"
)

// identity is who a request comes from; user is empty for anyone and admin.
type identity struct {
	user    string
	expires time.Time
}

func (g *Gateway) identify(ctx *fasthttp.RequestCtx, rt *route) (identity, error) {
	switch rt.access {
	case user:
		token := bearer(ctx)
		if token == "" && rt.queryToken {
			token = string(ctx.QueryArgs().Peek("token"))
		}
		name, expires, err := g.cfg.Tokens.Verify(token)
		return identity{user: name, expires: expires}, err
	case admin:
		return identity{}, g.identifyAdmin(bearer(ctx))
	default:
		return identity{}, nil
	}
}

// identifyAdmin compares hashes, in constant time, so that an answer's timing
// tells neither the secret nor its length.
func (g *Gateway) identifyAdmin(secret string) error {
	switch {
	case g.cfg.AdminSecret == "":
		return wire.Faultf(wire.CodeForbidden, "the admin API is off: start the server with --admin-secret")
	case secret == "":
		return wire.Faultf(wire.CodeUnauthenticated, "no admin secret: send the header \"Authorization: Bearer ADMIN_SECRET\"")
	}
	sum := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(sum[:], g.admin[:]) != 1 {
		return wire.Faultf(wire.CodeUnauthenticated, "wrong admin secret")
	}
	return nil
}

// bearer returns the credentials of an Authorization header, as a copy.
func bearer(ctx *fasthttp.RequestCtx) string {
	scheme, rest, ok := strings.Cut(string(ctx.Request.Header.Peek("Authorization")), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(rest)
}
