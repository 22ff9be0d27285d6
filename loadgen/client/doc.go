// Package client is one simulated device of the load generator: it connects,
// pulls what waited, dedups, decides when to ack, sends, and survives what a
// network does to it.
//
// Device is the state machine of one user. It knows nothing of frames or
// sockets: it speaks through a small Driver interface, so that other servers
// and brokers can be driven by the same load and judged by the same audit.
// WebSocket and HTTP are drivers for the reference server. What happens is told
// to an Observer, which the engine implements. When a device acks is the business
// of package ackpolicy, whether it shows what arrives that of package dedup.
//
// A device costs one goroutine (it reads), one timer (the earliest of all its
// deadlines) and a small read buffer. Receiving a delivery in order allocates
// nothing. Acks that come out of one read leave in one write.
//
// The room may open sockets, and time passes in it only by the Clock that it is
// given and by timers, so that it runs in a testing/synctest bubble. It knows
// refserver/wire; it must not know the engine, the ledger, profiles or results,
// and it never logs.
package client
