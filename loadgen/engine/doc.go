// Package engine carries out a measurement: for each variant and repeat a fresh
// server and population, and the phases
//
//	start     the server is started, or found
//	seed      users, groups and friends are made, tokens minted, devices connected
//	backlog   only with one: what waits is stored by its senders while nobody is
//	          connected; devices then connect in a phase of their own, connect
//	warmup    the same traffic as measured, kept apart by its intended time
//	measure   what counts: latency by intended time, throughput by completion;
//	          who logs in does so in here
//	drain     until nothing is pending and nothing more arrives, or the time is over
//	audit     devices ack what is left and leave; every message is accounted for
//
// and the result with its verdict. It owns the run's clock, the pacer that walks
// the schedule, the lives of devices that come, leave, crash and come back, and
// the Observer that the devices tell everything to; what is lost or duplicated is
// for package ledger to say, what a figure means for measure, what follows from it
// for results.
//
// Faults of the profile are injected in measure, one after another: kills of the
// server (in designs that fan out: in the middle of a fan-out) and of Redis, from
// whose tail messages may be cut, resets of connections, and crashes of clients. What each took is
// kept for the audit, which reads the store's rows itself, design by design, and
// never asks the server whose account it is that is audited. What is stored per
// message is read once, at a moment when nobody has pulled it yet (stock).
//
// The server's and Redis's own counters are compared with what the generator
// counted. A difference that a fault doesn't explain makes the run invalid.
//
// The room may use every other room of loadgen, and speak to Redis (to read, at
// the audit) and to the server's admin API. It prints nothing: progress is told
// to a callback. When Run returns, whatever it returns, nothing that it started
// is left.
package engine
