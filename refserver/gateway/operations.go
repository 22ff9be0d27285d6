package gateway

import (
	"bytes"
	"context"
	"strconv"

	"ackmark/refserver/wire"
)

// post makes a handler of an operation that takes a JSON body.
func post[In, Out any](g *Gateway, op func(ctx context.Context, user string, in *In) (*Out, error)) func(*request) (any, error) {
	return func(r *request) (any, error) {
		in := new(In)
		if err := g.decode(r, in); err != nil {
			return nil, err
		}
		out, err := op(r.ctx, r.who.user, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// decode reads a request's JSON, strictly.
func (g *Gateway) decode(r *request, into any) error {
	kind, _, _ := bytes.Cut(r.http.Request.Header.ContentType(), []byte(";"))
	if !bytes.EqualFold(bytes.TrimSpace(kind), []byte(jsonType)) {
		return wire.Faultf(wire.CodeUnsupported, "the body has to be JSON with the header \"Content-Type: %s\" (curl: --json)", jsonType)
	}
	if len(r.http.Request.Header.ContentEncoding()) > 0 {
		return wire.Faultf(wire.CodeUnsupported, "compressed bodies aren't taken: leave Content-Encoding away")
	}
	return wire.DecodeJSON(r.http.PostBody(), into)
}

func (g *Gateway) send(ctx context.Context, user string, m *wire.Send) (*wire.SendResult, error) {
	g.stats.sends.Add(1)
	return g.svc.Send(ctx, user, m)
}

func (g *Gateway) counts(r *request) (any, error) {
	in := &wire.CountsRequest{}
	if args := r.http.QueryArgs(); args.Has("senders") {
		var err error
		if in.Senders, err = strconv.ParseBool(string(args.Peek("senders"))); err != nil {
			return nil, wire.Faultf(wire.CodeBadRequest, "senders=%q: true counts the inbox by sender, false (the default) as one", args.Peek("senders"))
		}
	}
	out, err := g.svc.Counts(r.ctx, r.who.user, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (g *Gateway) friends(r *request) (any, error) {
	args := r.http.QueryArgs()
	in := &wire.FriendsRequest{After: string(args.Peek("after"))}
	if in.After != "" {
		if err := wire.CheckID("after", in.After); err != nil {
			return nil, err
		}
	}
	if args.Has("limit") {
		n, err := strconv.ParseUint(string(args.Peek("limit")), 10, 32)
		if err != nil {
			return nil, wire.Faultf(wire.CodeBadRequest, "limit=%q isn't a number of friends: 0 (the default) or more is right", args.Peek("limit"))
		}
		in.Limit = uint32(n)
	}
	out, err := g.svc.Friends(r.ctx, r.who.user, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}
