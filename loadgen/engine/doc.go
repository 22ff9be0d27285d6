// Package engine carries out a measurement: for each variant and repeat a fresh
// server and population, and the phases
//
//	start     the server is started, or found
//	seed      users and groups are made, tokens minted, devices connected
//	warmup    the same traffic as measured, kept apart by its intended time
//	measure   what counts: latency by intended time, throughput by completion
//	drain     until nothing is pending and nothing more arrives, or the time is over
//	audit     devices ack what is left and leave; every message is accounted for
//
// and the result with its verdict. It owns the run's clock, the pacer that walks
// the schedule, and the Observer that the devices tell everything to; what is
// lost or duplicated is for package ledger to say, what a figure means for
// measure, what follows from it for results.
//
// The server's and Redis's own counters are compared with what the generator
// counted. A difference that a fault doesn't explain makes the run invalid.
//
// The room may use every other room of loadgen, and speak to Redis (to read, at
// the audit) and to the server's admin API. It prints nothing: progress is told
// to a callback. When Run returns, whatever it returns, nothing that it started
// is left.
package engine
