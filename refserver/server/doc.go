// Package server builds the rooms of the reference server from one Config,
// starts and stops them, and holds the program's command line.
//
// Main is the whole program and may be called inside another one: it takes its
// arguments and streams, returns an exit code, and leaves nothing running.
//
//	store  ──Sink──▶ delivery ──rooms──▶ push (hub)
//	   ▲                │                   ▲
//	   └────Store───────┘     gateway ──────┘  sockets, requests
//
// They start from left to right and stop from right to left: first nobody new
// comes in, then connections are closed with a reason, then cursors are
// flushed, and last the store is let go.
//
// The room may know every room of refserver. It holds no logic of messages,
// and nothing that outlives Stop.
package server
