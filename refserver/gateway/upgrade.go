package gateway

import (
	"crypto/sha1" //nolint:gosec // RFC 6455 asks for it; nothing secret depends on it
	"encoding/base64"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"ackmark/refserver/push"
	"ackmark/refserver/wire"
)

// acceptGUID is RFC 6455's, appended to the client's key.
const acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// connect answers the WebSocket handshake. From the 101 on the socket is ours.
func (g *Gateway) connect(r *request) (any, error) {
	form, err := g.handshake(r.http)
	if err != nil {
		g.stats.upgradesRefused.Add(1)
		return nil, err
	}
	who := r.who // the handler outlives the request
	r.http.Hijack(func(c net.Conn) {
		sock, serial, early := release(c)
		if !g.begin() {
			_ = sock.Close()
			return
		}
		// A goroutine of our own: fasthttp keeps the request's memory until the handler returns.
		go g.serveConn(sock, serial, early, who, form)
	})
	g.stats.upgrades.Add(1)
	return nil, nil
}

func (g *Gateway) handshake(ctx *fasthttp.RequestCtx) (push.Form, error) {
	h := &ctx.Request.Header
	key := string(h.Peek("Sec-WebSocket-Key"))
	rawKey, keyErr := base64.StdEncoding.DecodeString(key)
	switch {
	case !h.IsHTTP11() || !lists(h, "Connection", "upgrade") || !lists(h, "Upgrade", "websocket"):
		ctx.Response.Header.Set("Upgrade", "websocket")
		return 0, wire.Faultf(wire.CodeBadRequest,
			"this path is for WebSocket clients: send HTTP/1.1 with \"Connection: Upgrade\" and \"Upgrade: websocket\"")
	case string(h.Peek("Sec-WebSocket-Version")) != "13":
		ctx.Response.Header.Set("Sec-WebSocket-Version", "13")
		return 0, wire.Faultf(wire.CodeBadRequest, "Sec-WebSocket-Version %q: 13 is what this server speaks", h.Peek("Sec-WebSocket-Version"))
	case keyErr != nil || len(rawKey) != 16:
		return 0, wire.Faultf(wire.CodeBadRequest, "Sec-WebSocket-Key has to be 16 bytes in base64")
	}
	form, protocol, err := subprotocol(h)
	if err != nil {
		return 0, err
	}
	if open := g.stats.connections.Load(); open >= int64(g.cfg.MaxConnections) {
		return 0, wire.Faultf(wire.CodeOverloaded, "%d connections are open, the most this server takes: try again", open)
	}
	sum := sha1.Sum([]byte(key + acceptGUID)) //nolint:gosec // see the import
	ctx.SetStatusCode(fasthttp.StatusSwitchingProtocols)
	res := &ctx.Response.Header
	res.Set("Upgrade", "websocket")
	res.Set("Connection", "Upgrade")
	res.Set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
	if protocol != "" {
		res.Set("Sec-WebSocket-Protocol", protocol)
	}
	return form, nil
}

// subprotocol picks the first that both sides know; a client that offers none
// gets binary frames, and no subprotocol in the answer, as the RFC wants.
func subprotocol(h *fasthttp.RequestHeader) (form push.Form, name string, err error) {
	offered := h.PeekAll("Sec-WebSocket-Protocol")
	if len(offered) == 0 {
		return push.Binary, "", nil
	}
	for _, line := range offered {
		for name := range strings.SplitSeq(string(line), ",") {
			switch strings.TrimSpace(name) {
			case wire.SubprotocolBinary:
				return push.Binary, wire.SubprotocolBinary, nil
			case wire.SubprotocolJSON:
				return push.JSON, wire.SubprotocolJSON, nil
			}
		}
	}
	return 0, "", wire.Faultf(wire.CodeBadRequest, "no subprotocol that this server speaks: offer %s or %s", wire.SubprotocolBinary, wire.SubprotocolJSON)
}

// lists says whether a comma-separated header holds a word, in any case.
func lists(h *fasthttp.RequestHeader, header, word string) bool {
	for _, line := range h.PeekAll(header) {
		for w := range strings.SplitSeq(string(line), ",") {
			if strings.EqualFold(strings.TrimSpace(w), word) {
				return true
			}
		}
	}
	return false
}

// release takes the socket out of fasthttp's wrapper, whose Close does nothing
// useful for us and whose reader may hold bytes that the client sent right
// behind its handshake: with the deadline passed, reading returns exactly those.
func release(c net.Conn) (sock net.Conn, serial uint64, early []byte) {
	sock = c
	if w, ok := c.(interface{ UnsafeConn() net.Conn }); ok {
		sock = w.UnsafeConn()
	}
	if a, ok := sock.(*accepted); ok {
		sock, serial = a.TCPConn, a.serial
	}
	_ = sock.SetReadDeadline(time.Unix(1, 0))
	var buf [512]byte
	for {
		n, err := c.Read(buf[:])
		early = append(early, buf[:n]...)
		if err != nil { // the deadline; any other comes again when the socket is read
			break
		}
	}
	_ = sock.SetDeadline(time.Time{})
	return sock, serial, early
}
