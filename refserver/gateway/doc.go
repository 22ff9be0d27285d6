// Package gateway is the server's front door: HTTP and WebSocket. It
// authenticates, decodes, hands on to package delivery, and encodes the answer.
//
// What passes through:
//
//   - HTTP requests are JSON, one operation each; the table in routes.go is the
//     whole API, and refserver/wire/openapi.yaml describes it.
//   - A WebSocket begins as GET /v1/connect. After the handshake fasthttp lets go
//     of the socket, and one goroutine reads it until it ends; writing belongs to
//     package push. The first frame is a hello, all others go to the session
//     that delivery opened for it. Acks, which are most of what comes, are handled
//     under the socket's read lock (conn.go, step): that saves the read(2) which
//     only says that nothing more has come, and allocates nothing.
//   - Everything that comes in has a limit, and everything that goes wrong has a
//     typed answer: {"code", "message", "retryable"} over HTTP, an error frame
//     and a close code over WebSocket.
//
// The room may touch sockets, tokens and packages delivery, push and wire. It
// must not know Redis, and it decides nothing about messages. A request's
// memory belongs to fasthttp and is used again: whatever outlives a handler is
// copied out of it first. Tokens and request URIs are never logged.
package gateway
