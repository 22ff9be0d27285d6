package gateway

import (
	"log/slog"

	"github.com/valyala/fasthttp"

	"ackmark/refserver/wire"
)

const jsonType = "application/json"

// retryAfter is when a client may try again, in seconds: the shortest that HTTP can say.
const retryAfter = "1"

// errorBody is the JSON of every answer that isn't 2xx.
type errorBody struct {
	Code         wire.Code `json:"code"`
	Message      string    `json:"message"`
	Retryable    bool      `json:"retryable"`
	Conversation string    `json:"conversation,omitempty"`
}

func (g *Gateway) answer(ctx *fasthttp.RequestCtx, v any) {
	b, err := wire.EncodeJSON(v)
	if err != nil {
		g.fail(ctx, err)
		return
	}
	ctx.SetContentType(jsonType)
	ctx.SetBody(b)
}

// fail answers with the fault's status and body. What went wrong inside the
// server is for its log, not for the client.
func (g *Gateway) fail(ctx *fasthttp.RequestCtx, err error) {
	f := wire.AsFault(err)
	if f.Code == wire.CodeInternal {
		g.log.Log(g.ctx, slog.LevelError, "request failed", "method", string(ctx.Method()), "path", string(ctx.Path()), "error", err)
	}
	b, err := wire.EncodeJSON(errorBody{Code: f.Code, Message: f.Message, Retryable: f.Code.Retryable(), Conversation: f.Conversation})
	if err != nil {
		b = []byte(`{"code":"internal","message":"the error could not be encoded","retryable":false}`)
	}
	ctx.SetStatusCode(f.Code.HTTPStatus())
	ctx.SetContentType(jsonType)
	ctx.SetBody(b)
	if f.Code.Retryable() {
		ctx.Response.Header.Set("Retry-After", retryAfter)
	}
	if f.Code == wire.CodeUnauthenticated {
		ctx.Response.Header.Set("WWW-Authenticate", `Bearer realm="ackmark"`)
	}
}
