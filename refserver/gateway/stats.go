package gateway

import "sync/atomic"

type counters struct {
	requests, refused, failed, panics atomic.Uint64
	inFlight                          atomic.Int64
	upgrades, upgradesRefused         atomic.Uint64
	connections                       atomic.Int64
	framesRead, bytesRead, sends      atomic.Uint64
	badFrames, idleClosed             atomic.Uint64
}

// Stats counts what a gateway has seen since it was made.
type Stats struct {
	Requests        uint64 // HTTP requests answered, handshakes included
	Refused         uint64 // of these, answered 4xx
	Failed          uint64 // of these, answered 5xx
	InFlight        uint64 // HTTP requests being served now
	Panics          uint64 // panics recovered, requests and connections
	Upgrades        uint64 // WebSocket handshakes done
	UpgradesRefused uint64 // WebSocket handshakes refused, for whatever reason
	Connections     uint64 // WebSocket connections being read now
	FramesRead      uint64 // WebSocket messages read, pings and the like included
	Sends           uint64 // sends handed on, HTTP and WebSocket
	BytesRead       uint64 // bytes read from WebSocket connections
	BadFrames       uint64 // connections ended for what they sent
	IdleClosed      uint64 // connections ended because nothing came, not even a pong
}

// Stats returns the counters.
func (g *Gateway) Stats() Stats {
	s := &g.stats
	return Stats{
		Requests:        s.requests.Load(),
		Refused:         s.refused.Load(),
		Failed:          s.failed.Load(),
		InFlight:        uint64(max(s.inFlight.Load(), 0)),
		Panics:          s.panics.Load(),
		Upgrades:        s.upgrades.Load(),
		UpgradesRefused: s.upgradesRefused.Load(),
		Connections:     uint64(max(s.connections.Load(), 0)),
		FramesRead:      s.framesRead.Load(),
		Sends:           s.sends.Load(),
		BytesRead:       s.bytesRead.Load(),
		BadFrames:       s.badFrames.Load(),
		IdleClosed:      s.idleClosed.Load(),
	}
}
